"""Whether a run was quiet enough to judge times by."""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import pandas as pd

from ..measure.noise import Noise, judge
from ..text import percent
from .reasons import SENTENCES


@dataclass(frozen=True)
class Health:
    """How quiet a run was."""

    marks: tuple[str, ...]  # what a reader must know about the run
    void: str  # why its times decide nothing; "" when they may
    guard: float = 1.0  # how much wider an interval of a ratio is made before it is judged
    far: str = ""  # why what cannot be made wider is not judged


def health(
    records: pd.DataFrame, run_id: str, experiments: Collection[str], cache_states: Collection[str]
) -> Health:
    """Return how quiet a run was where something was measured; the bounds are `noise`'s."""
    rows = records[(records["run_id"] == run_id) & records["experiment"].isin(list(experiments))]
    rows = rows[rows["cache_state"].isin(list(cache_states))]
    noises = judge(rows)
    paired = {(item.experiment, item.cache_state) for item in noises}
    bare = sorted({*zip(rows["experiment"], rows["cache_state"], strict=True)} - paired)
    lone = [SENTENCES["no pair"].format(name=" ".join(filter(None, each))) for each in bare]
    void = [*(why for item in noises for why in _said(item, "void")), *lone]
    states = ("wide", "marked")
    marks = (mark for item in noises for state in states for mark in _said(item, state))
    guard = max((item.guard for item in noises), default=1.0)
    far = [_apart(item) for item in noises if item.far]
    return Health(tuple(marks), void[-1] if void else "", guard, far[-1] if far else "")


def _said(item: Noise, state: str) -> Iterator[str]:
    """Say what of an A/A pair and of other programs is in a state."""
    if item.pair == state:
        yield _apart(item)
    if item.others == state:
        kind = "others unknown" if math.isnan(item.others_cpu) else "others"
        yield SENTENCES[kind].format(share=percent(item.others_cpu))


def _apart(item: Noise) -> str:
    if item.pair == "wide":
        low, high = f"{item.ratio.low:.2f}", f"{item.ratio.high:.2f}"
        return SENTENCES["wide"].format(name=item.name, low=low, high=high)
    off = percent(item.ratio.value - 1, signed=True)
    return SENTENCES["apart"].format(name=item.name, off=off)
