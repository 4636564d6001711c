"""zarr-python, on directories and, through fsspec or obstore, behind URLs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import zarr
from zarr.storage import FsspecStore, LocalStore, ObjectStore

from hyperslab.access.base import Indexed, Opened, Reader
from hyperslab.access.cards import Card
from hyperslab.access.urls import Place, Remote, system_in_zarr

MARKS = (".zgroup", ".zarray", "zarr.json")


class ZarrReader(Reader):
    """Reads Zarr 2, Zarr 3 and NCZarr directories.

    NCZarr stores a scalar as an array of one value, and so it is read; its arrays with deflate
    and shuffle are refused by zarr-python 3.1. `zarr-obstore` reads URLs by obstore, not fsspec.
    What a server says is not there is a missing chunk, which holds fill values: so Zarr has it.
    """

    has_chunk_cache = False

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        # The array's own folder: nothing of the group is read, as a user would have it.
        with ExitStack() as held:
            if isinstance(place, Path):
                # A store and no text, in which newer versions take # for the start of options.
                store: Any = LocalStore(place / variable, read_only=True)
            elif self.name == "zarr-obstore":
                from obstore.store import from_url

                folder = place.below(variable)
                store = ObjectStore(from_url(folder.url, **folder.obstore()), read_only=True)
            else:
                store = served_store(place.below(variable), held)
            return opened_array(store, variable, "", held)

    def exists(self, place: Place) -> bool:
        if isinstance(place, Path):
            return place.exists()
        return any(place.below(mark).exists() for mark in MARKS)

    def names(self, place: Place) -> Iterable[str]:
        """Give the names of the arrays, with their groups."""
        if isinstance(place, Remote):
            return _served_names(place)
        if not any((place / mark).is_file() for mark in MARKS):
            raise OSError("there is no .zgroup, .zarray or zarr.json in it")
        # Not through zarr: one array it cannot read would hide the names of the others.
        return [str(folder.relative_to(place)) for folder in _arrays(place)]

    def version(self) -> str:
        """Give the version of zarr-python."""
        return zarr.__version__


def served_store(place: Remote, held: ExitStack) -> FsspecStore:
    """Return a store behind a URL, through fsspec, which is closed later."""
    system, path, close = system_in_zarr(place)
    held.callback(close)
    return FsspecStore(system, path=path, read_only=True)


def opened_array(store: Any, name: str, path: str, held: ExitStack, **options: Any) -> Opened:
    """Open an array of a store; `held` closes the store."""
    array = zarr.open_array(store=store, path=path, mode="r", **options)
    for codec in getattr(array.metadata, "filters", None) or ():
        if isinstance(getattr(codec, "elementsize", 0), str):
            raise ValueError("NCZarr's shuffle has its size as text: read it with nczarr")
    return Indexed(name, array, held)


def _served_names(place: Remote) -> Iterable[str]:
    system, path = place.system()
    # A server of HTTP lists nothing: what it says of a folder is for people.
    consolidated = f"{path}/.zmetadata"
    if system.exists(consolidated):
        known = json.loads(system.cat_file(consolidated))["metadata"]
    elif place.kind == "http":
        raise OSError("it has no consolidated metadata, and HTTP does not list")
    else:
        known = [name.removeprefix(f"{path}/") for name in system.find(path)]
        known += [
            name.replace("/zarr.json", "/.zarray")
            for name in known
            if name.endswith("/zarr.json") and _is_array(system.cat_file(f"{path}/{name}"))
        ]
    return {name.rpartition("/")[0] for name in known if name.endswith("/.zarray")}


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


def make(card: Card) -> Reader:
    """Make the reader of a card."""
    return ZarrReader(card)
