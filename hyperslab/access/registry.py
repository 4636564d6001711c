"""Which readers there are, and which can be used here."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec

from hyperslab.access.base import LibraryReader, Reader
from hyperslab.access.card import Card
from hyperslab.kernels.build import INSTALL, KernelError, compiler
from hyperslab.storage.layout import FORMATS, Layout

COMPILER = "a C compiler"

_NETCDF = frozenset({"netcdf3", "netcdf3-64bit", "cdf5", "netcdf4", "netcdf4-classic", "hdf5"})
_HDF5 = frozenset({"netcdf4", "netcdf4-classic", "hdf5"})
_ZARR = frozenset({"zarr2", "zarr3", "nczarr"})
# netCDF-C has no lzf; zarr-python takes NCZarr's shuffle, which has its size as text, for none.
_NO_LZF = ({"format": "hdf5", "codec": "lzf"},)
_NO_SHUFFLE = ({"format": "nczarr", "codec": "deflate", "shuffle": True},)
# netCDF-C fills missing chunks of big-endian Zarr with the fill value byte-swapped.
_NO_BIG = ({"byteorder": "big"},)

# A new library is one file beside this one and one card here.
CARDS = (
    Card("plain", "Python", frozenset({"binary"}), "fork", "plain"),
    Card("netcdf4", "netCDF4", _NETCDF, "fork", "netcdf4", ("netCDF4",), _NO_LZF),
    Card("netcdf-c", "netCDF-C", _NETCDF, "fork", "c_kernel", ("netCDF4",), _NO_LZF, compiled=True),
    Card("h5py", "h5py", _HDF5, "fork", "h5py", ("h5py",)),
    Card("subchunk", "hyperslab.subchunk", _HDF5, "fork", "subchunk", ("h5py",)),
    Card("chunkindex_layout", "chunkindex", _HDF5, "fork", "chunkindex_layout", ("h5py",)),
    Card("h5netcdf", "h5netcdf", _HDF5, "fork", "h5netcdf", ("h5netcdf", "h5py")),
    Card("xarray-netcdf4", "xarray", _NETCDF, "fork", "xarray", ("xarray", "netCDF4"), _NO_LZF),
    Card("xarray-h5netcdf", "xarray", _HDF5, "fork", "xarray", ("xarray", "h5netcdf", "h5py")),
    # zarr-python runs an event loop in a thread of its own, which a fork would lose.
    Card("xarray-zarr", "xarray", _ZARR, "spawn", "xarray", ("xarray", "zarr"), _NO_SHUFFLE),
    Card("zarr", "zarr", _ZARR, "spawn", "zarr", ("zarr",), _NO_SHUFFLE),
    Card(
        "nczarr", "netCDF4", frozenset({"nczarr", "zarr2"}), "fork", "nczarr", ("netCDF4",), _NO_BIG
    ),
)


def readers(format: str | Layout | None = None) -> tuple[str, ...]:
    """Name the readers whose libraries are installed, in a fixed order.

    Parameters
    ----------
    format
        Only those that read this format of `hyperslab.storage`, or this layout.

    Raises
    ------
    ValueError
        If there is no such format.

    Examples
    --------
    >>> "plain" in readers()
    True
    >>> readers("binary")
    ('plain',)
    >>> "netcdf4" in readers(Layout("hdf5", chunks=(10,), codec="lzf"))
    False
    """
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
        and not _missing(card)
    )


def reader(name: str) -> Reader:
    """Give a reader by name, its library imported.

    Raises
    ------
    ValueError
        If there is no such reader, or its library is not installed.

    Examples
    --------
    >>> reader("plain").start
    'fork'
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


@cache
def _make(name: str) -> LibraryReader:
    card = next((card for card in CARDS if card.name == name), None)
    if card is None:
        known = ", ".join(card.name for card in CARDS)
        raise ValueError(f"no reader {name!r}; give one of {known}")
    if missing := _missing(card):
        raise ValueError(
            f"reader {name!r} needs {', '.join(missing)}, not installed here: "
            f"{_install(missing)}; usable are {', '.join(readers())}"
        )
    made = import_module(f"hyperslab.access.{card.module}").make(card)
    assert isinstance(made, LibraryReader)
    return made


def _missing(card: Card) -> tuple[str, ...]:
    absent = tuple(module for module in card.requires if find_spec(module) is None)
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
