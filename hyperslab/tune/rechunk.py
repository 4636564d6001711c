"""Rewrite a file with other chunks, another codec or format, in bounded memory: whole or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from hyperslab.io.creation import stored_bytes, writer_of
from hyperslab.io.layout import CHUNKED, CLASSIC, NETCDF4, ZARR
from hyperslab.io.opening import local_path, open_source
from hyperslab.io.source import Source, SourceError, SourceVariable, first_line
from hyperslab.tune.process_memory import mib, resident_bytes
from hyperslab.tune.specs.auto import CHUNK_BYTES, share
from hyperslab.tune.specs.target import SAME, Choice, Target, fit, shapes_of

from .copy_plan import (
    LEAST_CACHE_BYTES,
    RECHUNK_BYTES,
    library_cache_bytes,
    plan_copy,
    zarr_at_once,
)
from .partial import require_free, require_room, whole_or_nothing
from .passes import Copying, Lap, untimed

Progress = Callable[[int], AbstractContextManager[Lap]]
_FILES = (*CLASSIC, *NETCDF4, "hdf5")
_ENDINGS = {
    **dict.fromkeys((".nc", ".nc4", ".cdf"), ("netcdf4", _FILES)),
    **dict.fromkeys((".h5", ".hdf5", ".he5"), ("hdf5", _FILES)),
    ".zarr": ("zarr3", ZARR),
}
"""The format that a name means by its ending, and those that it may have."""


@dataclass(frozen=True)
class CopyReport:
    """What was copied."""

    path: Path
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
    memory_bytes: int = RECHUNK_BYTES,
    whole_process: bool = False,
    scratch: str | Path | None = None,
    overwrite: bool = False,
    verify: bool = True,
    say: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> CopyReport:
    """Give variables with all of some dimensions other chunks, and copy the others as they are."""
    path = Path(output)
    path = path.resolve() if path.is_symlink() else path  # what it points to is replaced
    folder = Path(scratch) if scratch else path.parent
    with open_source(address) as source:
        _refuse(source, path, folder, overwrite)
        named = _having_dims(source, chunks, variables)
        if strange := set(shards or ()) - {dim for v in named for dim in v.dims}:
            has = shapes_of(named)
            raise ValueError(f"shards of {', '.join(strange)}: no variable has it: {has}")
        each = tuple((v.name, _choice(v, chunks, choice or Choice(), shards)) for v in named)
        own = _format(Path(output), format, source.format)
        if path.exists() and path.is_dir() != (own in (*ZARR, "nczarr")):
            raise ValueError(f"{path} is a {'folder' if path.is_dir() else 'file'}, and {own} is "
                             "not: remove it, or give another name")  # fmt: skip
        goal = Target(path.name, own, each=each, page_bytes=page_bytes)
        chars = own in _FILES
        chosen = [*source.choose(), *(source.chars() if chars else ())]
        fitted = fit(chosen, goal.layouts(chosen), source.attrs)
        lost = (*source.unkept(chars), *fitted.lost)
        if lost and not leave_out:
            raise ValueError(
                f"{address} holds what a copy would not: {' '.join(lost[:6])} "
                "--leave-out makes the copy without; nccopy and h5repack keep it"
            )
        writer_of(own)  # what its import takes is taken before the rest is shared
        plan = plan_copy(
            fitted,
            source_format=source.format,
            # Whole chunks are written, once.
            cache_bytes=LEAST_CACHE_BYTES if library_cache_bytes(own) else None,
            memory_bytes=memory_bytes,
            taken_bytes=resident_bytes() if whole_process else 0,
            scratch=True,
        )
        job = Copying(fitted, plan)
        read = sum(v.nbytes * plan.each[v.name].reads for v in chosen)
        report = CopyReport(
            path,
            0,
            (*fitted.notes, *lost),
            read / fitted.nbytes if fitted.nbytes else 1.0,
            max(route.scratch_bytes for route in plan.each.values()),
        )
        if say:
            for line in _words(job, source, report, folder):
                say(line)
        moved = fitted.nbytes * (3 if verify else 2)
        with (
            whole_or_nothing(path, overwrite=overwrite) as unfinished,
            zarr_at_once(plan),
            progress(moved) if progress else nullcontext(untimed) as lap,
        ):
            scratched = ("the scratch file", report.scratch_bytes, folder)
            require_room([(path.name, fitted.likely_bytes, path.parent), scratched])
            ledgers = job.write(source, unfinished, lap, scratch=folder)
            if verify:
                with job.open(unfinished) as copy:
                    job.compare(copy, source, ledgers, lap)
        return replace(report, file_bytes=stored_bytes(path))


def _refuse(source: Source, path: Path, scratch: Path, overwrite: bool) -> None:
    """Refuse an output that could not be written, and a source that cannot be described."""
    if own := local_path(source.address):
        inner, outer = path.resolve(), own.resolve()
        nested = outer in (inner, *inner.parents) or inner in outer.parents
        if nested or (path.exists() and path.samefile(own)):
            raise ValueError(f"{path} is the source itself, in it or around it: give another name")
    require_free(path, overwrite)
    for folder in (path.parent, scratch):
        if not folder.is_dir():
            raise ValueError(f"{folder} is not a folder: make it first")
    try:
        _ = source.variables, source.attrs, source.unkept()
    except SourceError:
        raise
    except Exception as error:
        message = f"{source.address} is damaged, or too unusual: {first_line(error)}"
        raise SourceError(message) from error


def _format(path: Path, given: str, own: str) -> str:
    """Return the format of the copy: as asked for, or the file's own where the name fits it."""
    meant, allowed = _ENDINGS.get(path.suffix.lower(), ("", CHUNKED))
    if given and meant and given not in allowed:
        raise ValueError(f"{path} is to be {given}, but its name means {meant}: give another name")
    if given:
        return given
    if own in allowed and own in CHUNKED and ("hdf5" not in (own, meant) or own == meant):
        return own
    return meant or (own if own == "hdf5" else "netcdf4")


def _having_dims(
    source: Source, chunks: Mapping[str, int], names: Sequence[str]
) -> list[SourceVariable]:
    among = source.choose(names or None)
    matching = [v for v in among if v.shape and set(chunks) <= set(v.dims)]
    if (chunks and not matching) or (names and len(matching) < len(among)):
        raise ValueError(f"{', '.join(chunks)}: {'not every' if matching else 'no'} variable has "
                         f"all of these: {shapes_of(among)}: give dimensions of "
                         f"{'all' if names else 'one'}")  # fmt: skip
    return matching


def _choice(
    variable: SourceVariable,
    chunks: Mapping[str, int],
    choice: Choice,
    shards: Mapping[str, int] | None,
) -> Choice:
    lengths = _lengths(variable, chunks) if chunks else None
    shard = None
    if shards is not None:
        shape = [max(n, 1) for n in variable.shape]
        own = lengths or [min(pair) for pair in zip(variable.chunks or shape, shape, strict=True)]
        shard = tuple(
            -(-n // chunk) * chunk if shards.get(dim) == -1 else shards.get(dim, chunk)
            for dim, chunk, n in zip(variable.dims, own, shape, strict=True)
        )
    return replace(choice, chunks=lengths or SAME, shards=shard)


def _lengths(variable: SourceVariable, chunks: Mapping[str, int]) -> tuple[int, ...]:
    """Return the lengths of a chunk, with those that were not named."""
    shape = [max(n, 1) for n in variable.shape]
    before = variable.chunks or shape
    lengths = [
        n if chunks.get(dim) == -1 else chunks.get(dim, min(own, n))
        for dim, n, own in zip(variable.dims, shape, before, strict=True)
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
    fitted = job.fitted
    for v in fitted.sources:
        layout, route = fitted.layouts[v.name], job.plan.each[v.name]
        if v.nbytes < 2**20 or (layout.chunks == v.chunks and route.reads <= 1):
            continue
        before, after = ("x".join(map(str, n or ["none"])) for n in (v.chunks, layout.chunks))
        way = f"one pass in {len(route.pieces):,} pieces"
        if route.first is not None:
            way = f"two passes in {len(route.first):,} and {len(route.pieces):,} pieces"
        yield (
            f"{v.name}: {mib(v.nbytes)}, chunks {before} to {after}: {way}, each source chunk "
            f"is read {times(route.reads)}"
        )
    room = "no scratch file"
    if report.scratch_bytes:
        room = f"scratch file of up to {mib(report.scratch_bytes)} in {scratch}"
    yield (
        f"{source.address} ({source.format}) to {report.path} ({fitted.format}): "
        f"{mib(fitted.nbytes)} of values, read {times(report.reads)}; {room}; the copy takes at "
        f"most {mib(fitted.most_bytes)}"
    )
    yield from (f"note: {note}" for note in report.notes)


def times(number: float) -> str:
    """Return how often something is read, in words."""
    return "once" if number <= 1.005 else f"{number:.1f} times"
