"""Measures: how a number with an interval is made from the records of a notebook.

Each kind is one small function, named with its fields in book/claims.yml; `KINDS` lists them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from . import counts, documents, ratios, shares
from .common import Fields, Measured

__all__ = ["KINDS", "Fields", "Kind", "Measured"]


@dataclass(frozen=True)
class Kind:
    """A kind of measure.

    Parameters
    ----------
    compute : callable
        From the records of a notebook and the fields to what was measured.
    required, optional : tuple of str
        Its fields.
    words : tuple of str
        What a reason may quote, beside `COMMON_WORDS`.
    records : bool
        False for arithmetic on the document's own numbers.
    timed : bool, optional
        Whether it takes timed quantities or exact ones; None for both.
    """

    compute: Callable[[pd.DataFrame, Fields], Measured]
    required: tuple[str, ...]
    optional: tuple[str, ...]
    words: tuple[str, ...]
    records: bool = True
    timed: bool | None = None


COMMON_WORDS = ("value", "exact", "interval", "document")
_BASE = ("where", "phases", "notebook")
_PAIR = ("value", "of", "to")
_GROUP = ("value", "cells", "over")
_COMPARED = ("of", "to", "compared", "groups")
_PLACE = ("ranks", "size")
_SHARED = ("hits", "groups", "examples")

KINDS: Mapping[str, Kind] = {
    "ratio": Kind(
        ratios.ratio,
        _PAIR,
        ("over", "counting", *_BASE),
        (*_COMPARED, *_PLACE, "of_count", "to_count"),
        timed=True,
    ),
    "level": Kind(ratios.level, _GROUP[:2], ("over", *_BASE), ("count", "groups"), timed=True),
    "spread": Kind(ratios.spread, _GROUP, _BASE, ("top", "bottom", *_COMPARED)),
    "best": Kind(
        ratios.best,
        (*_GROUP, "expect", "select"),
        _BASE,
        ("expected", "winner", "rival", *_COMPARED),
    ),
    "break_even": Kind(
        ratios.break_even, _PAIR[1:], ("over", *_BASE), ("saved", "spent", "count"), timed=True
    ),
    "count": Kind(
        counts.count,
        _GROUP[:2],
        ("over", "select", "factor", "unit", *_BASE),
        ("count", "cell", "groups"),
        timed=False,
    ),
    "count_ratio": Kind(
        counts.count_ratio, _PAIR, ("over", *_BASE), (*_COMPARED, *_PLACE), timed=False
    ),
    "table": Kind(
        counts.table,
        (*_GROUP, "expect"),
        ("scale", *_BASE),
        ("cell", "of", "to", "off", "groups"),
    ),
    "error": Kind(counts.error, (*_GROUP, "truth"), _BASE, ("cell", "off", "groups"), timed=False),
    "share": Kind(shares.share, _GROUP, ("at_least", "at_most", *_BASE), _SHARED),
    "wins": Kind(shares.wins, (*_PAIR, "over"), _BASE, _SHARED),
    "ranking": Kind(
        shares.ranking, (*_GROUP, "groups", "expect"), _BASE, ("ours", "hits"), timed=True
    ),
    "ability": Kind(shares.ability, ("cells",), _BASE, ("outcome", "detail")),
    "document_spread": Kind(
        documents.spread, ("pairs",), (), ("of", "to", "off", "groups"), records=False
    ),
    "document_inside": Kind(
        documents.inside,
        ("pairs", "differences", "awarded_from"),
        (),
        ("hits", "groups", "off", "examples"),
        records=False,
    ),
    "document_quotient": Kind(
        documents.quotient, ("amount", "per"), ("unit",), ("count",), records=False
    ),
}
