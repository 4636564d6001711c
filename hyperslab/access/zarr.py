"""zarr-python, on directories and, through fsspec or obstore, behind URLs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import zarr
from zarr.storage import FsspecStore, LocalStore, ObjectStore

from hyperslab.access.base import LibraryReader, Opened, OpenedArray, no_cache
from hyperslab.access.card import Card
from hyperslab.access.urls import Remote, system_in_zarr
from hyperslab.storage.region import Region

MARKS = (".zgroup", ".zarray", "zarr.json")


class ZarrReader(LibraryReader):
    """Reads Zarr 2, Zarr 3 and NCZarr directories.

    NCZarr stores a scalar as an array of one value, and so it is read; its arrays with deflate
    and shuffle are refused by zarr-python 3.1. `zarr-obstore` reads URLs by obstore, not fsspec.
    What a server says is not there is a missing chunk, which holds fill values: so Zarr has it.
    """

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        no_cache(self.name, chunk_cache_bytes)
        # The array's own folder: nothing of the group is read, as a user would have it.
        # A store and no text, in which newer versions take # for the start of options.
        store = LocalStore(path / variable, read_only=True)
        return opened_array(store, variable, "")

    def _open_remote(self, remote: Remote, variable: str, chunk_cache_bytes: int | None) -> Opened:
        no_cache(self.name, chunk_cache_bytes)
        folder = remote.below(variable)
        if self.name == "zarr-obstore":
            from obstore.store import from_url

            store: Any = ObjectStore(from_url(folder.url, **folder.obstore()), read_only=True)
            return opened_array(store, variable, "")
        system, path, close = system_in_zarr(folder)
        return opened_array(FsspecStore(system, path=path, read_only=True), variable, "", close)

    def exists(self, place: Path | Remote) -> bool:
        if isinstance(place, Path):
            return place.exists()
        return any(place.below(mark).exists() for mark in MARKS)

    def remote_names(self, remote: Remote) -> Iterable[str]:
        system, path = remote.system()
        # A server of HTTP lists nothing: what it says of a folder is for people.
        consolidated = f"{path}/.zmetadata"
        if system.exists(consolidated):
            known = json.loads(system.cat_file(consolidated))["metadata"]
        elif remote.kind == "http":
            raise OSError("it has no consolidated metadata, and HTTP does not list")
        else:
            known = [name.removeprefix(f"{path}/") for name in system.find(path)]
            known += [
                name.replace("/zarr.json", "/.zarray")
                for name in known
                if name.endswith("/zarr.json") and _is_array(system.cat_file(f"{path}/{name}"))
            ]
        return {name.rpartition("/")[0] for name in known if name.endswith("/.zarray")}

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the arrays, with their groups."""
        if not any((path / mark).is_file() for mark in MARKS):
            raise OSError("there is no .zgroup, .zarray or zarr.json in it")
        # Not through zarr: one array it cannot read would hide the names of the others.
        return [str(folder.relative_to(path)) for folder in _arrays(path)]

    def version(self) -> str:
        """Give the version of zarr-python."""
        return zarr.__version__


def check_codecs(array: Any) -> None:
    """Raise an error for codecs that zarr-python would misread."""
    for codec in getattr(array.metadata, "filters", None) or ():
        if isinstance(getattr(codec, "elementsize", 0), str):
            raise ValueError("NCZarr's shuffle has its size as text: read it with nczarr")


def _arrays(folder: Path) -> Iterable[Path]:
    """Give the folders of arrays below one, without looking into their chunks."""
    metadata = folder / "zarr.json"
    if (folder / ".zarray").is_file() or (metadata.is_file() and _is_array(metadata.read_bytes())):
        yield folder
        return
    for inner in sorted(folder.iterdir()):
        if inner.is_dir():
            yield from _arrays(inner)


def _is_array(metadata: bytes) -> bool:
    return bool(json.loads(metadata).get("node_type") == "array")


def opened_array(
    store: Any,
    variable: str,
    path: str,
    close: Callable[[], object] = lambda: None,
    **options: Any,
) -> Opened:
    """Open an array of a store; where that fails, what the store holds open is closed."""
    try:
        array = zarr.open_array(store=store, path=path, mode="r", **options)
        check_codecs(array)
        return ZarrArray(variable, array, close)
    except BaseException:
        close()
        raise


class ZarrArray(OpenedArray):
    """An array of an open store."""

    def __init__(self, name: str, array: Any, close: Callable[[], object] = lambda: None) -> None:
        super().__init__(name, array.shape, array.dtype)
        self._array, self._close_store = array, close

    def _fetch(self, chosen: Region) -> Any:
        return self._array[chosen.indices]

    def _close(self) -> None:
        self._close_store()


def make(card: Card) -> LibraryReader:
    """Make the reader of a card."""
    return ZarrReader(card)
