"""The sentences and tables of the page on netCDF, with their numbers from the records."""

import pandas as pd

from ...measure.stats import Interval
from ..claims.words import amount, comparison, listing, number
from ..lee.rate_words import than
from .baseline import pick, ratio, sizes_of
from .netcdf import COUNTED, LARGE, NAMES, NETCDF, SMALL_PAGES, STRIDED

_SIEVE = 2**16
_BOUND = 0.9
"""From this share of CPU time on the processor is what limits a read, as the claims have it."""
_FAR = 0.1


def summary(records: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "patterns".
    table : pandas.DataFrame
        From `baseline.rates`, of it.
    """
    lines = ["**What we found.**"]
    for state, words in (("cold", "From the device"), ("warm", "From memory")):
        against = [
            f"{NAMES[of]} {than(found, 'faster', 'slower', NAMES[to])}"
            for of, to in (
                ("netcdf-c", "c-fread"),
                ("netcdf4-python", "netcdf-c"),
                ("h5py", "netcdf4-python"),
            )
            if (found := ratio(records, state, *_pair(of, to, "1MiB"))) is not None
        ]
        if against:
            lines.append(f"{words}, in buffers of 1 MiB: {'; '.join(against)}.")
    lines.append(_bound(table))
    masks = ratio(records, "warm", *_pair("netcdf4-python-plain", "netcdf4-python", "*"))
    if masks is not None:
        lines.append(
            "Without automatic masking and scaling netCDF4-python is "
            f"{comparison(masks, 'faster', 'slower')} from memory, over all sizes."
        )
    return " ".join(line for line in lines if line)


def _bound(table: pd.DataFrame) -> str:
    part = table[(table["state"] == "cold") & (table["pattern"] == "sequential")]
    part = part[part["reader"] == "netcdf4-python"].sort_values("nbytes")
    if part.empty:
        return ""
    bound = list(part.loc[part["cpu"] >= _BOUND, "size"])
    if not bound:
        return "The processor limits netCDF4-python in buffers of no size."
    where = "every size" if len(bound) == len(part) else listing(bound, len(bound))
    return f"The processor limits netCDF4-python's cold reads in buffers of {where}."


def method(records: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return how much was read, and for how long."""
    sizes = sizes_of(table)
    size = table["nbytes"].max()
    longest = records[records["phase"] == "read"]["wall_s"].max()
    return (
        f"One contiguous variable of doubles, and its plain twin; buffers of {sizes[0]} to "
        f"{sizes[-1]}, {len(sizes)} sizes, the largest {amount(float(size), 'B')}; a sample reads "
        f"for {amount(longest, 's')} at most, then stops, and its rate is of what it has read. "
        "What is read is compared with the truth."
    )


def caption_6(table: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the cold rates."""
    return (
        "Rate of cold reads over the size of the buffer: medians with 95 % intervals of "
        f"{_blocks(table)}. The document's Figure 6 has no scale that "
        "could be carried over; dotted lines stand where its text says that netCDF4-python is "
        "slow below, fastest, and slower again. After Figure 6 of {cite:t}`jones2016`. "
        f"Run {records['run_id'].iloc[0]}."
    )


def caption_7() -> str:
    """Return the caption of the shares of CPU time."""
    return (
        "CPU time over wall time of sequential reads, medians. In the document netCDF4-python's "
        "cold reads are limited by the processor throughout, and the three others from 4 KiB on "
        "are not. After Figure 7 of {cite:t}`jones2016`."
    )


def caption_8() -> str:
    """Return the caption of h5py's reads."""
    return (
        "Sequential cold reads by h5py beside plain C and netCDF4-python, and the share of CPU "
        "time. The document draws h5py and h5netcdf as if they were one. After Figure 8 of "
        "{cite:t}`jones2016`."
    )


def bytes_read(counted: pd.DataFrame) -> pd.DataFrame:
    """Return what each reader reads for what is asked of it, as text.

    Parameters
    ----------
    counted : pandas.DataFrame
        From `baseline.rates`, of the experiments "counts" and "patterns".
    """
    rows = []
    for reader, name in NAMES.items():
        row = {"reader": name}
        for size in COUNTED:
            found = pick(counted, "warm", reader, "random", size)
            row[size] = _asked(found)
        for size in STRIDED:
            found = pick(counted, "warm", reader, "strided", size)
            row[f"strided, {size}"] = _asked(found)
        found = pick(counted, "warm", reader, "random", "4KiB")
        row["calls a read, 4KiB"] = "–" if found is None else number(float(found["calls"]))
        if set(row.values()) != {name, "–"}:
            rows.append(row)
    return pd.DataFrame(rows)


def caption_bytes() -> str:
    """Return the caption of the bytes read."""
    return (
        "Bytes passed through read calls of the system for each byte asked for: 100 random reads "
        "of four sizes, and strided reads; and read calls for each random read of 4 KiB. A mapped "
        "file is read by page faults, and shows 0."
    )


def sieve(counted: pd.DataFrame) -> str:
    """Return what lies behind the 64 KiB of the document."""
    found = {reader: pick(counted, "warm", reader, "random", "512B") for reader in NAMES}
    asked = {name: float(row["asked"]) for name, row in found.items() if row is not None}
    alike = [NAMES[name] for name, value in asked.items() if abs(value * 512 / _SIEVE - 1) < _FAR]
    other = [
        f"{number(512 * value)} B by {NAMES[name]}"
        for name, value in asked.items()
        if NAMES[name] not in alike and 512 * value >= 1
    ]
    if not asked:
        return ""
    below = [name for name in NETCDF if name in asked and NAMES[name] in alike]
    both = (
        " netCDF-C, below netCDF4-python, is among them: it is the sieve buffer of HDF5, below "
        "both, and no doing of netCDF4-python."
        if len(below) == len(NETCDF)
        else ""
    )
    return (
        f"**Who reads 64 KiB.** For a random read of 512 B, 64 KiB are read by "
        f"{listing(alike, len(alike))}; {listing(other, len(other))}.{both}"
    )


def sieve_time(records: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return whether those 64 KiB are what makes small reads slow."""
    found = ratio(records, "warm", "netcdf4-python/random/4KiB", "netcdf-c/random/4KiB")
    rows = [pick(table, "warm", reader, "random", "4KiB") for reader in NETCDF]
    if found is None or rows[0] is None or rows[1] is None:
        return ""
    each = [4096 / float(row["median"]) for row in rows if row is not None]
    text = (
        f"The same 100 random reads of 4 KiB, with {number(float(rows[0]['calls']))} and "
        f"{number(float(rows[1]['calls']))} read calls each, take netCDF-C {amount(each[0], 's')} "
        f"a read and netCDF4-python {amount(each[1], 's')}: its rate is "
        f"{comparison(found, 'higher', 'lower')}."
    )
    return f"{text} The bytes are the same, so they do not explain it." if _apart(found) else text


def faults(counted: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return what page faults say of large buffers.

    Parameters
    ----------
    counted : pandas.DataFrame
        From `baseline.rates`, of the experiment "counts".
    table : pandas.DataFrame
        From `baseline.rates`, of the experiment "patterns".
    """
    lines = []
    part = table[(table["state"] == "warm") & (table["pattern"] == "sequential")]
    for reader in ("python-read", "netcdf4-python", "c-fread"):
        mine = part[part["reader"] == reader].sort_values("nbytes")
        if len(mine) > 1:
            least, last = mine.loc[mine["nbytes"] == 2**20], mine.iloc[-1]
            if len(least) and last["nbytes"] > 2**20:
                lines.append(
                    f"{NAMES[reader]} {number(float(least['faults'].iloc[0]) / 1e3)} at 1 MiB and "
                    f"{number(float(last['faults']) / 1e3)} at {last['size']}"
                )
    text = f"Minor page faults for each MB from memory: {'; '.join(lines)}. " if lines else ""
    text += (
        "A reader that gives new memory with each read has the system map it, page by page, and "
        "fill it with zeros before it is written, wherever malloc gave the last read's memory "
        "back: that is so for large blocks, from a threshold that starts at 128 KiB in glibc and "
        "moves with what is freed. A loop in C reads into one buffer that it keeps."
    )
    return f"{text} {_huge(counted)}".strip()


def _huge(counted: pd.DataFrame) -> str:
    more: dict[str, float] = {}
    for reader in ("numpy-fromfile", "netcdf4-python"):
        large = pick(counted, "warm", reader, "sequential", LARGE)
        small = pick(counted, "warm", f"{reader}{SMALL_PAGES}", "sequential", LARGE)
        if large is not None and small is not None and float(large["faults"]) > 0:
            more[NAMES[reader]] = float(small["faults"]) / float(large["faults"])
    many = {name: value for name, value in more.items() if value > 1 + _FAR}
    lines = []
    if many:
        times = [number(value) for value in many.values()]
        lines.append(
            f"At {LARGE} {listing(list(many))} {'have' if len(many) > 1 else 'has'} "
            f"{listing(times)} times as many when numpy may not ask for huge pages, as it does for "
            "arrays from 4 MiB on: there one fault can bring 2 MiB, and one cost for a fault "
            "cannot stand for both kinds."
        )
    if few := [name for name in more if name not in many]:
        lines.append(f"Huge pages play no part in {listing(few)} at {LARGE}.")
    return " ".join(lines)


def chunks(chunked: pd.DataFrame) -> str:
    """Return which chunk sizes are read best.

    Parameters
    ----------
    chunked : pandas.DataFrame
        From `chunked.by_chunk`.
    """
    lines = []
    for state, part in chunked.groupby("state", sort=False):
        top = part.sort_values("rate").iloc[-1]
        near = part[part["rate"] >= (1 - _FAR) * top["rate"]].sort_values("chunk_bytes")
        lines.append(
            f"{str(state).capitalize()}, chunks of {top['chunk']} were read at "
            f"{amount(float(top['rate']), 'B/s')}, and within 10 % of that are "
            f"{listing(list(near['chunk']), len(near))}."
        )
    return " ".join(lines) + (
        " Every file was read whole, 1 MiB at a time: what differs is the chunk alone. A chunk is "
        "also what a read of a few values has to fetch; the pages on chunks have more on that."
    )


def caption_chunks(chunked: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the rates by chunk."""
    most = chunked.sort_values("chunk_bytes").iloc[0]
    return (
        "Rate of a whole file, without compression, over the size of its chunks; medians with "
        f"95 % intervals. Read calls fall from {number(float(most['calls']))} for the smallest "
        f"to {number(float(chunked.sort_values('chunk_bytes').iloc[-1]['calls']))} for the "
        f"largest. Run {records['run_id'].iloc[0]}."
    )


def _blocks(table: pd.DataFrame) -> str:
    count = int(table["n"].max())
    return f"{count} interleaved block{'s' if count > 1 else ''}"


def _asked(found: "pd.Series[float] | None") -> str:
    if found is None:
        return "–"
    asked = float(found["asked"])
    return number(asked) if asked > 1e-3 else "0"


def _pair(of: str, to: str, size: str) -> tuple[str, str]:
    return f"{of}/sequential/{size}", f"{to}/sequential/{size}"


def _apart(found: Interval) -> bool:
    return not found.contains(1) and abs(found.value - 1) > _FAR
