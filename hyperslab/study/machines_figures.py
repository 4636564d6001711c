"""The measured ratios of machines against each other."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..claims.bands import NOT_MEASURED
from ..text import TIMES
from .machines import Machines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MARKS = "osD^v"


@dataclass(frozen=True)
class Pair:
    """A claim's ratio on the first machine and on another, each with its interval."""

    claim: str
    machine: str
    first: tuple[float, float, float]
    other: tuple[float, float, float]
    opposed: bool


def pairs(found: Machines) -> list[Pair]:
    """Return the ratios that two machines measured; the first machine's stand beside each other's.

    Parameters
    ----------
    found : Machines
    """
    return list(_pairs(found))


def _pairs(found: Machines) -> Iterator[Pair]:
    for claim in found.claims:
        heads = found.heads(claim)
        for machine, head in list(zip(found.machines, heads, strict=True))[1:]:
            both = [(each.measured, each.low, each.high) for each in (heads[0], head)]
            ratio = head.unit == TIMES and NOT_MEASURED not in (head.verdict, heads[0].verdict)
            if ratio and all(value > 0 and math.isfinite(value) for each in both for value in each):
                yield Pair(claim.id, machine.name, both[0], both[1], claim in found.opposed)


def caption(found: Machines) -> str:
    """Return the figure's caption; "" where no two machines have a ratio to show.

    Parameters
    ----------
    found : Machines
    """
    shown = pairs(found)
    if not shown:
        return ""
    away = sum(pair.opposed for pair in shown)
    named = f"; the {away} whose verdicts differ are named" if away else ""
    return (
        f"The ratios of {len({pair.claim for pair in shown})} claims on {found.machines[0].name} "
        f"and elsewhere, with their intervals: on the line machines agree{named}."
    )


def draw(found: Machines) -> "Figure":
    """Draw each claim's ratio on another machine over that on the first.

    Parameters
    ----------
    found : Machines
    """
    import matplotlib.pyplot as plt

    shown = pairs(found)
    figure, axes = plt.subplots(figsize=(5.6, 5.2))
    for place, machine in enumerate(found.machines[1:]):
        of_machine = [pair for pair in shown if pair.machine == machine.name]
        for differ, colour in ((False, f"C{place}"), (True, "C1" if place != 1 else "C3")):
            some = [pair for pair in of_machine if pair.opposed == differ]
            if not some:
                continue
            x, x_error = _bars([pair.first for pair in some])
            y, y_error = _bars([pair.other for pair in some])
            label = f"{machine.name}, verdicts differ" if differ else machine.name
            mark = "X" if differ else _MARKS[place % len(_MARKS)]
            axes.errorbar(
                x, y, xerr=x_error, yerr=y_error, fmt=mark, ms=5, color=colour, lw=1, label=label
            )
            for pair in some if differ else ():
                where = (pair.first[0], pair.other[0])
                axes.annotate(
                    pair.claim, where, xytext=(5, 4), textcoords="offset points", fontsize="small"
                )
    axes.set(xscale="log", yscale="log", aspect="equal")
    low = min(*axes.get_xlim(), *axes.get_ylim())
    high = max(*axes.get_xlim(), *axes.get_ylim())
    axes.plot([low, high], [low, high], color="0.5", lw=1, zorder=0)
    axes.set(xlim=(low, high), ylim=(low, high))
    axes.set_xlabel(f"Ratio on {found.machines[0].name}")
    axes.set_ylabel("Ratio on the other machine")
    axes.legend(loc="upper left")
    return figure


def _bars(values: list[tuple[float, float, float]]) -> tuple[list[float], list[list[float]]]:
    middle = [value for value, _, _ in values]
    below = [max(value - low, 0.0) for value, low, _ in values]
    above = [max(high - value, 0.0) for value, _, high in values]
    return middle, [below, above]
