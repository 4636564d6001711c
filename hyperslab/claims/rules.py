"""Rules: what a measured interval says about a claim."""
# Every rule cuts the line of possible values into bands, each with a verdict. Edges belong to the
# band in which the claim holds.

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..text import number, percent
from .bands import HOLDS, OBSOLETE, REFUTED, REVERSED, STRONGER, WEAKER, in_one_band
from .reasons import SENTENCES

NO_DIFFERENCE = 0.05  # Lee et al. name a winner from 5 % on
MOST_APART = 4.0
"""A ratio that is so many times the document's, or a part of it as small, is another effect."""
_HOLDS_INSIDE = (REFUTED, HOLDS, REFUTED)


@dataclass(frozen=True)
class Rule:
    """What a claim's part is judged by."""

    kind: str  # name of its sentence in `reasons`
    # where bands meet, rising; whether the edge belongs to the band above
    edges: tuple[tuple[float, bool], ...]
    verdicts: tuple[str, ...]  # of the bands: one more than edges
    document: float = math.nan  # the document's own number; NaN where it gives none
    # what a ratio's logarithm is divided by; 0 where the number itself is compared
    log_unit: float = 0.0
    words: Mapping[str, str] = field(default_factory=dict)  # what the sentence says

    def verdict(self, low: float, high: float) -> str:
        if self.log_unit:
            low, high = sorted(_log(end) / self.log_unit for end in (low, high))
        return in_one_band(low, high, self.edges, self.verdicts)

    def describe(self) -> str:
        """Return the rule in words."""
        return SENTENCES[self.kind].format(**self.words)


def effect(document: float) -> Rule:
    """Compare the logarithm of our ratio with that of the document's ratio, which is not one."""
    none, least, most = _of_effect(document)
    low, high = sorted((document**least, document**most))
    words = {"low": number(low), "high": number(high), "document": number(document)}
    return Rule(
        "effect",
        ((none, True), (least, True), (most, False)),
        (REVERSED, WEAKER, HOLDS, STRONGER),
        document,
        math.log(document),
        words,
    )


def bound(document: float) -> Rule:
    """Compare as `effect` does, where the document says "more than": no more is too much."""
    none, least, _ = _of_effect(document)
    words = {"low": number(document**least), "document": number(document)}
    words["beyond"] = SENTENCES["from" if document > 1 else "up to"].format(
        low=words["low"], high=words["low"]
    )
    edges = ((none, True), (least, True))
    return Rule("bound", edges, (REVERSED, WEAKER, HOLDS), document, math.log(document), words)


def _of_effect(document: float) -> tuple[float, float, float]:
    """Return where an effect is none, and where it begins and ends to hold, in its size."""
    if not (math.isfinite(document) and document > 0 and document != 1):
        raise ValueError(
            f"document is {document}: an effect needs a ratio above or below 1; "
            "for 'the same' use the rule equality"
        )
    size = abs(math.log(document))
    reach = math.log(MOST_APART) / size
    return -math.log1p(NO_DIFFERENCE) / size, max(0.5, 1 - reach), min(2.0, 1 + reach)


def direction(above: bool, margin: float = NO_DIFFERENCE) -> Rule:
    """Compare only the sign of an effect, where the document gives no number."""
    kind = "direction above" if above else "direction below"
    verdicts = (REVERSED, WEAKER, HOLDS)
    return Rule(
        kind, _within(margin), verdicts, log_unit=1.0 if above else -1.0, words=_margins(margin)
    )


def equality(margin: float, document: float = math.nan) -> Rule:
    """Take two configurations as equal where their ratio lies within a margin, as a share."""
    # Symmetric in the logarithm: which of the two is divided by the other does not matter.
    return Rule("equality", _within(margin), _HOLDS_INSIDE, document, 1.0, _margins(margin))


def bounds(
    at_least: float = -math.inf,
    at_most: float = math.inf,
    equals: float | None = None,
    tolerance: float = 0.0,
    document: float = math.nan,
) -> Rule:
    """Take an explanation or a count as right within bounds, and refuted outside."""
    if equals is not None:
        reach = abs(equals) * tolerance
        at_least, at_most = equals - reach, equals + reach
        document = equals if math.isnan(document) else document
    if at_least == -math.inf and at_most == math.inf:
        raise ValueError("give at_least, at_most, or equals: this rule bounds nothing")
    if at_least > at_most:
        raise ValueError(f"at_least {at_least} is above at_most {at_most}")
    words = {"span": _span(at_least, at_most)}
    return Rule("count", ((at_least, True), (at_most, False)), _HOLDS_INSIDE, document, words=words)


def calibration(tolerance: float) -> Rule:
    """Take synthetic data as a stand-in where no cell deviates by more than a share."""
    _check_share("tolerance", tolerance)
    words = {"tolerance": percent(tolerance)}
    return Rule("calibration", ((-tolerance, True), (tolerance, False)), _HOLDS_INSIDE, words=words)


def obsolete(**fields: float) -> Rule:
    """Take what the document states as standing within `bounds`, or as overtaken."""
    rule = bounds(**fields)
    kind = "impossible" if rule.edges[1][0] == 0 == rule.document else "obsolete"
    return Rule(kind, rule.edges, (OBSOLETE, HOLDS, OBSOLETE), rule.document, words=rule.words)


def _within(margin: float) -> tuple[tuple[float, bool], ...]:
    _check_share("margin", margin)
    edge = math.log1p(margin)
    return ((-edge, True), (edge, False))


def _margins(margin: float) -> dict[str, str]:
    return {"low": number(1 / (1 + margin)), "high": number(1 + margin)}


def _span(low: float, high: float) -> str:
    if low == high:
        kind = "at"
    elif high == math.inf:
        kind = "from"
    else:
        kind = "up to" if low == -math.inf else "from to"
    return SENTENCES[kind].format(low=number(low), high=number(high))


def _log(ratio: float) -> float:
    if math.isnan(ratio) or ratio < 0:
        return math.nan
    return math.log(ratio) if ratio > 0 else -math.inf


def _check_share(name: str, value: float) -> None:
    if not 0 < value <= 1:
        raise ValueError(f"{name} is {value}: give a share above 0, up to 1, such as 0.05")


_BOUNDS = ("at_least", "at_most", "equals", "tolerance", "document")
RULES: Mapping[str, tuple[Callable[..., Rule], tuple[str, ...]]] = {
    "effect": (effect, ("document",)),
    "bound": (bound, ("document",)),
    "direction": (direction, ("above", "margin")),
    "equality": (equality, ("margin", "document")),
    "count": (bounds, _BOUNDS),
    "calibration": (calibration, ("tolerance",)),
    "obsolete": (obsolete, _BOUNDS),
}
"""By kind: what makes a rule, and which fields it takes."""
