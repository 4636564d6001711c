"""How well gains are predicted, in words, from the records of the evaluation."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ...measure.stats import Interval, median_interval
from ...text import ENOUGH
from .words import ADVISED, CANDIDATE, WITHIN, ranked

AS_IT_IS = "as it is"
_MOST = 0.9
_MOSTLY = 0.5


def summary(frame: pd.DataFrame) -> str:
    """Say in a number how far measured gains are from predicted ones; "" where none was predicted.

    Parameters
    ----------
    frame : pandas.DataFrame
        Records of the evaluation.
    """
    rows = _foretold(ranked(frame, ADVISED))
    if rows.empty:
        return ""
    off = median_interval(rows["off"].to_numpy("f8"))
    text = (
        f"The gain of the first advice is predicted within a factor of {off.value:.2f} "
        f"{_known(off)} as a median over {_pairs(len(rows))} in which it is another layout or "
        f"remedy: measured over predicted, it lies between {rows['ratio'].min():.2f} × and "
        f"{rows['ratio'].max():.2f} ×."
    )
    every = _foretold(frame[frame["mode"] == CANDIDATE])
    if every.empty:
        return text
    return (
        f"{text} Over all {len(every):,} candidates that were measured and change something the "
        f"median factor is {every['off'].median():.2f}, and {_MOST:.0%} of them are within "
        f"{every['off'].quantile(_MOST):.2f}."
    )


def details(frame: pd.DataFrame) -> str:
    """Say which gains were predicted worst, and why; then what no gain was predicted for.

    Parameters
    ----------
    frame : pandas.DataFrame
        Records of the evaluation.
    """
    every = _foretold(frame[frame["mode"] == CANDIDATE])
    lines = []
    for rows, what in (
        (_foretold(ranked(frame, ADVISED)), "The first advice"),
        (every, "The candidate"),
    ):
        if len(rows):
            worst = rows.sort_values("off").iloc[-1]
            lines.append(
                f"- {what} that is predicted worst: {worst['case']}, {worst['hints']}, predicted "
                f"{worst['gain_predicted']:.2f} ×, measured {worst['gain']:.2f} ×, off by a factor "
                f"of {worst['off']:.2f}. {_cause(every[every['case'] == worst['case']], worst)}"
            )
    return "\n".join([*lines, *_unchanged(frame)])


def _unchanged(frame: pd.DataFrame) -> list[str]:
    """Say of the pairs whose first advice is to change nothing what else was to be had."""
    rows = ranked(frame, ADVISED)
    rows = rows[rows["hints"] == AS_IT_IS]
    if rows.empty:
        return []
    tried = frame[(frame["mode"] == CANDIDATE) & (frame["hints"] != AS_IT_IS)]
    best = [float(tried.loc[tried["case"] == case, "gain"].max()) for case in rows["case"]]
    quicker = sum(gain > 1 for gain in best)
    text = (
        f"- In {_pairs(len(rows))} the first advice is to leave the file as it is: its gain is 1 × "
        f"by definition, and counts in no number above. The best of what else was measured there "
        f"has {min(best):.2f} × to {max(best):.2f} ×, "
    )
    if max(best) < WITHIN:
        text += f"less than the {WITHIN:g} × from which on a change is advised"
    else:
        missed = sum(gain >= WITHIN for gain in best)
        text += f"in {missed} the {WITHIN:g} × from which on a change is advised, or more"
    return [f"{text}; in {quicker} it is quicker than the file as it is."]


def _cause(pair: pd.DataFrame, worst: pd.Series[float]) -> str:
    """Say whether the time now was predicted wrongly, which all gains of a pair share."""
    shared = float(pair["ratio"].median())
    same = np.log(shared) / np.log(worst["ratio"])
    told = f"the median candidate of the pair has {shared:.2f} times its predicted gain"
    if len(pair) > 1 and same >= _MOSTLY:
        slower = "slower" if shared > 1 else "quicker"
        return (
            f"{told.capitalize()} as well: what all gains of a pair share is the time of the file "
            f"as it is, which was read {slower} than predicted."
        )
    return f"Most of that lies in the prediction of its own reads, for {told}."


def _foretold(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what has a gain predicted and measured, without the files as they are."""
    known = rows[(rows["hints"] != AS_IT_IS) & rows["gain_predicted"].gt(0) & rows["gain"].gt(0)]
    ratio = known["gain"] / known["gain_predicted"]
    return known.assign(ratio=ratio, off=np.exp(np.abs(np.log(ratio))))


def _known(found: Interval) -> str:
    ends = f"{found.low:.2f} to {found.high:.2f}"
    return f"({ends})" if found.n >= ENOUGH else f"(range {ends})"


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count} pairs"
