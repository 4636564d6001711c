"""What a measured number is, as a reader sees it: a ratio, a share, how far away, or an amount."""

import re

from ..text import AWAY, CASES, TIMES, WORKS
from .file import Part

_KINDS = {
    "ratio": TIMES,
    "count_ratio": TIMES,
    "spread": TIMES,
    "best": TIMES,
    "table": AWAY,
    "error": AWAY,
    "break_even": "B/s",
    "share": CASES,
    "wins": CASES,
    "ranking": "% of the names",
    "ability": WORKS,
    "document_spread": "% apart",
    "document_quotient": TIMES,
    "document_inside": "cases",
}
_QUANTITIES = {
    "cpu_share": "% of the time",
    "stored_share": "× the data",
    "amplification": "B for each byte asked for",
    "disk_amplification": "B for each byte used",
}
_OF_ONE = ("count", "level")
"""Kinds of measures of one configuration: their unit is that of what is measured."""
_FILES = {"cmems": "ocean", "gfs": "forecast"}
_WAYS = {
    "chunkindex": "chunkindex",
    "h5py": "h5py",
    "kerchunk": "kerchunk",
    "nczarr": "NCZarr",
    "netcdf4": "netCDF4",
    "xarray": "xarray",
    "zarr": "Zarr",
}
_TYPES = {"f": "float", "i": "int", "u": "uint"}
_SHUFFLED = {"-on": " with shuffle", "-off": " without shuffle", None: ""}
_CELL = re.compile(rf"\b({'|'.join(_FILES)})/(?:(series|frame)\b/?)?")
_WAY = re.compile(rf"\b({'|'.join(_WAYS)})(-on|-off)?(?![\w/-])")
_DIVIDED = re.compile(r"\b(ceil|floor)/(\d+)\b")
_TYPE = re.compile(r"\b([fiu])([1248])(?= [\d*]+x)")


def unit_of(part: Part, measured: str) -> str:
    """Return what a part's number is.

    Parameters
    ----------
    part
        Of a claim.
    measured
        The unit that its measure gave; "" for a pure number.
    """
    if part.kind in _OF_ONE and "unit" not in part.fields:
        return _QUANTITIES.get(str(part.fields["value"]), measured)
    return measured or _KINDS.get(part.kind, "")


def named(cells: str) -> str:
    """Return the names of cells as a reader knows them.

    Examples
    --------
    >>> named("cmems/frame/zarr"), named("gfs/series: chunkindex-on, nczarr"), named("cmems/zarr")
    ('ocean frame, Zarr', 'forecast series: chunkindex with shuffle, NCZarr', 'ocean, Zarr')
    >>> named("792x792"), named("floor/159"), named("f4 *x10, i1 72x380")
    ('792x792', 'floor(d/159)', 'float32 *x10, int8 72x380')
    """

    def told(found: re.Match[str]) -> str:
        end = ", " if found[0].endswith("/") else ""
        return " ".join(filter(None, (_FILES[found[1]], found[2]))) + end

    text = _WAY.sub(lambda found: _WAYS[found[1]] + _SHUFFLED[found[2]], _CELL.sub(told, cells))
    text = _DIVIDED.sub(r"\1(d/\2)", text)
    return _TYPE.sub(lambda found: f"{_TYPES[found[1]]}{8 * int(found[2])}", text)
