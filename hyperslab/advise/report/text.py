"""What a benchmark found, for people: two tables with the best marked, and by how much."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from hyperslab.measure.noise import judge
from hyperslab.measure.records import main
from hyperslab.measure.stats import Interval

from .summary import (
    COPY,
    STEPS,
    Best,
    Quantity,
    best,
    lost,
    measured,
    medians,
    overall,
    quantities,
    ratio,
    summary,
    targets,
    times,
    unverified,
)
from .table import amount, grid, listing, wrapped

ENOUGH = 6  # blocks from which the intervals cover 95 %
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def text(frame: pd.DataFrame, *, counts: bool = False, width: int = 0) -> str:
    """Return the whole report of a benchmark.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `hyperslab.advise.bench.engine.bench`.
    counts
        Whether to add what each layout asked of the system.
    width
        Characters of a line: wider tables are parted, longer sentences broken; 0 for any.
    """
    parts = [copies(frame, width), patterns(frame, width)]
    parts += [counted(frame, width) if counts else ""]
    parts += [wrapped(said(frame), width) for said in (legend, sentences, warnings)]
    return "\n\n".join(filter(None, parts))


def copies(frame: pd.DataFrame, width: int = 0) -> str:
    """Return the table of sizes, and of the times to write and to read back."""
    rows = summary(frame).set_index("target").astype({"file_bytes": float})
    smallest = rows["file_bytes"].min()
    same = len(rows) > 1 and rows["file_bytes"].nunique() > 1
    columns: dict[str, list[str]] = {"layout": list(rows.index)}
    columns["file"] = [
        amount(size) + (" *" if same and size == smallest else "  ") for size in rows["file_bytes"]
    ]
    columns["ratio"] = ["-" if math.isnan(x) else f"{x:.2f}" for x in rows["ratio"]]
    columns |= _timed(frame, [Quantity(name) for name in STEPS])
    return grid(columns, width)


def patterns(frame: pd.DataFrame, width: int = 0) -> str:
    """Return the table of times to read each pattern; empty when none was read."""
    chosen = [quantity for quantity in quantities(frame) if quantity.cache_state]
    if not chosen:
        return ""
    states = {quantity.cache_state for quantity in chosen}
    order = list(dict.fromkeys(quantity.name for quantity in chosen))
    chosen.sort(key=lambda quantity: (order.index(quantity.name), quantity.cache_state))
    columns = {"layout": targets(frame)} | _timed(frame, chosen)
    note = "" if "cold" in states else "\n(cold reads could not be measured here)"
    return grid(columns, width) + note


def counted(frame: pd.DataFrame, width: int = 0) -> str:
    """Return the table of what the patterns asked of the system: calls, bytes and CPU time."""
    rows = main(frame)
    rows = rows[rows["phase"].str.startswith("pattern:")]
    if "cold" in set(rows["cache_state"]):
        rows = rows[rows["cache_state"] == "cold"]
    columns: dict[str, list[str]] = {"layout": targets(frame)}
    for name, part in rows.groupby(rows["phase"].str.partition(":")[2], sort=False):
        typical = part.groupby("case")[["rchar", "syscr", "user_s"]].median()
        for column, label in (("rchar", "read"), ("syscr", "calls"), ("user_s", "user CPU")):
            values = [typical[column].get(case, float("nan")) for case in columns["layout"]]
            shown = {"rchar": amount, "syscr": lambda n: f"{n:,.0f}", "user_s": _seconds}[column]
            columns[f"{name}\n{label}"] = ["-" if math.isnan(x) else shown(x) for x in values]
    return grid(columns, width) if len(columns) > 1 else ""


def legend(frame: pd.DataFrame) -> str:
    """Return what the marks and numbers mean, and how much was measured."""
    blocks = [len(seconds) for seconds in times(frame).values()]
    if not blocks:
        return ""
    n = f"{max(blocks)}" if min(blocks) == max(blocks) else f"{min(blocks)} to {max(blocks)}"
    covers = "95 % interval" if min(blocks) >= ENOUGH else "range: below 6 no 95 % interval"
    typical = (
        f"median of {n} (± half of its {covers}); * best, = not told apart from it; no mark where "
        "none is told apart"
    )
    if max(blocks) == 1:
        typical = "measured once: nothing is known of how it varies; * best"
    return (
        f"{typical}\n"
        "write: created, filled, closed, on the disk; re-read: all of it, just written; "
        "open: its metadata"
    )


def sentences(frame: pd.DataFrame) -> str:
    """Return by how much the best layouts are better than the file's own.

    The first sentence speaks of all patterns together, the others of one each; none where there
    is but one layout that was measured.
    """
    if len(targets(frame)) - len(lost(frame)) < 2:
        return ""
    lines = []
    over = overall(frame)
    if over and len(over[2]) > 1:
        name, gain, chosen = over
        rows = summary(frame).set_index("target")
        size = rows["file_bytes"][name] / rows["file_bytes"][COPY]
        state, names = chosen[0].cache_state, listing([q.name for q in chosen])
        said = f"{name} is {factor(gain)} the file as it is, at {size:.2f} of its size"
        if gain.low <= 1 <= gain.high:
            said = f"nothing is told apart from the file as it is; first, {said}"
        elif gain.value < 1:
            said = f"nothing is faster than the file as it is; next, {said}"
        lines.append(f"Over {names} together ({state}), {said}.")
    found = best(frame)
    cold = [one for one in found if one.quantity.cache_state == "cold"]
    lines += [_line(one, frame) for one in cold or found if one.quantity.cache_state]
    lines += [_line(one, frame) for one in found if one.quantity.name == "write"]
    return "\n".join(lines)


def warnings(frame: pd.DataFrame) -> str:
    """Return what spoils the numbers: noise, values that differ, layouts that failed."""
    wrong = unverified(frame)
    lines = [
        f"not measured: {name}: {why}" for name, why in lost(frame).items() if name not in wrong
    ]
    lines += [f"WRONG VALUES: {name}: {why}" for name, why in wrong.items()]
    noises = judge(_shown(frame))
    states = [noise.state for noise in noises]
    if {"marked", "void"} & set(states):
        apart = ", ".join(
            f"{100 * noise.away:.1f} % {noise.cache_state or 'in writing'}" for noise in noises
        )
        others = max(noise.others_cpu for noise in noises)
        lines.append(
            f"noisy run ({'void' if 'void' in states else 'marked'}): the same layout measured "
            f"twice differed by {apart}; other programs used {100 * others:.0f} % of the CPU: "
            "do not trust differences of that size"
        )
    return "\n".join(lines)


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the samples whose times stand in a table: a source read cold stands in none."""
    rows = measured(frame)
    steps = [phase for phases in STEPS.values() for phase in phases]
    return rows[rows["phase"].isin(steps) | rows["phase"].str.startswith("pattern:")]


def factor(gain: Interval) -> str:
    """Return a ratio of times as words, with its interval.

    Examples
    --------
    >>> factor(Interval(3.21, 3.0, 3.456, 7)), factor(Interval(0.5, 0.4, 0.6, 7))
    ('3.2 [3.0, 3.5] times as fast as', '2.0 [1.7, 2.5] times as slow as')
    """
    value, low, high, way = gain.value, gain.low, gain.high, "fast"
    if value < 1:
        value, low, high, way = 1 / value, 1 / high, 1 / low, "slow"
    digits = 0 if value >= 100 else 1 if value >= 2 else 2
    if gain.n < 2:
        return f"{value:,.{digits}f} times as {way} as"
    shown = ", ".join(f"{x:,.{digits}f}" for x in (low, high))
    return f"{value:,.{digits}f} [{shown}] times as {way} as"


def _timed(frame: pd.DataFrame, chosen: Sequence[Quantity]) -> dict[str, list[str]]:
    """Return a column of times for each quantity, all of it in one unit, the best marked."""
    middle = medians(frame)
    leaders = {one.quantity: one for one in best(frame)}
    columns: dict[str, list[str]] = {}
    for quantity in chosen:
        known = {name: middle.get((name, quantity)) for name in targets(frame)}
        most = max((found.value for found in known.values() if found), default=0.0)
        scale, unit = next(((s, u) for s, u in _UNITS if most >= s), _UNITS[-1])
        lead = leaders.get(quantity)
        head = f"{quantity.name}\n{quantity.cache_state} {unit}".replace("\n ", "\n")
        columns[head] = [
            _cell(found, scale, _mark(name, lead, len(known))) for name, found in known.items()
        ]
    return columns


def _cell(found: Interval | None, scale: float, mark: str) -> str:
    if found is None:
        return "-  "
    value = found.value / scale
    digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
    spread = 50 * (found.high - found.low) / found.value if found.value else 0.0
    about = f" ±{spread:.0f}%" if found.n > 1 else ""
    return f"{value:,.{min(digits, 3)}f}{about} {mark}"


def _mark(name: str, lead: Best | None, of: int) -> str:
    if lead is None or of < 2 or not lead.ahead:
        return " "
    return "*" if name == lead.target else "=" if name in lead.alike else " "


def _line(one: Best, frame: pd.DataFrame) -> str:
    said = "the file as it is" if one.baseline == COPY else one.baseline
    also = f" (not told apart: {listing(one.alike)})" if one.alike else ""
    if not one.ahead:
        return f"{one.quantity.label}: nothing is told apart from the quickest."
    if one.gain is None:
        second = _second(one, frame)
        return f"{one.quantity.label}: nothing is faster than {said}{second}{also}."
    if one.gain.low <= 1 and one.gain.n > 1:
        first = listing([one.target, *(name for name in one.alike if name != one.baseline)])
        return f"{one.quantity.label}: nothing is told apart from {said}; first, {first}."
    return f"{one.quantity.label}: {one.target} is {factor(one.gain)} {said}{also}."


def _second(one: Best, frame: pd.DataFrame) -> str:
    """Return how far ahead of the next one the best is, when it is the file's own layout."""
    seconds = times(frame)
    others = [n for n in targets(frame) if n != one.target and (n, one.quantity) in seconds]
    if not others:
        return ""
    following = min(others, key=lambda name: float(seconds[name, one.quantity].median()))
    gain = ratio(seconds, one.quantity, following, one.target)
    return "" if gain is None else f", which is {factor(gain)} {following}"


def _seconds(value: float) -> str:
    scale, unit = next(((s, u) for s, u in _UNITS if value >= s), _UNITS[-1])
    return f"{value / scale:.3g} {unit}"
