"""One sample: open a file, read selections of a variable, close it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.cards import reader
from hyperslab.measure.case import Case, Stopwatch
from hyperslab.measure.cold import files_of

from ..read import Read
from ..terms import THREADED


@dataclass(frozen=True)
class Reading:
    """Read what a `Read` describes from its file: phases open and read.

    Parameters
    ----------
    path
        Of the file or store.
    read
        What is read, and how.
    variable
        Its name in the file.
    """

    path: Path
    read: Read
    variable: str = "data"

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        library = reader(self.read.library)
        if self.read.library in THREADED and hasattr(os, "sched_setaffinity"):
            # Libraries with threads of their own get every core, which forked cases do not.
            os.sched_setaffinity(0, range(os.cpu_count() or 1))
        with watch("open"):
            opened = library.open(self.path, self.variable, chunk_cache_bytes=self.read.cache_bytes)
        watch.chill()
        with watch("read"):
            for selection in self.read.selections:
                values = opened.read(selection)
        watch.note(useful_bytes=values.nbytes)
        opened.close()
        return values


@dataclass(frozen=True)
class Same:
    """Check that a sum of bytes of what was read last is the one it must be."""

    total: int

    def __call__(self, values: object) -> bool:
        return checksum(values) == self.total


def checksum(values: Any) -> int:
    """Return the sum of the bytes of an array.

    Examples
    --------
    >>> checksum(np.array([1, 256], "<i2"))
    2
    """
    return int(np.ascontiguousarray(values).view("u1").sum(dtype=np.int64))


@dataclass(frozen=True)
class Measured:
    """A read with its file, ready to be measured.

    Parameters
    ----------
    name
        Unique.
    reading
    total
        `checksum` of what the last call gives; None leaves it unchecked.
    columns
        Further columns of its records.
    """

    name: str
    reading: Reading
    total: int | None = None
    columns: Mapping[str, object] = field(default_factory=dict)

    def case(self, *, aa: bool = False) -> Case:
        """Return the case for the harness.

        Parameters
        ----------
        aa
            Whether it makes a pair.
        """
        read = self.reading.read
        files = list(files_of(self.reading.path))
        index = Path(f"{self.reading.path}.subchunk")
        if read.library == "subchunk" and index.exists():
            files.append(index)
        columns = {"library": read.library, **read.layout.record(), **self.columns}
        return Case(
            self.name,
            self.reading,
            check=None if self.total is None else Same(self.total),
            columns=columns,
            files=tuple(files),
            cache_state=read.cache,
            aa=aa,
        )
