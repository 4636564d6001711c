"""Plain binary: variables one after the other in a file, described by JSON beside it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .reading import Opened, Reader
from .selection import Region, Selection, region
from .urls import Place
from .writing import Attrs, Placed, Writer, fitted, ordered, sidecar

# A strided run is read in spans of this many bytes and thinned, unless the step is wider than
# what a device reads at once: then element by element.
SPAN_BYTES = 2**20
WIDE_STEP_BYTES = 2**16


class PlainReader(Reader):
    """Reads ``<file>`` as ``<file>.json`` describes it, one pread for each contiguous piece."""

    has_chunk_cache = False

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        assert isinstance(place, Path)
        return _PlainArray(place, variable, self.names(place)[variable])

    def names(self, path: Path) -> dict[str, Any]:
        described = sidecar(path)
        try:
            variables: dict[str, Any] = json.loads(described.read_text())["variables"]
        except FileNotFoundError:
            raise OSError(
                f'there is no {described.name} beside it; write {{"variables": {{name: '
                '{"dtype": "<f4", "shape": [10, 20], "offset": 0}}} into it'
            ) from None
        return variables


class _PlainArray(Opened):
    def __init__(self, path: Path, variable: str, described: dict[str, Any]) -> None:
        super().__init__(variable, described["shape"], described["dtype"])
        self._stored = np.dtype(described["dtype"])
        self._offset = int(described["offset"])
        self._descriptor = os.open(path, os.O_RDONLY)
        need = self._offset + int(np.prod(self.shape, dtype=np.int64)) * self._stored.itemsize
        have = os.fstat(self._descriptor).st_size
        if have < need:
            self.close()
            raise OSError(f"it has {have} bytes where {variable!r} of {self.shape} ends at {need}")

    def _fetch(self, chosen: Region) -> NDArray[Any]:
        out = np.empty(chosen.size, self._stored)
        done = 0
        for first, count, step in chosen.runs(self.shape):
            into = out[done : done + count]
            if step == 1:
                self._read(into, first)
            else:
                self._read_strided(into, first, step)
            done += count
        return out.reshape(chosen.shape)

    def _read_strided(self, into: NDArray[Any], first: int, step: int) -> None:
        size = self._stored.itemsize
        at_once = 1 if step * size > WIDE_STEP_BYTES else max(SPAN_BYTES // (step * size), 1)
        for start in range(0, len(into), at_once):
            piece = into[start : start + at_once]
            span = np.empty((len(piece) - 1) * step + 1, self._stored)
            self._read(span, first + start * step)
            piece[:] = span[::step]

    def _read(self, into: NDArray[Any], first: int) -> None:
        buffer = into.view(np.uint8).data
        offset = self._offset + first * self._stored.itemsize
        while buffer:
            # One call moves at most 2 GiB.
            count = os.preadv(self._descriptor, [buffer], offset)
            if not count:
                raise OSError(f"{self.name}: the file ends at byte {offset}; it was cut off")
            buffer, offset = buffer[count:], offset + count

    def _close(self) -> None:
        os.close(self._descriptor)


class BinaryWriter(Writer):
    """Writes bytes with pwrite, one call for each contiguous piece of a selection.

    The description ``<file>.json`` is ``{"variables": {name: {"dtype", "shape", "offset"}}}``: no
    attributes, no dimension names; dtype as numpy has it ("<f4"), offset in bytes.
    """

    def _make(self, variables: Placed, attrs: Attrs, cache_bytes: int | None) -> None:
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
        offset = 0
        for variable, layout in variables:
            offset += -offset % 8
            self._handles[variable.name] = {
                "dtype": ordered(variable.dtype, layout.byteorder).str,
                "shape": variable.shape,
                "offset": offset,
            }
            offset += variable.nbytes
        os.ftruncate(self._file, offset)
        sidecar(self.path).write_text(json.dumps({"variables": self._handles}, indent=1) + "\n")

    def write(self, name: str, selection: Selection, values: NDArray[Any]) -> None:
        described = self._handles[name]
        dtype, shape = np.dtype(described["dtype"]), described["shape"]
        chosen = region(selection, shape, name)
        flat = np.ascontiguousarray(fitted(np.asarray(values, dtype), chosen.shape)).reshape(-1)
        done = 0
        for first, count, step in chosen.runs(shape):
            length = count if step == 1 else 1
            for start in range(first, first + count * step, length * step):
                piece = flat[done : done + length].view(np.uint8).data
                self._write_all(piece, described["offset"] + start * dtype.itemsize)
                done += length

    def _write_all(self, data: memoryview, offset: int) -> None:
        while data:
            # One call moves at most 2 GiB.
            written = os.pwrite(self._file, data, offset)
            data, offset = data[written:], offset + written

    def _close(self) -> None:
        os.close(self._file)


READER = PlainReader
