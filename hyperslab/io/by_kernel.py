"""netCDF-C, called from the C kernel: what a program in C gets."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels import NetcdfFile, kernel
from .reading import Indexed, Opened, Reader
from .selection import Region
from .urls import Place


class KernelReader(Reader):
    """Reads stored values from C with nc_get_vara, or nc_get_vars for steps."""

    def prepare(self) -> None:
        kernel()

    def _open(self, place: Place, variable: str, chunk_cache_bytes: int | None) -> Opened:
        assert isinstance(place, Path)
        with ExitStack() as held:
            opened = NetcdfFile.open(place, variable, cache_bytes=chunk_cache_bytes)
            return _KernelArray(variable, held.enter_context(opened), held)


class _KernelArray(Indexed):
    def _fetch(self, chosen: Region) -> NDArray[Any]:
        out = np.empty(chosen.shape, self.dtype)
        steps = None if max(chosen.steps, default=1) == 1 else [chosen.steps]
        self.variable.access("read", [chosen.starts], [chosen.counts], steps, out)
        return out


READER = KernelReader
