"""Measure this machine for the cost model, by reading files that are made for it."""

from __future__ import annotations

import datetime
import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hyperslab import subchunk
from hyperslab.analysis.cost import solved
from hyperslab.io.cards import readers
from hyperslab.io.chunk_shapes import chunk_grid
from hyperslab.io.creation import stored_bytes, write_array
from hyperslab.io.layout import Layout
from hyperslab.io.selection import Selection
from hyperslab.measure.case import Case
from hyperslab.measure.cold import can_evict
from hyperslab.measure.lock import measuring
from hyperslab.measure.machine import identity, versions
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job

from ..process_memory import evicted
from .costs import BELOW, THREADED, Calibration, NoCalibrationError, terms, way
from .counts import Read, counts_of
from .visit import MODULES, Visit, case_of, digest

CODECS = ("deflate", "zstd", "blosc-lz4", "blosc-zstd", "bzip2", "szip", "lzf")
LIBRARIES = (
    "netcdf4", "h5py", "h5netcdf", "xarray-netcdf4", "xarray-h5netcdf", "subchunk", "zarr",
    "xarray-zarr", "plain",
)  # fmt: skip
# Noise fills most bits; packed are whole steps, half of them missing over land; sparse: zeros.
TEXTURES = ("noisy", "packed", "land", "sparse")
# For each engine the reader that codecs are timed with; the others share their cost.
_DECODERS = ("netcdf4", "h5py", "zarr", "subchunk")
_COMMON = ("deflate", "zstd", "blosc-lz4", "blosc-zstd")  # timed on every texture
_SHUFFLED = {"deflate": (True, False), "blosc-lz4": (True,), "blosc-zstd": (True,)}
_MAKING = 0.08  # of the time goes into fitting
_SIDES = ((60, 512), (20, 256), (0, 128))  # from so many seconds on, maps of so many elements
_TYPICAL = 0.25  # share of the samples below what a read takes: what others do only adds
_FLOOR_S = 5e-5  # below, a relative error means nothing
_ROUNDS, _NEAR = 6, 0.03  # errors from here on count by their size and no longer by its square


@dataclass(frozen=True)
class Timed:
    read: Read
    case: Case


def calibrate(
    seconds: float = 110.0,
    libraries: Sequence[str] = LIBRARIES,
    *,
    codecs: Sequence[str] = CODECS,
    workdir: Path | None = None,
    side: int | None = None,
) -> Calibration:
    """Find what reading costs on this machine; the files made for it take up to 0.4 GB."""
    began = time.monotonic()
    with measuring(), tempfile.TemporaryDirectory(prefix="calibration-", dir=workdir) as name:
        length = side or next(n for least, n in _SIDES if seconds >= least)
        reads = list(made_reads(Path(name), length, libraries, codecs))
        times = timed(reads, began + seconds * (1 - _MAKING))
    reading, opening = (times[times["phase"] == phase] for phase in ("read", "open"))
    read_s = reading.groupby("case")["wall_s"].quantile(_TYPICAL)
    if read_s.empty:
        raise NoCalibrationError("no read of the calibration succeeded")
    costs = fitted([(r.read, read_s[r.case.label]) for r in reads if r.case.label in read_s])
    ways = {r.case.label: way(r.read) for r in reads if r.read.cache == "warm"}
    open_s = opening.groupby(opening["case"].map(ways))["wall_s"].quantile(_TYPICAL)
    return Calibration(
        costs | {f"{name}:open": float(cost) for name, cost in open_s.items()},
        identity=identity(),
        versions=versions(),
        made=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        samples=len(reading),
        took_s=time.monotonic() - began,
    )


def field(texture: str, shape: tuple[int, int, int], dtype: str) -> NDArray[Any]:
    """Return smooth maps with a texture that decides how well they compress."""
    random = np.random.default_rng(TEXTURES.index(texture))
    t, y, x = (np.linspace(0, 1, n, dtype="f4") for n in shape)
    base = np.zeros(shape, "f4")
    for k in (1, 2, 4, 7, 12, 20):
        a, b = random.uniform(0, 2 * np.pi, 2)
        down = np.sin(2 * np.pi * k * y + a + 3 * t[:, None])
        across = np.cos(2 * np.pi * k * x + b - 3 * t[:, None])
        base += (down[:, :, None] * across[:, None, :] / k).astype("f4")
    noise = random.standard_normal(shape, dtype="f4")
    if texture == "noisy":
        values = 280 + 10 * base + noise
    elif texture == "sparse":
        values = np.where(base + 0.02 * noise > 0.7, np.round(20 * base + noise), 0)
    else:
        values = np.round((10 * base + 0.05 * noise) * 64) / 64 + 280
        if texture == "land":
            values = np.where(base[0] > 0.2, np.nan, values)
    if np.dtype(dtype).kind == "f":
        return values.astype(dtype, copy=False)
    return np.nan_to_num(values * 100, nan=-999).clip(-32767, 32767).astype(dtype)


def made_reads(
    folder: Path, side: int, libraries: Sequence[str], codecs: Sequence[str]
) -> Iterator[Timed]:
    """Write files and yield the reads of them: plain layouts, then textures in every codec."""
    able = can_evict()
    for name, texture, shape, dtype, layout in _files(side, codecs):
        path, values = folder / f"{name}{layout.suffix}", field(texture, shape, dtype)
        beside: tuple[Path, ...] = ()
        try:
            write_array(path, values, layout)
            if layout.codec == "deflate" and layout.format == "netcdf4":
                beside = (Path(subchunk.build(path)),)
            able = able and evicted(path)
        except (ImportError, ValueError, OSError, RuntimeError):  # its library is missing
            continue
        stored = chunk_bytes(path, shape, layout)
        some = [library for library in readers(layout) if library in libraries]
        for library, (pattern, chosen) in product(some, _selections(shape).items()):
            if not _worth_timing(name, layout, library, pattern):
                continue
            expected = digest([values[selection] for selection in chosen])
            cold = able and _cold(name, library, pattern)
            for cache in ("warm", "cold") if cold else ("warm",):
                case = case_of(
                    f"{name}/{library}/{pattern}", Visit(path, library, chosen), cache,
                    expected=expected, pinned=library not in THREADED,
                    files=beside if library == "subchunk" else (),
                )  # fmt: skip
                yield Timed(Read(shape, dtype, layout, chosen, library, stored, cache), case)


def chunk_bytes(path: Path, shape: Sequence[int], layout: Layout) -> float | None:
    """Return the bytes of a chunk in a file of one array, on average; None without a codec."""
    if layout.codec is None or layout.chunks is None:
        return None
    return stored_bytes(path) / math.prod(chunk_grid(shape, layout.chunks))


def _files(
    side: int, codecs: Sequence[str]
) -> Iterator[tuple[str, str, tuple[int, int, int], str, Layout]]:
    """Yield name, texture, shape, type and layout of the files."""
    steps, eighth = max(side // 32, 2), side // 8
    shape, small = (steps, side, side), (max(steps // 4, 1), side // 16, side // 16)
    half, column = (steps // 2, side // 2, side // 2), (steps, eighth, eighth)
    cuts = {"map": (1, side, side), "series": column, "half": half}
    for name, cut in cuts.items():
        yield f"plain-{name}", "noisy", shape, "f4", Layout("netcdf4", cut)
        yield f"zarr-{name}", "noisy", shape, "f4", Layout("zarr2", cut)
    yield "plain-small", "noisy", shape, "f4", Layout("netcdf4", small)
    yield "plain-contiguous", "noisy", shape, "f4", Layout("netcdf4")
    yield "plain-classic", "noisy", shape, "f4", Layout("netcdf3")
    yield "plain-binary", "noisy", shape, "f4", Layout("binary")
    yield "plain-long", "noisy", (6 * steps, side, side), "f4", Layout("netcdf4", half)
    for codec in codecs:
        kinds = [("packed", "f4", column), ("sparse", "i2", column)]
        if codec in _COMMON:
            kinds += [("land", "f4", column), ("packed", "f4", small)]
        formats = {"lzf": ("hdf5",), "szip": ("netcdf4",)}.get(codec, ("netcdf4", "zarr2"))
        for shuffle in _SHUFFLED.get(codec, (False,)):
            for texture, dtype, chunks in kinds:
                for format in formats:
                    layout = Layout(format, chunks, codec=codec, shuffle=shuffle)
                    name = f"{codec}{'-s' * shuffle}-{texture}-{chunks[1]}-{format}"
                    yield name, texture, (steps, side // 2, side // 2), dtype, layout


def _selections(shape: tuple[int, int, int]) -> dict[str, tuple[Selection, ...]]:
    """Return the reads of a file by name, one call or several."""
    t, y, x = shape
    every = slice(None)
    box = (slice(t // 5, max(3 * t // 4, 1)), slice(y // 5, y // 2), slice(x // 10, x // 3))
    return {
        "whole": ((every,) * 3,),
        "map": ((t // 3, every, every),),
        "series": ((every, 2 * y // 3, x // 3),),
        "box": (box,),
        "rows": ((every, slice(y // 7, y // 7 + 2), every),),
        "column": ((every, every, x // 5),),
        "strided": ((every, slice(0, y, 2), slice(0, x, 3)),),
        "points": tuple((every, (7 * i) % y, (13 * i) % x) for i in range(12)),
    }


def _worth_timing(name: str, layout: Layout, library: str, pattern: str) -> bool:
    if library in BELOW:
        # What they cost more shows in reads that are little else.
        small = ("plain-series", "zarr-series", "plain-contiguous", "plain-classic")
        return name in small and pattern in ("map", "series", "points")
    if layout.codec is None:
        if name == "plain-long":
            return pattern == "whole" and library in ("netcdf4", "h5py")
        return not (library == "subchunk" and pattern == "points")
    if library == "subchunk":
        shown = ("whole", "map", "series", "box", "strided")
        return layout.codec == "deflate" and pattern in shown
    series = pattern == "series" and library != "zarr" and "packed" in name
    return library in _DECODERS and (pattern == "whole" or series)


def _cold(name: str, library: str, pattern: str) -> bool:
    if pattern in ("strided", "points", "column"):
        return False
    if name.startswith(("plain-", "zarr-")):
        classic = (name, library) == ("plain-classic", "netcdf4")
        return classic or library in ("h5py", "zarr", "plain")
    return name.startswith("deflate") and library == "netcdf4" and pattern == "whole"


def timed(reads: Sequence[Timed], until: float) -> pd.DataFrame:
    """Return the seconds of each case, phase and sample, from blocks that end by then."""
    times, last = list[tuple[str, object, float]](), 0.0
    random = np.random.default_rng(0)
    with Processes(MODULES) as running:
        running.start()
        while not last or time.monotonic() + last < until:
            block = time.monotonic()
            for index in random.permutation(len(reads)):
                case = reads[index].case
                outcome = running.run(Job(case, timeout_s=60))
                for row in outcome.rows if outcome.status == "ok" else ():
                    times.append((case.label, row["phase"], float(str(row["wall_s"]))))
            last = time.monotonic() - block
    return pd.DataFrame(times, columns=["case", "phase", "wall_s"])


def fitted(samples: Sequence[tuple[Read, float]]) -> dict[str, float]:
    """Return the cost of each count, none negative; outliers count less."""
    rows = [terms(read, counts_of(read)) for read, _ in samples]
    names = sorted({name for row in rows for name in row})
    matrix = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    seconds = np.array([read_s for _, read_s in samples])
    weight = used = 1 / (seconds + _FLOOR_S)
    costs = np.zeros(len(names))
    for _ in range(_ROUNDS):
        costs = np.nan_to_num(solved(matrix, seconds, used))
        off = np.abs(matrix @ costs - seconds) * weight
        used = weight / np.sqrt(np.maximum(off, _NEAR) / _NEAR)
    return {name: float(cost) for name, cost in zip(names, costs, strict=True)}
