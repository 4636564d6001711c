"""Whether a machine stood still enough while it measured, by its A/A pairs."""

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from hyperslab.measure.noise import VOID, Noise, judge

from ...text import ENOUGH, percent
from .problem import Problem

MOST_VOID = 0.10
"""Share of a folder's A/A pairs that may be void: what they void stays inconclusive."""


def noise_problems(frames: Mapping[str, pd.DataFrame]) -> Iterator[Problem]:
    """Yield the A/A pairs that are out of bounds.

    Where there are blocks enough for an interval, none may lie wholly outside of the bound of a
    void run: chance does not do that. And at most `MOST_VOID` of all pairs may be void by the
    claims' bounds, theirs or the one on other programs. What these void decides no claim.
    """
    pairs = [(notebook, item) for notebook, frame in frames.items() for item in judge(frame)]
    told = [(notebook, item) for notebook, item in pairs if item.ratio.n >= ENOUGH]
    for notebook, items in _by_notebook(
        (notebook, item) for notebook, item in told if item.surely_void
    ):
        shown = ", ".join(f"{item.name} {_apart(item)}" for item in items)
        what = f"A/A pairs beyond ±{percent(VOID)}: {shown}"
        yield Problem(f"{notebook}.parquet", what, _again(notebook), "wall_s")
    void = [pair for pair in told if pair[1].state == "void"]
    void += [p for p in pairs if p not in void and p[1].others == "void"]
    if len(void) <= MOST_VOID * len(pairs):
        return
    for notebook, items in _by_notebook(void):
        shown = ", ".join(_why(item) for item in items)
        what = f"void: {shown}; {len(void)} of the folder's {len(pairs)} A/A pairs are"
        yield Problem(f"{notebook}.parquet", what, _again(notebook), "aa")


def _by_notebook(pairs: Iterable[tuple[str, Noise]]) -> list[tuple[str, list[Noise]]]:
    found: dict[str, list[Noise]] = {}
    for notebook, item in pairs:
        found.setdefault(notebook, []).append(item)
    return list(found.items())


def _why(item: Noise) -> str:
    if item.others == "void":
        return f"{item.name} (other programs took {percent(item.others_cpu)} of the CPU)"
    return f"{item.name} (A/A {_apart(item)})"


def _apart(item: Noise) -> str:
    ratio = item.ratio
    return f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"


def _again(notebook: str) -> str:
    return f"measure again on a machine that stands still, `hyperslab run {notebook} --again`"
