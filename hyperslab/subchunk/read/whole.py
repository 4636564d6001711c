"""Decode a whole chunk, filter by filter, as HDF5 does."""

import zlib

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import Inflater, inflater, pieces
from ..errors import CorruptDataError
from ..hdf5 import DEFLATE, FLETCHER32, SHUFFLE, Variable

Bytes = NDArray[np.uint8]
_BLOCK = 2**15  # words that are summed at a time
_TOO_MUCH = 2**20  # bytes that a chunk may hold beyond its length
_ZLIB_FORMAT = 15  # window bits of a stream with zlib's header and checksum


def decode_chunk(
    data: bytes | memoryview, variable: Variable, mask: int, into: Bytes | None = None
) -> Bytes:
    """Return the bytes of a chunk's values, put into `into` if there is such a place."""
    if into is None:
        into = np.empty(variable.chunk_bytes, np.uint8)
    numbers = [n for position, (n, _) in enumerate(variable.filters) if not mask >> position & 1]
    if FLETCHER32 in numbers:
        data = checked(data, variable.name)
    width = variable.width if SHUFFLE in numbers else 1
    if DEFLATE in numbers:
        inflate_chunk(data, variable.name, into, width)
        return into
    if len(data) != into.size:
        raise CorruptDataError(
            f"a chunk of {variable.name} has {len(data)} bytes: {into.size} belong there; the "
            "file is damaged"
        )
    _put(np.frombuffer(data, np.uint8), 0, into, width)
    return into


def checked(data: bytes | memoryview, name: str) -> memoryview:
    """Return what a Fletcher-32 checksum guards, without it."""
    view = memoryview(data)
    body, stored = view[:-4], int.from_bytes(view[-4:], "little")
    computed = fletcher32(np.frombuffer(body, np.uint8))
    # Files written before HDF5 1.6.3 on little-endian machines have each half's bytes swapped.
    swapped = (computed & 0x00FF00FF) << 8 | (computed & 0xFF00FF00) >> 8
    if len(view) < 4 or stored not in (computed, swapped):
        raise CorruptDataError(f"a chunk of {name} does not fit its checksum: the file is damaged")
    return body


def fletcher32(data: Bytes) -> int:
    words = data[: data.size & ~1].view(">u2")
    count = words.size + (data.size & 1)
    first = second = 0
    for start in range(0, words.size, _BLOCK):  # copies are four times as large
        block = words[start : start + _BLOCK].astype(np.uint64)
        weights = np.arange(count - start, count - start - block.size, -1, dtype=np.uint64) % 65535
        first += int(block.sum())
        second += int((block * weights).sum())
    if data.size & 1:
        last = int(data[-1]) << 8
        first, second = first + last, second + last
    return _folded(second) << 16 | _folded(first)


def _folded(value: int) -> int:
    """Sum modulo 65535 with 65535 for zero, unless nothing was summed."""
    return value and (value % 65535 or 65535)


def inflate_chunk(data: bytes | memoryview, name: str, into: Bytes, width: int = 1) -> None:
    """Put what is in a zlib stream into its place, unshuffled; too much is ignored, as by HDF5."""
    try:
        _inflate_by(inflater(), memoryview(data), name, into, width)
    except CorruptDataError:  # Python's zlib is asked before it is called damaged
        _inflate_by(zlib, memoryview(data), name, into, width)


def _inflate_by(module: Inflater, data: memoryview, name: str, into: Bytes, width: int) -> None:
    unpacker, done = module.decompressobj(_ZLIB_FORMAT), 0
    try:
        for piece in pieces(unpacker, data, into.size + _TOO_MUCH):
            fits = np.frombuffer(piece, np.uint8)[: into.size - done]
            _put(fits, done, into, width)
            done += fits.size
    except (zlib.error, module.error) as error:
        raise CorruptDataError(
            f"a chunk of {name} cannot be decompressed ({error}): the file is damaged"
        ) from error
    if not unpacker.eof:
        raise CorruptDataError(f"a chunk of {name} ends too early, or not where it should")
    if done < into.size:
        raise CorruptDataError(
            f"a chunk of {name} has {done} bytes: {into.size} belong there; the file is damaged"
        )


def _put(piece: Bytes, at: int, into: Bytes, width: int) -> None:
    """Put bytes that lie at a place of a chunk, in planes, where they lie in its values."""
    if width == 1:
        into[at : at + piece.size] = piece
        return
    count = into.size // width
    values = into.reshape(count, width)
    while piece.size:
        plane, row = divmod(at, count)
        run = piece[: count - row]
        values[row : row + run.size, plane] = run
        at, piece = at + run.size, piece[run.size :]
