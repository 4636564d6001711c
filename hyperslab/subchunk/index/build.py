"""Build the index of a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..errors import SubchunkError
from ..fetch import LocalFile, Source
from ..hdf5 import FLETCHER32, Chunks, Variable, attributes, chunk_table, datasets, describe
from .chunk import index_chunk
from .fingerprint import table_digest
from .format import encode
from .points import POINT_ARRAYS, ChunkPoints, joined
from .spacing import choose_spacing

BUDGET = 0.02
SMALL = 2**16  # bytes of a plain variable that goes into the index
_SPACINGS = (1024, 2**26)
_NO_POINTS = np.empty(0, np.uint64)


def build(
    path: str | Path,
    index: str | Path | None = None,
    *,
    variables: Sequence[str] | None = None,
    spacing: int | None = None,
    budget: float = BUDGET,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Build the index of a netCDF-4 or HDF5 file.

    Parameters
    ----------
    path : path-like
        The file. It is read once, and not changed.
    index : path-like, optional
        Where the index goes: the file's name with `.subchunk` behind it if not given. It appears
        whole, or not at all.
    variables : sequence of str, optional
        Names of variables to index; all that can be if not given.
    spacing : int, optional
        Bytes of decompressed data between points, from 1 KiB to 64 MiB.
    budget : float
        Where no spacing is given: bytes of the index for each byte of compressed data.
    threads : int, optional
        Chunks that are indexed at the same time; the number of cores if not given.
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
        For a spacing or budget that makes no sense.

    Source
    ------
    Penard et al. 2025, section 3: points inside of chunks.
    """
    place, target = Path(path), Path(index) if index else Path(f"{os.fspath(path)}.subchunk")
    _check_numbers(spacing, budget)
    data = LocalFile(place)
    identity = data.identity()
    with _opened(place) as file:
        described = [(describe(name, item), item) for name, item in datasets(file)]
        chosen = _chosen([variable for variable, _ in described], variables, place.name)
        groups = _groups(file)
        tables = {
            variable.name: chunk_table(item)
            for variable, item in described
            if variable.name in chosen
        }
        small = {variable.name: _small(variable, item) for variable, item in described}
    total = sum(len(chunks) for chunks in tables.values())
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if progress:
            progress(done, total)

    arrays: dict[str, NDArray[Any]] = {}
    listed: list[dict[str, Any]] = []
    kept = b""
    for number, (variable, _) in enumerate(described):
        chunks = tables.get(variable.name)
        step = 0
        if chunks is not None:
            step = spacing or _spacing(data, variable, chunks, budget)
            made = _points(data, variable, chunks, step, threads or os.cpu_count() or 1, count)
            points, more = joined(made, len(kept))
            kept += more
            for name in ("number", "offset", "size", "mask"):
                arrays[f"{number}/{name}"] = getattr(chunks, name)
            for name in POINT_ARRAYS:
                arrays[f"{number}/{name}"] = getattr(points, name)
        listed.append(_listed(variable, step, small[variable.name]))
    if data.identity() != identity:
        raise SubchunkError(f"{place.name} changed while it was indexed: build the index again")
    digest = table_digest([(v, tables[v.name]) for v, _ in described if v.name in tables])
    content = {"data": identity | {"table": digest}, "groups": groups, "variables": listed}
    write_whole(target, encode(content, arrays, kept))
    return target


def write_whole(target: Path, data: bytes) -> None:
    """Write a file so that it appears whole or not at all."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _check_numbers(spacing: int | None, budget: float) -> None:
    if spacing is not None and not _SPACINGS[0] <= spacing <= _SPACINGS[1]:
        raise ValueError(
            f"spacing is {spacing} bytes: give {_SPACINGS[0]} to {_SPACINGS[1]}, or none to let "
            "the budget decide"
        )
    if not 0 < budget <= 1:
        raise ValueError(f"budget is {budget}: give a share of the data above 0, such as 0.02")


def _opened(path: Path) -> h5py.File:
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise SubchunkError(
            f"{path.name} cannot be opened as HDF5 or netCDF-4, the formats that can be indexed: "
            f"{error}"
        ) from error


def _chosen(
    variables: Sequence[Variable], asked: Sequence[str] | None, file: str
) -> frozenset[str]:
    able = {variable.name for variable in variables if not variable.plain}
    if asked is None:
        return frozenset(able)
    reasons = {variable.name: variable.plain for variable in variables}
    for name in asked:
        if name not in reasons:
            known = ", ".join(sorted(reasons)) or "none"
            raise SubchunkError(f"{file} has no variable {name!r}: it has {known}")
        if name not in able:
            raise SubchunkError(f"{name} in {file} cannot be indexed: {reasons[name]}")
    return frozenset(asked)


def _groups(file: h5py.File) -> dict[str, dict[str, Any]]:
    found = {"": attributes(file)}

    def keep(name: str, item: object) -> None:
        if isinstance(item, h5py.Group):
            found[name] = attributes(item)

    file.visititems(keep)
    return found


def _small(variable: Variable, item: h5py.Dataset) -> bytes | None:
    if not variable.dtype or item.size is None:
        return None
    if item.size * item.dtype.itemsize > SMALL:
        return None
    return np.asarray(item[()]).tobytes()


def _spacing(data: Source, variable: Variable, chunks: Chunks, budget: float) -> int:
    """Choose by a chunk of the usual size."""
    good = np.flatnonzero(chunks.mask == 0)
    if not good.size:
        return _SPACINGS[1]
    typical = int(good[np.argsort(chunks.size[good], kind="stable")[good.size // 2]])
    return choose_spacing(_stream(data, variable, chunks, typical), variable.chunk_bytes, budget)


def _stream(data: Source, variable: Variable, chunks: Chunks, number: int) -> NDArray[np.uint8]:
    start = int(chunks.offset[number])
    stop = start + int(chunks.size[number])
    if variable.filters[-1][0] == FLETCHER32:
        stop -= 4
    return np.frombuffer(data.ranges([start], [stop])[0], np.uint8)


def _points(
    data: Source,
    variable: Variable,
    chunks: Chunks,
    spacing: int,
    threads: int,
    count: Callable[[], None],
) -> list[ChunkPoints]:
    def one(number: int) -> ChunkPoints:
        if chunks.mask[number]:  # it skips a filter: read whole
            empty = np.empty(0, np.uint32)
            found = ChunkPoints(_NO_POINTS, _NO_POINTS, _NO_POINTS, [], empty, empty)
        else:
            output = np.empty(variable.chunk_bytes, np.uint8)
            try:
                found = index_chunk(_stream(data, variable, chunks, number), spacing, output)
            except SubchunkError as error:
                raise SubchunkError(
                    f"chunk {number} of {variable.name} cannot be indexed: {error}"
                ) from error
        count()
        return found

    if threads < 2 or len(chunks) < 2:
        return [one(number) for number in range(len(chunks))]
    with ThreadPoolExecutor(min(threads, len(chunks))) as pool:
        return list(pool.map(one, range(len(chunks))))


def _listed(variable: Variable, spacing: int, values: bytes | None) -> dict[str, Any]:
    item = asdict(variable) | {"fill": variable.fill.hex(), "spacing": spacing}
    return item | {"values": None if values is None else values.hex()}
