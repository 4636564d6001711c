"""Estimates with their intervals, and directions, as text."""

import math
from dataclasses import dataclass

from .numbers import DECIMALS, SCALED, SHARE, TIMES, amount, number, percent, scale_of

ENOUGH = 6  # with fewer, not even smallest to largest covers the median in 95 % of runs
_NEAR = 1.1
_OPPOSITES = {
    word: opposite
    for pair in (("faster", "slower"), ("larger", "smaller"), ("more", "less"))
    for word, opposite in (pair, pair[::-1])
}


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval."""

    value: float  # the estimate, in the unit of the data
    low: float  # ends of its interval
    high: float
    n: int  # blocks that it rests on

    def contains(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def near_one(self) -> bool:
        """Whether both ends are within 10 % of one: an interval around it is no difference then."""
        return max(self.high, 1 / max(self.low, 1e-9)) <= _NEAR

    def __format__(self, spec: str) -> str:
        """Return the estimate with its interval as text: in a unit, with an adjective, or ".3f"."""
        # An adjective for a ratio above one, such as "faster", is said only where the interval
        # leaves one out; where it reaches beyond 10 %, "surely" tells it from likeness.
        if spec in _OPPOSITES and self.n:
            opposite = _OPPOSITES[spec]
            if self.contains(1):
                surely = "" if self.near_one else "surely "
                return f"neither {surely}{spec} nor {opposite} ({self})"
            if self.value > 1:
                return f"{self:×} {spec}"
            inverse = Interval(1 / self.value, 1 / self.high, 1 / self.low, self.n)
            return f"{inverse:×} {opposite}"
        if spec and spec not in (*SCALED, *_OPPOSITES, TIMES, SHARE, DECIMALS):
            specs = ", ".join((*SCALED, TIMES, SHARE, DECIMALS, *_OPPOSITES))
            raise ValueError(f"{spec!r} is no unit and no direction of an interval: give {specs}")
        if not self.n:
            return "not measured"
        shown = amount(self.value, spec)
        if self.n == 1:
            return f"{shown} (one block, no interval)"
        if self.n >= ENOUGH or (self.low == self.high and spec != DECIMALS):
            return interval(self.value, self.low, self.high, spec)
        low, high = (_end(end, self.value, spec) for end in (self.low, self.high))
        return f"{shown} ({low} to {high}, the range of {self.n} blocks)"


def exact(value: float) -> Interval:
    """Return a number as an interval without width: what was counted, or follows from a model."""
    return Interval(value, value, value, 0 if math.isnan(value) else ENOUGH)


def interval(value: float, low: float, high: float, unit: str = "") -> str:
    """Return an estimate with its interval, or alone where the two ends are equal."""
    if low == high and unit != DECIMALS:
        return amount(value, unit)
    return f"{amount(value, unit)} [{_end(low, value, unit)}, {_end(high, value, unit)}]"


def _end(end: float, value: float, unit: str) -> str:
    """Return an end of an interval, in the unit that its estimate is written in."""
    if unit == DECIMALS:
        return amount(end, unit)
    return percent(end) if unit.startswith("%") else number(end / scale_of(value, unit))


def comparison(ratio: float | Interval, above: str, below: str) -> str:
    """Return a ratio in words: how many times, and in which direction."""
    # Up to 10 % on either side is no difference; a wider interval says only that the two were not
    # told apart.
    if isinstance(ratio, Interval):
        if ratio.low < ratio.high and ratio.contains(1):
            verdict = "no difference" if ratio.near_one else "not told apart"
            return f"{verdict} [{number(ratio.low)}, {number(ratio.high)}]"
        ratio = ratio.value
    if math.isnan(ratio) or ratio <= 0:
        return "not comparable"
    word, times = (above, ratio) if ratio > 1 else (below, 1 / ratio)
    if times < 1.0005:
        return "the same"
    if times < 1.5:
        share = ratio - 1 if ratio > 1 else 1 - ratio
        return f"{number(100 * share, 2)} % {word}"
    return f"{number(times)}× {word}"


def spread(most: float, fewest: float | None = None) -> str:
    """Return what the error bars of medians are, of what was read most and least often."""
    blocks = f"{number(most)} interleaved block{'s' if most > 1 else ''}"
    if most < ENOUGH:
        kind = "ranges over" if most > 1 else "no range, of"
        return f"{kind} {blocks}, too few for an interval"
    text = f"95 % intervals over {blocks}"
    few = fewest is not None and fewest < ENOUGH
    return f"{text}; ranges where there were fewer than {ENOUGH}" if few else text
