"""How both files are read over a network: libraries, caches and stores (Penard 2025, Figure 9)."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...access import readers
from .datasets import TABLE_1
from .local import READS
from .subchunk_files import SHUFFLES

STORES = ("http", "s3")
"""Kinds of server; the claims are about the first."""


@dataclass(frozen=True)
class FarWay:
    """One way to read over a network: a library, its cache, and how the data are stored.

    Parameters
    ----------
    name : str
        As the claims have it, without shuffle and variant.
    library : str
        Name of a reader.
    label : str
        What tables call it.
    variant : str
        What comes after the shuffle in a case's name: a cache, or what fetches.
    stores : tuple of str
        "off" and "on" for netCDF-4 without and with shuffle, or one of `local_files.STORES`.
    """

    name: str
    library: str
    label: str
    variant: str = ""
    stores: tuple[str, ...] = SHUFFLES

    def way(self, store: str) -> str:
        """Return the way's name with a store.

        Examples
        --------
        >>> FarWay("h5py", "h5py-none", "h5py", "nocache").way("off")
        'h5py-off-nocache'
        """
        shuffle = store if store in SHUFFLES else ""
        return "-".join(part for part in (self.name, shuffle, self.variant) if part)

    def case(self, kind: str, read: str, store: str) -> str:
        """Return the name of a case.

        Examples
        --------
        >>> FarWay("zarr", "zarr", "Zarr", stores=("zarr",)).case("gfs", "series", "zarr")
        'gfs/series/zarr'
        """
        return f"{kind}/{read}/{self.way(store)}"


_ZARR, _DEFLATE = ("zarr",), ("zarr-deflate",)
_SHARDS, _NC_DEFLATE = ("zarr3-shards",), ("nczarr-deflate",)
WAYS = (
    FarWay("h5py", "h5py", "h5py, fsspec's cache as it comes"),
    FarWay("h5py", "h5py-none", "h5py, no cache", "nocache"),
    FarWay("h5py", "h5py-64k", "h5py, 64 KiB read-ahead", "64k"),
    FarWay("h5py", "h5py-blocks", "h5py, blocks of 1 MiB", "blocks"),
    FarWay("h5py-paged", "h5py-paged", "h5py, HDF5 in pages", stores=("paged",)),
    FarWay("h5netcdf", "h5netcdf", "h5netcdf"),
    FarWay("netcdf4", "netcdf4", "netCDF4-python, #mode=bytes"),
    FarWay("xarray-netcdf4", "xarray-netcdf4", "xarray, netCDF4"),
    FarWay("xarray", "xarray-h5netcdf", "xarray, h5netcdf"),
    FarWay("kerchunk", "kerchunk", "kerchunk's references"),
    FarWay("virtualizarr", "virtualizarr", "VirtualiZarr, parsing each time"),
    FarWay("virtualizarr", "virtualizarr-kerchunk", "VirtualiZarr, references", "references"),
    FarWay("chunkindex", "chunkindex_layout", "chunkindex layout, cache as it comes"),
    FarWay("chunkindex", "chunkindex_layout-none", "chunkindex layout, no cache", "nocache"),
    FarWay("subchunk", "subchunk", "hyperslab.subchunk"),
    FarWay("subchunk", "subchunk-obstore", "hyperslab.subchunk, obstore", "obstore"),
    FarWay("zarr", "zarr", "Zarr, Blosc", stores=_ZARR),
    FarWay("zarr", "zarr-obstore", "Zarr, Blosc, obstore", "obstore", _ZARR),
    FarWay("zarr-deflate", "zarr", "Zarr, deflate", stores=_DEFLATE),
    FarWay("xarray-zarr", "xarray-zarr", "xarray on Zarr", stores=_ZARR),
    FarWay("zarr3-shards", "zarr", "Zarr 3, zstd, shards", stores=_SHARDS),
    FarWay("zarr3-shards", "zarr-obstore", "Zarr 3, shards, obstore", "obstore", _SHARDS),
    FarWay("nczarr", "zarr", "NCZarr, no codec, by zarr-python", stores=("nczarr",)),
    FarWay("nczarr-deflate", "zarr", "NCZarr, deflate, by zarr-python", stores=_NC_DEFLATE),
)
"""All that read URLs; one whose library is not installed is left out."""
DRAWN = (
    "h5py-off", "h5py-off-nocache", "h5py-off-64k", "netcdf4-off", "kerchunk-off",
    "virtualizarr-off", "chunkindex-off", "chunkindex-off-nocache", "subchunk-off",
)  # fmt: skip
"""Ways whose bytes of the file are drawn, all of the same file."""
CLAIMED = (
    ("gfs", "series", "chunkindex-on"), ("gfs", "series", "chunkindex-off"),
    ("gfs", "series", "h5py-on"), ("gfs", "series", "h5py-on-nocache"),
    ("gfs", "frame", "chunkindex-off"), ("gfs", "frame", "h5py-on"),
    ("cmems", "series", "chunkindex-off"), ("cmems", "series", "h5py-off"),
    ("cmems", "series", "chunkindex-off-nocache"), ("cmems", "series", "h5py-off-nocache"),
    ("gfs", "series", "subchunk-off"), ("gfs", "series", "zarr"), ("gfs", "frame", "zarr"),
    ("cmems", "series", "zarr"),
)  # fmt: skip
"""What the verdicts and the summary need: all that the smallest profile reads."""

SLOW = ("netcdf4", "xarray-netcdf4", "h5netcdf", "xarray")
"""Left out of the large chunks by the quick profile: see `cells`."""
SHUFFLED = ("h5py", "chunkindex", "subchunk")
"""What the quick profile reads of the files with shuffle too, with fsspec's cache as it comes."""
STORED = ("h5py", "chunkindex", "subchunk", "kerchunk", "zarr", "zarr3-shards", "nczarr")
"""What the quick profile reads from S3."""

Cell = tuple[str, str, str, FarWay, str]


def cells(profile: str) -> list[Cell]:
    """Return what is read: the kind of server, file, read, way and store.

    Parameters
    ----------
    profile : str
        The smallest reads only what the verdicts need, and one case from S3. The quick one leaves
        out, of the large chunks, what netCDF-C reads (up to 16 s of CPU time for each) and what
        reads by h5py and so as h5py does; of the files with shuffle all but `SHUFFLED`; and from
        S3 these files, the large map, and all but `STORED`. The full one leaves out of the
        large chunks xarray on netCDF-C, which reads as netCDF-C does, and from S3 all that reads
        as h5py or netCDF-C do.

    Examples
    --------
    >>> {(place, way.name) for place, _, _, way, _ in cells("smoke") if place == "s3"}
    {('s3', 'h5py')}
    >>> "netcdf4" in {way.name for place, _, _, way, _ in cells("quick") if place == "s3"}
    False
    """
    found = list(_every())
    if profile == "smoke":
        return [cell for cell in found if (*cell[1:3], cell[3].way(cell[4])) in _smoke(cell[0])]
    if profile == "quick":
        return [cell for cell in found if not _left_out(cell)]
    if profile == "full":
        return [cell for cell in found if not _long(cell)]
    return found


def _left_out(cell: Cell) -> bool:
    place, kind, read, way, store = cell
    large = kind == "gfs"
    if place == "s3":
        return store == "on" or way.name not in STORED or (large and read == "frame")
    if (kind, read, way.way(store)) in CLAIMED:
        return False
    if store == "on" and (way.variant or way.name not in SHUFFLED):
        return True
    return large and way.name in SLOW


def _long(cell: Cell) -> bool:
    place, kind, _, way, _ = cell
    return kind == "gfs" and way.name in (SLOW if place == "s3" else ("xarray-netcdf4",))


def _smoke(place: str) -> tuple[tuple[str, str, str], ...]:
    return CLAIMED if place == "http" else (("gfs", "series", "h5py-on"),)


def _every() -> Iterator[Cell]:
    for place in STORES:
        here = readers(place=place)
        for kind in TABLE_1:
            for read in READS:
                for way in WAYS:
                    if way.library in here:
                        for store in way.stores:
                            yield place, kind, read, way, store
