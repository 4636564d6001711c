"""Copy a file into another layout: whole under its name, or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperslab.io.creation import create, stored_bytes
from hyperslab.measure.case import Case, Stopwatch
from hyperslab.measure.memory import give_back
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job

from ..memory import resident_bytes
from ..source import Source, SourceVariable, open_source
from ..sources.reopen import reopen
from ..specs.fitting import Fitted, fit
from ..specs.target import Target
from .failures import error_of, explained, require_room
from .partial import remove_leftovers, whole_or_nothing
from .passes import affordable, passes, reads_of
from .room import Rooms, share, zarr_at_once
from .transfer import (
    Ledger,
    check_verify,
    estimate_bytes,
    free,
    least_bytes,
    reread,
    transfer,
    transfer_staged,
)

MEMORY_BYTES = 256 * 2**20
_TIMEOUT_S = 30 * 86_400.0


@dataclass(frozen=True)
class CopyReport:
    """What was copied.

    Parameters
    ----------
    path
        Of the copy.
    variables
        Names of what it holds.
    file_bytes
        Its size.
    notes
        What its format has no place for, what was left out, and what was read more than once or
        went through a temporary file, a sentence each.
    reads
        How often the source was read, on average over its bytes.
    """

    path: Path
    variables: tuple[str, ...]
    file_bytes: int
    notes: tuple[str, ...]
    reads: float = 1.0


def copy(
    address: str | Path,
    output: str | Path,
    target: Target,
    *,
    variables: Sequence[str] | None = None,
    memory_bytes: int = MEMORY_BYTES,
    whole_process: bool = False,
    verify: str = "full",
    overwrite: bool = False,
    owner: int | None = None,
) -> CopyReport:
    """Copy variables of a file into another layout, piece by piece, and compare every value.

    The copy is written beside the output under another name, flushed to the device, compared, and
    only then named. What killed copies to the same output left is removed first. Where memory is so
    small that chunks of the source would be read again and again, values go through a temporary
    file beside the output, if there is room for it, and each chunk is read once.

    Parameters
    ----------
    address
        A netCDF, HDF5 or Zarr file, or a URL of one.
    output
        Path of the copy.
    target
        Its layout.
    variables
        Names; all that can be copied when not given.
    memory_bytes
        What copying may add to what this process takes already.
    whole_process
        Whether `memory_bytes` is what this process may take in all, with its libraries.
    verify
        "full" compares every value, "sample" an eighth, "none" nothing.
    overwrite
        Whether a file at `output` may be replaced.
    owner
        Process without which there is nothing to copy for: when it is gone, the copy ends.

    Raises
    ------
    SourceError
        When the source cannot be read, or has no such variable.
    ValueError
        When the layout does not fit, the output is the source, or a value differs.
    OSError
        When the disk is full, or there is something at `output`.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from hyperslab.advise.specs.target import Choice
    >>> from hyperslab.io import Layout, write_array
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_array(f"{folder}/a.nc", np.ones((60, 60)), Layout("netcdf3"))
    ...     target = Target("deflate", choice=Choice((30, 30), "deflate"))
    ...     copy(f"{folder}/a.nc", f"{folder}/b.nc", target).variables
    ('data',)
    """
    check_verify(verify)
    path = Path(output)
    with open_source(address) as source:
        if path.exists() and not _remote(source) and path.samefile(Path(source.address)):
            raise ValueError(f"{output} is the source itself: give another name for the copy")
        chosen = source.choose(variables)
        layouts = target.layouts(chosen)
        fitted = fit(chosen, layouts, source.attrs)
        lacking = source.unkept if variables is None else ()
        rooms = share(
            [(variable, fitted.layouts[variable.name]) for variable in chosen],
            source_format=source.format,
            cache_bytes=target.cache_bytes,
            memory_bytes=memory_bytes,
            taken_bytes=resident_bytes() if whole_process else 0,
            staging=True,
        )
        rooms = affordable(rooms, path.parent, estimate_bytes(chosen, fitted.layouts))
        with (
            whole_or_nothing(path, overwrite=overwrite) as place,
            zarr_at_once(rooms),
        ):
            require_room(path.parent, least_bytes(chosen, layouts))
            ledgers = _write(place, source, chosen, fitted, rooms, owner)
            if verify != "none":
                _compare(place, source, chosen, fitted, rooms, ledgers, verify)
    return CopyReport(
        path,
        tuple(variable.name for variable in chosen),
        stored_bytes(path),
        (
            *fitted.notes,
            *lacking,
            *passes(rooms),
        ),
        reads_of(chosen, rooms),
    )


def _write(
    place: Path,
    source: Source,
    chosen: Sequence[SourceVariable],
    fitted: Fitted,
    rooms: Rooms,
    owner: int | None,
) -> dict[str, Ledger]:
    most = estimate_bytes(chosen, fitted.layouts)
    ledgers = {}
    with explained(place.parent, most):
        writer = create(
            place,
            fitted.variables,
            fitted.layouts,
            attrs=fitted.attrs,
            chunk_cache_bytes=rooms.cache_bytes,
        )
    with writer, explained(place.parent, most):
        for variable in chosen:
            room = rooms.each[variable.name]
            ledgers[variable.name] = (
                transfer_staged(source, writer, variable, room, place.parent, owner=owner)
                if room.staged
                else transfer(source, writer, variable, room, owner=owner)
            )
        writer.sync()
        writer.close()
    return ledgers


def _compare(
    place: Path,
    source: Source,
    chosen: Sequence[SourceVariable],
    fitted: Fitted,
    rooms: Rooms,
    ledgers: Mapping[str, Ledger],
    verify: str,
) -> None:
    format = fitted.layouts[chosen[0].name].format
    with reopen(os.fspath(place), format) as made:
        for variable in chosen:
            name = variable.name
            if rooms.cache_bytes is not None:
                made.cache(name, rooms.cache_bytes)
            reread(
                made,
                source,
                variable,
                fitted.layouts[name],
                rooms.each[name],
                ledgers[name],
                verify=verify,
            )
            free(made, name)


def copy_apart(
    address: str | Path,
    output: str | Path,
    target: Target,
    *,
    variables: Sequence[str] | None = None,
    memory_bytes: int = MEMORY_BYTES,
    verify: str = "full",
    overwrite: bool = False,
) -> CopyReport:
    """Copy as `copy` does, in a process of its own that takes so much memory in all.

    Parameters
    ----------
    address, output, target, variables, verify, overwrite
        See `copy`.
    memory_bytes
        What that process may take, with its interpreter and libraries.

    Raises
    ------
    ValueError, OSError
        As `copy`.
    RuntimeError
        When the process is killed.

    Examples
    --------
    >>> copy_apart("nothing.nc", "copy.nc", Target("copy"))
    Traceback (most recent call last):
    ...
    hyperslab.advise.sources.base.SourceError: nothing.nc does not exist: give a netCDF, HDF5 or \
Zarr file
    """
    work = _Apart(
        (os.fspath(address), os.fspath(output), target),
        {
            "variables": variables,
            "memory_bytes": memory_bytes,
            "whole_process": True,
            "verify": verify,
            "overwrite": overwrite,
            "owner": os.getpid(),
        },
    )
    path = Path(output)
    try:
        outcome = Processes().run(Job(Case("copy", work, start="spawn"), _TIMEOUT_S))
    finally:  # what was killed could not do it
        remove_leftovers(path.parent, path.name)
    if outcome.status.startswith("the process ended early"):
        raise RuntimeError(
            f"the process that copied was killed: nothing stands under {output}, and {address} is "
            "as it was"
        )
    if outcome.status != "ok":
        raise error_of(outcome.status)
    report = outcome.rows[0]["report"]
    assert isinstance(report, CopyReport)
    return report


@dataclass(frozen=True)
class _Apart:
    """A copy as what a process of the harness runs."""

    words: tuple[str, str, Target]
    options: Mapping[str, Any]

    def __call__(self, watch: Stopwatch) -> None:
        give_back()
        with watch("copy"):
            report = copy(*self.words, **self.options)
        watch.note(report=report)


def _remote(source: Source) -> bool:
    from ..sources.remote import is_url

    return is_url(source.address)
