"""Why plain reads differ: each reason with its count from the records."""

import math

import pandas as pd

from ...measure.stats import Interval
from ...text import interval, number, percent
from ..lee.rate_words import than
from .baseline import FIGURE_3, pick, ratio
from .baseline_figures import NAMES
from .plan import spaced
from .size_words import ranges
from .spots import STRIDE

_PAST = 1.02
_SMALL = 512


def why(table: pd.DataFrame) -> str:
    """Return why the patterns differ, by counts."""
    return "\n\n".join(text for text in (_strided(table), _random(table), _small(table)) if text)


def large(records: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return what happens to large buffers in memory, and which count goes with it."""
    size = "64MiB"
    names = ("c-fread", "python-read", "numpy-fromfile")
    c, python, numpy = (pick(table, "warm", name, "sequential", size) for name in names)
    found = ratio(records, "warm", f"python-read/sequential/{size}", f"c-fread/sequential/{size}")
    if c is None or python is None or found is None:
        return ""
    text = (
        f"**Large buffers.** Out of memory, in buffers of {spaced(size)}, Python's `read` was "
        f"{than(found, 'faster', 'slower', 'C')}. Each of its reads makes a new object: "
        f"{number(python['faults'])} minor page faults for each GB, against {number(c['faults'])} "
        "in C, which reads into one buffer."
    )
    one = ratio(records, "warm", f"python-readinto/sequential/{size}", f"c-fread/sequential/{size}")
    if one is not None:
        text += f" `readinto` one buffer was {than(one, 'faster', 'slower', 'C')}."
    theirs = ratio(
        records, "warm", f"numpy-fromfile/sequential/{size}", f"python-read/sequential/{size}"
    )
    if numpy is not None and theirs is not None:
        text += (
            f" `numpy.fromfile` was {than(theirs, 'faster', 'slower', '`read`')}, with "
            f"{number(numpy['faults'])} faults for each GB{_huge(numpy, python, theirs)}."
        )
    return text


def _strided(table: pd.DataFrame) -> str:
    part = table[
        (table["state"] == "cold")
        & (table["reader"] == "c-fread")
        & (table["pattern"] == "strided")
    ].sort_values("nbytes")
    part = part[part["fetched"].notna()]
    if part.empty:
        return ""
    every = [str(size) for size in part["size"]]
    whole = list(part[part["fetched"] > (1 + STRIDE) / 2]["size"])
    skipped = list(part[part["fetched"] <= (1 + STRIDE) / 2]["size"])
    text = (
        "**Strided.** The document takes from a rate of a quarter that the whole file was read. "
        f"Reading all of it would fetch {STRIDE} bytes for each that is used. "
    )
    if skipped:
        most = part[part["size"].isin(skipped)]["fetched"].max()
        text += f"Here it is {number(most)} at most with buffers of {ranges(skipped, every)}"
        text += ": what is skipped is not read. " if most < 1.5 else ". "
    read = part[part["size"].isin(whole)]
    held = read["asked"] > (1 + STRIDE) / 2
    for rows, why in (
        (read[held], "the C library's own buffer holds a step"),
        (read[~held], "the system reads ahead over what is skipped"),
    ):
        if len(rows):
            text += (
                f"With buffers of {ranges(list(rows['size']), every)} it is "
                f"{number(rows['fetched'].max())}, and {number(rows['asked'].max())} through read "
                f"calls: {why}. "
            )
    if (read["fetched"] > STRIDE * _PAST).any():
        text += f"What is above {STRIDE} the system read ahead past a sample's last read."
    return text.strip()


def _random(table: pd.DataFrame) -> str:
    size = next(
        (s for s in ("4KiB", "64KiB") if pick(table, "cold", "c-pread", "random", s) is not None),
        "",
    )
    rows = {
        r: pick(table, "cold", r, "random", size) for r in ("c-fread", "c-pread", "python-read")
    }
    c, pread, python = rows.values()
    if c is None or pread is None or python is None or math.isnan(c["calls"]):
        return ""
    text = (
        f"**Random.** Of {spaced(size)} at places that are no multiple of a page, `fread` after "
        f"`fseek` makes {number(c['calls'])} read calls for each read, `pread` "
        f"{number(pread['calls'])} and Python {number(python['calls'])}; from the "
        f"device come {number(c['fetched'])}, {number(pread['fetched'])} and "
        f"{number(python['fetched'])} bytes for each asked for."
    )
    if c["calls"] > 1.5 * pread["calls"] and c["fetched"] > 1.2 * pread["fetched"]:
        text += (
            " The C library first fills its own buffer up to the next page and then asks for the "
            "rest: two calls that follow one another, from which the system takes it that more "
            "will follow, and reads ahead."
        )
    if c["sd"] == c["sd"] and python["sd"] == python["sd"]:
        text += (
            " The document saw random reads vary more from C than from Python, and could not say "
            f"why; here the standard deviation is {percent(c['sd'] / c['mean'])} of the mean from "
            f"C and {percent(python['sd'] / python['mean'])} from Python."
        )
    return text


def _small(table: pd.DataFrame) -> str:
    found = {r: pick(table, "warm", r, "sequential", "512B") for r in FIGURE_3}
    rows = [(NAMES[r], row) for r, row in found.items() if row is not None]
    if not rows:
        return ""
    shown = " and ".join(
        f"{name} {_seconds(row)} each, with {number(row['calls'], 2)} calls of the system"
        for name, row in rows
    )
    return f"**Small.** Out of memory, reads of 512 bytes take in {shown}."


def _seconds(row: "pd.Series[float]") -> str:
    middle, low, high = (_SMALL / float(row[end]) for end in ("median", "high", "low"))
    return interval(middle, low, high, "s")


def _huge(numpy: "pd.Series[float]", python: "pd.Series[float]", gain: Interval) -> str:
    if numpy["faults"] * 4 > python["faults"]:
        return ""
    slower = ", and it was slower all the same" if gain.high < 1 else ""
    return (
        f": fewer{slower}. Numpy asks the system for huge pages for large arrays; a fault then "
        "has much more memory to clear"
    )
