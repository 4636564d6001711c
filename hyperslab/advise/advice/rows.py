"""What is known of each candidate, and the advice that follows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hyperslab.io.cards import readers
from hyperslab.measure.stats import Interval

from ..model.geometry import Geometry
from ..sources.base import SourceVariable
from .accesses import Access
from .candidates import Candidate
from .price import Where
from .question import Question

_WORTH = 1.1  # a gain below that is none


@dataclass(frozen=True)
class Row:
    """One candidate with what is known of it.

    Parameters
    ----------
    candidate
        What it is.
    seconds
        Predicted for the file, by access; empty where it cannot be.
    counts
        What each access touches, by access.
    nbytes
        What the variable takes, in bytes.
    gain
        Predicted: the time of a read now over that with the candidate, on average over the mix.
    sample_gain
        The same, predicted for the sample.
    measured
        Seconds of each access on the sample, by access; empty where not measured.
    measured_gain
        On the sample; None where not measured.
    status
        Why it could not be predicted or measured; "" where it could.
    mean_s
        Predicted for the file: seconds of a read on average over the mix.
    left_early
        Whether it was clearly slower than others and measured no further.
    """

    candidate: Candidate
    seconds: Mapping[str, float]
    counts: Mapping[str, Geometry]
    nbytes: float
    gain: float
    sample_gain: float = math.nan
    measured: Mapping[str, Interval] | None = None
    measured_gain: Interval | None = None
    status: str = ""
    mean_s: float = math.nan
    left_early: bool = False

    @property
    def scaled_gain(self) -> float:
        """The gain that is expected of the whole file, from the measured one where there is one."""
        if self.measured_gain is None:
            return self.gain
        off = self.gain / self.sample_gain if self.sample_gain > 0 else math.nan
        return self.measured_gain.value * (off if math.isfinite(off) else 1.0)


@dataclass(frozen=True)
class Advice:
    """What is advised for a file.

    Parameters
    ----------
    question, variable, accesses
        What was asked, resolved for the file.
    letters
        The axis of each dimension, T, Z, Y, X or "".
    where
        Where the file lies when it is read.
    present
        The file as it is.
    rows
        Candidates, the best first.
    sample_shape
        Of what was measured.
    predictor
        What predicted.
    notes
        What else there is to know, a sentence each.
    twins
        Variables of the same dimensions and type, which take the same layout.
    beyond
        Candidates that take more room than is allowed.
    format
        Of the file.
    unkept
        What a copy of the file would lack, a sentence each.
    grouped
        Whether variables of it lie in groups.
    """

    question: Question
    variable: SourceVariable
    accesses: tuple[Access, ...]
    letters: tuple[str, ...]
    where: Where
    present: Row
    rows: tuple[Row, ...]
    sample_shape: tuple[int, ...]
    predictor: str
    notes: tuple[str, ...] = ()
    twins: tuple[str, ...] = ()
    beyond: tuple[Row, ...] = ()
    format: str = "netcdf4"
    unkept: tuple[str, ...] = ()
    grouped: bool = False

    @property
    def first(self) -> Row | None:
        """The best candidate; None where the file is best left as it is."""
        best = self.rows[0] if self.rows else None
        if best is None or not best.scaled_gain >= _WORTH:
            return None
        if best.measured_gain is not None and best.measured_gain.low <= 1:
            return None
        return best

    @property
    def gains_known(self) -> bool:
        """Whether a gain is known of any candidate."""
        return any(math.isfinite(row.scaled_gain) for row in self.rows)


def allowed(row: Row, present: Row, question: Question) -> bool:
    """Whether a candidate takes no more room than the question allows."""
    if not row.candidate.rewrites:
        return True
    most = question.most_bytes
    return row.nbytes <= (question.most_times * present.nbytes if most is None else most)


def to_measure(rows: Sequence[Row], question: Question) -> list[int]:
    """Return which rows are measured: the file as it is, the best layouts, the best remedies."""
    most = question.measured
    ranked = sorted(range(1, len(rows)), key=lambda n: order(rows[n]))
    ranked = [n for n in ranked if allowed(rows[n], rows[0], question)]
    referred = "kerchunk" in readers(place="http")
    able = [n for n in ranked if referred or rows[n].candidate.remedy != "references"]
    fresh = [n for n in able if rows[n].candidate.rewrites][:most]
    others = [n for n in able if not rows[n].candidate.rewrites][:most]
    return [0, *fresh, *others]


def order(row: Row) -> tuple[bool, bool, float, float, float]:
    """Measured first, then by gain, or by time where no gain is known; the unpredicted last.

    What was left early stands behind what was measured on: gains of other blocks do not compare.
    """
    gain = row.scaled_gain
    return (
        row.measured_gain is None,
        row.left_early,
        -gain if math.isfinite(gain) else math.inf,
        row.mean_s if math.isfinite(row.mean_s) else math.inf,
        row.nbytes,
    )
