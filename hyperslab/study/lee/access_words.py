"""The sentences of the page on access patterns, with their numbers from the records."""

import pandas as pd

from ...measure.stats import Interval
from .access import DOCUMENT_NAMES, FIGURE_7, SEEK_MS, opening_bytes, plausible_rates


def summary(timed: pd.DataFrame, counted: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `times`, of the experiment "column-read".
    counted : pandas.DataFrame
        From `counts`.
    """
    if "cold" not in set(timed["cache_state"]):
        return (
            "**What we found.** Nothing could be read cold here; with the file in memory, a chunk "
            f"that is the column was read {_gain(timed, 'warm'):faster} than netCDF-3."
        )
    cold, warm = (_gain(timed, state) for state in ("cold", "warm"))
    first, last = counted.iloc[0], counted.iloc[-1]
    ratio = FIGURE_7["netcdf3"] / FIGURE_7["16384x1"]
    return (
        "**What we found.** With a chunk that is the column, reading it was "
        f"{cold:faster} than from netCDF-3 when nothing was in memory, and {warm:faster} when "
        f"the file was; the document has {ratio:,.0f} times faster. The bytes asked for differ by "
        "a factor of "
        f"{first['asked'] / last['asked']:,.0f} ({first['asked'] / 1e6:.1f} MB in "
        f"{first['calls']:,.0f} calls against {last['asked'] / 1e3:.0f} kB in "
        f"{last['calls']:,.0f}), and these counts come out the same every time."
    )


def unit() -> str:
    """Return a plain word on the unit of Figure 7."""
    rates = plausible_rates()
    return (
        "```{admonition} The unit of the document's Figure 7\n:class: note\n"
        f"Its axis says microseconds. {FIGURE_7['netcdf3']:.0f} µs for an array of 33.6 MB would "
        f"be {rates['µs'] / 1e3:,.0f} GB/s, on a disk of 2008; taken as milliseconds it is "
        f"{rates['ms']:.0f} MB/s, which agrees with the cold reads of its Table 2. We read it as "
        f"milliseconds. Even so {FIGURE_7['16384x1']} ms is less than the {SEEK_MS} ms that the "
        "drive needed for a seek: those short reads hardly came from the disk, so the factor of "
        "1,500 compares a cold read with one that was not cold.\n```"
    )


def caption_7(timed: pd.DataFrame, records: pd.DataFrame) -> str:
    """Return the caption of the times."""
    return (
        f"Time to read one column of {records['useful_bytes'].max() / 4:,.0f} integers: medians "
        f"with 95 % intervals of {timed['n'].max():.0f} interleaved blocks, opening and "
        "closing left out. Cold: evicted from the page cache, and verified. "
        "After Figure 7 of {cite:t}`lee2008`. "
        f"Run {records['run_id'].iloc[0]}."
    )


def table(timed: pd.DataFrame, counted: pd.DataFrame) -> pd.DataFrame:
    """Return times, gains and counts by layout, as text."""
    states = list(dict.fromkeys(timed["cache_state"]))
    rows = []
    for name in FIGURE_7:
        row = {"layout": DOCUMENT_NAMES[name], "document, ms": f"{FIGURE_7[name]:g}"}
        for state in states:
            found = timed[(timed["case"] == name) & (timed["cache_state"] == state)].iloc[0]
            row[f"{state}, ms"] = _median(found)
            row["its middle mean" if state == "cold" else "mean, warm"] = f"{found['mean8']:.2f}"
            row[f"gain {state}"] = f"{found['gain']}"
        count = counted[counted["case"] == name].iloc[0]
        if count.notna().all():
            row["read calls"] = f"{count['calls']:,.0f}"
            row["bytes asked"] = f"{count['asked']:,.0f}"
            row["bytes fetched"] = f"{count['fetched']:,.0f}"
        rows.append(row)
    return pd.DataFrame(rows)


def opening(records: pd.DataFrame) -> str:
    """Return what opening the file costs before anything is read."""
    asked = opening_bytes(records)
    if asked != asked:
        return ""
    share = records[(records["phase"] == "open") & (records["cache_state"] == "cold")]
    return (
        f"**Opening reads {asked / 2**20:.1f} MiB.** Before a value is asked for, opening a file "
        f"passes {asked:,.0f} bytes through read calls, whatever the layout: to find out the "
        "format, netCDF-C reads the head of the file through a buffer of 4 MiB. With this "
        f"device's read-ahead {share['read_bytes'].median() / 2**20:.0f} MiB come from it. So that "
        "the read itself starts cold, each sample evicts the file again once it is open; the "
        "times above are of the read alone, as in the document."
    )


def caption_table() -> str:
    """Return the caption of the table."""
    return (
        "Reading one column. Gain: netCDF-3's time over this layout's, median of paired ratios. "
        "Bytes fetched come from the device, with its read-ahead."
    )


def writes(existing: pd.DataFrame, new: pd.DataFrame) -> str:
    """Return what writing the column took.

    Parameters
    ----------
    existing, new : pandas.DataFrame
        From `times`, of the experiments "column-write" and "column-write-new".
    """
    over, fresh = (_gain(timed, "") for timed in (existing, new))
    return (
        f"Writing the column over, into a file that exists, was {over:faster} with the matching "
        "chunk than in netCDF-3 (the document: over 24 times faster). In a new file it was "
        f"{fresh:faster}: there netCDF-3 and contiguous netCDF-4 lay out the whole array for the "
        "sake of one column, and the chunked file holds one chunk of it."
    )


def advice(timed: pd.DataFrame) -> str:
    """Return what to do today."""
    words = {"cold": "from the disk", "warm": "from memory"}
    gains = " and ".join(
        f"{_gain(timed, state):faster} {words[state]}"
        for state in dict.fromkeys(timed["cache_state"])
    )
    return (
        "## What to do today\n\n"
        "- If you read columns (time series of a point), store chunks that are long along that "
        f"axis: {gains} here.\n"
        "- Expect the gain in bytes and calls to be the sure part. How much time it saves depends "
        "on what a call and a byte cost: little on a quick local disk, much over a network.\n"
        "- A chunk of one column makes every row read touch all chunks. Where both are needed, "
        "take chunks in between."
    )


def _gain(timed: pd.DataFrame, state: str) -> Interval:
    part = timed[(timed["case"] == "16384x1") & (timed["cache_state"] == state)]
    gain = part["gain"].iloc[0]
    assert isinstance(gain, Interval)
    return gain


def _median(row: "pd.Series[float]") -> str:
    return f"{row['ms']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
