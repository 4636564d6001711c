"""Ratios of times said as ratios of rates, and other measured things in words."""

from ...measure.stats import Interval
from ...text import UNTOLD, comparison, number, percent


def rate_of(times: Interval) -> Interval:
    """Return the ratio of rates that a ratio of times is.

    Examples
    --------
    >>> rate_of(Interval(2.0, 1.0, 4.0, 7))
    Interval(value=0.5, low=0.25, high=1.0, n=7)
    """
    return Interval(1 / times.value, 1 / times.high, 1 / times.low, times.n)


def slower(times: Interval) -> str:
    """Return a ratio of times in words, as one of rates, with its interval.

    Examples
    --------
    >>> slower(Interval(3.7, 3.6, 3.8, 7)), slower(Interval(0.8, 0.75, 0.84, 7))
    ('3.7× slower [3.6, 3.8]', '25 % faster [19 %, 33 %]')
    >>> slower(Interval(1.01, 0.9, 1.2, 7))
    'not told apart [0.833, 1.11]'
    """
    words = comparison(rate_of(times), "faster", "slower")
    if words.startswith(UNTOLD):
        return words
    rates = rate_of(times)
    if "%" in words:
        low, high = sorted(abs(end - 1) for end in (rates.low, rates.high))
        return f"{words} [{percent(low)}, {percent(high)}]"
    shown = times if times.value > 1 else rates
    return f"{words} [{number(shown.low)}, {number(shown.high)}]"


def against(times: Interval, other: str) -> str:
    """Return what a ratio of times says of one thing against another.

    Examples
    --------
    >>> against(Interval(0.8, 0.75, 0.85, 7), "without")
    '25 % faster than without'
    >>> against(Interval(1.01, 0.9, 1.2, 7), "without")
    'not told apart from without [0.83, 1.11]'
    """
    return than(rate_of(times), "faster", "slower", other)


def than(ratio: Interval, above: str, below: str, other: str) -> str:
    """Return what a ratio says of one thing against another.

    Parameters
    ----------
    ratio : Interval
    above, below : str
        The adjective for a ratio above and below one.
    other : str
        What the ratio is to.

    Examples
    --------
    >>> than(Interval(1.2, 1.1, 1.3, 7), "longer", "shorter", "without")
    '20 % longer than without'
    >>> than(Interval(1.0, 1.0, 1.0, 7), "longer", "shorter", "without")
    'the same as without'
    """
    words = comparison(ratio, above, below)
    if words == "the same":
        return f"the same as {other}"
    if words.startswith(UNTOLD):
        return f"not told apart from {other} [{ratio.low:.2f}, {ratio.high:.2f}]"
    return f"{words} than {other}"


def microseconds(found: Interval) -> str:
    """Return a time of a call with its interval."""
    return f"{number(found.value)} µs [{number(found.low)}, {number(found.high)}]"


def megabytes(count: float) -> str:
    """Return bytes in MB (10⁶)."""
    return f"{count / 1e6:.1f} MB"
