"""What the options of `hyperslab bench` ask for, resolved for a file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..specs import parse as specs_parse
from ..specs.grid import Wanted, sweeps, targets
from ..specs.patterns import NAMED, Pattern, named, usual
from ..specs.target import Target

if TYPE_CHECKING:
    from ..source import Source, SourceVariable

_SINGLE = ("format", "codec", "quantize", "endian", "cache")


@dataclass(frozen=True)
class Asked:
    """What is to be measured: the options, resolved for the file."""

    head: str  # the file and what is copied of it, in words
    names: tuple[str, ...]  # the variables that are copied
    targets: tuple[Target, ...]  # the layouts, the file's own first
    patterns: tuple[Pattern, ...]  # the reads
    memory_bytes: int  # most bytes for data on their way
    ranks: int = 0  # so many processes write and read the whole together

    def words(self) -> str:
        """Say what comes, before it takes its time."""
        layouts = ", ".join(target.name for target in self.targets)
        reads = ", ".join(pattern.name for pattern in self.patterns) or "none"
        reads = f"whole, by {self.ranks} ranks" if self.ranks else reads
        many = f"{len(self.targets)} layouts" if len(self.targets) > 1 else "1 layout"
        return f"{many}: {layouts}\nreads: {reads}"


def asked_for(arguments: argparse.Namespace) -> Asked:
    """Open the file and return what is to be measured of it."""
    from ..source import open_source
    from .ranks import check_ranks, writable

    memory = specs_parse.size(arguments.memory)
    if arguments.seed < 0:
        raise ValueError(f"--seed {arguments.seed}: give a whole number from 0")
    if arguments.repeats < 1:
        raise ValueError(f"--repeats {arguments.repeats}: give at least 1, or 7 for intervals")
    check_ranks(arguments)
    with open_source(arguments.file) as source:
        chosen = _choose(source, arguments)
        wanted = _wanted(arguments)
        made = targets(wanted, source.format, source.variables, chosen)
        patterns = [] if arguments.ranks else _patterns(arguments, source, chosen)
        if arguments.ranks:
            made = writable(made, chosen, asked=bool(wanted.options or wanted.bm))
        head = _head(arguments.file, source, chosen)
    if arguments.ranks:
        how = "independent" if arguments.independent else "collective"
        head += f"\nwritten and read through MPI by {arguments.ranks} ranks, {how}"
    if wanted.common:
        head += f"\nnew layouts: {wanted.common}"
    names = tuple(variable.name for variable in chosen)
    return Asked(head, names, tuple(made), tuple(patterns), memory, arguments.ranks or 0)


def _wanted(arguments: argparse.Namespace) -> Wanted:
    """Return the layouts that were asked for; what is given twice is refused."""
    options = sweeps(arguments.grid)
    plain = {name: [getattr(arguments, name)] for name in _SINGLE if getattr(arguments, name)}
    if arguments.chunks:
        plain["chunks"] = arguments.chunks
    if arguments.shuffle is not None:
        plain["shuffle"] = ["yes" if arguments.shuffle else "no"]
    if twice := options.keys() & plain.keys():
        name = min(twice)
        raise ValueError(f"--{name} and --grid {name}=… together: put all values into one of them")
    return Wanted({**plain, **options}, arguments.bm, arguments.copy)


def _listed(given: Sequence[str] | None) -> list[str]:
    """Return the names of an option that may be repeated, and takes several with commas."""
    return [name.strip() for text in given or () for name in text.split(",") if name.strip()]


def _choose(source: Source, arguments: argparse.Namespace) -> list[SourceVariable]:
    """Return the variables to copy: those named (also by -c and -t), all, or the largest."""
    names, known = _listed(arguments.variables), list(source.variables)
    if not names:
        each = [specs_parse.bm_choices(text, known) for text in arguments.bm]
        names = [name for choices in each for name, _ in choices]
        names += specs_parse.bm_boxes("-t", arguments.starts, known) if arguments.starts else ()
    if names:
        return source.choose(None if names == ["all"] else names)
    able = source.choose(None)
    fields = [v for v in able if len(v.shape) > 1] or able
    return [max(fields, key=lambda variable: variable.nbytes)]


def _patterns(
    arguments: argparse.Namespace, source: Source, chosen: Sequence[SourceVariable]
) -> list[Pattern]:
    """Return the reads to time, each of which some chosen variable has."""
    given = _listed(arguments.patterns)
    found = _bm_patterns(arguments, list(source.variables))
    if not given:
        found = found or usual(source.variables, chosen)
    elif given != ["none"]:
        if unknown := [name for name in given if name not in NAMED]:
            raise ValueError(f"--patterns {unknown[0]}: give some of {', '.join(NAMED)}, or none")
        found = [*named(given, source.variables), *found]
    for pattern in found:
        if not pattern.selections(chosen):
            shapes = "; ".join(f"{v.name} ({v.shown_dims})" for v in chosen[:4])
            raise ValueError(
                f"{pattern.name}: no variable that is copied has such a read: {shapes}: give "
                "others of --patterns, -s or -t -u -r, or other --variables"
            )
    return found


def _bm_patterns(arguments: argparse.Namespace, names: Sequence[str]) -> list[Pattern]:
    found = []
    if arguments.slabs is not None:
        if arguments.slabs < 1:
            raise ValueError(f"-s {arguments.slabs}: give at least 1")
        found.append(Pattern(f"slabs/{arguments.slabs}", slabs=arguments.slabs))
    boxes = {"-t": arguments.starts, "-u": arguments.counts, "-r": arguments.increments}
    if any(boxes.values()):
        if missing := [option for option, text in boxes.items() if not text]:
            raise ValueError(f"-t, -u and -r belong together: give {' and '.join(missing)} too")
        parsed = [specs_parse.bm_boxes(option, text, names) for option, text in boxes.items()]
        if len({frozenset(one) for one in parsed}) != 1:
            raise ValueError("-t, -u and -r name different variables: name the same in each")
        each = tuple((name, tuple(one[name] for one in parsed)) for name in parsed[0])
        found.append(Pattern("boxes", boxes=each))
    return found


def _head(address: str | Path, source: Source, chosen: Sequence[SourceVariable]) -> str:
    from hyperslab.text import amount

    what = []
    for variable in chosen[:3]:
        stored = variable.chunks and "chunks " + "x".join(map(str, variable.chunks))
        how = ", ".join(filter(None, (stored or "contiguous", variable.codec)))
        what.append(f"{variable.name} ({variable.shown_dims}; {variable.dtype}, {how})")
    if len(chosen) > 3:
        what.append(f"{len(chosen) - 3} more")
    size = f", {amount(source.stat_bytes, 'B')}" if source.stat_bytes >= 0 else ""
    values = amount(sum(variable.nbytes for variable in chosen), "B")
    return f"{address}: {source.format}{size}; {values} of values: {'; '.join(what)}"
