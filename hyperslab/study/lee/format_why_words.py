"""Why the formats differ, by counts, in sentences from the records."""

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval
from ...text import comparison, percent
from .format_cells import BYTES, KINDS, LABELS, UNCACHED
from .format_rates import MB, cpu_ratio, ratio
from .format_table import TABLE_2

_STEPS = {"create": "create", "put": "put", "close": "close", "get": "get, warm"}
_LARGE = "large/2d"


def table(counted: pd.DataFrame) -> pd.DataFrame:
    """Return the counts by format and step, as text.

    Parameters
    ----------
    counted : pandas.DataFrame
        From `counts`.
    """
    return pd.DataFrame(
        {
            "format": LABELS[row["kind"]],
            "step": _STEPS[row["step"]],
            "MB written": mb(row["wchar"]),
            "write calls": count(row["syscw"]),
            "MB read": mb(row["rchar"]),
            "read calls": count(row["syscr"]),
            "page faults": count(row["minflt"]),
            "CPU, ms": f"{1e3 * (row['user_s'] + row['sys_s']):.1f}",
        }
        for row in counted.to_dict("records")
    )


def caption_table(counted: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the counts."""
    size = records[records["case"] == f"netcdf3/{_LARGE}"]["useful_bytes"].max()
    return (
        f"What a two-dimensional array of {size / MB:.1f} MB asks of the system, by format and "
        "step: medians over blocks. Bytes and calls come out the same every time."
    )


def why(counted: pd.DataFrame) -> str:
    """Return what the counts say."""
    step = {(row["kind"], row["step"]): row for row in counted.to_dict("records")}
    third, fourth = step["netcdf3", "put"], step["netcdf4-contiguous", "put"]
    chunk, closing = step["netcdf4-chunked", "put"], step["netcdf4-chunked", "close"]
    if third["wchar"] != third["wchar"]:
        return "Bytes and calls are not counted on this system."
    got, whole, single = (
        step[kind, "get"] for kind in ("netcdf3", "netcdf4-contiguous", "netcdf4-chunked")
    )
    made = step["netcdf3", "create"]
    return (
        "**NetCDF-3 goes through a buffer.** It moves "
        f"{third['wchar'] / third['syscw']:,.0f} bytes at a time: "
        f"{count(third['syscw'])} write calls for one put, and before each it reads "
        f"the part that it is about to write, {mb(third['rchar'])} MB in "
        f"{count(third['syscr'])} read calls of a file that it only writes. What it reads "
        f"is there because creating the file wrote {mb(made['wchar'])} MB of fill values. "
        "Contiguous netCDF-4 hands the array to the system in "
        f"{calls(fourth['syscw'])} and fills nothing that the put covers. "
        f"Reading is the same story: {calls(got['syscr'])} against "
        f"{calls(whole['syscr'])}.\n\n"
        "**One chunk is copied.** The put moved the values into the chunk cache, which netCDF-C "
        f"made {chunk['cache_bytes'] / 2**20:.0f} MiB for such a chunk (in the document it had "
        f"1 MB): {count(chunk['minflt'])} pages of new memory (page faults). It wrote "
        f"{mb(chunk['wchar'])} MB; the close wrote {mb(closing['wchar'])} MB. So the time "
        "of the put is that of memory and holds no writing. Reading took "
        f"{count(single['minflt'])} page faults for the same reason, against "
        f"{count(whole['minflt'])} of contiguous storage: the chunk goes into the cache first, "
        "and from there to the program."
    )


def uncached(read: pd.DataFrame, counted: pd.DataFrame) -> str:
    """Return what reading one chunk without a cache does.

    Parameters
    ----------
    read : pandas.DataFrame
        Records of the experiment "read".
    counted : pandas.DataFrame
        From `counts`.
    """
    pairs = [
        ratio(read, ("read",), f"{UNCACHED}/{_LARGE}", f"{kind}/{_LARGE}", "warm")
        for kind in ("netcdf4-chunked", "netcdf4-contiguous")
    ]
    rows = {row["kind"]: row for row in counted[counted["step"] == "get"].to_dict("records")}
    if None in pairs or UNCACHED not in rows:
        return ""
    cached, whole = (faster(pair) for pair in pairs if pair)
    return (
        "That can be tested: with a chunk cache of 1 byte HDF5 reads the chunk straight into the "
        f"program's memory, with {count(rows[UNCACHED]['minflt'])} page faults and "
        f"{count(rows[UNCACHED]['syscr'])} read calls. Against netCDF-C's own cache of "
        f"{rows['netcdf4-chunked']['cache_bytes'] / 2**20:.0f} MiB: {cached}; against contiguous "
        f"storage: {whole}."
    )


def filling(filled: pd.DataFrame) -> str:
    """Return what filling costs in bytes.

    Parameters
    ----------
    filled : pandas.DataFrame
        Records of the experiment "fill".
    """
    written = filled.groupby("case")["wchar"].sum(min_count=1)
    if written.isna().any():
        return ""
    parts = [
        f"{name} {mb(written[f'fill/{kind}'])} MB with filling and "
        f"{mb(written[f'nofill/{kind}'])} MB without"
        for kind, name in ((kind, LABELS[kind]) for kind in KINDS)
    ]
    return (
        "Written in all, from create to close, for the same array: "
        f"{', '.join(parts[:-1])}, {parts[-1]}. The document's clock, as ours in Figures 1 to 4, "
        "starts with the put and leaves out what was filled before."
    )


def endian(written: pd.DataFrame, read: pd.DataFrame) -> str:
    """Return what the conversion of netCDF-3 costs in CPU time.

    Parameters
    ----------
    written, read : pandas.DataFrame
        Records of the experiments "write-cached" and "read".
    """
    ones = ("netcdf3/large/1d", f"{BYTES}/large/1d")
    pairs = {
        "writing": cpu_ratio(written, "write", *ones),
        "reading": cpu_ratio(read, "read", *ones, "warm"),
    }
    parts = [f"{_more(pair)} in {name}" for name, pair in pairs.items() if pair]
    if not parts:
        return ""
    return (
        "NetCDF-3 stores integers big-endian, which the document gives as a cost that it did not "
        "measure. The same bytes in the same calls, once as integers and once as single bytes, "
        "which need no conversion, differ in nothing else: the integers took "
        f"{' and '.join(parts)}. NetCDF-4 stores what the machine has and converts nothing."
    )


def forced(disk: pd.DataFrame) -> str:
    """Return how the time of a write that is forced to the disk divides.

    Parameters
    ----------
    disk : pandas.DataFrame
        Records of the experiment "write-disk".
    """
    rows = main(disk)
    ms = 1e3 * rows.groupby(["case", "phase"])["wall_s"].median()
    parts = [
        f"{ms[f'{kind}/{_LARGE}', 'write']:.1f} + {ms[f'{kind}/{_LARGE}', 'sync']:.1f} ms "
        f"({LABELS[kind]})"
        for kind in KINDS
    ]
    size = rows[rows["case"] == f"netcdf3/{_LARGE}"]["useful_bytes"].max() / MB
    rate = TABLE_2["contiguous", "override", "write", "large"][0]
    return (
        f"**Forced to the disk**, put and sync of {size:.1f} MB took {', '.join(parts)}. At the "
        f"document's {rate} MB/s as many bytes take {1e3 * size / rate:,.0f} ms: beside that, what "
        "the formats do in memory did not show there."
    )


def faster(found: Interval | None) -> str:
    """Return a ratio of rates in words."""
    return "not measured" if found is None else comparison(found, "faster", "slower")


def _more(found: Interval) -> str:
    words = comparison(found, "more CPU time", "less CPU time")
    if found.contains(1):
        return words
    return (
        f"{words} [{percent(found.low - 1, signed=True)}, {percent(found.high - 1, signed=True)}]"
    )


def bracketed(found: Interval | None) -> str:
    """Return a ratio with its interval."""
    return "–" if found is None else f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def calls(value: float) -> str:
    """Return a number of calls."""
    return f"{count(value)} call{'' if value == 1 else 's'}"


def mb(value: float) -> str:
    """Return bytes in MB."""
    return (
        "–" if value != value else f"{value / MB:.1f}" if value >= MB / 20 else f"{value / MB:.3f}"
    )


def count(value: float) -> str:
    """Return a count, a dash where it was not counted."""
    return "–" if value != value else f"{value:,.0f}"
