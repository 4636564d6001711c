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
    paired = {(noise.experiment, noise.cache_state) for noise in noises}
    unpaired = sorted({*zip(rows["experiment"], rows["cache_state"], strict=True)} - paired)
    lone = [SENTENCES["no pair"].format(name=" ".join(filter(None, each))) for each in unpaired]
    void = [*(why for noise in noises for why in _messages(noise, "void")), *lone]
    states = ("wide", "marked")
    marks = (mark for noise in noises for state in states for mark in _messages(noise, state))
    guard = max((noise.guard for noise in noises), default=1.0)
    far = [_pair_message(noise) for noise in noises if noise.far]
    return Health(tuple(marks), void[-1] if void else "", guard, far[-1] if far else "")


def _messages(noise: Noise, state: str) -> Iterator[str]:
    """Say what of an A/A pair and of other programs is in a state."""
    if noise.pair == state:
        yield _pair_message(noise)
    if noise.others == state:
        kind = "others unknown" if math.isnan(noise.others_cpu) else "others"
        yield SENTENCES[kind].format(share=percent(noise.others_cpu))


def _pair_message(noise: Noise) -> str:
    if noise.pair == "wide":
        low, high = f"{noise.ratio.low:.2f}", f"{noise.ratio.high:.2f}"
        return SENTENCES["wide"].format(name=noise.name, low=low, high=high)
    off = percent(noise.ratio.value - 1, signed=True)
    return SENTENCES["apart"].format(name=noise.name, off=off)
