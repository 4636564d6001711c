"""What is settled of a layout before it is measured: its definition, its memory, its disk space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hyperslab.io.layout import Layout
from hyperslab.tune.copy_plan import CopyPlan, MemoryLimitError, plan_copy
from hyperslab.tune.disk_room import likely_bytes, most_bytes

from ..memory import mib
from ..sources.base import Source, SourceVariable
from ..sources.hdf5 import HDF5Source
from ..specs.fitting import fit
from ..specs.patterns import Pattern
from ..specs.target import COPY, Target
from .ranks import RanksTrial
from .ranks import trial as ranks_trial
from .trial import Trial

SAMPLE_BYTES = 88 * 2**20  # what the libraries take in a sample's process, about


@dataclass(frozen=True)
class Prepared:
    """What is known of one target before it is measured."""

    trial: Trial | RanksTrial  # the sample, but for the path of the copy
    layout: Layout  # of the largest variable
    notes: tuple[str, ...]
    disk_bytes: int  # the room on the disk that is asked for


def prepare(
    source: Source,
    chosen: Sequence[SourceVariable],
    target: Target,
    patterns: Sequence[Pattern],
    *,
    memory_bytes: int,
    verify: bool = True,
) -> Prepared:
    """Settle how variables of a source are copied into one layout, in one process."""
    try:
        fitted = fit(chosen, target.layouts(chosen), source.attrs)
        layouts = fitted.layouts
        plan = plan_copy(
            [(variable, layouts[variable.name]) for variable in chosen],
            source_format=source.format,
            cache_bytes=target.cache_bytes,
            memory_bytes=memory_bytes,
            taken_bytes=SAMPLE_BYTES,
        )
    except ValueError as error:
        kind = MemoryLimitError if isinstance(error, MemoryLimitError) else ValueError
        said = f"{target.name}: {error}"
        if target.name == COPY and kind is MemoryLimitError:
            said += ", or leave the layout as it is out (--no-copy)"
        raise kind(said) from error
    reads = {pattern.name: pattern.selections(chosen) for pattern in patterns}
    trial = Trial(
        address=source.address,
        format=source.format,
        library="h5py" if isinstance(source, HDF5Source) else "",
        path=Path(),
        variables=tuple(chosen),
        fitted=fitted,
        reads={name: read for name, read in reads.items() if read},
        cache_bytes=target.cache_bytes,
        memory_bytes=memory_bytes,
        verify=verify,
    )
    largest = max(chosen, key=lambda variable: variable.nbytes)
    notes = (*fitted.notes, *_plan_notes(plan))
    return Prepared(trial, layouts[largest.name], notes, likely_bytes(chosen, layouts) + 2**20)


def prepare_ranks(
    chosen: Sequence[SourceVariable], target: Target, ranks: int, independent: bool
) -> Prepared:
    """Settle how several ranks write a variable in one layout."""
    (variable,) = chosen
    layouts = target.layouts(chosen)
    layout = layouts[variable.name]
    made = ranks_trial(variable, layout, ranks, independent=independent)
    return Prepared(made, layout, (), variable.nbytes + most_bytes(chosen, layouts) + 2**20)


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
