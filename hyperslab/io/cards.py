"""Which readers there are, what is known of each before its library is imported, and a reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..kernels.kernel_build import INSTALL, KernelError, compiler
from .layout import CODECS, FORMATS, Layout

if TYPE_CHECKING:
    from .reading import Reader

PLACES = ("file", "http", "s3")
COMPILER = "a C compiler"


@dataclass(frozen=True)
class Card:
    """What is known of a reader before its library is imported."""

    name: str  # to ask for it by
    library: str  # that reads
    formats: frozenset[str]  # of `FORMATS`
    module: str  # of `hyperslab.io`, that holds it
    requires: tuple[str, ...] = ()  # modules that it imports
    cannot: tuple[Mapping[str, object], ...] = ()  # layouts: fields of `Layout`, and their values
    compiled: bool = False  # whether it needs a C compiler
    places: frozenset[str] = frozenset({"file"})  # where it reads, of `PLACES`
    label: str = ""  # what tables and figures call it; its name if empty
    cache: Mapping[str, Any] = field(default_factory=dict)  # of fsspec's; its own choice if empty

    def __str__(self) -> str:
        return self.label or self.name

    @property
    def threads(self) -> bool:
        """Whether it works in threads of its own: its process is not kept on one core."""
        return not {"zarr", "obstore"}.isdisjoint(self.requires)

    def reads(self, layout: Layout) -> bool:
        """Whether this library reads what is written in a layout."""
        return layout.format in self.formats and not any(
            all(getattr(layout, field) == value for field, value in out.items())
            for out in self.cannot
        )

    def missing(self, place: str = "file") -> tuple[str, ...]:
        """Return what it needs to read in a place and does not find here."""
        # What reads URLs by obstore needs nothing of fsspec's.
        needed = self.requires + (() if "obstore" in self.requires else _OPENERS.get(place, ()))
        absent = tuple(module for module in needed if find_spec(module) is None)
        return (*absent, *((COMPILER,) if self.compiled and not compiles() else ()))


_NETCDF = frozenset({"netcdf3", "netcdf3-64bit", "cdf5", "netcdf4", "netcdf4-classic", "hdf5"})
_HDF5 = frozenset({"netcdf4", "netcdf4-classic", "hdf5"})
_ZARR = frozenset({"zarr2", "zarr3", "nczarr"})
# netCDF-C has no lzf; zarr-python takes NCZarr's shuffle, which has its size as text, for none.
_NO_LZF = ({"format": "hdf5", "codec": "lzf"},)
_NO_SHUFFLE = ({"format": "nczarr", "codec": "deflate", "shuffle": True},)
# netCDF-C fills missing chunks of big-endian Zarr with the fill value byte-swapped.
_NO_BIG = ({"byteorder": "big"},)
# Files that were not written in pages have none to buffer.
_PAGED = ({"page_bytes": None},)
# Zarr has neither HDF5's lzf nor its szip.
_REFERRED = ({"codec": "lzf"}, {"codec": "szip"})
_OTHERS: tuple[Mapping[str, object], ...] = tuple(
    {"codec": codec} for codec in CODECS if codec != "deflate"
)
_DEFLATE = (*_OTHERS, {"fletcher32": True}, *_NO_BIG)
_INDEX, _VZ, _BY_VZ = "by_chunkindex", "virtualizarr", "by_virtualizarr"
_OBS, _ZO = ("h5py", "obstore"), ("zarr", "obstore")
_X4, _X5, _XZ = ("xarray", "netCDF4"), ("xarray", "h5netcdf", "h5py"), ("xarray", "zarr")
_KERCHUNK = ("kerchunk", "zarr")
_VIRTUAL = ("virtualizarr", "obspec_utils", "obstore", "zarr")
_HTTP, _ALL, _URLS = frozenset({"file", "http"}), frozenset(PLACES), frozenset({"http", "s3"})
# What fsspec needs to open a place.
_OPENERS = {"http": ("aiohttp",), "s3": ("s3fs",)}
_NO_AHEAD, _AHEAD = {"cache_type": "none"}, {"cache_type": "readahead", "block_size": 2**16}
_BLOCKS = {"cache_type": "blockcache", "block_size": 2**20}

# A new library is one file beside this one and one card here.
# fmt: off
CARDS = (
    Card("plain", "Python", frozenset({"binary"}), "plain_binary"),
    Card("netcdf4", "netCDF4", _NETCDF, "by_netcdf4", ("netCDF4",), _NO_LZF, places=_HTTP),
    Card("netcdf-c", "netCDF-C", _NETCDF, "by_kernel", ("netCDF4",), _NO_LZF, compiled=True),
    # fsspec's own choice: 5 MiB of read-ahead over HTTP, 50 MiB over S3.
    Card("h5py", "h5py", _HDF5, "by_h5py", ("h5py",), places=_ALL),
    Card("h5py-none", "h5py", _HDF5, "by_h5py", ("h5py",), places=_URLS,
         label="h5py, no read-ahead", cache=_NO_AHEAD),
    Card("h5py-64k", "h5py", _HDF5, "by_h5py", ("h5py",), places=_URLS,
         label="h5py, 64 KiB read-ahead", cache=_AHEAD),
    Card("h5py-blocks", "h5py", _HDF5, "by_h5py", ("h5py",), places=_URLS,
         label="h5py, blocks of 1 MiB", cache=_BLOCKS),
    # HDF5 fetches whole pages itself.
    Card("h5py-paged", "h5py", frozenset({"hdf5"}), "by_h5py", ("h5py",), _PAGED, places=_ALL,
         label="h5py, pages", cache=_NO_AHEAD),
    Card("subchunk", "hyperslab.subchunk", _HDF5, "by_subchunk", ("h5py",), places=_ALL),
    Card("subchunk-obstore", "hyperslab.subchunk", _HDF5, "by_subchunk", _OBS, places=_URLS,
         label="subchunk, obstore"),
    Card("chunkindex_layout", "chunkindex", _HDF5, _INDEX, ("h5py",), places=_ALL,
         label="chunkindex"),
    Card("chunkindex_layout-none", "chunkindex", _HDF5, _INDEX, ("h5py",), places=_URLS,
         label="chunkindex, no read-ahead", cache=_NO_AHEAD),
    Card("h5netcdf", "h5netcdf", _HDF5, "by_h5netcdf", ("h5netcdf", "h5py"), places=_ALL),
    Card("pyfive", "pyfive", _HDF5, "by_pyfive", ("pyfive",), places=_ALL),
    Card("hidefix", "hidefix", _HDF5, "by_hidefix", ("hidefix", "h5py"), _DEFLATE),
    Card("xarray-netcdf4", "xarray", _NETCDF, "by_xarray", _X4, _NO_LZF, places=_HTTP),
    Card("xarray-h5netcdf", "xarray", _HDF5, "by_xarray", _X5, places=_ALL),
    Card("xarray-zarr", "xarray", _ZARR, "by_xarray", _XZ, _NO_SHUFFLE, places=_ALL),
    Card("kerchunk", "kerchunk", _HDF5, "by_kerchunk", _KERCHUNK, _REFERRED, places=_URLS),
    Card("virtualizarr", _VZ, _HDF5, _BY_VZ, _VIRTUAL, _REFERRED, places=_URLS),
    Card("virtualizarr-kerchunk", _VZ, _HDF5, _BY_VZ, _VIRTUAL, _REFERRED, places=_URLS),
    Card("zarr", "zarr", _ZARR, "by_zarr", ("zarr",), _NO_SHUFFLE, places=_ALL),
    Card("zarr-obstore", "zarr", _ZARR, "by_zarr", _ZO, _NO_SHUFFLE, places=_URLS,
         label="zarr, obstore"),
    Card("nczarr", "netCDF4", frozenset({"nczarr", "zarr2"}), "by_netcdf4", ("netCDF4",), _NO_BIG),
)
# fmt: on


def readers(format: str | Layout | None = None, *, place: str = "file") -> tuple[str, ...]:
    """Name the readers whose libraries are installed, in a fixed order.

    Parameters
    ----------
    format
        Only those that read this format of `hyperslab.io`, or this layout.
    place
        Only those that read there: "file" (this machine's), "http" or "s3".

    Raises
    ------
    ValueError
        If there is no such format or place.

    Examples
    --------
    >>> readers("binary"), "netcdf4" in readers(place="s3")
    (('plain',), False)
    """
    if place not in PLACES:
        raise ValueError(f"place={place!r}: give one of {', '.join(PLACES)}")
    if isinstance(format, str) and format not in FORMATS:
        raise ValueError(f"format={format!r}: give one of {', '.join(FORMATS)}")
    usable = [card for card in CARDS if place in card.places and not card.missing(place)]
    if isinstance(format, Layout):
        return tuple(card.name for card in usable if card.reads(format))
    return tuple(card.name for card in usable if format is None or format in card.formats)


@cache
def reader(name: str) -> Reader:
    """Give a reader by name, its library imported.

    Raises
    ------
    ValueError
        If there is no such reader, or its library is not installed.

    Examples
    --------
    >>> reader("plain").library
    'Python'
    """
    mine = card(name)
    if missing := mine.missing():
        modules = [name for name in missing if name != COMPILER]
        steps = [f"pip install {' '.join(modules)}"] * bool(modules)
        steps += [INSTALL] * (COMPILER in missing)
        raise ValueError(
            f"reader {name!r} needs {', '.join(missing)}, not installed here: "
            f"{' and '.join(steps)}; usable are {', '.join(readers())}"
        )
    instance: Reader = import_module(f"hyperslab.io.{mine.module}").READER(mine)
    return instance


def card(name: str) -> Card:
    match = next((card for card in CARDS if card.name == name), None)
    if match is None:
        names = ", ".join(card.name for card in CARDS)
        raise ValueError(f"no reader {name!r}; give one of {names}")
    return match


def compiles() -> bool:
    try:
        return bool(compiler())
    except KernelError:
        return False
