"""What is known of each candidate, and what is advised of a file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from hyperslab.text import Interval

from .candidates import Candidate
from .counts import Counts
from .question import Subject

_WORTH = 1.1  # a gain below that is none


@dataclass(frozen=True)
class Row:
    """One candidate with what is known of it."""

    candidate: Candidate
    counts: Mapping[str, Counts]  # what each access touches
    nbytes: float  # that the variable takes
    seconds: Mapping[str, float]  # predicted for the file, by access; empty where they cannot be
    mean_s: float = math.nan  # the same on average over the mix
    sample_s: float = math.nan  # the same for the sample
    gain: float = math.nan  # predicted: the time now over that with the candidate
    sample_gain: float = math.nan  # the same, for the sample
    measured: Mapping[str, Interval] | None = None  # seconds on the sample, by access
    measured_gain: Interval | None = None  # on the sample
    left_early: bool = False  # whether it was clearly slower than others and measured no further
    status: str = ""  # why it could not be predicted or measured

    @property
    def scaled_gain(self) -> float:
        """The gain that is expected of the whole file, from the measured one where there is one."""
        if self.measured_gain is None:
            return self.gain
        off = self.gain / self.sample_gain if self.sample_gain > 0 else math.nan
        return self.measured_gain.value * (off if math.isfinite(off) else 1.0)

    @property
    def order(self) -> tuple[bool, bool, float, float, float]:
        """Measured first, then by gain, or by time where no gain is known; the unpredicted last.

        What was left early stands behind what was measured on: gains of other blocks do not
        compare.
        """
        gain = self.scaled_gain
        return (
            self.measured_gain is None,
            self.left_early,
            -gain if math.isfinite(gain) else math.inf,
            self.mean_s if math.isfinite(self.mean_s) else math.inf,
            self.nbytes,
        )


@dataclass(frozen=True)
class Advice:
    """What is advised for a file."""

    subject: Subject
    present: Row  # the file as it is
    rows: tuple[Row, ...]  # candidates, the best first
    beyond: tuple[Row, ...]  # candidates that take more room than is allowed
    predictor: str  # what predicted
    notes: tuple[str, ...] = ()  # what else there is to know, a sentence each

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
    def other(self) -> Row | None:
        """The best of the other kind than the first (rewriting or not); None without gain."""
        first = self.first
        others = (row for row in self.rows
                  if first and row.candidate.rewrites != first.candidate.rewrites)  # fmt: skip
        best = next(others, None)
        return best if best is not None and best.scaled_gain >= _WORTH else None

    @property
    def gains_known(self) -> bool:
        """Whether a gain is known of any candidate."""
        return any(math.isfinite(row.scaled_gain) for row in self.rows)
