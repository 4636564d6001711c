"""Verdicts, and the bands of values that they stand for."""

import math

HOLDS, STRONGER, WEAKER, REVERSED = "holds", "stronger", "weaker", "reversed"
REFUTED, OBSOLETE = "refuted", "obsolete"
INCONCLUSIVE, NOT_MEASURED = "inconclusive", "not measured"
VERDICTS = (HOLDS, STRONGER, WEAKER, REVERSED, REFUTED, OBSOLETE, INCONCLUSIVE, NOT_MEASURED)
CONTRARY = (REVERSED, REFUTED, OBSOLETE)
"""What a part came out as that speaks against a claim that holds."""
UNDECIDED = (INCONCLUSIVE, NOT_MEASURED)
_PARTLY = " in part"
IN_PART = HOLDS + _PARTLY
SIGNS = {
    HOLDS: "✓", IN_PART: "◐", WEAKER: "▽", STRONGER: "△", REVERSED: "⇄", REFUTED: "✗",
    OBSOLETE: "⊘", INCONCLUSIVE: "?", NOT_MEASURED: "–",
}  # fmt: skip
"""A sign for each verdict, so that no colour is needed to tell them apart."""

Edges = tuple[tuple[float, bool], ...]


def label(verdict: str, *, in_part: bool = False, basis: str = "") -> str:
    """Return a claim's verdict as every page shows it."""
    text = verdict + _PARTLY * (in_part and verdict not in UNDECIDED)
    return f"{text} ({basis})" if basis and verdict != NOT_MEASURED else text


def kind_of(label: str) -> str:
    """Return which of `SIGNS` a label is counted as."""
    verdict = label.partition(" (")[0]
    return verdict if verdict in SIGNS else verdict.removesuffix(_PARTLY)


def sign(label: str) -> str:
    return SIGNS[kind_of(label)]


def in_one_band(low: float, high: float, edges: Edges, verdicts: tuple[str, ...]) -> str:
    """Return the verdict of the band that holds a whole interval, else inconclusive."""
    if math.isnan(low) or math.isnan(high):
        return INCONCLUSIVE
    first, last = _band(low, edges), _band(high, edges)
    return verdicts[first] if first == last else INCONCLUSIVE


def _band(x: float, edges: Edges) -> int:
    # What rounding left beside an edge is on it.
    near = (edge for edge, _ in edges if math.isclose(x, edge, rel_tol=1e-12, abs_tol=1e-15))
    x = next(near, x)
    return sum(x > edge or (x == edge and above) for edge, above in edges)
