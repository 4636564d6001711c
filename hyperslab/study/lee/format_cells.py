"""The arrays of Table 1 in three formats (Lee et al. 2008, section 3)."""

from dataclasses import dataclass
from pathlib import Path

from data_gen import arrays

from ...storage.layout import Layout
from .format_samples import Whole

KINDS = ("netcdf3", "netcdf4-contiguous", "netcdf4-chunked")
SIZES = ("small", "large")
BYTES = "netcdf3-bytes"
"""The bytes of the integers as single bytes in netCDF-3, which need no conversion."""
UNCACHED = "netcdf4-uncached"
"""One chunk, read with a chunk cache that is too small for it."""
LABELS = {
    "netcdf3": "netCDF-3",
    "netcdf4-contiguous": "netCDF-4, contiguous",
    "netcdf4-chunked": "netCDF-4, one chunk",
    UNCACHED: "netCDF-4, one chunk, no cache",
}

_TOYS: dict[str, dict[int, tuple[int, ...]]] = {
    "small": {1: (1024,), 2: (32, 32)},
    "large": {1: (65536,), 2: (256, 256)},
}


def shapes(profile: str) -> dict[str, dict[int, tuple[int, ...]]]:
    """Return the shapes of Table 1, or toys, by size and number of dimensions.

    Parameters
    ----------
    profile : str

    Source
    ------
    Lee et al. (2008), Table 1.

    Examples
    --------
    >>> shapes("quick")["large"][2], len(shapes("quick")["small"])
    ((3162, 3162), 6)
    >>> shapes("smoke")["large"][2]
    (256, 256)
    """
    if profile == "smoke":
        return {size: dict(found) for size, found in _TOYS.items()}
    return {"small": dict(arrays.SMALL), "large": dict(arrays.LARGE)}


@dataclass(frozen=True)
class Cell:
    """One array in one format.

    Parameters
    ----------
    kind : str
        One of `KINDS`, `BYTES`, or `UNCACHED`.
    size : str
        "small" or "large".
    shape : tuple of int
    """

    kind: str
    size: str
    shape: tuple[int, ...]

    @property
    def name(self) -> str:
        """Name of the case.

        Examples
        --------
        >>> Cell("netcdf3", "small", (8,) * 6).name
        'netcdf3/small/6d'
        """
        return f"{self.kind}/{self.size}/{len(self.shape)}d"

    @property
    def array(self) -> Whole:
        """What is stored: integers, or four times as many bytes."""
        if self.kind == BYTES:
            return Whole((4 * self.shape[0], *self.shape[1:]), "i1")
        return Whole(self.shape)

    @property
    def layout(self) -> Layout:
        """How it is stored."""
        if self.kind.startswith("netcdf3"):
            return Layout("netcdf3")
        return Layout("netcdf4", chunks=None if self.kind.endswith("contiguous") else self.shape)

    @property
    def library(self) -> str:
        """The reader that checks it."""
        return "netcdf4" if self.kind.startswith("netcdf3") else "h5py"

    @property
    def columns(self) -> dict[str, object]:
        """What describes it in the records."""
        return {"library": "netcdf-c", "size": self.size, **self.layout.record()}

    @property
    def cache_bytes(self) -> int | None:
        """Size of the chunk cache for reading; None for netCDF-C's own."""
        return 1 if self.kind == UNCACHED else None

    def path(self, folder: Path) -> Path:
        """Return where its file lies."""
        return folder / f"{self.name.replace('/', '-')}.nc"


def cells(profile: str) -> list[Cell]:
    """Return all arrays in all formats, and two cells that explain the others.

    Those are the bytes that are set against integers, and a chunk read without a cache.
    """
    found = [
        Cell(kind, size, shape)
        for size, known in shapes(profile).items()
        for kind in KINDS
        for shape in known.values()
    ]
    large = shapes(profile)["large"]
    return [*found, Cell(BYTES, "large", large[1]), Cell(UNCACHED, "large", large[2])]


def plain_array(profile: str) -> Whole:
    """Return the array that is set against dd and plain reads: two-dimensional, large."""
    return Whole(shapes(profile)["large"][2])
