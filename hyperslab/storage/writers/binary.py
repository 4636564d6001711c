"""Plain binary: the variables one after the other in a file, described by JSON beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.storage.selection import Selection, region
from hyperslab.storage.writers.base import Placed, Writer, fitted, ordered, sidecar


class BinaryWriter(Writer):
    """Writes bytes with pwrite, one call for each contiguous piece of a selection.

    The description ``<file>.json`` is ``{"variables": {name: {"dtype", "shape", "offset"}}}``:
    dtype as numpy writes it with its byte order ("<f4"), offset in bytes. Attributes and
    dimension names have no place in it.
    """

    def _make(
        self, variables: Placed, attrs: Mapping[str, object], chunk_cache_bytes: int | None
    ) -> None:
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
        """Write the values of one selection of one variable."""
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
