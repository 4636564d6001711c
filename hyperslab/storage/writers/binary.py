"""Plain binary: the variables one after the other in a file, described by JSON beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.storage.layout import Layout
from hyperslab.storage.region import Selection, region
from hyperslab.storage.variable import Variable
from hyperslab.storage.writers.base import FileWriter, fitted, ordered, sidecar


class BinaryWriter(FileWriter):
    """Writes bytes with pwrite, one call for each contiguous piece of a selection.

    The description ``<file>.json`` is ``{"variables": {name: {"dtype", "shape", "offset"}}}``:
    dtype as numpy writes it with its byte order ("<f4"), offset in bytes. Attributes and
    dimension names have no place in it.
    """

    def __init__(
        self,
        path: Path,
        variables: Sequence[tuple[Variable, Layout]],
        format: str,
        attrs: Mapping[str, object],
        chunk_cache_bytes: int | None,
    ) -> None:
        super().__init__(path)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
        try:
            described, offset = {}, 0
            for variable, layout in variables:
                offset += -offset % 8
                dtype = ordered(variable.dtype, layout.byteorder)
                described[variable.name] = {
                    "dtype": dtype.str,
                    "shape": list(variable.shape),
                    "offset": offset,
                }
                self._handles[variable.name] = _Piece(
                    self._descriptor, variable.name, dtype, variable.shape, offset
                )
                offset += variable.nbytes
            os.ftruncate(self._descriptor, offset)
            sidecar(path).write_text(json.dumps({"variables": described}, indent=1) + "\n")
        except BaseException:
            self.discard()
            raise

    def _flush(self) -> None:
        """Nothing is held back in the process."""

    def _close(self) -> None:
        os.close(self._descriptor)


class _Piece:
    """One variable's bytes in the file."""

    def __init__(
        self, descriptor: int, name: str, dtype: np.dtype[Any], shape: tuple[int, ...], offset: int
    ) -> None:
        self._descriptor, self._name, self._offset = descriptor, name, offset
        self._dtype, self._shape = dtype, shape

    def __setitem__(self, selection: Selection, values: NDArray[Any]) -> None:
        chosen = region(selection, self._shape, self._name)
        values = fitted(np.asarray(values, self._dtype), chosen.shape)
        flat = np.ascontiguousarray(values).reshape(-1)
        done, size = 0, self._dtype.itemsize
        for first, count, step in chosen.runs(self._shape):
            pieces = (
                [(first, count)] if step == 1 else [(first + i * step, 1) for i in range(count)]
            )
            for start, length in pieces:
                _write_all(
                    self._descriptor,
                    flat[done : done + length].view(np.uint8).data,
                    self._offset + start * size,
                )
                done += length


def _write_all(descriptor: int, data: memoryview, offset: int) -> None:
    while data:
        # One call moves at most 2 GiB.
        written = os.pwrite(descriptor, data, offset)
        data, offset = data[written:], offset + written
