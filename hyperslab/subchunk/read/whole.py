"""Decode a whole chunk, filter by filter, as HDF5 does."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from ..deflate.inflate import Inflater, inflater, unshuffled
from ..errors import CorruptDataError
from ..hdf5 import DEFLATE, FLETCHER32, SHUFFLE, Variable

_BLOCK = 2**15  # words that are summed at a time
_TOO_MUCH = 2**20  # bytes that a chunk may hold beyond its length
_ZLIB_FORMAT = 15  # window bits of a stream with zlib's header and checksum


def decode_chunk(data: bytes | memoryview, variable: Variable, mask: int) -> NDArray[np.uint8]:
    for place in reversed(range(len(variable.filters))):
        if mask >> place & 1:
            continue
        number = variable.filters[place][0]
        if number == FLETCHER32:
            data = checked(data, variable.name)
        elif number == DEFLATE:
            data = inflated_chunk(data, variable)
        elif number == SHUFFLE:
            data = unshuffled(np.frombuffer(data, np.uint8), variable.filters[place][1][0]).data
    found = np.frombuffer(data, np.uint8)
    if found.size != variable.chunk_bytes:
        raise CorruptDataError(
            f"a chunk of {variable.name} has {found.size} bytes: {variable.chunk_bytes} belong "
            "there; the file is damaged"
        )
    return found


def checked(data: bytes | memoryview, name: str) -> memoryview:
    """Return what a Fletcher-32 checksum guards, without it."""
    view = memoryview(data)
    body, stored = view[:-4], int.from_bytes(view[-4:], "little")
    found = fletcher32(np.frombuffer(body, np.uint8))
    # Files written before HDF5 1.6.3 on little-endian machines have each half's bytes swapped.
    swapped = (found & 0x00FF00FF) << 8 | (found & 0xFF00FF00) >> 8
    if len(view) < 4 or stored not in (found, swapped):
        raise CorruptDataError(f"a chunk of {name} does not fit its checksum: the file is damaged")
    return body


def fletcher32(data: NDArray[np.uint8]) -> int:
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


def inflated_chunk(data: bytes | memoryview, variable: Variable) -> bytes:
    """Return what is in a zlib stream, once its checksum fits; what is too much HDF5 ignores."""
    module = inflater()
    try:
        return _inflated_by(module, data, variable)
    except CorruptDataError:
        if module is zlib:
            raise
    return _inflated_by(zlib, data, variable)  # before it is called damaged


def _inflated_by(module: Inflater, data: bytes | memoryview, variable: Variable) -> bytes:
    unpacker = module.decompressobj(_ZLIB_FORMAT)
    try:
        found = bytes(unpacker.decompress(data, variable.chunk_bytes))
        more = 0  # up to the checksum at the end
        while not unpacker.eof and unpacker.unconsumed_tail and more <= _TOO_MUCH:
            more += len(unpacker.decompress(unpacker.unconsumed_tail, _TOO_MUCH))
    except (zlib.error, module.error) as error:
        raise CorruptDataError(
            f"a chunk of {variable.name} cannot be decompressed ({error}): the file is damaged"
        ) from error
    if not unpacker.eof:
        raise CorruptDataError(f"a chunk of {variable.name} ends too early, or not where it should")
    return found
