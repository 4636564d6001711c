"""What a run says of its own noise: A/A pairs, the CPU that others used, and witnesses."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..text import ENOUGH
from .records import DISCARDED, SAMPLE
from .stats import Interval, paired_ratio

MARKED_MEMORY, MARKED_DISK = 0.015, 0.03  # how far from one the A/A ratio may be, unmarked
VOID = 0.05  # how far its whole interval may be: chance seldom goes further
WIDE = 0.15  # how far from one a ratio, or an end of its interval, leaves most effects undecided
OTHERS_MARKED, OTHERS_VOID = 0.10, 0.30  # shares of the CPU that other programs may use
STATES = ("clean", "wide", "marked", "void")
JUDGED = (
    "experiment", "cache_state", "case", "phase", "aa", "block", "status", "wall_s",
    "useful_bytes", "others_cpu",
)  # fmt: skip
"""The columns of records that `judge` takes."""
_MOVING = ("read", "write", "sync", "data_read", "data_write", "data_reread")
"""Phases that move data, which verdicts rest on; so do those of a pattern ("pattern:map")."""


@dataclass(frozen=True)
class Noise:
    """The noise of one experiment and cache state of a run."""

    experiment: str
    cache_state: str
    ratio: Interval  # of one case under the labels A and B, a sample each in every block
    others_cpu: float  # share of the CPU that other programs used, the median; NaN where unknown
    synced: bool = False  # whether what was timed ends with a sync to the disk
    half_width: float = math.nan  # of the intervals of single cases; NaN where it was not asked for

    @property
    def name(self) -> str:
        """The experiment, with the cache state where there is one."""
        return " ".join(filter(None, (self.experiment, self.cache_state)))

    @property
    def away(self) -> float:
        """How far the ratio is from one, the same for a ratio and its inverse."""
        return max(self.ratio.value, 1 / self.ratio.value) - 1

    @property
    def bound(self) -> float:
        """How far the ratio may be from one unmarked: more where the disk is timed."""
        return MARKED_DISK if self.synced or self.cache_state == "cold" else MARKED_MEMORY

    @property
    def pair(self) -> str:
        """What the A/A pair says: "clean", "wide", "marked" or "void".

        Void: its whole interval is further than 5 % from one, which chance seldom does. Marked: its
        ratio is further than `bound`; what is compared is judged with intervals wider by as much.
        Wide: the interval reaches further than 15 %: two samples of one thing often differ so much.
        """
        beyond = self.ratio.low > 1 + VOID or self.ratio.high < 1 / (1 + VOID)
        if beyond and self.ratio.n >= ENOUGH:
            return "void"
        if self.away > self.bound:
            return "marked"
        return "wide" if max(self.ratio.high, 1 / self.ratio.low) - 1 > WIDE else "clean"

    @property
    def guard(self) -> float:
        """The factor by which the interval of a ratio is made wider at both ends, one or more."""
        return 1 + self.away if self.pair == "marked" else 1.0

    @property
    def far(self) -> bool:
        """Whether the ratio is beyond 15 %: rules that have no guard band decide nothing then."""
        return self.away > WIDE

    @property
    def others(self) -> str:
        """What others' CPU says: "clean", "marked" (as where it is unknown) or "void"."""
        if self.others_cpu > OTHERS_VOID:
            return "void"
        return "clean" if self.others_cpu <= OTHERS_MARKED else "marked"

    @property
    def useless(self) -> bool:
        """Whether no advice may rest on its times: they are void, or the ratio is far from one."""
        return self.state == "void" or self.far

    @property
    def state(self) -> str:
        """The worse of `pair` and `others`; verdicts on void times are inconclusive."""
        return max(self.pair, self.others, key=STATES.index)


def judge(frame: pd.DataFrame, *, widths: bool = False) -> list[Noise]:
    """Return the noise of every experiment and cache state that was timed.

    Parameters
    ----------
    frame : pandas.DataFrame
        Records of one notebook.
    widths : bool
        Whether the half-widths are wanted, which take most of the time.

    Examples
    --------
    >>> rows = [
    ...     {"experiment": "e", "case": "a", "aa": aa, "block": b, "phase": "read", "wall_s": 1.0,
    ...      "others_cpu": 0.01} for b in range(7) for aa in "AB"
    ... ]
    >>> from hyperslab.measure.records import frame_of
    >>> judge(frame_of(rows))[0].state
    'clean'
    """
    timed = frame.loc[frame["wall_s"].notna(), [*JUDGED]]  # of all, each step would be slower
    ratios, noises = aa_ratios(timed), []
    for (experiment, cache_state), group in timed.groupby(["experiment", "cache_state"]):
        if ratio := ratios.get((str(experiment), str(cache_state))):
            synced = bool((group["phase"] == "sync").any())
            others = float(group.groupby("block")["others_cpu"].first().median())
            width = _half_width(group) if widths else math.nan
            noises.append(Noise(str(experiment), str(cache_state), ratio, others, synced, width))
    return noises


def aa_ratios(timed: pd.DataFrame) -> dict[tuple[str, str], Interval]:
    """Return the ratio of the A/A pair of each experiment and cache state that has one."""
    of, noted = ["experiment", "cache_state"], ["wall_s", "useful_bytes"]
    pair = timed[timed["aa"].isin(("A", "B")) & timed["status"].isin(("ok", ""))]
    moving = pair["phase"].isin(_MOVING) | pair["phase"].str.startswith("pattern:")
    moving |= ~moving.groupby([pair[name] for name in of]).transform("any")  # else all phases
    each = pair[moving].groupby([*of, "block", "case", "aa"])[noted].sum().unstack()
    if {*each.columns.get_level_values("aa")} != {"A", "B"}:
        return {}
    both = each.dropna().groupby(level=[*of, "block"]).sum()  # of cases with both in the block
    ratios = {}
    for (experiment, cache_state), sums in both.groupby(of):
        spent, moved = sums["wall_s"], sums["useful_bytes"]
        if (moved > 0).to_numpy().all():
            spent = spent / moved  # some move as much as they can in a given time
        ratios[str(experiment), str(cache_state)] = paired_ratio(spent["A"], spent["B"])
    return ratios


def _half_width(timed: pd.DataFrame) -> float:
    """Return half the width of a case's interval, relative to all cases; the median over cases."""
    usable = timed[timed["status"].isin(("ok", "")) & (timed["aa"] != DISCARDED)]
    both = usable.groupby(["block", "case", "aa"])[["wall_s", "useful_bytes"]].sum()
    moved = both["useful_bytes"].where(both["useful_bytes"] > 0, 1.0)
    # A byte's: what fills a given time always takes as long.
    logs = (both["wall_s"] / moved).apply(np.log).unstack(["case", "aa"])
    logs = logs.loc[:, logs.count() >= min(ENOUGH, len(logs))]  # some are not in every block
    cases = logs.shape[1]
    if cases < 2:
        return math.nan
    apart = logs - logs.mean()
    # What is taken off holds a part of the case itself.
    apart = apart.sub(apart.mean(axis=1), axis=0) * math.sqrt(cases / (cases - 1))
    each = [np.exp(column.dropna().to_numpy()) for _, column in apart.items()]
    intervals = [paired_ratio(blocks, np.ones(blocks.size)) for blocks in each]
    return float(np.median([(i.high / i.low) ** 0.5 - 1 for i in intervals]))


@dataclass(frozen=True)
class Disturbed:
    """What the witnesses of a run say."""

    samples: int  # that had witnesses
    retaken: int  # that were measured again, once or more
    left: int  # brief ones that were disturbed all the same


def disturbed(frame: pd.DataFrame) -> Disturbed:
    """Return how many samples were measured again; of older records nothing is known."""
    watched = frame["pace_s"].notna() & (frame["aa"] != DISCARDED)
    samples = frame[watched].drop_duplicates([*SAMPLE])
    retaken, left = (samples["retaken"] > 0).sum(), samples["disturbed"].sum()
    return Disturbed(len(samples), int(retaken), int(left))
