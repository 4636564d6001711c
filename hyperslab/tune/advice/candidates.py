"""What may be advised: layouts to rewrite the file in, and remedies that leave it as it is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.chunk_shapes import ceil_chunk, chunk_grid
from hyperslab.io.layout import CHUNKED, CLASSIC, NETCDF4, ZARR, Layout
from hyperslab.io.selection import region
from hyperslab.io.source import SourceVariable, layout_of
from hyperslab.network.link import Link

from ..specs.parse import codec
from ..specs.target import SAME, chunked_format
from .accesses import Access
from .counts import touched

NOW, LAYOUT, REMEDY = "now", "layout", "remedy"
PAGE_BYTES = 4 * 2**20
CACHE_BYTES = 256 * 2**20
_MANY_FILES = 200  # from which Zarr's chunks go into shards
_MANY_OBJECTS = 20_000  # up to which they may stay apart in a store of objects
LEAST_BYTES, MOST_BYTES = 32 * 2**10, 16 * 2**20
MOST_CHUNKS = 500_000
SHARD_BYTES = 64 * 2**20
_SIZES = (2**18, 2**20, 2**22, 2**24)  # the best shape of each class of chunk sizes is kept
# Seconds for each chunk and for each byte of it: fast and slow to decode.
_COSTS = ((60e-6, 0.5e-9), (60e-6, 3e-9))
_WASTE = 1 / 16  # padding that an axis may add
_ALIKE = 1.5  # shapes within this factor along each axis are the same advice
_TRIED, _MOST_SHAPES = 200_000, 10
_LONG = 0.02  # how much dearer a chunk is that is long along one axis and thin along another
# Codec, level and whether bytes are shuffled where the format can.
_CODECS = (
    ("deflate", 1, True), ("zstd", 3, True), ("blosc-zstd", 3, True), ("blosc-lz4", 5, True),
)  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A way to have the file, or to read it as it is."""

    name: str  # its label in tables, unique
    kind: str  # NOW, LAYOUT (the file is rewritten) or REMEDY (it is read otherwise)
    layout: Layout  # of the variable
    library: str  # name of the reader
    cache_bytes: int | None = None  # chunk cache; None for the library's own
    remedy: str = ""  # "h5py", "index", "cache" or "references"
    described: bool = True  # whether the layout tells all of how values are stored

    @property
    def rewrites(self) -> bool:
        return self.kind == LAYOUT


def name_of(layout: Layout, own_format: str = "") -> str:
    """Return a label: chunks, codec, what else was chosen, and another format."""
    hdf5 = layout.format in (*NETCDF4, "hdf5")
    own = hdf5 and (layout.page_bytes or layout.format == (own_format or layout.format))
    words = [] if own else [layout.format]
    words.append("x".join(map(str, layout.chunks)) if layout.chunks else "contiguous")
    if layout.codec:
        level = layout.effective_level
        words.append(f"{layout.codec}:{level}" if level else layout.codec)
        words += ["shuffle"] if layout.shuffle else []
    if layout.shards:
        words.append("shards " + "x".join(map(str, layout.shards)))
    if layout.page_bytes:
        words.append(f"pages of {layout.page_bytes >> 20} MiB")
    return " ".join(words)


def now(source_format: str, variable: SourceVariable, library: str) -> Candidate:
    """Return the file as it is, read as it is now."""
    layout, described = variable.layout, variable.layout is not None or not variable.codec
    if layout is None or layout.format != source_format:
        chunks = variable.chunks if source_format in CHUNKED else None
        layout = layout_of(source_format, chunks=chunks) or Layout(source_format)
    return Candidate("as it is", NOW, layout, library, described=described)


def remedies(
    present: Candidate, accesses: Sequence[Access], *, remote: bool, grouped: bool = False
) -> list[Candidate]:
    """Return ways to read the file as it is that cost less."""
    layout, ways = present.layout, dict[str, dict[str, Any]]()
    if not present.described or layout.format not in (*NETCDF4, "hdf5"):
        return []
    if present.library in ("netcdf4", "xarray-netcdf4"):
        ways["h5py"] = {"remedy": "h5py", "library": "h5py"}
    if layout.codec == "deflate":
        ways["sub-chunk index"] = {"remedy": "index", "library": "subchunk"}
    several = any(len(access.selections) > 1 for access in accesses)
    if layout.chunks and (several or layout.codec is None):
        name = f"chunk cache of {CACHE_BYTES >> 20} MiB"
        ways[name] = {"remedy": "cache", "cache_bytes": CACHE_BYTES}
    if remote and layout.chunks and not grouped:  # xarray finds nothing in groups by references
        alike = {name: getattr(layout, name) for name in ("chunks", "codec", "level", "shuffle")}
        if zarr := layout_of("zarr2", **alike):
            way = {"remedy": "references", "library": "zarr", "layout": zarr}
            ways["kerchunk references"] = way
    return [replace(present, name=name, kind=REMEDY, **how) for name, how in ways.items()]


def layouts(
    present: Candidate,
    variable: SourceVariable,
    accesses: Sequence[Access],
    *,
    link: Link | None = None,
    formats: Sequence[str] = (),
    codecs: Sequence[str] = (),
) -> list[Candidate]:
    """Return layouts to try: chunk shapes by the accesses, each with every codec and format."""
    own = chunked_format(present.layout.format)
    new_formats = formats or dict.fromkeys((own, *(("hdf5",) if link else ()), "zarr3"))
    call_s = link.round_trip_s if link else 0.0
    shapes = chunk_shapes(variable.shape, variable.itemsize, accesses, call_s=call_s)
    if present.layout.chunks is not None:
        shapes.append(tuple(np.minimum(present.layout.chunks, variable.shape).tolist()))
    tried = _codecs(present.layout, codecs)
    as_now = name_of(present.layout, own) if present.described else ""
    named: dict[str, Candidate] = {}
    for format, chunks in itertools.product(new_formats, dict.fromkeys(shapes)):
        extras = _extras(format, chunks, variable, remote=link is not None)
        for extra, (kind, level, shuffle) in itertools.product(extras, tried):
            able = (  # without shuffle where the format has none
                layout_of(format, chunks=chunks, codec=kind, level=level, shuffle=shuffled, **extra)
                for shuffled in dict.fromkeys((shuffle, False))
            )
            layout = next(filter(None, able), None)
            # By their names: those are unique, and one level may be said in two ways.
            name = name_of(layout, own) if layout else as_now
            if layout and name != as_now and name not in named:
                named[name] = Candidate(name, LAYOUT, layout, _library_of(format, present))
    return list(named.values())


def usual_library(format: str, *, far: bool = False) -> str:
    """Return the reader that most would take for a format, on this machine or far away."""
    if format in ZARR:
        return "nczarr" if format == "nczarr" and not far else "zarr"
    return "h5py" if format == "hdf5" or (far and format not in CLASSIC) else "netcdf4"


def _library_of(format: str, present: Candidate) -> str:
    """Return the reader that a format is read with: the present one where it can."""
    of_netcdf = ("netcdf4", "h5py", "h5netcdf", "xarray-netcdf4", "xarray-h5netcdf")
    if format in NETCDF4 and present.library in of_netcdf:
        return present.library
    return usual_library(format)


def _codecs(own: Layout, names: Sequence[str]) -> list[tuple[str | None, int | None, bool]]:
    """Return codecs with level and shuffle: the usual ones and the file's own, or those wanted."""
    usual = dict.fromkeys([(None, None, False), *_CODECS, (own.codec, own.level, own.shuffle)])
    if not names:
        return list(usual)
    choices: list[tuple[str | None, int | None, bool]] = []
    for name, level in map(codec, names):
        kind = {SAME: own.codec, "none": None}.get(name, name)
        level = own.level if name == SAME else level
        alike = [choice for choice in usual if choice[0] == kind and level in (None, choice[1])]
        choices += alike or [(kind, level, True)]
    return list(dict.fromkeys(choices))


def _extras(
    format: str, chunks: tuple[int, ...], variable: SourceVariable, *, remote: bool
) -> list[dict[str, object]]:
    """Return the shards and pages that a chunk shape is tried with."""
    if format == "hdf5" and remote:
        return [{"page_bytes": PAGE_BYTES}]
    count = math.prod(chunk_grid(variable.shape, chunks))
    shards = shard(variable.shape, chunks, variable.itemsize)
    if format != "zarr3" or shards == chunks or not (remote or count > _MANY_FILES):
        return [{}]
    # Far away chunks of their own are asked for at once, those of a shard one by one.
    apart = remote and count <= _MANY_OBJECTS
    return [{"shards": shards}, *([{}] if apart else [])]


def even_lengths(n: int, most: int = 64) -> tuple[int, ...]:
    """Return lengths that cut an axis in equal parts, with little overhang (Lee 2008, 5.1.2)."""
    lengths = {n, 1}
    count = 2
    while count < n:
        length = ceil_chunk(n, count)
        if -(-n // length) * length - n <= _WASTE * n:
            lengths.add(length)
        count += max(count // 8, 1)  # the longer the row, the wider the steps
    ordered = sorted(lengths, reverse=True)
    if len(ordered) > most:
        picks = np.unique(np.linspace(0, len(ordered) - 1, most).round().astype(int))
        ordered = [ordered[index] for index in picks]
    return tuple(ordered)


def chunk_shapes(
    shape: Sequence[int], itemsize: int, accesses: Sequence[Access], *, call_s: float = 0.0
) -> list[tuple[int, ...]]:
    """Return chunk shapes: the best for the mix, then the best of other sizes and accesses."""
    shape = tuple(shape)
    if not shape or 0 in shape:
        return []
    lengths, nbytes = _fitting(shape, itemsize)
    regions = [[region(selection, shape) for selection in access.selections] for access in accesses]
    touches = [sum(touched(slab, lengths).prod(axis=1) for slab in each) for each in regions]
    uneven = 1 + _LONG * _unevenness(shape, lengths, accesses)
    size_class = np.searchsorted(np.array(_SIZES), nbytes)
    costs: list[NDArray[np.float64]] = []
    for chunk_s, byte_s in _COSTS:
        each_s = [(chunk_s + call_s + nbytes * byte_s) * count for count in touches]
        mix = sum(a.weight * s for a, s in zip(accesses, each_s, strict=True)) * uneven
        costs.append(mix)
        costs += [np.where(size_class == n, mix, np.inf) for n in range(len(_SIZES) + 1)]
        costs += [seconds + 1e-3 * mix for seconds in each_s] if len(accesses) > 1 else []
    chosen: list[tuple[int, ...]] = []
    for cost in costs:
        best = int(np.argmin(cost))
        chunk = tuple(int(n) for n in lengths[best])
        apart = [np.maximum(np.divide(chunk, c), np.divide(c, chunk)).max() for c in chosen]
        if np.isfinite(cost[best]) and min(apart, default=np.inf) > _ALIKE:
            chosen.append(chunk)
    return chosen[:_MOST_SHAPES]


def shard(shape: Sequence[int], chunks: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Return a shard of whole chunks of about 64 MiB, cut alike along all axes."""
    grid, size = chunk_grid(shape, chunks), math.prod(chunks) * itemsize
    held = [1] * len(grid)
    while able := [axis for axis, n in enumerate(grid) if held[axis] < n]:
        axis = min(able, key=lambda axis: held[axis] / grid[axis])
        more = min(2 * held[axis], grid[axis])
        if size // held[axis] * more > SHARD_BYTES:
            break
        size, held[axis] = size // held[axis] * more, more
    return tuple(n * c for n, c in zip(held, chunks, strict=True))


def _fitting(shape: tuple[int, ...], itemsize: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return chunk lengths that lie within the bounds, a row each, and the bytes of each chunk."""
    each = max(3, int(_TRIED ** (1 / len(shape))))
    lists = [even_lengths(n, min(each, 48)) for n in shape]
    grids = np.meshgrid(*(np.array(cuts, "i8") for cuts in lists), indexing="ij")
    lengths = np.stack([grid.ravel() for grid in grids], axis=1)
    nbytes = lengths.prod(axis=1) * itemsize
    counts = (-(-np.array(shape) // lengths)).prod(axis=1)
    least = min(LEAST_BYTES, math.prod(shape) * itemsize)
    fits = (nbytes <= MOST_BYTES) & (nbytes >= least) & (counts <= MOST_CHUNKS)
    if not fits.any():
        fits = nbytes <= max(MOST_BYTES, int(nbytes.min()))
    return lengths[fits], nbytes[fits]


def _unevenness(
    shape: tuple[int, ...], lengths: NDArray[np.int64], accesses: Sequence[Access]
) -> NDArray[np.float64]:
    """Return how unlike the axes are cut that one access takes whole: a part of it costs more."""
    shares = np.log2(lengths / np.array(shape))
    total = np.zeros(len(lengths))
    for access in accesses:
        wide = [axis for axis, index in enumerate(access.selections[0]) if isinstance(index, slice)]
        if len(wide) > 1:
            total += shares[:, wide].std(axis=1)
    return total
