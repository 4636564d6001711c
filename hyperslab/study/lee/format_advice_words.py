"""What to do about it: allocation, cache, close; in sentences from the records."""

import pandas as pd

from ...text import comparison
from .format_cells import LABELS
from .format_rates import PHASES, per_block, ratio
from .format_table import CACHE_GAIN, EARLY_GAIN, TABLE_2
from .format_why_words import bracketed, count, faster, mb

_LARGE = "large/2d"


def tuning(allocated: pd.DataFrame, cached: pd.DataFrame) -> pd.DataFrame:
    """Return the rates that allocation and cache make, with and without the rest, as text.

    Parameters
    ----------
    allocated, cached : pandas.DataFrame
        Records of the experiments "allocation" and "cache".
    """
    before = TABLE_2["chunked", "default", "write", "large"][1]
    rows = []
    for records, of, to, name, gain in (
        (allocated, "early", "default", "allocated at creation, over by default", EARLY_GAIN),
        (cached, "64MB", "1MB", "cache of 64 MB, over 1 MB", CACHE_GAIN),
    ):
        row = {"": name, "document, put alone": f"{(before + gain) / before:.2f}"}
        for span, phases in (
            ("put alone", ("write",)),
            ("put and close", ("write", "close")),
            ("create to close", PHASES),
        ):
            found = ratio(records, phases, f"{of}/{_LARGE}", f"{to}/{_LARGE}")
            row[f"here, {span}"] = bracketed(found)
        rows.append(row)
    return pd.DataFrame(rows)


def caption_tuning(allocated: pd.DataFrame) -> str:
    """Return the caption of the rates that allocation and cache make."""
    return (
        "How many times faster a large array in one chunk is written, by what is timed: rates over "
        f"rates, medians of {allocated['block'].nunique()} paired blocks with 95 % intervals. The "
        "document timed the put alone and says that the close was not looked at."
    )


def moved(allocated: pd.DataFrame, cached: pd.DataFrame) -> str:
    """Return where the bytes went that a put no longer wrote."""
    spots = {}
    for records in (allocated, cached):
        rows = records[(records["status"] == "ok") & records["phase"].isin(PHASES)]
        names = rows["case"].str.partition("/")[0]
        for (name, phase), part in rows.groupby([names, "phase"]):
            spots[name, phase] = part[["wchar", "minflt"]].median()
    if any(spot["wchar"] != spot["wchar"] for spot in spots.values()):
        return ""

    def at(name: str, phase: str) -> str:
        spot = spots[name, phase]
        return f"{mb(spot['wchar'])} MB and {count(spot['minflt'])} page faults"

    return (
        "Neither makes work vanish. Allocated at creation, the create takes "
        f"{at('early', 'create')} (default: {at('default', 'create')}), for fill values that the "
        f"put then writes over; the put takes {at('early', 'write')} instead of "
        f"{at('default', 'write')}. With a cache of 64 MB the put takes {at('64MB', 'write')} and "
        f"the close {at('64MB', 'close')}; with 1 MB, {at('1MB', 'write')} and "
        f"{at('1MB', 'close')}."
    )


def advice(
    written: pd.DataFrame,
    read: pd.DataFrame,
    cached: pd.DataFrame,
    filled: pd.DataFrame,
    counted: pd.DataFrame,
) -> str:
    """Return what to do today.

    Parameters
    ----------
    written, read, cached, filled : pandas.DataFrame
        Records of the experiments "write-cached", "read", "cache" and "fill".
    counted : pandas.DataFrame
        From `counts`.
    """
    best = _quickest(written, read)
    others = [kind for kind in _CODE if kind != best]
    puts = [ratio(written, PHASES, f"{best}/large/", f"{kind}/large/") for kind in others]
    gets = [ratio(read, ("read",), f"{best}/large/", f"{k}/large/", "warm") for k in others]
    close = ratio(cached, ("write", "close"), f"64MB/{_LARGE}", f"1MB/{_LARGE}")
    total = filled.groupby("case")["wchar"].sum(min_count=1)
    share = total["nofill/netcdf3"] / total["fill/netcdf3"]
    less = (
        ""
        if share != share
        else f" From create to close {comparison(share, 'more bytes', 'fewer bytes')} were written."
    )
    fault = counted[counted["step"] == "get"].set_index("kind")["minflt"]
    return (
        f"- **Large arrays, written once and read whole, were quickest in {LABELS[best]}**: "
        f"`{_CODE[best]}`. Against {LABELS[others[0]]}: {faster(puts[0])} to write, from create "
        f"to close, and {faster(gets[0])} to read out of memory; against {LABELS[others[1]]}: "
        f"{faster(puts[1])} and {faster(gets[1])}.\n"
        "- A chunk that is the whole variable is copied through the cache "
        f"({count(fault['netcdf4-chunked'])} page faults in a read, against "
        f"{count(fault['netcdf4-contiguous'])} of contiguous storage). Take it only where a "
        "filter or an unlimited dimension asks for chunks; a file that has it already is read "
        "around the cache after `v.set_var_chunk_cache(size=1)`.\n"
        "- A netCDF-3 file that will be written whole needs no fill values: `nc.set_fill_off()` "
        f"before the first variable.{less}\n"
        "- Time until the file is closed, and on the disk where that matters (`nc.sync()`, then "
        "`os.fsync`). Put and close together, with a cache of 64 MB instead of 1 MB: "
        f"{faster(close)}."
    )


_CODE = {
    "netcdf4-contiguous": 'nc.createVariable("v", "i4", dims, contiguous=True)',
    "netcdf4-chunked": 'nc.createVariable("v", "i4", dims, chunksizes=shape)',
    "netcdf3": 'netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET")',
}


def _quickest(written: pd.DataFrame, read: pd.DataFrame) -> str:
    """Return the format that takes least time to write, from create to close, and to read once."""
    spent = {}
    for kind in _CODE:
        put = per_block(written, PHASES)[("", f"{kind}/{_LARGE}")].median()
        spent[kind] = put + per_block(read, ("read",))[("warm", f"{kind}/{_LARGE}")].median()
    return min(spent, key=lambda kind: spent[kind])
