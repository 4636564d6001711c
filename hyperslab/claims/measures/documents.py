"""Arithmetic on a document's own numbers; the records play no part."""

import pandas as pd

from ...text import amount, listing, number, percent
from .common import Fields, Measured, mapping, real


def spread(records: pd.DataFrame, fields: Fields) -> Measured:
    """Largest difference between pairs that the document measured twice, as a share."""
    pairs = _pairs(fields)
    differences = [max(pair) / min(pair) - 1 for pair in pairs]
    value = max(differences)
    of, to = pairs[differences.index(value)]
    words = {
        "of": number(of),
        "to": number(to),
        "off": percent(value),
        "groups": number(len(pairs)),
    }
    return Measured(value, value, value, len(pairs), words=words)


def inside(records: pd.DataFrame, fields: Fields) -> Measured:
    """How many of the differences the document awards lie inside its own repeatability."""
    limit = spread(records, fields).value
    least = real(fields["awarded_from"])
    differences = {name: real(x) for name, x in mapping(fields, "differences").items()}
    awarded = {name: x for name, x in differences.items() if x > least}
    within = [name for name, x in awarded.items() if x <= limit]
    value = float(len(within))
    words = {
        "hits": number(value),
        "groups": number(len(awarded)),
        "off": percent(limit),
        "examples": listing(within, most=6),
    }
    return Measured(value, value, value, len(awarded), words=words)


def quotient(records: pd.DataFrame, fields: Fields) -> Measured:
    """One number of the document over another."""
    value = real(fields["amount"]) / real(fields["per"])
    unit = str(fields.get("unit", ""))
    return Measured(value, value, value, 1, unit=unit, words={"count": amount(value, unit)})


def _pairs(fields: Fields) -> list[tuple[float, float]]:
    rows = fields["pairs"]
    if not isinstance(rows, list) or not all(isinstance(r, list) and len(r) == 2 for r in rows):
        raise ValueError(f"pairs is {rows!r}: give a list of pairs of numbers")
    return [(real(a), real(b)) for a, b in rows]
