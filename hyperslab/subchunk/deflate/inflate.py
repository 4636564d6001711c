"""Decompress from a bit of a deflate stream, with any module that has zlib's interface."""

import functools
import importlib
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

WINDOW = 32768  # bytes that deflate may refer back to
_RAW = -15  # window bits of a stream without zlib's header
# ISA-L holds back the last code until it has looked a little further.
_SLACK = bytes(8)
_INPUT, _OUTPUT = 2**16, 2**18  # bytes that go in and come out at a time, at most
# Empty blocks, and their bits: with fixed codes, and with codes of its own, of an odd length.
_FIXED, _DYNAMIC = (2, 10), (0x3F5BF820000000000881E004, 95)
_MODULES = ("isal.isal_zlib", "zlib_ng.zlib_ng", "zlib")
Inflater = ModuleType  # one of them, which have zlib's interface


@functools.cache
def inflater() -> Inflater:
    """Return the quickest installed module that inflates: isal's, zlib-ng's, or Python's own."""
    for name in _MODULES:
        with suppress(ImportError):
            return importlib.import_module(name)
    return zlib


inflater()  # it is loaded with the package, not by the first read


def inflate_from(
    data: memoryview,
    shift: int,
    header: tuple[int, int],
    window: bytes,
    length: int,
    module: Inflater | None = None,
) -> bytes:
    return b"".join(inflated(data, shift, header, window, length, module))


def inflated(
    data: memoryview,
    shift: int,
    header: tuple[int, int],
    window: bytes,
    length: int,
    module: Inflater | None = None,
) -> Iterator[bytes]:
    """Decompress from a bit of a deflate stream, a piece at a time, less where the stream ends."""
    # `data` begins with the byte of which `shift` bits come before; `header` is that of the block
    # around the bit, lowest bit first, and its length: (0, 0) at a block's beginning. Python's zlib
    # is asked before an error is raised: ISA-L refuses now and then what comes behind the wanted.
    module, done = module or inflater(), 0

    def by(module: Inflater) -> Iterator[bytes]:
        front, rest = _front(data, shift, header)
        return pieces(_stream(module, window), rest, length, front, _SLACK)

    try:
        for piece in by(module):
            done += len(piece)
            yield piece
        if done == length or module is zlib:
            return
        failure = None
    except module.error as error:
        if module is zlib:
            raise
        failure = error
    try:
        for piece in by(zlib):
            if done < len(piece):
                yield piece[done:]
            done = max(done - len(piece), 0)
    except zlib.error as error:
        raise failure or module.error(str(error)) from error


def spliced(data: memoryview, shift: int, header: tuple[int, int]) -> bytes:
    """Return a stream that begins at a byte, for `inflate_spliced`; see `inflated`."""
    return b"".join(_front(data, shift, header))


def inflate_spliced(stream: bytes, window: bytes, length: int) -> bytes:
    """Decompress a spliced stream in the fewest steps of Python; nothing where the module fails."""
    module = inflater()
    unpacker = _stream(module, window)
    try:
        output: bytes = unpacker.decompress(stream, length)
        if len(output) < length and not unpacker.eof:
            output += unpacker.decompress(_SLACK, length - len(output))
    except module.error:
        return b""
    return output


def inflate_to(
    data: memoryview,
    shift: int,
    header: tuple[int, int],
    window: bytes,
    stops: Iterable[int],
    length: int,
) -> Iterator[bytes]:
    """Decompress up to each of some bytes of `data`, by Python's zlib, which holds back nothing."""
    unpacker, done = _stream(zlib, window), 0
    front, rest = _front(data, shift, header)
    stream, moved = front + rest, len(front) + len(rest) - len(data)
    for start, stop in pairwise((-moved, *stops)):
        some = stream[start + moved : stop + moved]
        more = unpacker.decompress(some, length - done) if done < length else b""
        done += len(more)
        yield more


def pieces(
    unpacker: Any, data: memoryview, length: int, front: bytes = b"", behind: bytes = b""
) -> Iterator[bytes]:
    """Decompress `data` between `front` and `behind` up to a length, a piece at a time."""
    # In few calls, as each lets other threads in, and not too much at a time for the cache.
    first = b"".join((front, data[:_INPUT])) if front else data[:_INPUT]
    rest = (data[at : at + _INPUT] for at in range(_INPUT, len(data), _INPUT))
    for more in (first, *rest, behind):
        while length:
            most = min(length, _OUTPUT)
            piece: bytes = unpacker.decompress(more, most)
            if piece:
                length -= len(piece)
                yield piece
            more = unpacker.unconsumed_tail
            if unpacker.eof:
                return
            if not more and len(piece) < most:
                break


def _stream(module: Inflater, window: bytes) -> Any:
    return module.decompressobj(_RAW, window) if window else module.decompressobj(_RAW)


def _front(data: memoryview, shift: int, header: tuple[int, int]) -> tuple[bytes, memoryview]:
    """Return empty blocks and a header before a stream for it to begin at a byte, and its rest."""
    bits, count = prefixes()[(shift - header[1]) % 8]
    bits |= header[0] << count
    count += header[1]
    if shift:
        bits |= data[0] >> shift << count
        count += 8 - shift
        data = data[1:]
    return bits.to_bytes(count >> 3, "little"), data


@functools.cache
def prefixes() -> tuple[tuple[int, int], ...]:
    """Return the shortest empty blocks, as a number and its bits, of 0 to 7 bits modulo 8."""
    by_rest: dict[int, tuple[int, int]] = {}
    for bits, count in ((0, 0), _DYNAMIC):  # one of an odd length is needed at most once
        for _ in range(4):
            by_rest.setdefault(count % 8, (bits, count))
            bits, count = bits | _FIXED[0] << count, count + _FIXED[1]
    return tuple(by_rest[rest] for rest in range(8))


def unshuffled(data: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """Undo HDF5's shuffle: put the bytes of values back side by side."""
    count = data.size // width
    if width < 2 or count < 2:
        return data
    result = np.empty(data.size, np.uint8)
    values = result[: count * width].reshape(count, width)
    for plane in range(width):  # three times as quick as transposing
        values[:, plane] = data[plane * count : (plane + 1) * count]
    result[count * width :] = data[count * width :]
    return result
