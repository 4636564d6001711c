"""What is settled of a layout before it is measured: its definition, its memory, its disk space."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperslab.storage.geometry import chunk_grid
from hyperslab.storage.layout import ZARR, Layout
from hyperslab.tune.copy_plan import CopyPlan, MemoryLimitError, plan_copy
from hyperslab.tune.disk_room import most_bytes

from ..memory import mib
from ..sources.base import Source, SourceVariable
from ..sources.hdf5 import HDF5Source
from ..specs.fitting import fit
from ..specs.patterns import Pattern
from ..specs.target import Target
from .trial import Trial

MANY_FILES, MANY_CHUNKS = 50_000, 2_000_000  # from which a sample may take minutes
SAMPLE_BYTES = 88 * 2**20  # what the libraries take in a sample's process, about


@dataclass(frozen=True)
class Prepared:
    """What is known of one target before it is measured.

    Parameters
    ----------
    trial
        The sample, but for the path of the copy.
    layout
        Of the largest variable.
    notes
        What its format has no place for and where the memory is short, a sentence each.
    disk_bytes
        The room on the disk that is asked for.
    """

    trial: Trial
    layout: Layout
    notes: tuple[str, ...]
    disk_bytes: int


def prepare(
    source: Source,
    chosen: Sequence[SourceVariable],
    target: Target,
    patterns: Sequence[Pattern],
    *,
    memory_bytes: int,
    verify: bool = True,
) -> Prepared:
    """Settle how variables of a source are copied into one layout.

    Parameters
    ----------
    source, chosen
        The source and those of its variables that are copied.
    target
        The layout.
    patterns
        How the copy is read.
    memory_bytes
        What the process of a sample may take in all.
    verify
        See `Trial`.

    Raises
    ------
    MemoryLimitError
        When the memory does not do.
    ValueError
        When the layout does not fit a variable, or its format cannot hold it.
    """
    layouts = target.layouts(chosen)
    try:
        fitted = fit(chosen, layouts, source.attrs)
        plan = plan_copy(
            [(variable, fitted.layouts[variable.name]) for variable in chosen],
            source_format=source.format,
            cache_bytes=target.cache_bytes,
            memory_bytes=memory_bytes,
            taken_bytes=SAMPLE_BYTES,
        )
    except ValueError as error:
        kind = MemoryLimitError if isinstance(error, MemoryLimitError) else ValueError
        raise kind(f"{target.name}: {error}") from error
    reads = {
        pattern.name: {
            name: tuple(selections) for name, selections in pattern.selections(chosen).items()
        }
        for pattern in patterns
    }
    trial = Trial(
        address=source.address,
        format=source.format,
        library="h5py" if isinstance(source, HDF5Source) else "",
        path=Path(),
        items=tuple(
            (variable, defined, fitted.layouts[variable.name])
            for variable, defined in zip(chosen, fitted.variables, strict=True)
        ),
        attrs=fitted.attrs,
        reads={name: read for name, read in reads.items() if read},
        cache_bytes=target.cache_bytes,
        memory_bytes=memory_bytes,
        verify=verify,
    )
    largest = max(chosen, key=lambda variable: variable.nbytes)
    return Prepared(
        trial,
        fitted.layouts[largest.name],
        (
            *fitted.notes,
            *_rounding_notes(chosen, fitted.layouts),
            *_chunk_notes(chosen, fitted.layouts),
            *_plan_notes(plan),
        ),
        _disk_bytes(chosen, fitted.layouts),
    )


def _rounding_notes(
    chosen: Sequence[SourceVariable], layouts: Mapping[str, Layout]
) -> Iterator[str]:
    for variable in chosen:
        mode = (layouts[variable.name].quantize or ("", 0))[0]
        fill = variable.fill_value
        if mode == "granular_bitround" and fill is not None and fill != fill:
            yield (
                f"netCDF-C's {mode} makes the missing values of {variable.name}, which are no "
                "number (nan), zero: take bitround, which keeps them."
            )


def _chunk_notes(chosen: Sequence[SourceVariable], layouts: Mapping[str, Layout]) -> Iterator[str]:
    for variable in chosen:
        layout = layouts[variable.name]
        lengths = layout.shards or layout.chunks
        if not lengths or not variable.shape:
            continue
        count = math.prod(chunk_grid(variable.shape, lengths))
        files = layout.format in ZARR
        if count >= (MANY_FILES if files else MANY_CHUNKS):
            kind = "shards" if layout.shards else "chunks"
            each = f"{count:,} {kind}" + ", a file each" * files
            yield (
                f"{variable.name} becomes {each}: one sample may take minutes, and each layout has "
                f"one a repeat; take larger {kind}."
            )


def _plan_notes(plan: CopyPlan) -> Iterator[str]:
    for name, route in plan.each.items():
        if route.reads > 1.005:
            yield (
                f"of {name} a piece of whole new chunks does not hold whole old ones, so each of "
                f"these is read {route.reads:.1f} times; with more memory it would be less."
            )
    if plan.reduced and plan.cache_bytes is not None:
        yield (
            f"the library's chunk cache is cut to {mib(plan.cache_bytes)} to keep within the "
            "memory allowed."
        )


def _disk_bytes(chosen: Sequence[SourceVariable], layouts: Mapping[str, Layout]) -> int:
    """Return the room on the disk that is asked for; what compression saves is a guess."""
    most = most_bytes(chosen, layouts)
    if not all(layouts[variable.name].codec for variable in chosen if variable.shape):
        return most + 2**20
    stored = sum(variable.stored_bytes or variable.nbytes for variable in chosen)
    return min(most, max(stored, most // 8)) + 2**20


def threaded(source: Source, format: str) -> bool:
    """Whether what reads a source or writes a format works in threads of its own."""
    return source.threads or (format in ZARR and format != "nczarr")
