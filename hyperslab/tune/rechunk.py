"""Rewrite a file with other chunks, another codec or format, in bounded memory: whole or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from hyperslab.io.creation import stored_bytes
from hyperslab.io.layout import CHUNKED, CLASSIC, NETCDF4, ZARR
from hyperslab.io.source import Source, SourceError, SourceVariable, open_source
from hyperslab.io.sources.base import first_line, local_path
from hyperslab.tune.process_memory import mib, resident_bytes
from hyperslab.tune.specs.auto import CHUNK_BYTES, share
from hyperslab.tune.specs.fitting import fit
from hyperslab.tune.specs.target import Choice, Target

from .copy_plan import (
    LEAST_CACHE_BYTES,
    RECHUNK_BYTES,
    library_cache_bytes,
    plan_copy,
    zarr_at_once,
)
from .disk_room import likely_bytes, most_bytes, require_room
from .partial import require_free, whole_or_nothing
from .passes import Copying, Lap, untimed

Progress = Callable[[int], AbstractContextManager[Lap]]
_FILES = (*CLASSIC, *NETCDF4, "hdf5")
_ENDINGS = {
    **dict.fromkeys((".nc", ".nc4", ".cdf"), ("netcdf4", _FILES)),
    **dict.fromkeys((".h5", ".hdf5", ".he5"), ("hdf5", _FILES)),
    ".zarr": ("zarr3", ZARR),
}
"""The format that a name means by its ending, and those that it may have."""
_WRITERS = {"hdf5": "by_h5py", "zarr2": "by_zarr", "zarr3": "by_zarr"}  # others are netCDF-C's


@dataclass(frozen=True)
class CopyReport:
    """What was copied."""

    path: Path
    variables: tuple[str, ...]
    file_bytes: int
    notes: tuple[str, ...]  # what its format has no place for, and what was left out, in sentences
    reads: float  # of the source, on average over its bytes
    scratch_bytes: int  # of the largest scratch file


def rechunk(
    address: str | Path,
    output: str | Path,
    chunks: Mapping[str, int],
    *,
    variables: Sequence[str] = (),
    choice: Choice | None = None,
    format: str = "",
    shards: Mapping[str, int] | None = None,
    page_bytes: int | None = None,
    leave_out: bool = False,
    **options: Any,
) -> CopyReport:
    """Rewrite a file with other chunks; every value is compared, the copy is whole or not there.

    Parameters
    ----------
    address
        A netCDF, HDF5 or Zarr file, or a URL of one.
    output
        Path of the copy.
    chunks
        Lengths of a chunk, in elements, by dimension; -1 takes a dimension whole. Variables that
        have all of these dimensions get them; dimensions that are not named keep their lengths,
        shortened where a chunk would be larger than it was and than `CHUNK_BYTES`.
    variables
        Names of those that get them; all others are copied as they are.
    choice
        Codec, level and shuffle of these variables; as they are when not given.
    format
        Of the copy; that of the file when not given, or what the output's name ends in.
    shards
        Lengths of a shard by dimension, whole chunks (Zarr 3); a chunk's where not named.
    page_bytes
        Pages that an HDF5 file is laid out in.
    leave_out
        Whether to go on without what cannot be copied, such as text.
    options
        Memory, scratch, overwrite and others: see `copy`.

    Raises
    ------
    SourceError
        When the source cannot be read, or has no such variable.
    ValueError
        When the layout does not fit, the memory does not do, or the output is the source.
    WrongValuesError
        When a value of the copy differs.
    OSError
        When there is no room, or there is something at `output`.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from hyperslab.io import Layout, write_array
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     maps = Layout("netcdf4", (1, 60, 60))
    ...     _ = write_array(f"{folder}/a.nc", np.ones((9, 60, 60)), maps, dims=("time", "y", "x"))
    ...     _ = rechunk(f"{folder}/a.nc", f"{folder}/b.nc", {"time": -1})
    ...     with open_source(f"{folder}/b.nc") as made:
    ...         made.variables["data"].chunks
    (9, 60, 60)
    """

    def target(source: Source) -> Target:
        if source.unkept and not leave_out:
            raise ValueError(
                f"{address} holds what a copy would not: {' '.join(source.unkept[:6])} "
                "--leave-out makes the copy without; nccopy and h5repack keep it"
            )
        path, wanted = Path(output), _chosen(source, chunks, variables)
        each = tuple((v.name, _choice(v, chunks, choice or Choice(), shards)) for v in wanted)
        own = _format(path, format, source.format)
        return Target(path.name, own, each=each, page_bytes=page_bytes)

    return copy(address, output, target, **options)


def copy(
    address: str | Path,
    output: str | Path,
    target: Target | Callable[[Source], Target],
    *,
    variables: Sequence[str] | None = None,
    memory_bytes: int = RECHUNK_BYTES,
    whole_process: bool = False,
    scratch: str | Path | None = None,
    overwrite: bool = False,
    verify: bool = True,
    say: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> CopyReport:
    """Copy variables of a file into another layout, piece by piece, and compare every value.

    The copy is written beside the output under another name, flushed to the device, compared, and
    only then named. What killed copies to the same output left is removed first.
    """
    path = Path(output)
    folder = Path(scratch) if scratch else path.parent
    with open_source(address) as source:
        _refuse(source, path, folder, overwrite)
        goal = target if isinstance(target, Target) else target(source)
        chosen = source.choose(variables)
        fitted = fit(chosen, goal.layouts(chosen), source.attrs)
        cache = goal.cache_bytes
        if cache is None and library_cache_bytes(goal.format):
            cache = LEAST_CACHE_BYTES  # whole chunks are written, once
        # What its import takes is taken before the rest is shared.
        import_module(f"hyperslab.io.{_WRITERS.get(goal.format, 'by_netcdf4')}")
        plan = plan_copy(
            [(variable, fitted.layouts[variable.name]) for variable in chosen],
            source_format=source.format,
            cache_bytes=cache,
            memory_bytes=memory_bytes,
            taken_bytes=resident_bytes() if whole_process else 0,
            scratch=True,
        )
        job = Copying(chosen, fitted, plan)
        read = sum(v.nbytes * plan.each[v.name].reads for v in chosen)
        report = CopyReport(
            path,
            tuple(variable.name for variable in chosen),
            0,
            (*fitted.notes, *(source.unkept if variables is None else ())),
            read / job.nbytes if job.nbytes else 1.0,
            max(route.scratch_bytes for route in plan.each.values()),
        )
        if say:
            for line in _words(job, source, report, folder):
                say(line)
        moved = job.nbytes * (3 if verify else 2)
        with (
            whole_or_nothing(path, overwrite=overwrite) as place,
            zarr_at_once(plan),
            progress(moved) if progress else nullcontext(untimed) as lap,
        ):
            likely = likely_bytes(chosen, fitted.layouts)
            scratched = ("the scratch file", report.scratch_bytes, folder)
            require_room([(path.name, likely, path.parent), scratched])
            ledgers = job.write(source, place, lap, scratch=folder)
            if verify:
                with job.open(place) as made:
                    job.compare(made, source, ledgers, lap)
        return replace(report, file_bytes=stored_bytes(path))


def _refuse(source: Source, path: Path, scratch: Path, overwrite: bool) -> None:
    """Refuse an output that could not be written, and a source that cannot be described."""
    if own := local_path(source.address):
        own = own.resolve()
        if path.resolve() == own or own in path.resolve().parents:
            raise ValueError(f"{path} is the source itself, or in it: give another name")
        if path.exists() and path.samefile(own):
            raise ValueError(f"{path} is the source itself: give another name")
    require_free(path, overwrite)
    for folder in (path.parent, scratch):
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder} is not a folder: make it first")
    try:
        _ = source.variables, source.attrs, source.unkept
    except SourceError:
        raise
    except Exception as error:
        said = f"{source.address} is damaged, or too unusual: {first_line(error)}"
        raise SourceError(said) from error


def _format(path: Path, wanted: str, own: str) -> str:
    """Return the format of the copy: as asked for, or the file's own where the name fits it."""
    meant, allowed = _ENDINGS.get(path.suffix.lower(), ("", CHUNKED))
    if wanted and meant and wanted not in allowed:
        raise ValueError(f"{path} is to be {wanted}, but its name means {meant}: give another name")
    if wanted:
        return wanted
    if own in allowed and own in CHUNKED and ("hdf5" not in (own, meant) or own == meant):
        return own
    return meant or (own if own == "hdf5" else "netcdf4")


def _chosen(
    source: Source, chunks: Mapping[str, int], names: Sequence[str]
) -> list[SourceVariable]:
    """Return the variables that get the chunks."""
    copied = source.choose()
    known = list(dict.fromkeys(dim for v in copied for dim in v.dims))
    for dim in chunks:
        if dim not in known:
            raise ValueError(f"--chunks {dim}: no variable of {source.address} has a dimension "
                             f"{dim}: give some of {', '.join(known[:12])}")  # fmt: skip
    for v in source.choose(names) if names else ():
        if lacking := [dim for dim in chunks if dim not in v.dims]:
            raise ValueError(f"--variable {v.name} has no dimension {', '.join(lacking)}: it has "
                             f"{', '.join(v.dims) or 'none'}")  # fmt: skip
    among = source.choose(names) if names else copied
    found = [v for v in among if v.shape and set(chunks) <= set(v.dims)]
    if not found:
        shown = "; ".join(f"{v.name} has {', '.join(v.dims)}" for v in copied[:6])
        raise ValueError(f"--chunks {', '.join(chunks)}: no variable has all of these: {shown}")
    return found


def _choice(
    variable: SourceVariable,
    chunks: Mapping[str, int],
    choice: Choice,
    shards: Mapping[str, int] | None,
) -> Choice:
    """Return what one variable gets."""
    lengths = _lengths(variable, chunks) if chunks else "same"
    made = None
    if shards is not None:
        own = variable.chunks if isinstance(lengths, str) else lengths
        axes = zip(variable.dims, own or variable.shape, variable.shape, strict=True)
        made = tuple(
            -(-n // chunk) * chunk if shards.get(dim) == -1 else shards.get(dim, chunk)
            for dim, chunk, n in axes
        )
    return Choice(lengths, choice.codec, choice.level, choice.shuffle, shards=made)


def _lengths(variable: SourceVariable, chunks: Mapping[str, int]) -> tuple[int, ...]:
    """Return the lengths of a chunk, with those that were not named."""
    shape = [max(n, 1) for n in variable.shape]
    kept = variable.chunks or shape
    lengths = [
        n if chunks.get(dim) == -1 else chunks.get(dim, min(own, n))
        for dim, n, own in zip(variable.dims, shape, kept, strict=True)
    ]
    rest = [axis for axis, dim in enumerate(variable.dims) if dim not in chunks]
    most = max(variable.chunk_bytes, CHUNK_BYTES) // variable.itemsize
    if math.prod(lengths) > most:
        room = CHUNK_BYTES // variable.itemsize
        room //= math.prod(n for axis, n in enumerate(lengths) if axis not in rest)
        share(lengths, shape, rest, room, tuple(lengths))
    return tuple(lengths)


def _words(job: Copying, source: Source, report: CopyReport, scratch: Path) -> Iterator[str]:
    """Yield the plan in lines: variables that change, how often they are read, disk space."""
    for v in job.variables:
        layout, route = job.fitted.layouts[v.name], job.plan.each[v.name]
        if v.nbytes < 2**20 or (layout.chunks == v.chunks and route.reads <= 1):
            continue
        before, after = (
            "x".join(map(str, lengths or ["none"])) for lengths in (v.chunks, layout.chunks)
        )
        way = f"one pass in {len(route.pieces):,} pieces"
        if route.first is not None:
            way = f"two passes in {len(route.first):,} and {len(route.pieces):,} pieces"
        yield (
            f"{v.name}: {mib(v.nbytes)}, chunks {before} to {after}: {way}, each source chunk "
            f"is read {times(route.reads)}"
        )
    room = f"scratch file of up to {mib(report.scratch_bytes)} in {scratch}"
    yield (
        f"{source.address} ({source.format}) to {report.path} ({job.format}): "
        f"{mib(job.nbytes)} of values, read {times(report.reads)}; "
        f"{room if report.scratch_bytes else 'no scratch file'}; the copy takes at most "
        f"{mib(most_bytes(job.variables, job.fitted.layouts))}"
    )
    yield from (f"note: {note}" for note in report.notes)


def times(number: float) -> str:
    """Return how often something is read, in words."""
    return "once" if number <= 1.005 else f"{number:.1f} times"
