"""Whether a run was quiet enough to judge times by: its A/A pairs, and what else was running."""

from collections.abc import Collection
from dataclasses import dataclass
from math import nan

import pandas as pd

from hyperslab.measure.stats import paired_ratio

from .words import percent

WARM, COLD, VOID = 0.015, 0.03, 0.05
BUSY, BUSY_VOID = 0.10, 0.30
_TRANSFER = ("read", "write", "sync")


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
    """Return how quiet a run was where something was measured.

    One configuration is measured under two labels, A and B, in every run; what their times differ
    by is noise. The run is marked where the median of A/B leaves ±1.5 % (±3 % with a cold cache)
    and void where it leaves ±5 %. It is marked also where other programs took more than a tenth
    of the machine's CPU (median over the samples), and void above three tenths: then even an A/A
    pair that happens to agree says little, since both halves were disturbed alike.

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
    marks, void = [], ""
    for state, part in rows.groupby("cache_state", sort=False):
        for experiment, own in part.groupby("experiment", sort=False):
            name = " ".join(str(word) for word in (experiment, state) if word)
            ratio = aa_ratio(own)
            off = abs(ratio - 1)
            if ratio != ratio:
                marks.append(f"{name} has no A/A pair")
            elif off > VOID:
                void = f"the A/A pair of {name} is {percent(ratio - 1, signed=True)} apart"
            elif off > (COLD if state == "cold" else WARM):
                marks.append(f"the A/A pair of {name} is {percent(ratio - 1, signed=True)} apart")
    others = rows["others_cpu"].median() if rows["others_cpu"].notna().any() else 0.0
    if others > BUSY_VOID:
        void = f"other programs took {percent(others)} of the CPU"
    elif others > BUSY:
        marks.append(f"other programs took {percent(others)} of the CPU")
    return Health(tuple(marks), void)


def aa_ratio(rows: pd.DataFrame) -> float:
    """Return the median over blocks of A's wall time over B's; NaN without a pair.

    Only phases that move data count, where there are any.

    Examples
    --------
    >>> rows = pd.DataFrame({"aa": ["A", "B"], "block": [0, 0], "phase": ["read", "read"],
    ...                      "wall_s": [1.02, 1.0], "status": ["ok", "ok"]})
    >>> aa_ratio(rows)
    1.02
    """
    pair = rows[rows["aa"].isin(("A", "B")) & (rows["status"] == "ok") & rows["wall_s"].notna()]
    moving = pair[pair["phase"].isin(_TRANSFER)]
    pair = pair if moving.empty else moving
    if pair.empty:
        return nan
    times = pair.groupby(["block", "aa"])["wall_s"].sum().unstack("aa")
    if not {"A", "B"} <= set(times.columns) or times.dropna().empty:
        return nan
    whole = times.dropna()
    return paired_ratio(whole["A"].to_numpy(), whole["B"].to_numpy()).value
