"""Numbers, intervals and directions as text: here a number becomes words, and nowhere else."""

import math
import re
from dataclasses import dataclass

ENOUGH = 6  # with fewer, not even smallest to largest covers the median in 95 % of runs
_NEAR = 1.1
_PREFIXES = {1e9: "G", 1e6: "M", 1e3: "k"}
_SECONDS = {1.0: "s", 1e-3: "ms", 1e-6: "µs", 1e-9: "ns"}
SCALED = ("s", "B", "B/s")
TIMES = "×"
"""The unit of a ratio."""
SHARE, CASES, AWAY, WORKS = "%", "% of cases", "% away", "works"
"""Units of a share, of one of what was compared, of a deviation, and of what can be done or not."""
_OPPOSITES = {
    one: other
    for pair in (("faster", "slower"), ("larger", "smaller"), ("more", "less"))
    for one, other in (pair, pair[::-1])
}
# Control characters, ends of lines, and what turns the direction of letters.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>$~|&@])")


def number(value: float, digits: int = 3) -> str:
    """Return a number with a few significant digits, and whole numbers whole."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == int(value) and abs(value) < 1e12:
        return f"{int(value):,}".replace(",", " ") if abs(value) >= 1e5 else str(int(value))
    if abs(value) >= 10**digits:
        return number(round(value), digits)
    return f"{value:.{digits}g}"


def amount(value: float, unit: str) -> str:
    """Return a number with its unit, scaled as people write it."""
    if math.isnan(value):
        return "–"
    if unit.startswith("%"):
        return f"{percent(value)}{unit.removeprefix('%')}"
    if unit == WORKS:
        return WORKS if value == 1 else f"{percent(value)} work" if value else "fails"
    if math.isinf(value):
        return f"{number(value)} {unit}".strip()
    scale = scale_of(value, unit)
    if unit == "s":
        return f"{number(value / scale)} {_SECONDS.get(scale, unit)}"
    if scale in _PREFIXES and unit in SCALED:
        return f"{number(value / scale)} {_PREFIXES[scale]}{unit}"
    return f"{number(value)} {unit}".strip()


def scale_of(value: float, unit: str) -> float:
    """Return what a value is divided by to be written; 1 where it is written as it is."""
    if unit not in SCALED:
        return 1.0
    scales = _SECONDS if unit == "s" else _PREFIXES
    least = 1e-9 if unit == "s" and value else 1.0
    rounded = abs(float(f"{value:.3g}"))  # what rounds up to the next unit is written in it
    return next((scale for scale in scales if rounded >= scale), least)


def percent(share: float, *, signed: bool = False) -> str:
    """Return a share in percent; what is left of rounding is none."""
    if abs(share) < 1e-12:
        return "0 %"
    text = number(abs(share) * 100, 2 if abs(share) < 0.995 else 3)
    sign = "−" if share < 0 else "+" if signed and share > 0 else ""
    return f"{sign}{text} %"


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
        """Return the estimate with its interval as text, in a unit or with an adjective."""
        # An adjective for a ratio above one, such as "faster", is said only where the interval
        # leaves one out; where it reaches beyond 10 %, "surely" tells it from likeness.
        if spec in _OPPOSITES and self.n:
            opposite = _OPPOSITES[spec]
            if self.contains(1):
                surely = "" if self.near_one else "surely "
                return f"neither {surely}{spec} nor {opposite} ({self})"
            if self.value > 1:
                return f"{self:×} {spec}"
            turned = Interval(1 / self.value, 1 / self.high, 1 / self.low, self.n)
            return f"{turned:×} {opposite}"
        if spec and spec not in (*SCALED, *_OPPOSITES, TIMES, SHARE):
            known = ", ".join((*SCALED, TIMES, SHARE, *_OPPOSITES))
            raise ValueError(f"{spec!r} is no unit and no direction of an interval: give {known}")
        if not self.n:
            return "not measured"
        shown = amount(self.value, spec)
        if self.n == 1:
            return f"{shown} (one block, no interval)"
        if self.n >= ENOUGH or self.low == self.high:
            return interval(self.value, self.low, self.high, spec)
        low, high = (_end(end, self.value, spec) for end in (self.low, self.high))
        return f"{shown} ({low} to {high}, the range of {self.n} blocks)"


def exact(value: float) -> Interval:
    """Return a number as an interval without width: what was counted, or follows from a model."""
    return Interval(value, value, value, 0 if math.isnan(value) else ENOUGH)


def interval(value: float, low: float, high: float, unit: str = "") -> str:
    """Return an estimate with its interval, or alone where the two ends are equal."""
    if low == high:
        return amount(value, unit)
    return f"{amount(value, unit)} [{_end(low, value, unit)}, {_end(high, value, unit)}]"


def _end(end: float, value: float, unit: str) -> str:
    """Return an end of an interval, in the unit that its estimate is written in."""
    return percent(end) if unit.startswith("%") else number(end / scale_of(value, unit))


def comparison(ratio: float | Interval, above: str, below: str) -> str:
    """Return a ratio in words: how many times, and in which direction."""
    # Up to 10 % on either side is no difference; a wider interval says only that the two were not
    # told apart.
    if isinstance(ratio, Interval):
        if ratio.low < ratio.high and ratio.contains(1):
            said = "no difference" if ratio.near_one else "not told apart"
            return f"{said} [{number(ratio.low)}, {number(ratio.high)}]"
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


def printable(given: str) -> str:
    """Return text from records, names or files as a terminal may have it: on one line."""
    return _CONTROL.sub(" ", given)


def data(given: str) -> str:
    """Return text from records, names or files as MyST that shows it and does nothing else."""
    return _MARKUP.sub(r"\\\1", printable(given))


def listing(items: list[str], most: int = 3) -> str:
    """Return a few items as a list in a sentence."""
    if not items:
        return "none"
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else items[0]
