"""What the model predicts: a read, described without its file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperslab.io.layout import Layout
from hyperslab.io.selection import Selection
from hyperslab.network.link import Link

CACHES = ("warm", "cold")


@dataclass(frozen=True)
class Read:
    """Selections of one variable, read one after another from a file that has just been opened.

    Parameters
    ----------
    shape
        Of the variable, in elements.
    dtype
        Of what is stored, as numpy names it.
    layout
        How it lies in the file.
    selections
        What is read, a call each.
    library
        Name of a reader (`hyperslab.io.readers`).
    chunk_bytes
        Bytes of a chunk as it is stored, on average over the chunks that are touched; None
        without a codec.
    cache
        "warm": the file's bytes are in memory; "cold": they are on the disk.
    link
        The link behind which the file is; None for this machine's disk.
    cache_bytes
        HDF5's chunk cache, in bytes; None for the library's own.
    decode_s
        Seconds to decode one chunk where that was measured on the file's own values
        (`measure_codec`); None predicts it from the codec.
    every_bytes
        For "subchunk": bytes of decompressed data between two points of its index.
    opens
        Whether opening the file is part of the time.

    Raises
    ------
    ValueError
        When the parts do not fit each other.

    Examples
    --------
    >>> layout = Layout("netcdf4", chunks=(1, 721, 1440), codec="deflate", shuffle=True)
    >>> series = Read((100, 721, 1440), "f4", layout, ((slice(None), 0, 0),), "h5py", 2e6)
    >>> series.cache
    'warm'
    """

    shape: tuple[int, ...]
    dtype: str
    layout: Layout
    selections: tuple[Selection, ...]
    library: str
    chunk_bytes: float | None = None
    cache: str = "warm"
    link: Link | None = None
    cache_bytes: int | None = None
    decode_s: float | None = None
    every_bytes: int | None = None
    opens: bool = False

    def __post_init__(self) -> None:
        if self.cache not in CACHES:
            raise ValueError(f"cache={self.cache!r}: give one of {', '.join(CACHES)}")
        if not self.selections:
            raise ValueError("selections=(): give at least one selection to read")
        chunks = self.layout.chunks
        if chunks is not None and len(chunks) != len(self.shape):
            raise ValueError(f"chunks={chunks} do not fit an array of shape {self.shape}")
        if self.layout.codec is not None and self.chunk_bytes is None:
            raise ValueError(
                f"chunk_bytes=None with codec {self.layout.codec!r}: give the bytes that a chunk "
                "takes in the file"
            )

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return np.dtype(self.dtype).itemsize
