"""Time the decoding of a few chunks of a file itself, where what it holds decides the speed."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.access.base import Opened
from hyperslab.access.registry import reader
from hyperslab.storage.layout import Layout
from hyperslab.storage.write import stored_bytes, write_array

from .calibration import Calibration
from .geometry import chunk_lengths, kind
from .measured.reading import Reading
from .read import Read
from .terms import ALIKE, BELOW, ENGINES, worker

CHUNKS = 6  # that are decoded, spread over the file
_LONGEST_S = 0.5  # after which the rest of them are left out


@dataclass(frozen=True)
class CodecSample:
    """What a layout does to values.

    Parameters
    ----------
    chunk_bytes
        Bytes of a chunk as it is stored.
    decode_s
        Seconds to decode one.
    """

    chunk_bytes: float
    decode_s: float


def probe(reading: Reading, calibration: Calibration) -> Read:
    """Return a read with the time that decoding takes of chunks of its own file.

    Nothing is changed where nothing is decoded, and for readers that decode parts of chunks. The
    file should be in memory: what is read for the first time is read from the disk.

    Parameters
    ----------
    reading
        The read and its file.
    calibration
        Which says what the rest of a call costs.
    """
    read = reading.read
    if read.layout.codec is None or read.library == "subchunk" or read.link is not None:
        return read
    library = ALIKE.get(read.library, read.library)
    inner = reader(BELOW.get(library, library))
    with inner.open(reading.path, reading.variable) as opened:
        times = [_decoding(opened, at, read, calibration) for at in _spread(read)]
    return replace(read, decode_s=max(float(np.mean(times[1:] or times)), 0.0))


def measure_codec(
    values: NDArray[Any],
    layout: Layout,
    library: str,
    calibration: Calibration,
    workdir: Path | None = None,
) -> CodecSample:
    """Store values in a layout and return what that does to them.

    Parameters
    ----------
    values
        Some chunks of a variable, at least two, with all its axes.
    layout
        With chunks no longer than the values.
    library
        Reader that they will be read with.
    calibration
    workdir
        A folder for a file of their size; without it the system's for temporary files.
    """
    with tempfile.TemporaryDirectory(dir=workdir) as folder:
        path = Path(folder) / f"sample{layout.suffix}"
        write_array(path, values, layout)
        chunks = layout.chunks or values.shape
        number = math.prod(-(-n // c) for n, c in zip(values.shape, chunks, strict=True))
        each = stored_bytes(path) / number
        read = Read(values.shape, values.dtype.str, layout, (...,), library, each)
        found = probe(Reading(path, read), calibration)
        return CodecSample(each, found.decode_s or 0.0)


def _spread(read: Read) -> Iterator[tuple[int, ...]]:
    """Yield an element of each of a few chunks, far apart."""
    chunks = chunk_lengths(read) or read.shape
    grid = tuple(-(-n // c) for n, c in zip(read.shape, chunks, strict=True))
    total = math.prod(grid)
    began = time.monotonic()
    # The first is decoded to load what decodes.
    for number in dict.fromkeys(int((i + 0.5) * total / (CHUNKS + 1)) for i in range(CHUNKS + 1)):
        at = np.unravel_index(number, grid)
        yield tuple(int(i) * c for i, c in zip(at, chunks, strict=True))
        if time.monotonic() - began > _LONGEST_S:
            return


def _decoding(opened: Opened, at: tuple[int, ...], read: Read, calibration: Calibration) -> float:
    """Return the seconds that decoding one chunk takes."""
    fresh = _timed(opened, at)
    size = math.prod(chunk_lengths(read) or read.shape) * read.itemsize
    way, costs = worker(read), calibration.costs
    if kind(read) == "chunked" and ENGINES.get(read.library) != "zarr":
        # Read again it comes out of the chunk cache; a new chunk takes new memory.
        return fresh - _timed(opened, at) - costs.get(f"{way}:new", 0.0) * size
    return fresh - costs.get(f"{way}:again", 0.0) - costs.get(f"{way}:chunk", 0.0)


def _timed(opened: Opened, at: tuple[int, ...]) -> float:
    began = time.perf_counter()
    opened.read(at)
    return time.perf_counter() - began
