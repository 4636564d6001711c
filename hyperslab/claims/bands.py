"""Verdicts, and the bands of values that they stand for."""

import math

HOLDS, STRONGER, WEAKER, REVERSED = "holds", "stronger", "weaker", "reversed"
REFUTED, OBSOLETE = "refuted", "obsolete"
INCONCLUSIVE, NOT_MEASURED = "inconclusive", "not measured"
VERDICTS = (HOLDS, STRONGER, WEAKER, REVERSED, REFUTED, OBSOLETE, INCONCLUSIVE, NOT_MEASURED)
CONTRARY = (REVERSED, REFUTED, OBSOLETE)
"""What a claim that holds has in a part that came out otherwise: then it holds in part."""
UNDECIDED = (INCONCLUSIVE, NOT_MEASURED)
IN_PART = "holds in part"
SIGNS = {
    HOLDS: "✓", IN_PART: "◐", WEAKER: "▽", STRONGER: "△", REVERSED: "⇄", REFUTED: "✗",
    OBSOLETE: "⊘", INCONCLUSIVE: "?", NOT_MEASURED: "–",
}  # fmt: skip
"""A sign for each verdict, so that no colour is needed to tell them apart."""

Edges = tuple[tuple[float, bool], ...]


def label(verdict: str, *, in_part: bool = False, basis: str = "") -> str:
    """Return a claim's verdict as every page shows it.

    Parameters
    ----------
    verdict : str
    in_part : bool
        Whether another of its parts came out otherwise.
    basis : str
        Why no measurement can confirm it, such as "calibration".

    Examples
    --------
    >>> label("holds"), label("holds", in_part=True), label("holds", basis="calibration")
    ('holds', 'holds in part', 'holds (calibration)')
    >>> label("not measured", basis="calibration")
    'not measured'
    """
    text = IN_PART if in_part and verdict == HOLDS else verdict
    return f"{text} ({basis})" if basis and verdict != NOT_MEASURED else text


def in_one_band(low: float, high: float, edges: Edges, verdicts: tuple[str, ...]) -> str:
    """Return the verdict of the band that holds a whole interval, else inconclusive.

    Parameters
    ----------
    low, high : float
        The ends of the interval.
    edges : tuple of (float, bool)
        Where bands meet, rising; and whether the edge itself belongs to the band above.
    verdicts : tuple of str
        One more than edges.

    Examples
    --------
    >>> in_one_band(0.9, 1.1, ((0.5, True), (2.0, False)), ("weaker", "holds", "stronger"))
    'holds'
    >>> in_one_band(0.4, 1.1, ((0.5, True), (2.0, False)), ("weaker", "holds", "stronger"))
    'inconclusive'
    """
    if math.isnan(low) or math.isnan(high):
        return INCONCLUSIVE
    first, last = _band(low, edges), _band(high, edges)
    return verdicts[first] if first == last else INCONCLUSIVE


def _band(x: float, edges: Edges) -> int:
    x = _snap(x, edges)
    return sum(x > edge or (x == edge and above) for edge, above in edges)


def _snap(x: float, edges: Edges) -> float:
    """Put a number that rounding left beside an edge onto it."""
    for edge, _ in edges:
        if math.isclose(x, edge, rel_tol=1e-12, abs_tol=1e-15):
            return edge
    return x
