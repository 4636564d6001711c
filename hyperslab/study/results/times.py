"""Whether times can be true, and whether a machine stood still enough while they were measured."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

import pandas as pd

from hyperslab.measure.noise import VOID, Noise, judge

from ...text import ENOUGH, percent
from .problem import Problem

MOST_VOID = 0.10
"""Share of a folder's A/A pairs that may be far from one, or measured beside busy programs."""
SLACK = 1.1
"""So many times what its cores can do may stand there: clocks of either are read one by one."""


def busy_problems(
    frames: Mapping[str, pd.DataFrame], facts: Mapping[str, Mapping[str, Any]]
) -> Iterator[Problem]:
    """Yield the experiments whose CPU time is more than their time on the clock allows."""
    for notebook, frame in frames.items():
        cores = facts[str(frame["run_id"].iloc[0])]["identity"]["cores"]
        timed = frame[(frame["status"] == "ok") & frame["wall_s"].notna()]
        busy = timed.assign(cpu_s=timed["user_s"] + timed["sys_s"]).dropna(subset=["cpu_s"])
        sums = busy.groupby("experiment")[["cpu_s", "wall_s"]].sum()
        for experiment, (cpu_s, wall_s) in zip(sums.index, sums.to_numpy(), strict=True):
            if cpu_s > SLACK * cores * wall_s:
                what = (
                    f"{experiment} took {cpu_s:.3g} s of CPU time in {wall_s:.3g} s on the clock, "
                    f"and the machine has {cores} cores: these times cannot both be true"
                )
                remedy = f"measure again with `hyperslab run {notebook} --again`"
                yield Problem(f"{notebook}.parquet", what, remedy, "wall_s")


def noise_problems(frames: Mapping[str, pd.DataFrame]) -> Iterator[Problem]:
    """Yield the A/A pairs that are out of bounds.

    No interval may lie wholly outside of the bound of a void run, which chance seldom does. And
    of at most `MOST_VOID` of all pairs may the ratio be far from one, or other programs busy.
    """
    pairs = [(notebook, item) for notebook, frame in frames.items() for item in judge(frame)]
    sure = [pair for pair in pairs if pair[1].pair == "void"]
    void = [
        (notebook, item)
        for notebook, item in pairs
        if item.others == "void" or (item.ratio.n >= ENOUGH and item.far)
    ]
    few = len(void) <= MOST_VOID * len(pairs)
    share = f"{len(void)} of the folder's {len(pairs)} A/A pairs are void"
    for column, chosen, said in (
        ("wall_s", sure, f"A/A pairs beyond ±{percent(VOID)}"),
        ("aa", [] if few else void, share),
    ):
        for notebook, items in groupby(chosen, itemgetter(0)):
            what = f"{said}: {', '.join(_shown(item) for _, item in items)}"
            remedy = "measure again on a machine that stands still"
            command = f"`hyperslab run {notebook} --again`"
            yield Problem(f"{notebook}.parquet", what, f"{remedy}, {command}", column)


def _shown(item: Noise) -> str:
    ratio = item.ratio
    shown = f"{item.name} {ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"
    if item.others == "void":
        shown += f", other programs took {percent(item.others_cpu)} of the CPU"
    return shown
