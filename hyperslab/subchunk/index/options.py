"""How an index is built."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..read.select import Key

BUDGET = 0.02
LARGE = 2**23  # bytes of a chunk of which several are indexed at the same time
SPACINGS = (1024, 2**26)
Keys = Key | tuple[Key, ...]


@dataclass(frozen=True)
class Options:
    """How an index is built.

    Parameters
    ----------
    variables : sequence of str, optional
        Names of variables to index; all that can be if not given.
    spacing : int, optional
        Bytes of decompressed data between points, from 1 KiB to 64 MiB.
    budget : float
        Where no spacing is given: bytes of the index for each byte of compressed data.
    where : mapping
        Selections by names of variables: only chunks they touch get points, the others are read
        whole. All chunks of a variable that is not named.
    threads : int, optional
        Chunks that are indexed at the same time. If not given, as many as cores where chunks are
        large or behind a URL, else one: threads that index small chunks mostly wait for each other.

    Raises
    ------
    ValueError
        For a spacing or budget that makes no sense.
    """

    variables: Sequence[str] | None = None
    spacing: int | None = None
    budget: float = BUDGET
    where: Mapping[str, Keys] = field(default_factory=dict)
    threads: int | None = None

    def __post_init__(self) -> None:
        low, high = SPACINGS
        if self.spacing is not None and not low <= self.spacing <= high:
            raise ValueError(
                f"spacing is {self.spacing} bytes: give {low} to {high}, or none to let the "
                "budget decide"
            )
        if not 0 < self.budget <= 1:
            raise ValueError(
                f"budget is {self.budget}: give a share of the data above 0, such as 0.02"
            )

    def at_once(self, chunks: int, chunk_bytes: int, *, far: bool) -> int:
        """Return how many of a variable's chunks are indexed at the same time."""
        usual = (os.cpu_count() or 1) if far or chunk_bytes >= LARGE else 1
        return min(self.threads or usual, max(chunks, 1))
