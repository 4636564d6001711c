"""What an index of the package chunkindex holds of one chunk: a group of an HDF5 file.

```
group: VARIABLE/I.J {            // place of the chunk in the grid
  dimensions: outloc = points; win = 32768
  byte window(outloc, win)       // decompressed bytes before each point; chunks (1, win), deflate
  int64 outloc(outloc)           // bytes of the decompressed chunk before the point
  int64 inloc(outloc)            // first byte of the compressed chunk that lies behind it whole
  byte bits(outloc)              // bits of the byte before that one that lie behind it too
  :uncompressed_size, :compressed_size
}
```
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import WINDOW
from ..errors import CorruptIndexError, StaleIndexError
from ..hdf5 import Variable

_MOST_AT_ONCE = 128 * WINDOW  # bytes of windows that HDF5 may have to read for one
_BEGIN = 2  # bytes of zlib's header
MODE = 15  # zran's number for a stream with zlib's header


@dataclass(frozen=True)
class ChunkRecord:
    """The points of one chunk in an index of the package chunkindex: Penard et al. 2025, Figure 3.

    Arrays are of shape (points,).
    """

    outloc: NDArray[np.int64]  # bytes of the decompressed chunk before a point
    inloc: NDArray[np.int64]  # first byte of the compressed chunk that lies behind it whole
    bits: NDArray[np.int64]  # bits of the byte before `inloc` that lie behind the point, 0 to 7
    uncompressed_size: int
    compressed_size: int
    inserted: bool = False  # whether the first point, the chunk's beginning, is not in the index

    def __len__(self) -> int:
        return len(self.outloc)

    @property
    def bit(self) -> NDArray[np.int64]:
        """Bits of the compressed chunk before each point."""
        return self.inloc * 8 - self.bits


def read_record(group: h5py.Group) -> ChunkRecord:
    """Return what a group says of its chunk, the windows left where they are."""
    try:
        uncompressed = _number(group.attrs["uncompressed_size"])
        compressed = _number(group.attrs["compressed_size"])
        window = group["window"]
        if window.shape[1:] != (WINDOW,) or window.dtype.itemsize != 1:
            raise ValueError(f"its windows are {window.dtype} of shape {window.shape}")
        if math.prod(window.chunks or ()) > _MOST_AT_ONCE:
            raise ValueError(f"its windows lie in chunks of {window.chunks}")
        outloc, inloc, bits = (
            _column(group[name], min(len(window), compressed))
            for name in ("outloc", "inloc", "bits")
        )
        if not len(window) == len(outloc) == len(inloc) == len(bits):
            raise ValueError("its arrays differ in length")
    except (KeyError, OSError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        said = str(error).partition("\n")[0]
        raise CorruptIndexError(
            f"the index cannot be read where it describes {group.name}: {said}"
        ) from error
    inside = outloc < uncompressed  # a point at the very end has nothing behind it
    outloc, inloc, bits = outloc[inside], inloc[inside], bits[inside]
    inserted = not len(outloc) or bool(outloc[0])
    if inserted:
        outloc, inloc, bits = (
            np.insert(column, 0, first)
            for column, first in ((outloc, 0), (inloc, _BEGIN), (bits, 0))
        )
    good = (
        bool((np.diff(outloc) > 0).all() and (np.diff(inloc) > 0).all())
        and outloc[0] == 0
        and (inloc[0], bits[0]) == (_BEGIN, 0)
        and inloc[-1] <= compressed
        and bool(((bits >= 0) & (bits < 8)).all())
    )
    if not good:
        raise CorruptIndexError(
            f"the index is damaged where it describes {group.name}: its points are not in order, "
            "or outside of the chunk; build it again"
        )
    return ChunkRecord(outloc, inloc, bits, uncompressed, compressed, inserted)


def check_sizes(variable: Variable, name: str, record: ChunkRecord, size: int) -> None:
    """Refuse a record of a chunk that has another size now."""
    if (record.compressed_size, record.uncompressed_size) != (size, variable.chunk_bytes):
        raise StaleIndexError(
            f"the index does not belong to the file as it is now: chunk {name} of {variable.name} "
            f"had {record.compressed_size} bytes and has {size} (decompressed "
            f"{record.uncompressed_size} and {variable.chunk_bytes}); build it again"
        )


def _column(dataset: h5py.Dataset, most: int) -> NDArray[np.int64]:
    """Return whole numbers, refused before they are read where there cannot be so many."""
    if dataset.ndim != 1 or dataset.dtype.kind not in "iu" or dataset.size > most:
        raise ValueError(f"{dataset.name} is {dataset.dtype} of shape {dataset.shape}")
    return np.asarray(dataset[()]).astype(np.int64)


def _number(value: Any) -> int:
    return int(np.asarray(value).reshape(-1)[0])
