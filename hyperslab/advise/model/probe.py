"""Time the decoding of a few chunks of a file itself, where what it holds decides the speed."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from hyperslab.io.chunk_shapes import far_apart
from hyperslab.io.creation import stored_bytes, write_array
from hyperslab.io.file_plan import check_blosc
from hyperslab.io.layout import Layout
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job

from .calibration import Calibration
from .geometry import chunk_lengths, geometry
from .measured.calibrate import MODULES
from .measured.reading import Measured, Reading
from .predict import predict
from .read import Read
from .terms import ALIKE, BELOW, THREADED, shared

CHUNKS = 12  # that are decoded, spread over the file
_MOST_BYTES = 2**25  # of them, decoded; at least one
_TIMES = 3


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


def probe(reading: Reading, calibration: Calibration, processes: Processes | None = None) -> Read:
    """Return a read with the time that decoding takes of chunks of its own file.

    An element of each of a few chunks is read, in fresh processes as calibration does, and what
    all else costs is taken off. Nothing is changed where nothing is decoded, and for readers that
    decode parts of chunks.

    Parameters
    ----------
    reading
        The read and its file.
    calibration
        Which says what the rest of a read costs.
    processes
        What the reads run in; without it processes are started for this, which takes a second.

    Raises
    ------
    UncalibratedError
        For a library that was not calibrated.
    OSError
        When the file cannot be read.
    """
    read = reading.read
    if read.layout.codec is None or read.library == "subchunk" or read.link is not None:
        return read
    library = ALIKE.get(read.library, read.library)
    # Libraries that decode on all cores are given several chunks in one call.
    points = (_strip(read),) if library in THREADED else tuple(_spread(read))
    asked = replace(
        read, library=BELOW.get(library, library), selections=points, cache="warm", decode_s=0.0
    )
    one = Measured("probe", replace(reading, read=asked))
    rest = predict(asked, calibration).seconds
    with ExitStack() as own:
        running = processes or own.enter_context(Processes(MODULES))
        times = [_timed(one, running) for _ in range(_TIMES)]
    counts = geometry(asked)
    found = (min(times) - rest) / max(counts.fetched * shared(asked, counts), 1.0)
    return replace(read, decode_s=max(found, 0.0))


def measure_codec(
    values: NDArray[Any],
    layout: Layout,
    library: str,
    calibration: Calibration,
    workdir: Path | None = None,
    processes: Processes | None = None,
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
    processes
        See `probe`.

    Raises
    ------
    OSError
        When the library that writes cannot store them so.
    """
    with tempfile.TemporaryDirectory(dir=workdir) as folder:
        path = Path(folder) / f"sample{layout.suffix}"
        check_blosc(values, layout)
        write_array(path, values, layout)
        chunks = layout.chunks or values.shape
        number = math.prod(-(-n // c) for n, c in zip(values.shape, chunks, strict=True))
        each = stored_bytes(path) / number
        read = Read(values.shape, values.dtype.str, layout, (...,), library, each)
        found = probe(Reading(path, read), calibration, processes)
        return CodecSample(each, found.decode_s or 0.0)


def _spread(read: Read) -> Iterator[tuple[int, ...]]:
    """Yield an element of each of a few chunks, far apart."""
    chunks = chunk_lengths(read) or read.shape
    grid = tuple(-(-n // c) for n, c in zip(read.shape, chunks, strict=True))
    size = math.prod(chunks) * read.itemsize
    few = int(min(CHUNKS, max(_MOST_BYTES // size, 1)))
    for place in far_apart(grid, few):
        yield tuple(i * c for i, c in zip(place, chunks, strict=True))


def _strip(read: Read) -> tuple[int | slice, ...]:
    """Return a line through a few chunks, along the axis that has most of them."""
    chunks = chunk_lengths(read) or read.shape
    grid = [-(-n // c) for n, c in zip(read.shape, chunks, strict=True)]
    axis = max(range(len(grid)), key=lambda number: grid[number])
    few = min(CHUNKS, grid[axis])
    first = (grid[axis] - few) // 2 * chunks[axis]
    found: list[int | slice] = [n // 2 for n in read.shape]
    found[axis] = slice(first, min(first + few * chunks[axis], read.shape[axis]))
    return tuple(found)


def _timed(one: Measured, running: Processes) -> float:
    outcome = running.run(Job(one.case(), timeout_s=60))
    if outcome.status != "ok":
        raise OSError(f"chunks of {one.reading.path.name} cannot be decoded: {outcome.status}")
    return next(float(str(row["wall_s"])) for row in outcome.rows if row["phase"] == "read")
