"""What a job writes: datasets, and the part of each that each rank writes."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TYPES = {"f8": "d", "f4": "f", "i8": "q", "i4": "i", "i2": "h", "i1": "b"}  # NumPy's: C's
_DIMS = ("i8", 4)
_DATASET = np.dtype(  # the struct `dataset` of plan.h
    [("name", "S32"), ("type", "S1"), ("guard", "i4"), ("dims", "i4"), ("chunked", "i4"),
     ("shape", *_DIMS), ("chunk", *_DIMS), ("start", *_DIMS), ("count", *_DIMS), ("before", "i8")],
    align=True,
)  # fmt: skip
_MODULUS = 16_777_213  # below 2^24: whole in each type but the shortest
_MODULUS_OF_BYTES = 127


@dataclass(frozen=True)
class Part:
    start: tuple[int, ...]  # in cells, one a dimension
    count: tuple[int, ...]

    @property
    def region(self) -> tuple[slice, ...]:
        return tuple(slice(a, a + n) for a, n in zip(self.start, self.count, strict=True))


@dataclass(frozen=True)
class SharedArray:
    name: str  #: at most 31 letters, digits, "-" and "_"
    dtype: str  #: one of `TYPES`
    shape: tuple[int, ...]  #: 1 to 4 dimensions, in cells
    parts: tuple[Part, ...]  #: one a rank
    chunks: tuple[int, ...] = ()  #: of HDF5, in cells; () for contiguous storage
    guard: int = 0  #: cells around each block in memory, which are packed away before writing

    def __post_init__(self) -> None:
        if self.dtype not in TYPES:
            raise ValueError(f"{self.name}: the type is {self.dtype!r}, not one of {[*TYPES]}")

    def rank_bytes(self, rank: int) -> int:
        return math.prod(self.parts[rank].count) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class WritePlan:
    """All that a job writes into one file."""

    datasets: tuple[SharedArray, ...]

    @property
    def ranks(self) -> int:
        return len(self.datasets[0].parts)

    @property
    def nbytes(self) -> int:
        return sum(map(self.rank_bytes, range(self.ranks)))

    def rank_bytes(self, rank: int) -> int:
        return sum(dataset.rank_bytes(rank) for dataset in self.datasets)

    def table(self) -> NDArray[np.void]:
        """Return what the C programs read: a row for each rank, with its part of each dataset."""
        table = np.zeros((self.ranks, len(self.datasets)), _DATASET)
        before = 0
        for column, dataset in zip(table.T, self.datasets, strict=True):
            dims = len(dataset.shape)
            column["name"], column["type"] = dataset.name, TYPES[dataset.dtype]
            column["guard"], column["dims"] = dataset.guard, dims
            column["chunked"], column["before"] = bool(dataset.chunks), before
            column["shape"][:, :dims] = dataset.shape
            column["chunk"][:, :dims] = dataset.chunks or 0
            column["start"][:, :dims] = [part.start for part in dataset.parts]
            column["count"][:, :dims] = [part.count for part in dataset.parts]
            before += math.prod(dataset.shape) * np.dtype(dataset.dtype).itemsize
        return table

    def values(self, number: int, part: Part) -> NDArray[np.generic]:
        dataset = self.datasets[number]
        modulus = _MODULUS_OF_BYTES if dataset.dtype in ("i1", "i2") else _MODULUS
        run = part.count[1:] == dataset.shape[1:] and 0 not in part.count
        if run:  # in which values come back
            first = int(np.ravel_multi_index(part.start, dataset.shape))
            index = np.arange(first, first + min(math.prod(part.count), modulus))
        else:
            along = (np.arange(a, a + n) for a, n in zip(part.start, part.count, strict=True))
            index = np.ravel_multi_index(np.ix_(*along), dataset.shape)
        values = ((index * 31 + number * 7) % modulus).astype(dataset.dtype)
        return np.resize(values, part.count) if run else values
