"""Numbers as text: here a number becomes words, and nowhere else."""

import math

_PREFIXES = {1e9: "G", 1e6: "M", 1e3: "k"}
_SECONDS = {1.0: "s", 1e-3: "ms", 1e-6: "µs", 1e-9: "ns"}
SCALED = ("s", "B", "B/s")
TIMES = "×"
"""The unit of a ratio."""
DECIMALS = ".3f"  # for ratios of one thing with itself
SHARE, CASES, AWAY, WORKS = "%", "% of cases", "% away", "works"
"""Units of a share, of one of what was compared, of a deviation, and of what can be done or not."""


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
    if unit == DECIMALS:
        return f"{value:.3f}"
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
