"""Write an index in the layout of the package chunkindex."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import WINDOW
from ..deflate.walk import Places, walk
from ..errors import SubchunkError
from ..fetch import LocalFile
from ..hdf5 import FLETCHER32, Variable
from ..index.survey import survey
from ..whole_file import whole_file
from .record import MODE

POINTS, SPACING = 3, 2_000_000
_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable.%10d"  # netCDF-4's own words
_LEVEL = 1  # of the windows, as the package has it


def span(chunk_bytes: int, points: int = POINTS, spacing: int = SPACING) -> int:
    """Return the least distance of points: so many a chunk, or one every so many bytes.

    Parameters
    ----------
    chunk_bytes : int
        Bytes of a chunk, decompressed.
    points : int
        Points a chunk has at least, where its blocks allow it.
    spacing : int
        Bytes of decompressed data between points, at most.

    Source
    ------
    Penard et al. 2025, section 3.3: three points a chunk, or at least one every 2 MB.

    Examples
    --------
    >>> span(1_956_240), span(53_989_260)
    (652080, 2000000)
    """
    return min(spacing, -(-chunk_bytes // points))


def write(
    path: str | Path,
    index: str | Path,
    *,
    variables: Sequence[str] | None = None,
    points: int = POINTS,
    spacing: int = SPACING,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Build the index of a netCDF-4 or HDF5 file as the package chunkindex does.

    Points lie where deflate's blocks end, and each keeps its whole window. `build` makes an index
    that is smaller, quicker, and knows when the file has changed.

    Parameters
    ----------
    path : path-like
        The file. It is read once, and not changed.
    index : path-like
        Where the index goes. It appears whole, or not at all.
    variables : sequence of str, optional
        Names of variables to index; all that can be if not given.
    points, spacing : int
        As in `span`.
    progress : callable, optional
        Called with the chunks done and all chunks.

    Returns
    -------
    Path
        The index.

    Raises
    ------
    SubchunkError
        For an unknown variable, one that cannot be indexed, or a damaged chunk.
    ValueError
        For points or a spacing below 1.

    Source
    ------
    Penard et al. 2025, sections 3.2 and 3.3, Figure 3.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with h5py.File(folder / "x.h5", "w") as file:
    ...     _ = file.create_dataset("x", data=np.arange(90_000), chunks=(9_000,), compression=4)
    >>> with h5py.File(write(folder / "x.h5", folder / "x_index.nc")) as file:
    ...     sorted(file["x/0"])
    ['bits', 'inloc', 'outloc', 'win', 'window']
    """
    if min(points, spacing) < 1:
        raise ValueError(f"points={points}, spacing={spacing}: give 1 or more of both")
    found = survey(Path(path), variables)
    target, data = Path(index), LocalFile(path)
    total, done = sum(len(table) for table in found.tables.values()), 0
    with whole_file(target) as part, h5py.File(part, "w", track_order=True) as file:
        for variable in found.variables:
            if (chunks := found.tables.get(variable.name)) is None:
                continue
            file.require_group(variable.name)  # there too when no chunk was written yet
            names = chunk_names(variable, chunks.number)
            least = span(variable.chunk_bytes, points, spacing)
            for row, name in enumerate(names):
                start, size = int(chunks.offset[row]), int(chunks.size[row])
                stored = np.frombuffer(data.ranges([start], [start + size])[0], np.uint8)
                if not chunks.mask[row]:
                    group = file.create_group(f"{variable.name}/{name}", track_order=True)
                    _write_chunk(group, variable, stored, least)
                done += 1
                if progress:
                    progress(done, total)
    return target


def chunk_names(variable: Variable, numbers: NDArray[np.int64]) -> list[str]:
    """Return the groups' names of chunks: their places along each axis.

    Examples
    --------
    >>> chunk_names(Variable("x", (4, 6), "<f4", (2, 2)), np.array([0, 5]))
    ['0.0', '1.2']
    """
    places = np.stack(np.unravel_index(numbers, variable.grid), -1)
    return [".".join(map(str, place)) for place in places.tolist()]


def _write_chunk(
    group: h5py.Group, variable: Variable, stored: NDArray[np.uint8], least: int
) -> None:
    output = np.empty(variable.chunk_bytes, np.uint8)
    stream = stored[:-4] if variable.filters[-1][0] == FLETCHER32 else stored
    try:
        places = walk(stream, least, output, blocks=True)
    except SubchunkError as error:
        raise SubchunkError(f"{group.name} cannot be indexed: {error}") from error
    bit = places.bit.astype(np.int64)
    inloc = (bit + 7) >> 3
    scale = group.create_dataset("outloc", data=places.out.astype("<i8"))
    scale.make_scale("outloc")
    win = group.create_dataset("win", (WINDOW,), ">f4")  # without values: netCDF-4's way
    win.make_scale(_NO_VARIABLE % WINDOW)
    window = group.create_dataset(
        "window", data=_windows(places, output), chunks=(1, WINDOW), compression=_LEVEL
    )
    for axis, dimension in enumerate((scale, win)):
        window.dims[axis].attach_scale(dimension)
    for name, values in (("inloc", inloc.astype("<i8")), ("bits", (inloc * 8 - bit).astype("i1"))):
        group.create_dataset(name, data=values).dims[0].attach_scale(scale)
    for name, value in (
        ("uncompressed_size", output.size),
        ("compressed_size", stored.size),
        ("mode", MODE),
        ("span", least),
    ):
        group.attrs[name] = np.array([value], "<i8")


def _windows(places: Places, output: NDArray[np.uint8]) -> NDArray[np.int8]:
    found = np.zeros((len(places), WINDOW), np.uint8)
    for window, out in zip(found, places.out.tolist(), strict=True):
        window[max(0, WINDOW - out) :] = output[max(0, out - WINDOW) : out]
    return found.view(np.int8)
