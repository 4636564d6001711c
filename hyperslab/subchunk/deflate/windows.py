"""Windows as the index keeps them: only what is referred to, compressed."""
# In the gaps stand zeros for deflate, which unpacks quickest, and for LZMA, which packs unshuffled
# numbers a third smaller, the last byte of the same rank. A packed window of LZMA begins with a
# block of the type that deflate leaves reserved.

import functools
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CorruptIndexError, SubchunkError
from .inflate import WINDOW, inflate_from, inflater

try:
    import lzma

    HAS_LZMA, _LZMA_ERRORS = True, [lzma.LZMAError]
except ImportError:  # a Python built without it: then there is deflate
    HAS_LZMA, _LZMA_ERRORS = False, []

Pairs = NDArray[np.uint16]
_ONE = np.uint16(1)
_FEW = WINDOW // 8  # copied bytes below which the check costs little and matters
_RAW, _LEVEL, _MEMORY = -15, 3, 9
_MOST = 2 * WINDOW  # bytes packed: more is made up, to fill the memory
_LZMA = 0x07  # the first three bits: the last block, of type 3
_NICE, _DEPTH = 16, 2  # looking further saves nothing, and takes twice as long
_DICTIONARY = 2**16


def referred(
    data: memoryview,
    shift: int,
    header: tuple[int, int],
    window: NDArray[np.uint8],
    truth: NDArray[np.uint8],
) -> NDArray[np.bool_]:
    """Return which bytes of a window decompression looks at, and perhaps a few more."""
    # Any two neighbours of the window that is given to it tell where they stand. Deflate copies
    # three bytes or more; at the window's end fewer may lie in it, so its last two are always kept.
    marks, position = _marks()
    traced = inflate_from(data, shift, header, marks, truth.size)
    even, odd = (position.take(pairs) for pairs in _pairs(traced))  # much quicker than position[…]
    first = np.flatnonzero(even[: odd.size] + _ONE == odd[: even.size])
    second = np.flatnonzero(odd[: even.size - 1] + _ONE == even[1:])
    begins = np.concatenate([even.take(first), odd.take(second)]).astype(np.intp)
    # Among many literals three bytes stand so by chance now and then: their value tells.
    if begins.size < _FEW:
        copied = np.concatenate([2 * first, 2 * second + 1])
        begins = begins.compress(window.take(begins) == truth.take(copied))
    used = np.zeros(WINDOW, bool)
    used[begins] = True
    used[1:] |= used[:-1].copy()
    used[1:] |= used[:-1].copy()
    used[-2:] = True
    return used


def _pairs(values: bytes) -> tuple[Pairs, Pairs]:
    """Return each byte with its right neighbour as one number: those in even places, and odd."""
    even = np.frombuffer(values, "<u2", len(values) // 2)
    return even, np.frombuffer(values, "<u2", max(len(values) - 1, 0) // 2, min(len(values), 1))


@functools.cache
def _marks() -> tuple[bytes, Pairs]:
    """Return a window in which no pair comes twice (de Bruijn's), and where each pair stands."""
    rows = (
        [first, *(byte for second in range(first + 1, 256) for byte in (first, second))]
        for first in range(256)
    )
    marks = np.array([byte for row in rows for byte in row][:WINDOW], np.uint8)
    position = np.full(2**16, 2 * WINDOW - 2, np.uint16)  # behind the end
    even, odd = _pairs(marks.tobytes())
    position[even], position[odd] = np.arange(0, WINDOW - 1, 2), np.arange(1, WINDOW - 1, 2)
    return marks.tobytes(), position


def deflated(window: NDArray[np.uint8], used: NDArray[np.bool_], itemsize: int) -> bytes:
    """Pack the bytes of a window that are used by deflate; of numbers of `itemsize` bytes."""
    if not used.any():
        return b""
    strategy = zlib.Z_RLE if itemsize == 1 else zlib.Z_DEFAULT_STRATEGY
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, _MEMORY, strategy)
    needed = (window * used)[int(used.argmax()) :]  # a shorter one is its end
    return packer.compress(needed.tobytes()) + packer.flush()


def by_lzma(window: NDArray[np.uint8], used: NDArray[np.bool_], itemsize: int) -> bytes:
    if not used.any():
        return b""
    width = itemsize if WINDOW % itemsize == 0 else 1
    ranks = used.reshape(-1, width).T
    at = np.where(ranks, np.arange(ranks.shape[1], dtype=np.int32), np.int32(0))
    np.maximum.accumulate(at, axis=1, out=at)
    at = at * width + np.arange(width, dtype=np.int32)[:, None]
    filled = window.take(at.T.ravel()).tobytes()
    turn = min(width.bit_length() - 1, 2)
    how = {"preset": 0, "mode": lzma.MODE_NORMAL, "mf": lzma.MF_HC3, "nice_len": _NICE}
    how |= {"depth": _DEPTH, "lc": 0, "lp": turn, "pb": turn} | _lzma_filter()
    return bytes([_LZMA]) + lzma.compress(filled, format=lzma.FORMAT_RAW, filters=[how])


def unpacked(packed: bytes | memoryview) -> bytes:
    """Return a window, or its end."""
    if not packed:
        return b""
    if len(packed) > _MOST:
        raise CorruptIndexError(f"a window in the index is damaged: it has {len(packed)} bytes")
    module = inflater()
    try:
        if packed[0] & 7 != _LZMA:
            window: bytes = module.decompress(packed, _RAW, WINDOW)
            return window
        if not HAS_LZMA:
            raise SubchunkError(
                "the index has windows packed by LZMA, and this Python was built without its "
                "module lzma: take another Python, or build the index again with it"
            )
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[_lzma_filter()])
        return unpacker.decompress(packed[1:], WINDOW)
    except (zlib.error, module.error, *_LZMA_ERRORS) as error:
        raise CorruptIndexError(f"a window in the index is damaged: {error}") from error


def _lzma_filter() -> dict[str, Any]:
    return {"id": lzma.FILTER_LZMA2, "dict_size": _DICTIONARY}
