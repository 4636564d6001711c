"""What a run says of its own noise: the A/A pair, and the CPU that other programs used."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .stats import Interval, paired_ratio

MARKED = {"cold": 0.03, "warm": 0.015, "": 0.03}  # writes reach the disk, like cold reads
VOID = 0.05
OTHERS_MARKED, OTHERS_VOID = 0.10, 0.30


@dataclass(frozen=True)
class Noise:
    """The noise of one experiment and cache state of a run.

    Parameters
    ----------
    experiment, cache_state : str
    ratio : Interval
        Median of the paired ratios A/B of one case measured under two labels.
    others_cpu : float
        Median over blocks of the share of the machine's CPU that other programs used, 0 to 1.
    state : str
        "clean"; "marked" (A/A outside ±1.5 % warm or ±3 % cold and for writes, or others above
        10 %); "void" (outside ±5 %, or others above 30 %): what it timed is inconclusive.
    """

    experiment: str
    cache_state: str
    ratio: Interval
    others_cpu: float
    state: str


def judge(frame: pd.DataFrame) -> list[Noise]:
    """Return the noise of every experiment and cache state that was timed.

    Parameters
    ----------
    frame : pandas.DataFrame
        Records of one notebook.

    Examples
    --------
    >>> rows = [
    ...     {"experiment": "e", "case": "a", "aa": aa, "block": b, "phase": "read", "wall_s": 1.0}
    ...     for b in range(7) for aa in "AB"
    ... ]
    >>> from hyperslab.measure.records import frame_of
    >>> judge(frame_of(rows))[0].state
    'clean'
    """
    timed = frame[frame["wall_s"].notna()]
    found = []
    for (experiment, cache_state), part in timed.groupby(["experiment", "cache_state"]):
        pair = part[part["aa"] != ""]
        sums = pair.groupby(["block", "aa"])["wall_s"].sum().unstack("aa").dropna()
        if sums.empty or set(sums.columns) != {"A", "B"}:
            continue
        ratio = paired_ratio(sums["A"].to_numpy(), sums["B"].to_numpy())
        others = float(np.nanmedian(part.groupby("block")["others_cpu"].first().fillna(0.0)))
        state = _state(ratio.value, others, str(cache_state))
        found.append(Noise(str(experiment), str(cache_state), ratio, others, state))
    return found


def _state(ratio: float, others: float, cache_state: str) -> str:
    away = max(ratio, 1 / ratio) - 1
    if away > VOID or others > OTHERS_VOID:
        return "void"
    if away > MARKED[cache_state] or others > OTHERS_MARKED:
        return "marked"
    return "clean"
