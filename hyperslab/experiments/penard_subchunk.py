"""What it takes to index compressed chunks, and what lies between the points of an index."""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import h5py
import numpy as np
from numpy.typing import NDArray

from .. import subchunk
from ..io import work
from ..io.calls import Sample
from ..io.experiment import File, columns
from ..io.indexed import BUDGET, NEEDS, WIDTH, Index, requests, runs
from ..io.selection import Selection
from ..measure.case import Stopwatch
from ..subchunk.deflate.inflate import WINDOW
from ..subchunk.deflate.walk import bits, walk
from ..subchunk.deflate.windows import referred

TRIED = 32  # points of a chunk whose windows are looked at
MIB = 2**20
Row = dict[str, Any]
_SUMS = ("requests", "predicted_reads", "useful_bytes", "predicted_bytes", "wire_bytes")


@dataclass(frozen=True)
class BuildIndex:
    """Build the default index of a file: phase build; what is read through it is checked."""

    file: File
    selection: Selection

    needs: ClassVar = (*NEEDS, __name__)

    def parts(self, cache_state: str) -> dict[str, Any]:
        described = columns(self.file.layout, "subchunk")
        removal = partial(work.remove, self.target)
        return {
            "run": self,
            "check": self.right,
            "columns": described | {"stages": self.file.array.shape[0]},
            "files": (self.file.path,),
            "prepare": removal,
            "cleanup": removal,
        }

    @property
    def target(self) -> Path:
        return self.file.path.with_name(f"{self.file.path.name}.built")

    def __call__(self, watch: Stopwatch) -> None:
        with watch("build"):
            BUDGET.build(self.file, threads=1, target=self.target)
        watch.note(file_bytes=self.target.stat().st_size)

    def right(self, _: object) -> bool:
        with subchunk.open(self.file.path, self.target) as opened:
            values = opened[self.file.array.variable][self.selection]
        return np.array_equal(values, self.file.part(self.selection)())


@dataclass(frozen=True)
class ReadChunks:
    path: Path
    variable: str

    needs: ClassVar = (*NEEDS, __name__)

    def __call__(self, watch: Stopwatch) -> int:
        size = 0
        with watch("read"), h5py.File(self.path) as file:
            values = file[self.variable]
            for number in range(values.shape[0]):
                size += values[number].nbytes
        watch.note(useful_bytes=size)
        return size


def read_once(file: File) -> Sample:
    return Sample(
        ReadChunks(file.path, file.array.variable),
        partial(int.__eq__, WIDTH * math.prod(file.array.shape)),
        columns(file.layout, "h5py") | {"stages": file.array.shape[0]},
        (file.path,),
    )


def points(file: File, index: Index) -> Iterator[Row]:
    """Yield the points of the first chunk, and its end: decompressed and compressed bytes."""
    points = index.points(file)
    out = np.append(points.out[points.starts], points.out_bytes).tolist()
    stored = np.append(points.stored[points.starts], points.stored_bytes).tolist()
    for order, (low, high) in enumerate(zip(out, stored, strict=True)):
        phase = "point" if order < len(out) - 1 else "end"
        yield {"phase": phase, "order": order, "out_at": low, "stored_at": high}


def sections(file: File, index: Index, point: tuple[int, int]) -> Iterator[Row]:
    """Yield where requests about a point lie in the first chunk, and what is decoded for them."""
    points, chunk = index.points(file), file.array.shape[1:]
    for request, box in requests(chunk, point).items():
        begins, ends = runs(box, chunk, file.layout.shuffle)
        decoded = points.sections(begins, ends)
        whole = {"predicted_bytes": points.out_bytes, "wire_bytes": points.stored_bytes}
        yield {"request": request, "phase": "chunk", **whole}
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            run = {"out_at": begin, "useful_bytes": end - begin}
            yield {"request": request, "phase": "run", **run}
        for low, high, start, stop in decoded.tolist():
            out, stored = ("out_at", "predicted_bytes"), ("stored_at", "wire_bytes")
            extent = dict(zip((*out, *stored), (low, high - low, start, stop - start), strict=True))
            yield {"request": request, "phase": "section", **extent}


def pieces(file: File, index: Index, point: tuple[int, int]) -> Iterator[Row]:
    """Yield what `sections` adds up to: runs of bytes, sections, and bytes decoded and read."""
    plans: dict[str, Row] = {}
    for row in sections(file, index, point):
        labels = {"request": row["request"], "phase": "plan"}
        plan = plans.setdefault(row["request"], labels | dict.fromkeys(_SUMS, 0))
        if row["phase"] == "run":
            plan["predicted_reads"] += 1
            plan["useful_bytes"] += row["useful_bytes"]
        elif row["phase"] == "section":
            plan["requests"] += 1
            plan["predicted_bytes"] += row["predicted_bytes"]
            plan["wire_bytes"] += row["wire_bytes"]
    yield from plans.values()


def windows(file: File) -> Iterator[Row]:
    """Yield the bytes of windows at places all over the first chunk of a file."""
    # "referred": what the data behind refers to; "sparse": the others zeroed, then deflated.
    with h5py.File(file.path) as data:
        values = data[file.array.variable]
        raw: Any = values.id.read_direct_chunk((0,) * values.ndim)[1]
        size = WIDTH * math.prod(values.chunks)
    sums = window_bytes(np.frombuffer(raw, np.uint8), size)
    count = sums.pop("count")
    for phase, total in sums.items():
        columns = {"points": count, "file_bytes": total, "useful_bytes": count * WINDOW}
        yield {"phase": phase, **file.layout.record(), **columns}


def five_in_one(file: File) -> Iterator[Row]:
    """Yield the bytes of five windows for a chunk of 1 MiB (Penard et al. 2025, section 3.3)."""
    with h5py.File(file.path) as data:
        values = data[file.array.variable][0].tobytes()[:MIB]
    packed = np.frombuffer(zlib.compress(values, file.layout.level or 4), np.uint8)
    sums = window_bytes(packed, MIB)
    for name, size in (("whole", "whole"), ("deflated", "packed"), ("sparse", "sparse")):
        yield {
            "window": name,
            "phase": "size",
            "points": 5,
            "file_bytes": round(5 * sums[size] / sums["count"]),
            "useful_bytes": MIB,
            "chunk_bytes": packed.size,
        }


def window_bytes(data: NDArray[np.uint8], chunk_bytes: int) -> dict[str, int]:
    """Return what windows of one chunk, as stored, hold, summed over places all over it."""
    output = np.empty(chunk_bytes, np.uint8)
    places = walk(data, max(WINDOW, chunk_bytes // (TRIED + 1)), output)
    sums = dict.fromkeys(("count", "whole", "referred", "packed", "sparse"), 0)
    for number in range(1, len(places)):
        out, bit = int(places.out[number]), int(places.bit[number])
        if out < WINDOW:
            continue
        begin, end = int(places.header_start[number]), int(places.header_stop[number])
        window = output[out - WINDOW : out].copy()
        header, behind = (bits(data, begin, end), end - begin), output[out : out + WINDOW]
        used = referred(data.data[bit >> 3 :], bit & 7, header, window, behind)
        sums["count"] += 1
        sums["whole"] += WINDOW
        sums["referred"] += int(used.sum())
        sums["packed"] += len(zlib.compress(window.tobytes(), 6))
        window[~used] = 0
        sums["sparse"] += len(zlib.compress(window.tobytes(), 6))
    return sums
