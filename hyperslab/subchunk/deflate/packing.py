"""Windows as the index keeps them: compressed, with what nobody looks at replaced.

What is not looked at may be anything. Zeros suit deflate, which unpacks quickest; of a shuffled
plane little but runs of zeros can be made shorter, and looking for more takes five times as long
and finds less. Where many bytes of unshuffled numbers are kept, LZMA packs them a third smaller; in
the gaps the last byte of the same rank is repeated. A packed window that begins with a block of the
type that deflate leaves reserved is one of LZMA.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CorruptIndexError, SubchunkError
from .inflate import WINDOW, inflater

_RAW, _LEVEL, _MEMORY = -15, 3, 9
_MOST = 2 * WINDOW  # bytes packed: more is made up, to fill the memory
_LZMA = 0x07  # the first three bits: the last block, of type 3
_NICE, _DEPTH = 16, 2  # looking further saves nothing, and takes twice as long
_DICTIONARY = 2**16


def deflated(window: NDArray[np.uint8], used: NDArray[np.bool_], itemsize: int) -> bytes:
    """Pack the bytes of a window that are used by deflate; of numbers of `itemsize` bytes."""
    if not used.any():
        return b""
    strategy = zlib.Z_RLE if itemsize == 1 else zlib.Z_DEFAULT_STRATEGY
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW, _MEMORY, strategy)
    needed = (window * used)[int(used.argmax()) :]  # a shorter one is its end
    return packer.compress(needed.tobytes()) + packer.flush()


def by_lzma(window: NDArray[np.uint8], used: NDArray[np.bool_], itemsize: int) -> bytes:
    """Pack a window by LZMA.

    Examples
    --------
    >>> window, used = np.arange(WINDOW, dtype="u1"), np.arange(WINDOW) % 7 == 0
    >>> back = np.frombuffer(unpacked(by_lzma(window, used, 4)), "u1")
    >>> bool((back == window)[used].all())
    True
    """
    import lzma

    if not used.any():
        return b""
    width = itemsize if WINDOW % itemsize == 0 else 1
    ranks = used.reshape(-1, width).T
    at = np.where(ranks, np.arange(ranks.shape[1], dtype=np.int32), np.int32(0))
    np.maximum.accumulate(at, axis=1, out=at)
    at = at * width + np.arange(width, dtype=np.int32)[:, None]
    filled = window.take(at.T.ravel()).tobytes()
    turn = min(width.bit_length() - 1, 2)
    filters: list[dict[str, Any]] = [
        _filter()
        | {"preset": 0, "mode": lzma.MODE_NORMAL, "mf": lzma.MF_HC3}
        | {"nice_len": _NICE, "depth": _DEPTH, "lc": 0, "lp": turn, "pb": turn}
    ]
    return bytes([_LZMA]) + lzma.compress(filled, format=lzma.FORMAT_RAW, filters=filters)


def unpacked(packed: bytes | memoryview) -> bytes:
    """Return a window, or its end."""
    if not packed:
        return b""
    if len(packed) > _MOST:
        raise CorruptIndexError(f"a window in the index is damaged: it has {len(packed)} bytes")
    module = inflater()
    try:
        if packed[0] & 7 == _LZMA:
            return _lzma_unpacked(packed[1:])
        return module.decompress(packed, _RAW, WINDOW)
    except (zlib.error, module.error) as error:
        raise CorruptIndexError(f"a window in the index is damaged: {error}") from error


def _lzma_unpacked(packed: bytes | memoryview) -> bytes:
    try:
        import lzma
    except ImportError as error:
        raise SubchunkError(
            "the index has windows packed by LZMA, and this Python was built without its module "
            "lzma: take another Python, or build the index again with it"
        ) from error
    try:
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[_filter()])
        return unpacker.decompress(packed, WINDOW)
    except lzma.LZMAError as error:
        raise CorruptIndexError(f"a window in the index is damaged: {error}") from error


def _filter() -> dict[str, Any]:
    import lzma

    return {"id": lzma.FILTER_LZMA2, "dict_size": _DICTIONARY}
