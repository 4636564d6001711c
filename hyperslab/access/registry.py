"""Which readers there are, and which can be used here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from hyperslab.access.base import LibraryReader, Reader
from hyperslab.access.card import PLACES, Card
from hyperslab.kernels.build import INSTALL, KernelError, compiler
from hyperslab.storage.layout import CODECS, FORMATS, Layout

COMPILER = "a C compiler"

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
# What a reader imports; one that reads at URLs by obstore needs nothing of fsspec's.
_INDEX, _VZ = "chunkindex_layout", "virtualizarr"
_OBS, _ZO = ("h5py", "obstore"), ("zarr", "obstore")
_X4, _X5, _XZ = ("xarray", "netCDF4"), ("xarray", "h5netcdf", "h5py"), ("xarray", "zarr")
_KERCHUNK = ("kerchunk", "zarr")
_VIRTUAL = ("virtualizarr", "obspec_utils", "obstore", "zarr")
_HTTP, _ALL, _URLS = frozenset({"file", "http"}), frozenset(PLACES), frozenset({"http", "s3"})
# What fsspec needs to open a place.
_OPENERS = {"http": ("aiohttp",), "s3": ("s3fs",)}

# A new library is one file beside this one and one card here.
# fmt: off
CARDS = (
    Card("plain", "Python", frozenset({"binary"}), "plain"),
    Card("netcdf4", "netCDF4", _NETCDF, "netcdf4", ("netCDF4",), _NO_LZF, places=_HTTP),
    Card("netcdf-c", "netCDF-C", _NETCDF, "c_kernel", ("netCDF4",), _NO_LZF, compiled=True),
    Card("h5py", "h5py", _HDF5, "h5py", ("h5py",), places=_ALL),
    Card("h5py-none", "h5py", _HDF5, "h5py", ("h5py",), places=_URLS,
         label="h5py, no read-ahead"),
    Card("h5py-64k", "h5py", _HDF5, "h5py", ("h5py",), places=_URLS,
         label="h5py, 64 KiB read-ahead"),
    Card("h5py-blocks", "h5py", _HDF5, "h5py", ("h5py",), places=_URLS,
         label="h5py, blocks of 1 MiB"),
    Card("h5py-paged", "h5py", frozenset({"hdf5"}), "h5py", ("h5py",), _PAGED, places=_ALL,
         label="h5py, pages"),
    Card("subchunk", "hyperslab.subchunk", _HDF5, "subchunk", ("h5py",), places=_ALL),
    Card("subchunk-obstore", "hyperslab.subchunk", _HDF5, "subchunk", _OBS, places=_URLS,
         label="subchunk, obstore"),
    Card("chunkindex_layout", "chunkindex", _HDF5, _INDEX, ("h5py",), places=_ALL,
         label="chunkindex"),
    Card("chunkindex_layout-none", "chunkindex", _HDF5, _INDEX, ("h5py",), places=_URLS,
         label="chunkindex, no read-ahead"),
    Card("chunkindex_lean", "chunkindex", _HDF5, _INDEX, ("h5py",), places=_ALL,
         label="chunkindex, lean"),
    Card("h5netcdf", "h5netcdf", _HDF5, "h5netcdf", ("h5netcdf", "h5py"), places=_ALL),
    Card("pyfive", "pyfive", _HDF5, "pyfive", ("pyfive",), places=_ALL),
    Card("hidefix", "hidefix", _HDF5, "hidefix", ("hidefix", "h5py"), _DEFLATE),
    Card("xarray-netcdf4", "xarray", _NETCDF, "xarray", _X4, _NO_LZF, places=_HTTP),
    Card("xarray-h5netcdf", "xarray", _HDF5, "xarray", _X5, places=_ALL),
    Card("xarray-zarr", "xarray", _ZARR, "xarray", _XZ, _NO_SHUFFLE, places=_ALL),
    Card("kerchunk", "kerchunk", _HDF5, "kerchunk", _KERCHUNK, _REFERRED, places=_URLS),
    Card("virtualizarr", _VZ, _HDF5, _VZ, _VIRTUAL, _REFERRED, places=_URLS),
    Card("virtualizarr-kerchunk", _VZ, _HDF5, _VZ, _VIRTUAL, _REFERRED, places=_URLS),
    Card("zarr", "zarr", _ZARR, "zarr", ("zarr",), _NO_SHUFFLE, places=_ALL),
    Card("zarr-obstore", "zarr", _ZARR, "zarr", _ZO, _NO_SHUFFLE, places=_URLS,
         label="zarr, obstore"),
    Card(
        "nczarr", "netCDF4", frozenset({"nczarr", "zarr2"}), "nczarr", ("netCDF4",), _NO_BIG
    ),
)
# fmt: on


def readers(format: str | Layout | None = None, *, place: str = "file") -> tuple[str, ...]:
    """Name the readers whose libraries are installed, in a fixed order.

    Parameters
    ----------
    format
        Only those that read this format of `hyperslab.storage`, or this layout.
    place
        Only those that read there: "file" (this machine's), "http" or "s3".

    Raises
    ------
    ValueError
        If there is no such format or place.

    Examples
    --------
    >>> "plain" in readers()
    True
    >>> readers("binary")
    ('plain',)
    >>> "netcdf4" in readers(Layout("hdf5", chunks=(10,), codec="lzf"))
    False
    >>> "netcdf4" in readers(place="http"), "netcdf4" in readers(place="s3")
    (True, False)
    """
    if place not in PLACES:
        raise ValueError(f"place={place!r}: give one of {', '.join(PLACES)}")
    if isinstance(format, str) and format not in FORMATS:
        raise ValueError(f"format={format!r}: give one of {', '.join(FORMATS)}")
    return tuple(
        card.name
        for card in CARDS
        if (
            format is None
            or (isinstance(format, Layout) and card.reads(format))
            or format in card.formats
        )
        and place in card.places
        and not _missing(card, place)
    )


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
    return _make(name)


def library_version(name: str) -> str:
    """Give the version of the library behind a reader, and of the C libraries behind that.

    Examples
    --------
    >>> library_version("plain").partition(" (")[2].split()[0]
    'numpy'
    """
    return _make(name).version()


def card(name: str) -> Card:
    """Give what is known of a reader, its library imported or not.

    Raises
    ------
    ValueError
        If there is no such reader.

    Examples
    --------
    >>> card("h5py").library
    'h5py'
    """
    found = next((card for card in CARDS if card.name == name), None)
    if found is None:
        known = ", ".join(card.name for card in CARDS)
        raise ValueError(f"no reader {name!r}; give one of {known}")
    return found


@cache
def _make(name: str) -> LibraryReader:
    mine = card(name)
    if missing := _missing(mine):
        raise ValueError(
            f"reader {name!r} needs {', '.join(missing)}, not installed here: "
            f"{_install(missing)}; usable are {', '.join(readers())}"
        )
    made = import_module(f"hyperslab.access.{mine.module}").make(mine)
    assert isinstance(made, LibraryReader)
    return made


def _missing(card: Card, place: str = "file") -> tuple[str, ...]:
    needed = card.requires + (() if "obstore" in card.requires else _OPENERS.get(place, ()))
    absent = tuple(module for module in needed if find_spec(module) is None)
    return (*absent, *((COMPILER,) if card.compiled and not _compiles() else ()))


def _compiles() -> bool:
    try:
        compiler()
    except KernelError:
        return False
    return True


def _install(missing: tuple[str, ...]) -> str:
    modules = [name for name in missing if name != COMPILER]
    steps = [f"pip install {' '.join(modules)}"] if modules else []
    return " and ".join([*steps, *([INSTALL] if COMPILER in missing else [])])
