"""What a benchmark found, for people: two tables with the best marked, and by how much."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from hyperslab.measure.noise import judge
from hyperslab.measure.records import main
from hyperslab.measure.stats import Interval
from hyperslab.text import amount, listing, percent, spread

from ..specs.target import COPY
from .summary import STEPS, Best, Findings, Quantity
from .table import grid, wrapped

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def text(frame: pd.DataFrame, *, counts: bool = False, width: int = 0) -> str:
    """Return the whole report of a benchmark."""
    found = Findings(frame)
    parts = [copies(found, width), patterns(found, width)]
    parts += [counted(found, width) if counts else ""]
    parts += [wrapped(said(found), width) for said in (legend, sentences, warnings)]
    return "\n\n".join(filter(None, parts))


def copies(found: Findings, width: int = 0) -> str:
    """Return the table of sizes, and of the times to write and to read back."""
    rows = found.table.set_index("target").astype({"file_bytes": float})
    sizes, ratios = rows["file_bytes"], rows["ratio"].astype(float)
    marks = [" *" if sizes.nunique() > 1 and size == sizes.min() else "  " for size in sizes]
    columns = {
        "layout": list(rows.index),
        "file": [amount(size, "B") + mark for size, mark in zip(sizes, marks, strict=True)],
        "ratio": ["–" if math.isnan(x) else f"{x:.2f}" for x in ratios],
    }
    return grid(columns | _timed(found, [Quantity(name) for name in STEPS]), width)


def patterns(found: Findings, width: int = 0) -> str:
    """Return the table of times to read each pattern; empty when none was read."""
    chosen = [quantity for quantity in found.quantities if quantity.cache_state]
    if not chosen:
        return ""
    order = list(dict.fromkeys(quantity.name for quantity in chosen))
    chosen.sort(key=lambda quantity: (order.index(quantity.name), quantity.cache_state))
    cold = any(quantity.cache_state == "cold" for quantity in chosen)
    note = "" if cold else "\n(cold reads could not be measured here)"
    return grid({"layout": found.targets} | _timed(found, chosen), width) + note


def counted(found: Findings, width: int = 0) -> str:
    """Return the table of what the patterns asked of the system: calls, bytes and CPU time."""
    rows = main(found.frame)
    rows = rows[rows["phase"].str.startswith("pattern:")]
    if "cold" in set(rows["cache_state"]):
        rows = rows[rows["cache_state"] == "cold"]
    columns: dict[str, list[str]] = {"layout": found.targets}
    for name, part in rows.groupby(rows["phase"].str.removeprefix("pattern:"), sort=False):
        typical = part.groupby("case")[["rchar", "syscr", "user_s"]].median()
        for column, head, unit in (("rchar", "read", "B"), ("syscr", "calls", ""),
                                   ("user_s", "user CPU", "s")):  # fmt: skip
            known = typical[column].reindex(columns["layout"])
            columns[f"{name}\n{head}"] = [amount(value, unit) for value in known]
    return grid(columns, width) if len(columns) > 1 else ""


def legend(found: Findings) -> str:
    """Return what the marks and numbers mean, and how much was measured."""
    blocks = [x.n for x in found.medians.values()]
    if not blocks:
        return ""
    return (
        f"medians, ± half of their interval ({spread(max(blocks), min(blocks))}); * best, = not "
        "told apart from it; no mark where none is told apart\n"
        "write: created, filled, closed, on the disk; re-read: all of it, just written; "
        "open: its metadata"
    )


def sentences(found: Findings) -> str:
    """Return by how much the best layouts are better than the file's own, over all and in each."""
    if len(found.targets) - len(found.lost) < 2:
        return ""
    lines = []
    over = found.overall
    if over and len(over[2]) > 1:
        name, gain, chosen = over
        rows = found.table.set_index("target")
        size = rows["file_bytes"][name] / rows["file_bytes"][COPY]
        names = listing([quantity.name for quantity in chosen], len(chosen))
        lines.append(
            f"Over {names} together ({chosen[0].cache_state}), {name} is {gain:faster} than the "
            f"file as it is, at {size:.2f} of its size."
        )
    leaders = found.best
    cold = [one for one in leaders if one.quantity.cache_state == "cold"]
    lines += [_line(one) for one in cold or leaders if one.quantity.cache_state]
    lines += [_line(one) for one in leaders if one.quantity.name == "write"]
    return "\n".join(lines)


def warnings(found: Findings) -> str:
    """Return what spoils the numbers: noise, values that differ, layouts that failed."""
    wrong = found.unverified
    lines = [
        f"not measured: {name}: {found.lost[name]}" for name in found.lost if name not in wrong
    ]
    lines += [f"WRONG VALUES: {name}: {why}" for name, why in wrong.items()]
    steps = [phase for phases in STEPS.values() for phase in phases]
    phase = found.rows["phase"]  # a source that is read cold stands in no table
    noises = judge(found.rows[phase.isin(steps) | phase.str.startswith("pattern:")])
    states = {noise.state for noise in noises} & {"marked", "void"}
    if states:
        apart = ", ".join(
            f"{percent(noise.away)} {noise.cache_state or 'in writing'}" for noise in noises
        )
        others = max(noise.others_cpu for noise in noises)  # NaN where nobody counts it
        used = "an unknown share" if math.isnan(others) else percent(others)
        lines.append(
            f"noisy run ({max(states)}): the same layout measured twice differed by {apart}; other "
            f"programs used {used} of the CPU: do not trust differences of that size"
        )
    return "\n".join(lines)


def notes(frame: pd.DataFrame) -> list[str]:
    """Return what is to be said of a bench beside its numbers, a sentence each."""
    rows = frame[frame["experiment"] == "note"]
    named = zip(rows["case"], rows["status"], strict=True)
    return list(dict.fromkeys(f"{case}: {text}" if case else str(text) for case, text in named))


def _timed(found: Findings, chosen: Sequence[Quantity]) -> dict[str, list[str]]:
    """Return a column of times for each quantity, all of it in one unit, the best marked."""
    middle = found.medians
    leaders = {one.quantity: one for one in found.best}
    columns: dict[str, list[str]] = {}
    for quantity in chosen:
        known = {name: middle.get((name, quantity)) for name in found.targets}
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
        return "–  "
    value = found.value / scale
    digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
    half = 50 * (found.high - found.low) / found.value if found.value else 0.0
    about = f" ±{half:.0f}%" if found.n > 1 else ""
    return f"{value:,.{min(digits, 3)}f}{about} {mark}"


def _mark(name: str, lead: Best | None, of: int) -> str:
    if lead is None or of < 2 or not lead.ahead:
        return " "
    return "*" if name == lead.target else "=" if name in lead.alike else " "


def _line(one: Best) -> str:
    base = "the file as it is" if one.baseline == COPY else one.baseline
    also = f" (not told apart: {listing(list(one.alike), len(one.alike))})" if one.alike else ""
    if not one.ahead:
        return f"{one.quantity.label}: nothing is told apart from the quickest."
    if one.gain is None:
        return f"{one.quantity.label}: nothing is faster than {base}{also}."
    return f"{one.quantity.label}: {one.target} is {one.gain:faster} than {base}{also}."
