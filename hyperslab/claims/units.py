"""What a measured number is, as a reader sees it: a ratio, a share, how far away, or an amount."""

import re

from ..text import AWAY, CASES, TIMES, WORKS
from .file import Part

_KINDS = {
    **dict.fromkeys(("ratio", "at_rate", "over_link", "means", "scatter"), TIMES),
    **dict.fromkeys(("count_ratio", "spread", "best", "document_quotient"), TIMES),
    **dict.fromkeys(("table", "error"), AWAY),
    **dict.fromkeys(("share", "wins", "order"), CASES),
    "break_even": "B/s",
    "ranking": "% of the names",
    "ability": WORKS,
    "document_spread": "% apart",
    "document_inside": "cases",
}
_QUANTITIES = {
    "cpu_share": "% of the time",
    "stages": "times",
    "stored_share": "× the data",
    "amplification": "B for each byte asked for",
    "disk_amplification": "B for each byte used",
}
OF_ONE = ("count", "level")
"""Kinds of measures of one configuration: their unit is that of what is measured."""
_TYPES = {"f": "float", "i": "int", "u": "uint"}
_TYPE = re.compile(r"\b([fiu])([1248])(?= [\d*]+x)")


def unit_of(part: Part, measured: str) -> str:
    """Return what a part's number is."""
    if part.kind in OF_ONE and "unit" not in part.fields:
        return _QUANTITIES.get(str(part.fields["value"]), measured)
    return measured or _KINDS.get(part.kind, "")


def named(cells: str) -> str:
    """Return the names of cells with the types of variables spelled out.

    >>> named("792x792"), named("f4 *x10, i1 72x380")
    ('792x792', 'float32 *x10, int8 72x380')
    """
    return _TYPE.sub(lambda found: f"{_TYPES[found[1]]}{8 * int(found[2])}", cells)
