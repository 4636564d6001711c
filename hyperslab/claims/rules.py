"""Rules: what a measured interval says about a claim.

Every rule cuts the line of possible values into bands, each with a verdict. A verdict is given
when the whole interval lies in one band; an interval that reaches into another one crosses a
threshold of the rule and is inconclusive. Edges belong to the band in which the claim holds.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from ..text import number
from .bands import HOLDS, OBSOLETE, REFUTED, REVERSED, STRONGER, WEAKER, in_one_band

NO_DIFFERENCE = 0.05  # Lee et al. name a winner from 5 % on


class Rule(Protocol):
    """What a claim's part is judged by."""

    @property
    def document(self) -> float:
        """The document's own number, NaN where it gives none."""

    def verdict(self, value: float, low: float, high: float) -> str:
        """Return the verdict on an estimate and its interval."""

    def describe(self) -> str:
        """Return the rule in words."""


@dataclass(frozen=True)
class Effect:
    """An effect: the logarithm of our ratio beside the logarithm of the document's.

    Holds with the same sign and a size between half and twice the document's; weaker and stronger
    beyond; reversed with the other sign. A difference of up to 5 % on the other side is none, and
    none is weaker.

    Parameters
    ----------
    document : float
        The document's ratio; not one.

    Examples
    --------
    >>> rule = Effect(4.0)
    >>> [rule.verdict(x, x, x) for x in (3.0, 1.5, 20.0, 0.8)]
    ['holds', 'weaker', 'stronger', 'reversed']
    >>> rule.verdict(0.97, 0.96, 0.98), rule.verdict(1.1, 0.9, 1.3)
    ('weaker', 'inconclusive')
    """

    document: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.document) and self.document > 0 and self.document != 1):
            raise ValueError(
                f"document is {self.document}: an effect needs a ratio above or below 1; "
                "for 'the same' use the rule equality"
            )

    def verdict(self, value: float, low: float, high: float) -> str:
        """Return the verdict on a ratio and its interval."""
        scale = math.log(self.document)
        ends = sorted(_log(x) / scale for x in (low, high))
        none = -math.log1p(NO_DIFFERENCE) / abs(scale)
        edges = ((none, True), (0.5, True), (2.0, False))
        return in_one_band(ends[0], ends[1], edges, (REVERSED, WEAKER, HOLDS, STRONGER))

    def describe(self) -> str:
        """Return the rule in words."""
        a, b = sorted((math.sqrt(self.document), self.document**2))
        return (
            f"effect: holds between {number(a)} and {number(b)} "
            f"(half to twice the logarithm of the document's {number(self.document)}), "
            "weaker towards 1, stronger beyond, reversed from 5 % on the other side of 1"
        )


@dataclass(frozen=True)
class Direction:
    """An effect without a number in the document: only its sign is compared.

    Parameters
    ----------
    above : bool
        Whether the document has the ratio above one.
    margin : float
        Differences up to this share are no difference: the claim is weaker than stated.

    Examples
    --------
    >>> rule = Direction(above=True)
    >>> rule.verdict(1.5, 1.4, 1.6), rule.verdict(1.01, 1.0, 1.02), rule.verdict(0.5, 0.4, 0.6)
    ('holds', 'weaker', 'reversed')
    """

    above: bool
    margin: float = NO_DIFFERENCE

    def __post_init__(self) -> None:
        _check_share("margin", self.margin)

    @property
    def document(self) -> float:
        """NaN: the document gives no number."""
        return math.nan

    def verdict(self, value: float, low: float, high: float) -> str:
        """Return the verdict on a ratio and its interval."""
        sign = 1 if self.above else -1
        ends = sorted(sign * _log(x) for x in (low, high))
        edge = math.log1p(self.margin)
        edges = ((-edge, True), (edge, False))
        return in_one_band(ends[0], ends[1], edges, (REVERSED, WEAKER, HOLDS))

    def describe(self) -> str:
        """Return the rule in words."""
        top, bottom = number(1 + self.margin), number(1 / (1 + self.margin))
        claimed, other = (
            (f"above {top}", f"below {bottom}")
            if self.above
            else (f"below {bottom}", f"above {top}")
        )
        return f"direction: holds {claimed}, reversed {other}, weaker in between (no difference)"


@dataclass(frozen=True)
class Equality:
    """Two configurations are equal: their ratio lies within a margin.

    The margin is symmetric in the logarithm, so that which of the two is divided by the other
    does not matter: 15 % means 1/1.15 to 1.15.

    Parameters
    ----------
    margin : float
        The largest difference that counts as none, as a share.
    document : float
        The document's ratio, shown beside ours.

    Examples
    --------
    >>> rule = Equality(0.15)
    >>> rule.verdict(1.02, 0.95, 1.1), rule.verdict(1.5, 1.4, 1.6), rule.verdict(1.1, 1.0, 1.2)
    ('holds', 'refuted', 'inconclusive')
    """

    margin: float
    document: float = math.nan

    def __post_init__(self) -> None:
        _check_share("margin", self.margin)

    def verdict(self, value: float, low: float, high: float) -> str:
        """Return the verdict on a ratio and its interval."""
        edge = math.log1p(self.margin)
        edges = ((-edge, True), (edge, False))
        ends = sorted((_log(low), _log(high)))
        return in_one_band(ends[0], ends[1], edges, (REFUTED, HOLDS, REFUTED))

    def describe(self) -> str:
        """Return the rule in words."""
        return (
            f"equality: holds when the whole interval lies between {number(1 / (1 + self.margin))} "
            f"and {number(1 + self.margin)}, refuted outside"
        )


@dataclass(frozen=True)
class Bounds:
    """An explanation or a count: it holds within bounds and is refuted outside.

    Parameters
    ----------
    at_least, at_most : float
        The bounds, included.
    document : float
        The document's number, shown beside ours.

    Examples
    --------
    >>> rule = Bounds(at_most=0.1)
    >>> rule.verdict(0.05, 0.05, 0.05), rule.verdict(0.2, 0.2, 0.2), rule.verdict(0.1, 0.0, 0.2)
    ('holds', 'refuted', 'inconclusive')
    """

    at_least: float = -math.inf
    at_most: float = math.inf
    document: float = math.nan

    def __post_init__(self) -> None:
        if self.at_least == -math.inf and self.at_most == math.inf:
            raise ValueError("give at_least, at_most, or equals: this rule bounds nothing")
        if self.at_least > self.at_most:
            raise ValueError(f"at_least {self.at_least} is above at_most {self.at_most}")

    def verdict(self, value: float, low: float, high: float) -> str:
        """Return the verdict on a number and its interval."""
        edges = ((self.at_least, True), (self.at_most, False))
        return in_one_band(low, high, edges, (REFUTED, HOLDS, REFUTED))

    def describe(self) -> str:
        """Return the rule in words."""
        return f"count: holds {_span(self.at_least, self.at_most)}, else refuted"


@dataclass(frozen=True)
class Calibration:
    """Synthetic data stand in for the document's: no cell deviates by more than a tolerance.

    Parameters
    ----------
    tolerance : float
        The largest deviation allowed, as a share.

    Examples
    --------
    >>> rule = Calibration(0.03)
    >>> rule.verdict(-0.02, -0.02, -0.02), rule.verdict(0.05, 0.05, 0.05)
    ('holds', 'refuted')
    """

    tolerance: float

    def __post_init__(self) -> None:
        _check_share("tolerance", self.tolerance)

    @property
    def document(self) -> float:
        """NaN: the document's numbers are the measure's."""
        return math.nan

    def verdict(self, value: float, low: float, high: float) -> str:
        """Return the verdict on the worst deviation."""
        edges = ((-self.tolerance, True), (self.tolerance, False))
        return in_one_band(low, high, edges, (REFUTED, HOLDS, REFUTED))

    def describe(self) -> str:
        """Return the rule in words."""
        return (
            f"calibration: holds when the worst cell deviates by at most "
            f"{number(100 * self.tolerance)} %, else refuted"
        )


@dataclass(frozen=True)
class Obsolete(Bounds):
    """A number or an impossibility the document states: it stands, or the software has changed.

    The parameters are those of `Bounds`: where the number may lie for the statement to stand.

    Examples
    --------
    >>> Obsolete(1281, 1281, 1281).verdict(8760, 8760, 8760)
    'obsolete'
    >>> Obsolete(at_most=0, document=0).verdict(0, 0, 0)
    'holds'
    """

    def verdict(self, value: float, low: float, high: float) -> str:
        """Return the verdict on a number and its interval."""
        found = super().verdict(value, low, high)
        return OBSOLETE if found == REFUTED else found

    def describe(self) -> str:
        """Return the rule in words."""
        if self.at_most == 0 and self.document == 0:
            return "obsolete: holds while it is impossible, obsolete once it can be done"
        return f"obsolete: holds {_span(self.at_least, self.at_most)}, else obsolete"


def _span(low: float, high: float) -> str:
    if low == high:
        return f"at {number(low)}"
    if low == -math.inf:
        return f"up to {number(high)}"
    if high == math.inf:
        return f"from {number(low)}"
    return f"from {number(low)} to {number(high)}"


def _log(ratio: float) -> float:
    if math.isnan(ratio) or ratio < 0:
        return math.nan
    return math.log(ratio) if ratio > 0 else -math.inf


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} is {value}: give a share between 0 and 1, such as 0.05")


def _bounds(fields: Mapping[str, float]) -> dict[str, float]:
    """Spell 'equals' with a relative tolerance as two bounds."""
    given = dict(fields)
    equals, tolerance = given.pop("equals", None), given.pop("tolerance", 0.0)
    if equals is None:
        return given
    reach = abs(equals) * tolerance
    return {"document": equals, **given, "at_least": equals - reach, "at_most": equals + reach}


# Kind: what makes it, and which fields it takes.
RULES: Mapping[str, tuple[Callable[..., Rule], tuple[str, ...]]] = {
    "effect": (Effect, ("document",)),
    "direction": (Direction, ("above", "margin")),
    "equality": (Equality, ("margin", "document")),
    "count": (
        lambda **f: Bounds(**_bounds(f)),
        ("at_least", "at_most", "equals", "tolerance", "document"),
    ),
    "calibration": (Calibration, ("tolerance",)),
    "obsolete": (
        lambda **f: Obsolete(**_bounds(f)),
        ("at_least", "at_most", "equals", "tolerance", "document"),
    ),
}
