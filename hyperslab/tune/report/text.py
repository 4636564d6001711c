"""What a benchmark found, for people: two tables with the best marked, and by how much."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from hyperslab.measure.noise import STATES, judge
from hyperslab.measure.records import main
from hyperslab.text import amount, listing, percent, spread

from ..specs.target import COPY
from .summary import STEPS, Best, Findings, Quantity
from .table import grid, wrapped


def text(frame: pd.DataFrame, *, counts: bool = False, width: int = 0) -> str:
    """Return the whole report of a benchmark."""
    findings = Findings(frame)
    sections = [copies(findings, width), patterns(findings, width)]
    sections += [counted(findings, width) if counts else ""]
    sections += [wrapped(words(findings), width) for words in (legend, sentences, warnings)]
    return "\n\n".join(filter(None, sections))


def copies(findings: Findings, width: int = 0) -> str:
    """Return the table of sizes, and of the times to write and to read back."""
    rows = findings.table.set_index("target").astype({"file_bytes": float})
    sizes = rows["file_bytes"]
    marks = [" *" if sizes.nunique() > 1 and size == sizes.min() else "  " for size in sizes]
    columns = {
        "layout": list(rows.index),
        "file": [amount(size, "B") + mark for size, mark in zip(sizes, marks, strict=True)],
        "ratio": [amount(float(ratio), "") for ratio in rows["ratio"]],
    }
    return grid(columns | _timed(findings, [Quantity(name) for name in STEPS]), width)


def patterns(findings: Findings, width: int = 0) -> str:
    """Return the table of times to read each pattern; empty when none was read."""
    chosen = [quantity for quantity in findings.quantities if quantity.cache_state]
    if not chosen:
        return ""
    order = list(dict.fromkeys(quantity.name for quantity in chosen))
    chosen.sort(key=lambda quantity: (order.index(quantity.name), quantity.cache_state))
    cold = any(quantity.cache_state == "cold" for quantity in chosen)
    note = "" if cold else "\n(cold reads could not be measured here)"
    return grid({"layout": findings.targets} | _timed(findings, chosen), width) + note


def counted(findings: Findings, width: int = 0) -> str:
    """Return the table of what the patterns asked of the system: calls, bytes and CPU time."""
    rows = main(findings.frame)
    rows = rows[rows["phase"].str.startswith("pattern:")]
    if "cold" in set(rows["cache_state"]):
        rows = rows[rows["cache_state"] == "cold"]
    columns: dict[str, list[str]] = {"layout": findings.targets}
    for name, group in rows.groupby(rows["phase"].str.removeprefix("pattern:"), sort=False):
        typical = group.groupby("case")[["rchar", "syscr", "user_s"]].median()
        for column, head, unit in (("rchar", "read", "B"), ("syscr", "calls", ""),
                                   ("user_s", "user CPU", "s")):  # fmt: skip
            values = typical[column].reindex(columns["layout"])
            columns[f"{name}\n{head}"] = [amount(value, unit) for value in values]
    return grid(columns, width) if len(columns) > 1 else ""


def legend(findings: Findings) -> str:
    """Return what the marks and numbers mean, and how much was measured."""
    blocks = [x.n for x in findings.medians.values()]
    if not blocks:
        return ""
    return (
        f"medians, ± half of their interval ({spread(max(blocks), min(blocks))}); * best, = not "
        "told apart from it; no mark where none is told apart; blocks share a process and a copy "
        "of each file: another run may lie outside\n"
        "write: created, filled, closed, on the disk; re-read: all of it, just written; "
        "open: its metadata"
    )


def sentences(findings: Findings) -> str:
    """Return by how much the best layouts are better than the file's own, over all and in each."""
    if len(findings.targets) - len(findings.lost) < 2:
        return ""
    lines = []
    overall = findings.overall
    if overall and len(overall[2]) > 1:
        name, gain, chosen = overall
        rows = findings.table.set_index("target")
        size = rows["file_bytes"][name] / rows["file_bytes"][COPY]
        names = listing([quantity.name for quantity in chosen], len(chosen))
        lines.append(
            f"Over {names} together ({chosen[0].cache_state}), {name} is {gain:faster} than the "
            f"file as it is, at {size:.2f} of its size."
        )
    leaders = findings.best
    cold = [leader for leader in leaders if leader.quantity.cache_state == "cold"]
    lines += [_line(leader) for leader in cold or leaders if leader.quantity.cache_state]
    lines += [_line(leader) for leader in leaders if leader.quantity.name == "write"]
    return "\n".join(lines)


def warnings(findings: Findings) -> str:
    """Return what spoils the numbers: noise, values that differ, layouts that failed."""
    bad = findings.unverified
    lines = [
        f"not measured: {name}: {findings.lost[name]}" for name in findings.lost if name not in bad
    ]
    lines += [f"WRONG VALUES: {name}: {why}" for name, why in bad.items()]
    steps = [phase for phases in STEPS.values() for phase in phases]
    phase = findings.rows["phase"]  # a source that is read cold stands in no table
    noises = judge(findings.rows[phase.isin(steps) | phase.str.startswith("pattern:")])
    worst = max((noise.state for noise in noises), default="clean", key=STATES.index)
    if worst in ("marked", "void"):
        apart = ", ".join(
            f"{percent(noise.away)} {noise.cache_state or 'in writing'}" for noise in noises
        )
        others = max(noise.others_cpu for noise in noises)  # NaN where nobody counts it
        used = "an unknown share" if math.isnan(others) else percent(others)
        lines.append(
            f"noisy run ({worst}): the same layout measured twice differed by {apart}; other "
            f"programs used {used} of the CPU: do not trust differences of that size"
        )
    return "\n".join(lines)


def notes(frame: pd.DataFrame) -> list[str]:
    """Return what is to be said of a bench beside its numbers, a sentence each."""
    rows = frame[frame["experiment"] == "note"]
    named = zip(rows["case"], rows["status"], strict=True)
    return list(dict.fromkeys(f"{case}: {text}" if case else str(text) for case, text in named))


def _timed(findings: Findings, chosen: Sequence[Quantity]) -> dict[str, list[str]]:
    """Return a column of times for each quantity, the best marked."""
    leaders = {b.quantity: b for b in findings.best if b.ahead and len(findings.targets) > 1}
    columns: dict[str, list[str]] = {}
    for quantity in chosen:
        lead = leaders.get(quantity)
        cells = columns[f"{quantity.name}\n{quantity.cache_state}".strip()] = []
        for name in findings.targets:
            x = findings.medians.get((name, quantity))
            half = f" ±{50 * (x.high - x.low) / x.value:.0f}%" if x and x.n > 1 and x.value else ""
            mark = lead and ("*" if name == lead.target else "=" if name in lead.alike else " ")
            cells.append(f"{amount(x.value if x else math.nan, 's')}{half} {mark or ' '}")
    return columns


def _line(top: Best) -> str:
    also = f" (not told apart: {listing(list(top.alike), len(top.alike))})" if top.alike else ""
    if not top.ahead:
        return f"{top.quantity.label}: nothing is told apart from the quickest."
    if top.gain is None:
        return f"{top.quantity.label}: {top.target} is the quickest{also}."
    return f"{top.quantity.label}: {top.target} is {top.gain:faster} than the file as it is{also}."
