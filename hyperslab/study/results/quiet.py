"""Whether a machine stood still enough while it measured, by its A/A pairs."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter

import pandas as pd

from hyperslab.measure.noise import VOID, Noise, judge

from ...text import ENOUGH, percent
from .problem import Problem

MOST_VOID = 0.10
"""Share of a folder's A/A pairs that may be far from one, or measured beside busy programs."""


def noise_problems(frames: Mapping[str, pd.DataFrame]) -> Iterator[Problem]:
    """Yield the A/A pairs that are out of bounds.

    No interval may lie wholly outside of the bound of a void run, which chance seldom does. And
    of at most `MOST_VOID` of all pairs may the ratio be far from one, or other programs busy.
    """
    pairs = [(notebook, item) for notebook, frame in frames.items() for item in judge(frame)]
    sure = [pair for pair in pairs if pair[1].pair == "void"]
    for notebook, items in groupby(sure, itemgetter(0)):
        shown = ", ".join(f"{item.name} {_apart(item)}" for _, item in items)
        what = f"A/A pairs beyond ±{percent(VOID)}: {shown}"
        yield Problem(f"{notebook}.parquet", what, _again(notebook), "wall_s")
    void = [
        (notebook, item)
        for notebook, item in pairs
        if item.others == "void" or (item.ratio.n >= ENOUGH and item.far)
    ]
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
