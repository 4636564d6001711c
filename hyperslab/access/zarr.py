"""zarr-python."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import zarr
from zarr.storage import LocalStore

from hyperslab.access.base import LibraryReader, Opened, OpenedArray, no_cache
from hyperslab.access.card import Card
from hyperslab.storage.region import Region


class ZarrReader(LibraryReader):
    """Reads Zarr 2, Zarr 3 and NCZarr directories.

    NCZarr stores a scalar as an array of one value, and so it is read; its arrays with deflate
    and shuffle are refused by zarr-python 3.1.
    """

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        no_cache(self.name, chunk_cache_bytes)
        # The array's own folder: nothing of the group is read, as a user would have it.
        # A store and no text, in which newer versions take # for the start of options.
        store = LocalStore(path / variable, read_only=True)
        array = zarr.open_array(store=store, mode="r")
        for codec in getattr(array.metadata, "filters", None) or ():
            if isinstance(getattr(codec, "elementsize", 0), str):
                raise ValueError("NCZarr's shuffle has its size as text: read it with nczarr")
        return _ZarrArray(variable, array)

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the arrays, with their groups."""
        if not any((path / mark).is_file() for mark in (".zgroup", ".zarray", "zarr.json")):
            raise OSError("there is no .zgroup, .zarray or zarr.json in it")
        # Not through zarr: one array it cannot read would hide the names of the others.
        return [str(folder.relative_to(path)) for folder in _arrays(path)]

    def version(self) -> str:
        """Give the version of zarr-python."""
        return zarr.__version__


def _arrays(folder: Path) -> Iterable[Path]:
    """Give the folders of arrays below one, without looking into their chunks."""
    metadata = folder / "zarr.json"
    if (folder / ".zarray").is_file() or (
        metadata.is_file() and json.loads(metadata.read_text()).get("node_type") == "array"
    ):
        yield folder
        return
    for inner in sorted(folder.iterdir()):
        if inner.is_dir():
            yield from _arrays(inner)


class _ZarrArray(OpenedArray):
    def __init__(self, name: str, array: Any) -> None:
        super().__init__(name, array.shape, array.dtype)
        self._array = array

    def _fetch(self, chosen: Region) -> Any:
        return self._array[chosen.indices]

    def _close(self) -> None:
        """Nothing stays open between reads."""


def make(card: Card) -> LibraryReader:
    """Make the reader of a card."""
    return ZarrReader(card)
