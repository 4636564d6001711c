"""What windows hold and take, in chunks of real files."""

import math
import zlib
from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ...subchunk.deflate.inflate import WINDOW
from ...subchunk.deflate.walk import bits, walk
from ...subchunk.deflate.windows import referred
from .subchunk_files import MIB, Files, spelled

TRIED = 32
"""Points of a chunk whose windows are looked at."""
WIDTH = 4  # bytes of a float32, which all files hold


def windows(files: Files) -> Iterator[dict[str, object]]:
    """Yield the bytes of windows at places all over the first chunk of each file.

    Phases "whole", "referred" (bytes that the data behind refers to), "packed" (whole windows,
    deflated) and "sparse" (the others zeroed, deflated): ``file_bytes``, of ``points`` windows
    of ``useful_bytes``.
    """
    for name in files.names:
        sums = window_bytes(*_stored(files, name))
        count = sums.pop("count")
        for phase, size in sums.items():
            yield {
                "case": spelled(name),
                "phase": phase,
                **files.layout(name).record(),
                "points": count,
                "file_bytes": size,
                "useful_bytes": count * WINDOW,
            }


def window_bytes(data: NDArray[np.uint8], chunk_bytes: int) -> dict[str, int]:
    """Return what windows of one chunk hold, summed over places all over it.

    Parameters
    ----------
    data : numpy.ndarray
        uint8, the chunk as it is stored.
    chunk_bytes : int
        Bytes of it, decompressed.
    """
    output = np.empty(chunk_bytes, np.uint8)
    found = walk(data, max(WINDOW, chunk_bytes // (TRIED + 1)), output)
    sums = dict.fromkeys(("count", "whole", "referred", "packed", "sparse"), 0)
    for number in range(1, len(found)):
        out, bit = int(found.out[number]), int(found.bit[number])
        if out < WINDOW:
            continue
        begin, end = int(found.header_start[number]), int(found.header_stop[number])
        window = output[out - WINDOW : out].copy()
        used = referred(
            data.data[bit >> 3 :],
            bit & 7,
            (bits(data, begin, end), end - begin),
            window,
            output[out : out + WINDOW],
        )
        sums["count"] += 1
        sums["whole"] += WINDOW
        sums["referred"] += int(used.sum())
        sums["packed"] += len(zlib.compress(window.tobytes(), 6))
        window[~used] = 0
        sums["sparse"] += len(zlib.compress(window.tobytes(), 6))
    return sums


def five_in_one(files: Files) -> Iterator[dict[str, object]]:
    """Yield the bytes of five windows for a chunk of 1 MB: whole, deflated, and sparse.

    The chunk is the first megabyte of the temperature without shuffle, at the file's level.

    Source
    ------
    Penard et al. (2025), section 3.3.
    """
    data = files.chunk("gfs-off").tobytes()[:MIB]
    level = files.layout("gfs-off").level or 4
    packed = np.frombuffer(zlib.compress(data, level), np.uint8)
    sums = window_bytes(packed, MIB)
    for case, size in (
        ("five in 1 MB", sums["whole"]),
        ("five in 1 MB, deflated", sums["packed"]),
        ("five in 1 MB, sparse", sums["sparse"]),
    ):
        yield {
            "case": case,
            "phase": "size",
            "points": 5,
            "file_bytes": round(5 * size / sums["count"]),
            "useful_bytes": MIB,
            "chunk_bytes": packed.size,
        }


def _stored(files: Files, name: str) -> tuple[NDArray[np.uint8], int]:
    with h5py.File(files.path(name)) as file:
        values = file[files.variable(name)]
        raw: Any = values.id.read_direct_chunk((0,) * values.ndim)[1]
        return np.frombuffer(raw, np.uint8), WIDTH * math.prod(values.chunks)
