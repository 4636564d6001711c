"""Open an index of the package chunkindex, and find in it what it describes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py

from ..errors import CorruptIndexError, MissingFileError
from ..fetch import source
from ..fetch.filelike import RangeReader
from .record import ChunkRecord, read_record

_DEEPEST = 100  # groups within groups
_CHUNK = re.compile(r"\d+(\.\d+)*")


def opened(place: str | Path, options: Mapping[str, Any] | None = None) -> h5py.File:
    """Open an index, here or behind a URL."""
    try:
        file = source(place, options)
        return h5py.File(RangeReader(file) if file.remote else file.name, "r")
    except (FileNotFoundError, MissingFileError):
        raise
    except (OSError, ValueError) as error:
        raise CorruptIndexError(f"the index cannot be opened: {error}") from error


def indexed(file: h5py.File) -> tuple[str, ...]:
    """Return the names of the variables that an index of the package chunkindex describes."""
    try:
        found = tuple(_variables(file, "", 0)) or tuple(_empty(file))
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise CorruptIndexError(f"the index is damaged or cut off: {error}") from error
    if not found:
        raise CorruptIndexError(
            "this is an HDF5 file, but no index: none of its groups is a chunk with window, "
            "outloc, inloc and bits"
        )
    return found


def _variables(group: h5py.Group, path: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        raise ValueError(f"its groups are nested more than {_DEEPEST} deep")
    known = False
    for name in group:
        if _CHUNK.fullmatch(name) and (known or f"{name}/window" in group):
            if not known:
                yield path
            known = True
        elif group.get(name, getclass=True) is h5py.Group:
            yield from _variables(group[name], f"{path}/{name}".lstrip("/"), depth + 1)


def _empty(file: h5py.File) -> Iterator[str]:
    """Give the innermost groups of a file that holds nothing else: variables without chunks."""
    groups: list[str] = []

    def keep(name: str, item: object) -> bool | None:
        groups.append(name)
        return None if isinstance(item, h5py.Group) and not item.attrs else True

    if not file.visititems(keep):
        yield from (name for name in groups if not file[name].keys())


def chunk_points(index: str | Path, variable: str) -> dict[str, ChunkRecord]:
    """Return what an index of the package chunkindex says of each chunk of a variable."""
    with opened(index) as file:
        names = indexed(file)
        if variable not in names:
            raise KeyError(f"the index has no variable {variable!r}: it has {', '.join(names)}")
        held = chunks_of(file, variable)
        return {name: read_record(group_of(file, f"{variable}/{name}")) for name in held}


def group_of(file: h5py.File, name: str) -> h5py.Group:
    """Return a group of an index."""
    try:
        found = file[name]
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise CorruptIndexError(
            f"the index is damaged where it describes {name}: {said}"
        ) from error
    if not isinstance(found, h5py.Group):
        raise CorruptIndexError(f"the index is damaged: {name} is no group")
    return found


def chunks_of(file: h5py.File, variable: str) -> tuple[str, ...]:
    """Return the names of the chunks that an index describes of a variable."""
    try:
        return tuple(name for name in group_of(file, variable) if _CHUNK.fullmatch(name))
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise CorruptIndexError(
            f"the index is damaged where it describes {variable}: {said}"
        ) from error


def read_window(group: h5py.Group, place: int) -> bytes:
    """Return the window of a point."""
    try:
        return bytes(group["window"][place].tobytes())
    except (OSError, KeyError, RuntimeError, ValueError, IndexError) as error:
        said = str(error).partition("\n")[0]
        raise CorruptIndexError(
            f"the index is damaged where it describes {group.name}: {said}"
        ) from error
