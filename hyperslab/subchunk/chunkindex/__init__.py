"""The index layout of the package chunkindex (Penard et al. 2025): reading and writing it.

An index of that package is given to `hyperslab.subchunk.open` as any other:

>>> from hyperslab.subchunk import chunkindex
>>> chunkindex.span(2**20, points=4, spacing=2**21)
262144
"""

from .index import ChunkindexIndex
from .opening import chunk_points
from .record import ChunkRecord
from .write import span, write

__all__ = ["ChunkRecord", "ChunkindexIndex", "chunk_points", "span", "write"]
