"""What samples do: read a selection, and compare with the truth."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measure.case import Stopwatch
from ..measure.cold import remove as remove
from . import reader
from .selection import Selection

Values = Callable[[], NDArray[Any]]
"""Makes what is written, before the clock starts, or what must have been read."""
NAME = "data"


@dataclass(frozen=True)
class Read:
    """Read a selection: phases open, read and close."""

    path: Path
    library: str
    selection: Selection
    variable: str = NAME
    chill: bool = False  # evict the file again once it is open: the read itself starts cold
    cache_bytes: int = 0  # of the library's chunk cache; 0 leaves it as it is
    needs: tuple[str, ...] = ()  # imported before samples are forked, beside the reader's

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        arguments = (self.library, self.path, self.variable, self.selection)
        return read(watch, *arguments, chill=self.chill, chunk_cache_bytes=self.cache_bytes or None)


def read(
    watch: Stopwatch,
    library: str,
    path: str | Path,
    variable: str,
    selection: Selection,
    *,
    chill: bool = False,
    counted: Callable[[], Mapping[str, Any]] = dict,
    **options: Any,
) -> NDArray[Any]:
    """Read a selection by a reader; what was counted after the read goes into the record."""
    chosen = reader(library)
    with watch("open"):
        opened = chosen.open(path, variable, **options)
    if chill:
        watch.chill()
    with watch("read"):
        values = opened.read(selection)
    watch.note(useful_bytes=values.nbytes, **counted())
    with watch("close"):
        opened.close()
    return values


@dataclass(frozen=True)
class Holds:
    """Check that a file holds the values: read it back by another library than wrote it."""

    path: Path
    library: str
    values: Values
    selection: Selection = ...

    def __call__(self, _: object) -> bool:
        with reader(self.library).open(self.path, NAME) as opened:
            return np.array_equal(opened.read(self.selection), self.values())


@dataclass(frozen=True)
class Equals:
    values: Values

    def __call__(self, read: object) -> bool:
        return isinstance(read, np.ndarray) and np.array_equal(read, self.values())
