"""A variable that is shorter than its dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .hdf5 import Variable
from .read.select import Key, wanted
from .variable import VariableReader


class PaddedReader:
    """A variable, filled up to the length of its dimensions."""

    def __init__(self, reader: VariableReader, shape: tuple[int, ...]) -> None:
        self._reader, self.shape = reader, shape

    @property
    def variable(self) -> Variable:
        """What the file says of it."""
        return self._reader.variable

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the stored values."""
        return self._reader.dtype

    @property
    def chunks(self) -> tuple[int, ...]:
        """Shape of a chunk; empty where there are none."""
        return self._reader.chunks

    @property
    def attrs(self) -> dict[str, Any]:
        """Attributes."""
        return self._reader.attrs

    def __getitem__(self, key: Key | tuple[Key, ...]) -> NDArray[Any]:
        asked = wanted(key, self.shape)
        values = np.full(asked.shape, self._fill(), self.dtype)
        inside: list[slice | NDArray[np.int64]] = []
        for axis, n in zip(asked.axes, self._reader.shape, strict=True):
            indices = axis.indices
            if isinstance(indices, range):
                there = range(indices.start, min(indices.stop, n), indices.step)
                inside.append(slice(there.start, max(there.start, there.stop), there.step))
            else:
                inside.append(indices[indices < n])
        found = self._reader[tuple(inside)]
        values[tuple(slice(n) for n in found.shape)] = found
        return asked.arrange(values)

    def _fill(self) -> Any:
        if self.variable.dtype:
            return self.variable.fill_value
        return b"" if self.dtype.kind in "SO" else np.zeros((), self.dtype)[()]
