"""Whether a run was quiet enough to judge times by, in words."""

from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd

from ..measure.noise import OTHERS_MARKED, OTHERS_VOID, VOID, Noise, judge
from ..text import percent


@dataclass(frozen=True)
class Health:
    """How quiet a run was.

    Parameters
    ----------
    marks : tuple of str
        What a reader must know about the run, one sentence part each.
    void : str
        Why its times decide nothing; "" when they may.

    Examples
    --------
    >>> Health(marks=(), void="").quiet
    True
    """

    marks: tuple[str, ...]
    void: str

    @property
    def quiet(self) -> bool:
        """Whether nothing is to be said about the run."""
        return not self.marks and not self.void


def health(
    records: pd.DataFrame,
    run_id: str,
    experiments: Collection[str],
    cache_states: Collection[str],
) -> Health:
    """Return how quiet a run was where something was measured; the bounds are `noise`'s.

    Parameters
    ----------
    records : pandas.DataFrame
        Tidy records of one notebook.
    run_id : str
    experiments, cache_states : collection of str
        Where the measure comes from; each combination has its own A/A pair.
    """
    rows = records[(records["run_id"] == run_id) & records["experiment"].isin(list(experiments))]
    rows = rows[rows["cache_state"].isin(list(cache_states))]
    noises = judge(rows)
    marks, void = [], ""
    for item in noises:
        off = item.away
        if off > VOID:
            void = f"the A/A pair of {item.name} is {_apart(item)} apart"
        elif off > item.bound:
            marks.append(f"the A/A pair of {item.name} is {_apart(item)} apart")
        elif item.wide:
            marks.append(
                f"the ratio of the A/A pair of {item.name} is known no better than "
                f"[{item.ratio.low:.2f}, {item.ratio.high:.2f}]"
            )
        if item.others_cpu > OTHERS_VOID:
            void = f"other programs took {percent(item.others_cpu)} of the CPU"
        elif item.others_cpu > OTHERS_MARKED:
            marks.append(f"other programs took {percent(item.others_cpu)} of the CPU")
    paired = {(item.experiment, item.cache_state) for item in noises}
    for experiment, state in sorted({*zip(rows["experiment"], rows["cache_state"], strict=True)}):
        if (experiment, state) not in paired:
            void = f"{' '.join(filter(None, (experiment, state)))} has no A/A pair"
    return Health(tuple(marks), void)


def _apart(item: Noise) -> str:
    return percent(item.ratio.value - 1, signed=True)
