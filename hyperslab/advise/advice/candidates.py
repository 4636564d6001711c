"""What may be advised: layouts to rewrite the file in, and remedies that leave it as it is."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hyperslab.storage.geometry import chunk_grid
from hyperslab.storage.layout import CHUNKED, CLASSIC, NETCDF4, ZARR, Layout

from ..sources.base import SourceVariable, layout_of
from ..specs.parse import codec
from ..specs.target import SAME, Choice, Target
from .accesses import Access
from .labels import name_of
from .shapes import chunk_shapes, shard

NOW, LAYOUT, REMEDY = "now", "layout", "remedy"
PAGE_BYTES = 4 * 2**20
_MANY_FILES = 200  # from which Zarr's chunks go into shards
_MANY_OBJECTS = 20_000  # up to which they may stay apart in a store of objects
_CACHE_BYTES = 256 * 2**20
# Codec, level and whether bytes are shuffled where the format can.
_CODECS = (
    ("deflate", 1, True), ("zstd", 3, True), ("blosc-zstd", 3, True), ("blosc-lz4", 5, True),
)  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A way to have the file, or to read it as it is.

    Parameters
    ----------
    name
        Its label in tables.
    kind
        "now" (the file as it is read now), "layout" (it is rewritten) or "remedy" (it is read
        otherwise).
    layout
        Of the variable.
    library
        Name of the reader.
    cache_bytes
        Chunk cache; None for the library's own.
    remedy
        "h5py", "index", "cache" or "references"; "" for layouts.
    said
        Whether the layout says all of how the values are stored; where it does not, it stands in
        for counting chunks, and nothing can be made in it.

    Examples
    --------
    >>> Candidate("now", NOW, Layout("netcdf3"), "netcdf4").rewrites
    False
    """

    name: str
    kind: str
    layout: Layout
    library: str
    cache_bytes: int | None = None
    remedy: str = ""
    said: bool = True

    @property
    def rewrites(self) -> bool:
        """Whether the file has to be written anew."""
        return self.kind == LAYOUT

    def target(self, names: Sequence[str]) -> Target:
        """Return the layout as what `copy` takes: variables of these names get it."""
        one = self.layout
        choice = Choice(
            one.chunks or "contiguous",
            one.codec or "none",
            one.level,
            one.shuffle,
            shards=one.shards,
        )
        if one.format in CLASSIC or (one.format in ZARR and one.chunks is None):
            choice = replace(choice, chunks="same" if one.format in CLASSIC else "default")
        each = tuple((name, choice) for name in names)
        return Target(self.name, one.format, Choice(), each, page_bytes=one.page_bytes)


def now(source_format: str, variable: SourceVariable, library: str) -> Candidate:
    """Return the file as it is, read as it is now."""
    layout = variable.layout
    said = layout is not None or not variable.codec
    if layout is None or layout.format != source_format:
        chunks = variable.chunks if source_format in CHUNKED else None
        layout = layout_of(source_format, chunks=chunks) or Layout(source_format)
    return Candidate("as it is", NOW, layout, library, said=said)


def remedies(
    present: Candidate, *, remote: bool, calls: int, grouped: bool = False
) -> list[Candidate]:
    """Return ways to read the file as it is that cost less; none where its layout cannot be said.

    Parameters
    ----------
    present
        From `now`.
    remote
        Whether it is read over a network.
    calls
        Most calls of an access: a chunk cache serves those that follow another.
    grouped
        Whether the variable lies in a group, which xarray does not find by references.
    """
    layout = present.layout
    hdf5 = layout.format in (*NETCDF4, "hdf5")
    found: list[Candidate] = []
    if not present.said:
        return found
    if hdf5 and present.library in ("netcdf4", "xarray-netcdf4"):
        found.append(replace(present, name="h5py", kind=REMEDY, library="h5py", remedy="h5py"))
    if hdf5 and layout.codec == "deflate":
        found.append(
            replace(
                present, name="sub-chunk index", kind=REMEDY, library="subchunk", remedy="index"
            )
        )
    if hdf5 and layout.chunks and (calls > 1 or layout.codec is None):
        found.append(
            replace(
                present, name=f"chunk cache of {_CACHE_BYTES >> 20} MiB", kind=REMEDY,
                cache_bytes=_CACHE_BYTES, remedy="cache",
            )
        )  # fmt: skip
    if hdf5 and remote and layout.chunks and not grouped:
        as_zarr = layout_of(
            "zarr2", chunks=layout.chunks, codec=layout.codec, level=layout.level,
            shuffle=layout.shuffle,
        )  # fmt: skip
        if as_zarr is not None:
            found.append(
                Candidate("kerchunk references", REMEDY, as_zarr, "zarr", remedy="references")
            )
    return found


def layouts(
    present: Candidate,
    variable: SourceVariable,
    accesses: Sequence[Access],
    *,
    remote: bool = False,
    formats: Sequence[str] = (),
    codecs: Sequence[str] = (),
    call_s: float = 0.0,
) -> list[Candidate]:
    """Return layouts to try: chunk shapes by the accesses, each with every codec and format.

    Parameters
    ----------
    present
        From `now`.
    variable
        Of the file.
    accesses
        How it is read.
    remote
        Whether it is read over a network: then pages (HDF5) and shards (Zarr) are tried.
    formats
        Formats to try; the file's own (netCDF-4 for classic files) and Zarr 3 if empty.
    codecs
        Codecs to try, with or without a level ("deflate", "zstd:3"), "none" for none, "same" for
        the file's own; all known if empty.
    call_s
        What a request costs, in seconds.
    """
    own = present.layout.format if present.layout.format in CHUNKED else "netcdf4"
    wanted = formats or tuple(dict.fromkeys((own, *(("hdf5",) if remote else ()), "zarr3")))
    shapes = chunk_shapes(variable.shape, variable.itemsize, accesses, call_s=call_s)
    if present.layout.chunks is not None:
        lengths = zip(present.layout.chunks, variable.shape, strict=True)
        shapes.append(tuple(min(c, n) for c, n in lengths))
    asked = [_asked(one, present.layout) for one in codecs]
    as_now, kept = name_of(present.layout, own) if present.said else "", dict[str, Candidate]()
    for format in wanted:
        for shape in dict.fromkeys(shapes):
            for layout in _of_shape(format, shape, present.layout, variable, remote, asked):
                # By their names: those are unique, and one level may be said in two ways.
                name = name_of(layout, own)
                if name != as_now and name not in kept:
                    kept[name] = Candidate(name, LAYOUT, layout, library_of(format, present))
    return list(kept.values())


def library_of(format: str, present: Candidate) -> str:
    """Return the reader that a format is read with: the present one where it can."""
    if format in ("zarr2", "zarr3"):
        return "zarr"
    if format == "nczarr":
        return "nczarr"
    own = present.library in ("netcdf4", "h5py", "h5netcdf", "xarray-netcdf4", "xarray-h5netcdf")
    if own and (format in NETCDF4 or present.library == "h5py"):
        return present.library
    return "netcdf4" if format in NETCDF4 else "h5py"


def _asked(text: str, own: Layout) -> tuple[str | None, int | None]:
    """Return a codec that was asked for, and its level where one was said."""
    name, level = codec(text)
    if name == SAME:
        return own.codec, own.level
    return (None if name == "none" else name), level


def _of_shape(
    format: str,
    chunks: tuple[int, ...],
    own: Layout,
    variable: SourceVariable,
    remote: bool,
    asked: Sequence[tuple[str | None, int | None]],
) -> Iterator[Layout]:
    """Yield the layouts of one chunk shape."""
    extras: list[dict[str, object]] = [{}]
    count = math.prod(chunk_grid(variable.shape, chunks))
    if format == "zarr3" and (remote or count > _MANY_FILES):
        shards = shard(variable.shape, chunks, variable.itemsize)
        if shards != chunks:
            # Far away chunks of their own are asked for at once, those of a shard one by one.
            apart = remote and count <= _MANY_OBJECTS
            extras = [{"shards": shards}, *([{}] if apart else [])]
    if format == "hdf5" and remote:
        extras = [{"page_bytes": PAGE_BYTES}]
    tried: list[tuple[str | None, int | None, bool]] = [(None, None, False), *_CODECS]
    if own.codec and (own.codec, own.level, own.shuffle) not in tried:
        tried.append((own.codec, own.level, own.shuffle))
    if asked:
        levels = {name for name, level in asked if level is None}
        tried = [one for one in tried if one[0] in levels]
        known = {(name, level) for name, level, _ in tried}
        tried += [
            (name, level, True) for name, level in asked
            if (name, level) not in known and (level or name not in {n for n, _ in known})
        ]  # fmt: skip
    for extra, (kind, level, shuffle) in itertools.product(extras, tried):
        for shuffled in (shuffle, False) if shuffle else (shuffle,):
            layout = layout_of(
                format, chunks=chunks, codec=kind, level=level, shuffle=shuffled, **extra
            )
            if layout is not None:
                yield layout
                break
