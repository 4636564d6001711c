"""How an index is built."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..read.select import Key

BUDGET = 0.02
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
    threads : int
        Chunks that are indexed at the same time.

    Raises
    ------
    ValueError
        For a spacing or budget that makes no sense.
    """

    variables: Sequence[str] | None = None
    spacing: int | None = None
    budget: float = BUDGET
    where: Mapping[str, Keys] = field(default_factory=dict)
    threads: int = field(default_factory=lambda: os.cpu_count() or 1)

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
