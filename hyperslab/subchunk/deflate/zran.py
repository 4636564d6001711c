"""Points at block boundaries from the package zran, where no shared zlib is found."""

from __future__ import annotations

import importlib
import zlib
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from ..errors import SubchunkError


def installed() -> bool:
    """Return whether the package zran can be imported.

    Examples
    --------
    >>> installed() in (True, False)
    True
    """
    return find_spec("zran") is not None


def block_points(
    stream: NDArray[np.uint8], spacing: int, output: NDArray[np.uint8]
) -> list[tuple[int, int]]:
    """Decompress a zlib stream and return where its blocks begin, at least so many bytes apart.

    Parameters
    ----------
    stream : numpy.ndarray
        uint8 of shape (compressed bytes,).
    spacing : int
        Bytes of output between points, at least.
    output : numpy.ndarray
        uint8 of shape (decompressed bytes,); receives what the stream holds.

    Returns
    -------
    list of (int, int)
        Bytes of output, and bits of the stream, before each point; the first is the beginning.

    Raises
    ------
    SubchunkError
        When the stream is damaged, or does not decompress to the length of `output`.
    """
    unpacker = zlib.decompressobj()
    try:
        found = unpacker.decompress(stream.data, output.size + 1)
        if not unpacker.eof and len(found) == output.size:
            unpacker.decompress(unpacker.unconsumed_tail, 1)
    except zlib.error as error:
        raise SubchunkError(f"a chunk is damaged: zlib says {error}") from error
    if len(found) != output.size or not unpacker.eof:
        raise SubchunkError(f"a chunk does not decompress to the {output.size} bytes expected")
    output[:] = np.frombuffer(found, np.uint8)
    library = importlib.import_module("zran")
    points = library.Index.create_index(stream.tobytes(), span=spacing).points
    later = [(int(p.outloc), int(p.inloc) * 8 - int(p.bits)) for p in points if p.outloc]
    # A block that begins where the chunk ends has nothing in it.
    return [(0, 16), *(point for point in later if point[0] < output.size)]
