"""pyfive, which reads HDF5 in Python alone, on files and, through fsspec, behind URLs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyfive

from hyperslab.access.base import (
    LibraryReader,
    NotNumbersError,
    Opened,
    OpenedArray,
    no_cache,
)
from hyperslab.access.card import Card
from hyperslab.access.urls import Remote
from hyperslab.storage.geometry import chunk_grid
from hyperslab.storage.region import Region


class PyfiveReader(LibraryReader):
    """Reads HDF5, and so netCDF-4, with pyfive: no C library and no chunk cache."""

    def _open(self, path: Path, variable: str, chunk_cache_bytes: int | None) -> Opened:
        return self._array(path, variable, chunk_cache_bytes, ExitStack())

    def _open_remote(self, remote: Remote, variable: str, chunk_cache_bytes: int | None) -> Opened:
        held = ExitStack()
        return self._array(held.enter_context(remote.stream()), variable, chunk_cache_bytes, held)

    def _array(
        self, place: Any, variable: str, chunk_cache_bytes: int | None, held: ExitStack
    ) -> Opened:
        no_cache(self.name, chunk_cache_bytes)
        with held:
            found = held.enter_context(pyfive.File(place))[variable]
            if not isinstance(found, pyfive.Dataset):
                raise KeyError(f"{variable!r} is a group")
            _check_chunks(found)
            array = _PyfiveArray(variable, found)
            array.held = held.pop_all()
            return array

    def names(self, path: Path) -> Iterable[str]:
        """Give the names of the datasets, with their groups."""
        return _names(path)

    def remote_names(self, remote: Remote) -> Iterable[str]:
        with remote.stream() as stream:
            return _names(stream)

    def version(self) -> str:
        """Give the version of pyfive."""
        return str(pyfive.__version__)


def _names(place: Any) -> list[str]:
    found: list[str] = []
    with pyfive.File(place) as file:
        file.visititems(
            lambda name, item: found.append(name) if isinstance(item, pyfive.Dataset) else None
        )
    return found


def _check_chunks(dataset: Any) -> None:
    """Refuse chunks that were never written, among some that were: pyfive fills none."""
    if dataset.chunks and dataset.shape:
        written = dataset.id.get_num_chunks()
        if 0 < written < math.prod(chunk_grid(dataset.shape, dataset.chunks)):
            raise OSError("it has chunks that were never written, which pyfive does not fill")


class _PyfiveArray(OpenedArray):
    held: ExitStack

    def __init__(self, name: str, dataset: Any) -> None:
        if dataset.shape is None:
            raise NotNumbersError(f"{name!r} holds nothing; readers take integers and floats")
        super().__init__(name, dataset.shape, dataset.dtype)
        self._dataset = dataset

    def _fetch(self, chosen: Region) -> Any:
        return self._dataset[chosen.indices]

    def _close(self) -> None:
        self.held.close()


def make(card: Card) -> LibraryReader:
    """Make the reader of a card."""
    return PyfiveReader(card)
