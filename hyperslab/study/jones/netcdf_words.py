"""The sentences and tables of the page on netCDF, with their numbers from the records."""

from itertools import product

import pandas as pd

from ...text import amount, comparison, listing, number, percent, spread
from ..lee.rate_words import than
from .baseline import pick, ratio, sizes_of
from .by_size import few
from .from_device import between, errors
from .netcdf import JUMPED, NAMES, NETCDF
from .plan import spaced
from .reads import LONGEST_S
from .size_words import by_block, fastest, ranges
from .spots import PATTERNS

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
    where = "every size" if len(bound) == len(part) else ranges(bound, list(part["size"]))
    return f"The processor limits netCDF4-python's cold reads in buffers of {where}."


def method(records: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return how much was read, and for how long."""
    sizes = sizes_of(table)
    size = table["nbytes"].max()
    longest = records[records["phase"] == "read"]["wall_s"].max()
    return (
        f"One contiguous variable of doubles, and its plain twin; buffers of "
        f"{spaced(sizes[0])} to {spaced(sizes[-1])}, {len(sizes)} sizes, the largest "
        f"{amount(float(size), 'B')}. A sample ends with the file or after a set time, "
        f"the longest took {amount(longest, 's')}, and its "
        "rate is of what it has read. What is read is compared with the truth. Each kind of read "
        f"was made in {table['n'].min():.0f} to {_blocks(table)}; in the most of them, cold, those "
        f"that claims compare.{_covered(table, str(records['profile'].iloc[0]))}"
        f"{few(table, 'netcdf-c')}"
    )


def _covered(table: pd.DataFrame, profile: str) -> str:
    """Say who reads in which pattern and state, and what is left out."""
    cold = table[table["state"] == "cold"]
    parts = []
    for kind, words in (("sequential", "in file order"), ("random", "strided and at random")):
        readers = set(cold.loc[cold["pattern"] == kind, "reader"])
        named = [name for reader, name in NAMES.items() if reader in readers]
        if named:
            parts.append(f"{words} by {listing(named, len(named))}")
    warm = set(table.loc[table["pattern"] == "sequential", "reader"])
    rest = [name for reader, name in NAMES.items() if reader in warm - set(cold["reader"])]
    text = f" From the device is read {'; '.join(parts)}." if parts else ""
    if rest:
        text += f" From memory alone are read: {listing(rest, len(rest))}."
    if profile in ("smoke", "quick"):
        text += (
            " Within the minutes of this profile no more can be read; xarray, too, from the "
            "device, and strided and random reads of all libraries, are in the profile full."
        )
    return text


def patterns(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cold rates of every reader in every pattern, as text; empty where few jump.

    Parameters
    ----------
    table : pandas.DataFrame
        From `baseline.rates`, of the experiment "patterns".
    """
    rows = []
    for reader, name in NAMES.items():
        row = {"reader": name}
        for pattern, size in product(PATTERNS, JUMPED):
            found = pick(table, "cold", reader, pattern, size)
            row[f"{pattern}, {size}"] = "–" if found is None else _rate(found)
        if set(row.values()) != {name, "–"}:
            rows.append(row)
    jump = [row for row in rows if row[f"random, {JUMPED[-1]}"] != "–"]
    return pd.DataFrame(rows) if len(jump) > len(NETCDF) else pd.DataFrame()


def caption_patterns(table: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the table of all readers and patterns."""
    part = table[(table["state"] == "cold") & table["size"].isin(JUMPED)]
    told = f" with {spread(part['n'].max(), part['n'].min())}" if len(part) else ""
    return (
        f"Cold rates in MB/s: medians{told}, by reader, pattern and size of buffer. What reads "
        "plain files so is on {doc}`jones_baseline`. "
        f"Run {records['run_id'].iloc[0]}."
    )


def _rate(found: "pd.Series[float]") -> str:
    middle, low, high = (number(float(found[x]) / 1e6) for x in ("median", "low", "high"))
    return f"{middle} [{low}, {high}]"


def predicted_6(found: pd.DataFrame) -> str:
    """Return how well the three costs predict the cold rates.

    Parameters
    ----------
    found : pandas.DataFrame
        From `from_device.predicted`.
    """
    if found.empty:
        return ""
    on_top, hidden = errors(found)
    return (
        "**Predicted.** The three costs of each library, which are fitted to reads from memory "
        "(below), and the device's time in the barest reads of the same pattern give "
        "a band: its lower edge has the two follow one another, its upper edge has the longer "
        f"hide the shorter. Of {len(found)} cold rates {between(found)} lie in it or within 10 % "
        f"of it; the lower edge is off by {percent(on_top)} as a median, the upper by "
        f"{percent(hidden)}{_turns(on_top, hidden)}."
    )


def _turns(on_top: float, hidden: float) -> str:
    if abs(on_top - hidden) < _FAR * max(on_top, hidden):
        return ""
    if on_top < hidden:
        return ": the library waits for the device, and the device for the library"
    return ": read-ahead lets the device work while the library does"


def caption_6(table: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the cold rates."""
    return (
        "Rate of cold reads over the size of the buffer: medians with "
        f"{spread(table['n'].max(), table['n'].min())}. Bands: what the three costs below "
        "predict. The document's Figure 6 has no scale that could be carried over; dotted lines "
        "stand where its text says that "
        "netCDF4-python is slow below, fastest, and slower again. After Figure 6 of "
        "{cite:t}`jones2016`. "
        f"Run {records['run_id'].iloc[0]}."
    )


def caption_warm(table: pd.DataFrame) -> str:
    """Return the caption of the rates from memory."""
    part = table[(table["state"] == "warm") & (table["pattern"] == "sequential")]
    told = f", with {spread(part['n'].max(), part['n'].min())}" if len(part) else ""
    return (
        f"Rate of sequential reads from memory, measured (marks{told}) and by the three costs of "
        "each reader (dashed). Dotted lines: what the document says of netCDF4-python's cold reads."
    )


def caption_7() -> str:
    """Return the caption of the shares of CPU time."""
    return (
        "CPU time over wall time of sequential reads, medians. In the document the processor "
        "limits netCDF4-python's cold reads throughout; it does not limit both C readers after "
        "4 KiB, nor plain Python, whose share grows again after 16 MiB. After Figure 7 of "
        "{cite:t}`jones2016`."
    )


def caption_8() -> str:
    """Return the caption of h5py's reads."""
    return (
        "Sequential cold reads by h5py beside plain C and netCDF4-python, and the share of CPU "
        "time. The document draws the rate of h5py and the CPU time of h5netcdf. After Figure 8 "
        "of {cite:t}`jones2016`."
    )


def chunks(chunked: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return which chunk sizes are read best.

    Parameters
    ----------
    chunked : pandas.DataFrame
        From `chunked.by_chunk`, of the records.
    records : pandas.DataFrame
        Of the experiment "chunk-sizes".
    """
    lines = [
        f"{str(state).capitalize()}, {fastest(by_block(records, str(state), 'netcdf4-python'))}."
        f"{_smallest(part)}"
        for state, part in chunked.groupby("state", sort=False)
    ]
    few = ""
    if len(chunked) and chunked["least"].min() < chunked["least"].max():
        few = f" After {amount(LONGEST_S, 's')} of reading a sample stopped, some before its end."
    return " ".join(lines) + (
        f" Every file was read from its beginning, 1 MiB at a time: what differs is the chunk "
        f"alone.{few} A chunk is also what a read of a few values has to fetch; the pages on "
        "chunks have more on that."
    )


def _smallest(part: pd.DataFrame) -> str:
    """Say what reading through the smallest chunks takes, beside the largest."""
    ordered = part.sort_values("chunk_bytes")
    small, large = ordered.iloc[0], ordered.iloc[-1]
    calls, user = (
        f"{each(small[name])} and {each(large[name])}"
        for name, each in (("calls", number), ("user", lambda s: amount(float(s), "s")))
    )
    return (
        f" In chunks of {spaced(str(small['chunk']))} and {spaced(str(large['chunk']))} a MiB "
        f"takes {calls} read calls and {user} of CPU time outside the system."
    )


def caption_chunks(chunked: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the rates by chunk."""
    most = chunked.sort_values("chunk_bytes").iloc[0]
    return (
        "Rate of a file without compression over the size of its chunks; medians with "
        f"{spread(chunked['n'].max(), chunked['n'].min())}. Read calls for each MiB: "
        f"{number(float(most['calls']))} with the smallest, "
        f"{number(float(chunked.sort_values('chunk_bytes').iloc[-1]['calls']))} with the "
        f"largest. Run {records['run_id'].iloc[0]}."
    )


def _blocks(table: pd.DataFrame) -> str:
    count = int(table["n"].max())
    return f"{count} interleaved block{'s' if count > 1 else ''}"


def _pair(of: str, to: str, size: str) -> tuple[str, str]:
    return f"{of}/sequential/{size}", f"{to}/sequential/{size}"
