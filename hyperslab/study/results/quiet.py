"""Whether a machine stood still enough while it measured, by its A/A pairs."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter

import pandas as pd

from hyperslab.measure.noise import VOID, Noise, judge

from ...text import percent
from .problem import Problem

MOST_VOID = 0.10
"""Share of a folder's A/A pairs that may be void: what they void stays inconclusive."""


def noise_problems(frames: Mapping[str, pd.DataFrame]) -> Iterator[Problem]:
    """Yield the A/A pairs that are out of bounds.

    No interval may lie wholly outside of the bound of a void run: chance does not do that. And at
    most `MOST_VOID` of all pairs may be void by the claims' bounds, theirs or the one on other
    programs. What these void decides no claim.
    """
    pairs = [(notebook, item) for notebook, frame in frames.items() for item in judge(frame)]
    sure = [pair for pair in pairs if pair[1].pair == "void"]
    for notebook, items in groupby(sure, itemgetter(0)):
        shown = ", ".join(f"{item.name} {_apart(item)}" for _, item in items)
        what = f"A/A pairs beyond ±{percent(VOID)}: {shown}"
        yield Problem(f"{notebook}.parquet", what, _again(notebook), "wall_s")
    void = [pair for pair in pairs if pair[1].state == "void"]
    if len(void) <= MOST_VOID * len(pairs):
        return
    for notebook, items in groupby(void, itemgetter(0)):
        shown = ", ".join(_why(item) for _, item in items)
        what = f"void: {shown}; {len(void)} of the folder's {len(pairs)} A/A pairs are"
        yield Problem(f"{notebook}.parquet", what, _again(notebook), "aa")


def _why(item: Noise) -> str:
    if item.others == "void":
        return f"{item.name} (other programs took {percent(item.others_cpu)} of the CPU)"
    return f"{item.name} (A/A {_apart(item)})"


def _apart(item: Noise) -> str:
    ratio = item.ratio
    return f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"


def _again(notebook: str) -> str:
    return f"measure again on a machine that stands still, `hyperslab run {notebook} --again`"
