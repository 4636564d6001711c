"""The sentences of the page on plain binary, with their numbers from the records."""

import pandas as pd

from ...measure.stats import Interval
from ...text import amount, comparison, interval, listing, number, percent, spread
from ..lee.rate_words import than
from .baseline import FIGURE_3, OTHER_SIZES, OTHERS, STATED, pick, ratio, sizes_of
from .by_size import few, ratios, told
from .latencies import DOCUMENT, LINK, Shape
from .plan import spaced
from .size_words import by_block, fastest
from .spots import PATTERNS

_LANGUAGES = {"c-fread": "C", "python-read": "Python"}
_WAYS = {
    "c-fread": "C: `fread`",
    "c-pread": "C: `pread`",
    "python-read": "`file.read(n)`",
    "python-readinto": "`file.readinto(buffer)`",
    "numpy-fromfile": "`numpy.fromfile(file, count=n)`",
    "numpy-memmap": "`numpy.memmap`, slices copied",
}
_SAME = 0.05
"""What differs by less is not called another number."""


def summary(records: pd.DataFrame, table: pd.DataFrame, ahead: Shape) -> str:
    """Return what was found.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "patterns".
    table : pandas.DataFrame
        From `rates`.
    ahead : Shape
        From `latencies.shape`.
    """
    said = [_patterns(table, size) for size in ("4KiB", "1MiB", "64MiB")]
    lines = [
        "**What we found.** " + " ".join(text for text in said if text),
        _languages(records),
        f"Of {ahead.reads} successive cold reads of 64 KiB {percent(ahead.fast)} were quicker than "
        f"the {amount(LINK, 'B/s')} of the document's link ({_eight()} in the document).",
    ]
    return " ".join(text for text in lines if text)


def method(records: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return how much was read, and for how long."""
    sizes = sizes_of(table)
    longest = records[records["phase"] == "read"]["wall_s"].max()
    told = spread(table["n"].max(), table["n"].min())
    return (
        f"Buffers of {spaced(sizes[0])} to {spaced(sizes[-1])}, {len(sizes)} sizes. A sample ends "
        f"with the file or after a set time, the longest took {amount(longest, 's')}, and its "
        f"rate is of what it has read; rates are medians, with {told}. Random reads take no byte "
        "twice. Cold: the file was evicted, "
        f"which is verified, after opening as well. {_warm(table)}"
        f"{few(table, FIGURE_3[0])}"
    )


def caption_3(table: pd.DataFrame, records: pd.DataFrame, state: str) -> str:
    """Return the caption of the rates."""
    part = table[table["state"] == state]
    if part.empty:
        return ""
    told = spread(part["n"].max(), part["n"].min())
    beside = " Marks of the document: the rates that its text states." if state == "cold" else ""
    return (
        f"Rate of {state} reads of plain binary, from C (`fread`) and from Python (`read`). "
        f"Diamonds: mean and one standard deviation, as the document draws them; dots: medians "
        f"with {told}. MB are 10⁶ bytes.{beside} After Figures 3, 4 and 5 of "
        "{cite:t}`jones2016`, which are one platform each. "
        f"Run {records['run_id'].iloc[0]}."
    )


def stated(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rates that the document states beside ours, as text."""
    rows = []
    for item in STATED:
        sizes = sizes_of(table)
        size = item.size if item.size in sizes else _largest(table, item.pattern, sizes)
        ours = pick(table, "cold", "c-fread", item.pattern, size)
        alone = ours is not None and ours["reads"] < 2
        rows.append(
            {
                "document": item.where,
                "what": item.what,
                "its rate": amount(item.rate, "B/s"),
                "ours, cold": "–" if ours is None else _rate(ours),
                "at": f"{item.pattern}, {spaced(size)}{', one read alone' if alone else ''}",
            }
        )
    return pd.DataFrame(rows)


def _largest(table: pd.DataFrame, pattern: str, sizes: list[str]) -> str:
    """Return the largest size of which a sample has several reads: one alone has no pattern."""
    rows = {size: pick(table, "cold", "c-fread", pattern, size) for size in sizes}
    several = [size for size, row in rows.items() if row is not None and row["reads"] >= 2]
    return (several or sizes)[-1]


def ahead(found: Shape, pread: Shape) -> str:
    """Return what successive reads show of read-ahead.

    Parameters
    ----------
    found, pread : Shape
        Of reads by fread and by pread.
    """
    named = ", ".join(f"{count} at {amount(rate, 'B/s')}" for count, rate in DOCUMENT.values())
    text = (
        f"The document saw, by strace, eight reads again and again: {named}. Here the clock runs "
        f"in C around each `fread` of 64 KiB. {percent(found.fast)} of {found.reads} reads were "
        f"quicker than {amount(LINK, 'B/s')}"
    )
    if found.fast > 0:
        text += f", at {amount(found.fast_rate, 'B/s')} as a median, which is out of memory"
    if found.fast < 1:
        text += (
            f"; the others, at {amount(found.slow_rate, 'B/s')}, took "
            f"{percent(found.slow_share)} of the time"
        )
        text += f" and lie at {listing([number(place, 2) for place in found.places], 12)} MiB"
    same = abs(found.fast - pread.fast) < _SAME
    return f"{text}. With `pread` it is {percent(pread.fast)}" + (
        ": the same, so that the system reads ahead, and not the C library." if same else "."
    )


def others(table: pd.DataFrame) -> pd.DataFrame:
    """Return the ways to read the same bytes, as text."""
    states = [state for state in ("cold", "warm") if state in set(table["state"])]
    rows = []
    for reader in (*FIGURE_3, *OTHERS):
        for size in OTHER_SIZES:
            found = {s: pick(table, s, reader, "sequential", size) for s in states}
            if all(row is None for row in found.values()):
                continue
            row: dict[str, str] = {"way": _WAYS[reader], "buffer": spaced(size)}
            for state, ours in found.items():
                row[f"{state}, MB/s"] = "–" if ours is None else _mb(ours)
            first, last = found[states[0]], found[states[-1]]
            row["faults per GB"] = "–" if last is None else number(float(last["faults"]))
            row[f"CPU, {states[0]}"] = "–" if first is None else _share(first["cpu"])
            rows.append(row)
    return pd.DataFrame(rows)


def caption_others(table: pd.DataFrame) -> str:
    """Return the caption of the ways to read the same bytes."""
    part = table[(table["pattern"] == "sequential") & table["size"].isin(OTHER_SIZES)]
    if part.empty:
        return ""
    return (
        "Sequential reads by other calls: rates with "
        f"{spread(part['n'].max(), part['n'].min())}; minor page faults for each GB, out "
        "of memory where that was measured, and the share of CPU time in the time of cold reads."
    )


def advice(records: pd.DataFrame) -> str:
    """Return what to do today."""
    lines = []
    far = ratio(records, "cold", "c-fread/random/1MiB", "c-fread/random/4KiB")
    if far is not None and not far.contains(1):
        size = "larger" if far.value > 1 else "smaller"
        lines.append(
            f"- Where reads must jump, make them {size}: at random, 1 MiB was read at "
            f"{number(far.value)} {_ends(far)} times the rate of 4 KiB."
        )
    lines += _in_order(records)
    one = ratio(records, "warm", "python-readinto/sequential/64MiB", "python-read/sequential/64MiB")
    if one is not None and not one.contains(1):
        way = "`file.readinto(buffer)`, with one" if one.value > 1 else "`file.read(n)`, without a"
        gain = one if one.value > 1 else Interval(1 / one.value, 1 / one.high, 1 / one.low, one.n)
        lines.append(
            f'- For large reads in Python, {way} `buffer = numpy.empty(n, "u1")` kept over all '
            f"reads: {comparison(gain.value, 'faster', 'slower')} {_ends(gain)} than the other out "
            "of memory at 64 MiB."
        )
    best = _best(records)
    if best:
        lines.append(best)
    return "## What to do today\n\n" + ("\n".join(lines) or "Nothing here makes a difference.")


def _warm(table: pd.DataFrame) -> str:
    if "warm" in set(table["state"]):
        return "Warm: the file is in memory, and only the software and the memory are timed."
    return "Nothing was read warm: memory may not hold such a file."


def _patterns(table: pd.DataFrame, size: str) -> str:
    rows = [pick(table, "cold", "c-fread", pattern, size) for pattern in PATTERNS]
    if any(row is None for row in rows):
        return ""
    shown = ", ".join(
        f"{pattern} {_rate(row)}"
        for row, pattern in zip(rows, PATTERNS, strict=True)
        if row is not None
    )
    return f"In buffers of {spaced(size)}, cold and from C: {shown}."


def _languages(records: pd.DataFrame) -> str:
    parts = []
    for state, words in (("cold", "from the disk"), ("warm", "out of memory")):
        found = ratio(records, state, "python-read/sequential/*", "c-fread/sequential/*")
        if found is not None:
            parts.append(f"{number(found.value)} {_ends(found)} times C's rate {words}")
    if not parts:
        return ""
    told = f"Python's `read`, in file order, has {' and '.join(parts)}, over all sizes."
    return f"{told}{_by_size(records)}"


def _by_size(records: pd.DataFrame) -> str:
    """Say at which sizes Python and C are apart from the device, which a mean can hide."""
    found = ratios(records, "cold", "python-read/sequential", "c-fread/sequential")
    words = told(found, "faster than C", "slower than C")
    return f" From the disk it is {words}." if words else ""


def _eight() -> str:
    total = sum(count for count, _ in DOCUMENT.values())
    return f"{DOCUMENT['fast'][0]} of {total}"


def _ends(found: Interval) -> str:
    return f"[{found.low:.2f}, {found.high:.2f}]"


def _in_order(records: pd.DataFrame) -> list[str]:
    """Say what Python gains from reading on, and from sorting the places alone."""
    on, by_place = (
        ratio(records, "cold", f"python-read/{pattern}/4KiB", "python-read/random/4KiB")
        for pattern in ("sequential", "strided")
    )
    lines = []
    if on is not None and not on.contains(1) and on.value > 1:
        lines.append(
            "- Keep small pieces next to each other in the file, and read on: in a row 4 KiB were "
            f"{comparison(on, 'faster', 'slower')} {_ends(on)} than at random from Python."
        )
    if by_place is not None:
        sure = not by_place.contains(1) and by_place.value > 1
        lines.append(
            "- Pieces that lie apart "
            + ("are worth sorting" if sure else "gain nothing sure from sorting alone")
            + ", `for start in sorted(starts)`: from Python, one piece of 4 KiB in four, in file "
            f"order, was {than(by_place, 'faster', 'slower', 'pieces at random')}."
        )
    return lines


def _best(records: pd.DataFrame) -> str:
    rates = by_block(records, "cold", "python-read/sequential")
    if rates.empty:
        return ""
    return (
        f"- In file order from Python, cold, of {rates.shape[1]} sizes of buffer {fastest(rates)}."
    )


def _rate(row: "pd.Series[float]") -> str:
    return interval(float(row["median"]), float(row["low"]), float(row["high"]), "B/s")


def _share(share: float) -> str:
    return "–" if share != share else f"{100 * min(1.0, share):.0f} %"


def _mb(row: "pd.Series[float]") -> str:
    return f"{row['median'] / 1e6:,.0f} [{row['low'] / 1e6:,.0f}, {row['high'] / 1e6:,.0f}]"
