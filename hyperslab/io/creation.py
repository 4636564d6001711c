"""Create a file of any format and stream values into it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .chunk_shapes import cut
from .file_plan import plan
from .layout import Layout
from .variable import Variable
from .writing import Writer as Writer
from .writing import remove
from .writing import stored_bytes as stored_bytes

BLOCK_BYTES = 64 * 2**20
STORE_MARKS = (".zgroup", ".zarray", "zarr.json")
# The module of a format's writer, and the writer; netCDF-C writes all others.
_WRITERS = {
    "binary": ("plain_binary", "BinaryWriter"),
    "hdf5": ("by_h5py", "HDF5Writer"),
    "zarr2": ("by_zarr", "ZarrWriter"),
    "zarr3": ("by_zarr", "ZarrWriter"),
}


def create(
    path: str | Path,
    variables: Sequence[Variable],
    layout: Layout | Mapping[str, Layout],
    *,
    coordinates: Mapping[str, tuple[Variable, NDArray[Any]]] | None = None,
    attrs: Mapping[str, object] | None = None,
    chunk_cache_bytes: int | None = None,
    overwrite: bool = False,
) -> Writer:
    """Create a file with these variables and give the writer that fills them.

    When the definition fails, or the body of a ``with`` on the writer raises, it is removed.

    Parameters
    ----------
    path
        The file, or the directory of a Zarr format.
    variables
        Scalars among them take neither chunks nor codec from the layout.
    layout
        One for all, or one for each by name; format and pages are the file's, so they must agree.
    coordinates, attrs
        Variables with their values, written at once, unchunked and uncompressed, and attributes
        of the file, of a group as a mapping under its path with a slash behind; plain binary
        leaves both out.
    chunk_cache_bytes
        Of the library for each variable; None keeps its own.
    overwrite
        Remove what lies at `path` first.

    Raises
    ------
    FileExistsError
        If something lies at `path` already.
    ValueError
        If variables, layouts and format do not fit each other; nothing is created then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "ones.bin"
    ...     with create(path, [Variable("a", ("x",), (4,), "f4")], Layout("binary")) as writer:
    ...         writer.write("a", slice(0, 2), np.ones(2, "f4"))
    ...     stored_bytes(path)
    16
    """
    path = Path(path)
    placed = plan(variables, layout, coordinates or {}, chunk_cache_bytes)
    if overwrite:
        if path.is_dir() and not any((path / mark).exists() for mark in STORE_MARKS):
            raise FileExistsError(f"{path} is a directory but no Zarr store: it is left alone")
        remove(path)
    if path.exists() or path.is_symlink():
        raise FileExistsError(f"{path} exists; remove it, or give another path or overwrite=True")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} is not a directory; make it first")
    format = placed[-1][1].format
    writer = writer_of(format)(path, placed, attrs or {}, chunk_cache_bytes)
    try:
        if format != "binary":
            for name, (_, values) in (coordinates or {}).items():
                writer.write(name, ..., values)
    except BaseException:
        writer.discard()
        raise
    return writer


def writer_of(format: str) -> type[Writer]:
    """Give what writes a format, its library imported."""
    module, kind = _WRITERS.get(format, ("by_netcdf4", "NetCDFWriter"))
    writer: type[Writer] = getattr(import_module(f"hyperslab.io.{module}"), kind)
    return writer


def write_array(
    path: str | Path,
    values: Any,
    layout: Layout,
    name: str = "data",
    *,
    dims: Sequence[str] | None = None,
    fill_value: float | int | None = None,
    block_bytes: int = BLOCK_BYTES,
    overwrite: bool = False,
) -> int:
    """Write one array to a file of its own, and give the bytes stored.

    Parameters
    ----------
    path, layout, overwrite
        As of `create`.
    values
        Anything with shape, dtype and indexing (numpy, HDF5, Zarr): it is copied block by block.
    name, dims, fill_value
        Of the variable; dimensions are dim_0, dim_1 … when not given.
    block_bytes
        Of a block at most, unless one chunk is larger.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_array(Path(folder) / "a.bin", np.zeros((2, 3)), Layout("binary"))
    48
    """
    shape = tuple(values.shape)
    dtype = np.dtype(values.dtype)
    named = tuple(f"dim_{axis}" for axis in range(len(shape))) if dims is None else tuple(dims)
    variable = Variable(name, named, shape, dtype.str[1:], fill_value=fill_value)
    with create(path, [variable], layout, overwrite=overwrite) as writer:
        for block in blocks(shape, layout.shards or layout.chunks, dtype.itemsize, block_bytes):
            writer.write(name, block, values[block])
    return stored_bytes(path)


def blocks(
    shape: Sequence[int], chunks: Sequence[int] | None, itemsize: int, limit_bytes: int
) -> Iterator[tuple[slice, ...]]:
    """Cut an array into blocks of whole chunks, in row-major order.

    Without chunks it is cut anywhere; a block takes more than the limit where one chunk does.

    Examples
    --------
    >>> [b[0] for b in blocks((10, 4), (3, 4), 1, 24)]
    [slice(0, 6, None), slice(6, 10, None)]
    """
    lengths = list(shape)
    units = [1] * len(lengths) if not chunks else list(chunks)
    for axis, unit in enumerate(units[: len(lengths)]):
        rest = math.prod(lengths[:axis] + lengths[axis + 1 :]) * itemsize
        if lengths[axis] * rest <= limit_bytes:
            break
        fits = max(limit_bytes // max(rest, 1) // unit, 1) * unit
        lengths[axis] = min(fits, lengths[axis])
    return cut([slice(0, n) for n in shape], [max(n, 1) for n in lengths])
