"""Walk through a deflate stream with the shared zlib, which tells where it stands."""

import ctypes
import ctypes.util
import functools
import sys
from collections.abc import Iterator
from contextlib import suppress
from ctypes import POINTER, byref, c_char_p, c_int, c_long, c_uint, c_ulong, c_void_p
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import CorruptDataError, SubchunkError, UnreadableError

Bytes = NDArray[np.uint8]

_TREES = 6  # stop at block ends and after block headers
_OK, _STREAM_END, _BUF_ERROR = 0, 1, -5
_ZLIB_FORMAT = 15  # window bits of a stream with zlib's header and checksum
_MAX_AVAILABLE = 2**30  # what an unsigned int surely holds


class _Stream(ctypes.Structure):
    _fields_ = (
        ("next_in", c_void_p),
        ("avail_in", c_uint),
        ("total_in", c_ulong),
        ("next_out", c_void_p),
        ("avail_out", c_uint),
        ("total_out", c_ulong),
        ("msg", c_char_p),
        ("state", c_void_p),
        ("zalloc", c_void_p),
        ("zfree", c_void_p),
        ("opaque", c_void_p),
        ("data_type", c_int),
        ("adler", c_ulong),
        ("reserved", c_ulong),
    )


class NoZlibError(SubchunkError):
    """No shared zlib was found, so no index can be built here."""


@dataclass(frozen=True)
class Positions:
    """Where decompression can start in one compressed stream, in order."""

    out: NDArray[np.uint64]  # bytes of output before the position
    bit: NDArray[np.uint64]  # bits of the stream before the position, zlib's header included
    # Bits of the header of the deflate block that the position lies in; equal at a block's
    # beginning, where no header is needed.
    header_start: NDArray[np.uint64]
    header_stop: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.out)


def walk(stream: Bytes, spacing: int, output: Bytes, *, blocks: bool = False) -> Positions:
    """Decompress a zlib stream whole into `output`; note places to start from every so often."""
    # That is the last code boundary before; with `blocks` the next boundary of a deflate block.
    if (size := max(stream.size, output.size)) > _MAX_AVAILABLE:
        raise UnreadableError(
            f"a chunk of {size} bytes is larger than the {_MAX_AVAILABLE} that can be indexed"
        )
    zlib = library()
    state = _Stream()
    state.next_in, state.avail_in = stream.ctypes.data, stream.size
    state.next_out = output.ctypes.data
    if zlib.inflateInit2_(byref(state), _ZLIB_FORMAT, zlib.zlibVersion(), ctypes.sizeof(state)):
        raise NoZlibError("the shared zlib refuses to start: its version does not fit")
    try:
        positions = list(_positions(zlib, state, stream, spacing, output.size, blocks))
    finally:
        zlib.inflateEnd(byref(state))
    columns = np.array(positions, np.uint64).reshape(-1, 4).T
    return Positions(*(np.ascontiguousarray(column) for column in columns))


def _positions(
    zlib: ctypes.CDLL, state: _Stream, stream: Bytes, spacing: int, size: int, blocks: bool
) -> Iterator[tuple[int, int, int, int]]:
    at = byref(state)
    begin = 16  # zlib's own header
    yield 0, begin, begin, begin
    start = stop = begin
    inside = stored = False
    target = spacing
    while True:
        state.avail_out = (size if blocks else min(target, size)) - state.total_out
        before = state.total_in, state.total_out, state.data_type
        code = zlib.inflate(at, _TREES)
        # It also says so when it went on within bits that it held, such as over an empty block.
        stuck = code == _BUF_ERROR and before == (state.total_in, state.total_out, state.data_type)
        if code == _STREAM_END:
            if state.total_out != size:
                raise CorruptDataError(
                    f"a chunk decompresses to {state.total_out} bytes: {size} were expected"
                )
            return
        if code not in (_OK, _BUF_ERROR):
            message = (state.msg or b"").decode(errors="replace")
            raise CorruptDataError(f"a chunk is damaged: zlib says {message or code!r}")
        if stuck and not state.avail_in:
            raise CorruptDataError("a chunk is damaged: its compressed data end too early")
        if stuck and state.total_out >= size:
            raise CorruptDataError(f"a chunk decompresses to more than the {size} bytes expected")
        bit = state.total_in * 8 - (state.data_type & 63)
        if state.data_type & 256:  # just after a block's header
            stop, inside = bit, True
            stored = not bits(stream, start + 1, start + 3)
        elif state.data_type & 128:  # just after a block
            start = stop = bit
            inside = stored = False
        if state.total_out < target or state.total_out == size:
            continue
        if state.data_type & 128:
            yield state.total_out, bit, bit, bit
            target = state.total_out + spacing
            continue
        if blocks:
            continue
        mark = zlib.inflateMark(at)
        done, back = mark & 0xFFFF, mark >> 16
        if stored:  # no code begins in it, and `done` is what is left: go to its end
            target = state.total_out + max(done, 1)
        elif inside and back >= 0:  # at the beginning of the code that is being copied
            yield state.total_out - done, bit - back, start, stop
            target = state.total_out - done + spacing
        else:
            target = state.total_out + 1


def bits(stream: Bytes, start: int, stop: int) -> int:
    value = int.from_bytes(stream[start >> 3 : (stop + 7) >> 3].tobytes(), "little")
    return (value >> (start & 7)) & ((1 << (stop - start)) - 1)


@functools.cache
def library() -> ctypes.CDLL:
    for name in _candidates():
        with suppress(OSError, AttributeError):
            zlib = ctypes.CDLL(name)
            zlib.zlibVersion.restype = c_char_p
            # It takes no time: to let other threads in for it, and wait for them, would.
            setattr(zlib, "inflateMark", ctypes.PyDLL(name).inflateMark)  # noqa: B010
            zlib.inflateMark.restype = c_long
            zlib.inflateMark.argtypes = (POINTER(_Stream),)
            zlib.inflate.argtypes = (POINTER(_Stream), c_int)
            return zlib
    raise NoZlibError(
        "no shared zlib was found, which building an index needs (reading does not): install it "
        "(Debian: apt install zlib1g; conda: conda install zlib), or build the index elsewhere"
    )


def _candidates() -> Iterator[str]:
    if name := ctypes.util.find_library("z"):
        yield name
    yield from ("libz.so.1", "libz.dylib", "libz.1.dylib", "zlib1.dll")
    yield from (f"{sys.prefix}/lib/{name}" for name in ("libz.so.1", "libz.dylib"))
