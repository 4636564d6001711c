"""`hyperslab bench FILE`: from the options to the report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hyperslab.text import amount, listing

from ..copy_plan import BENCH_BYTES
from ..options import CODEC, SEVERAL, SHUFFLE, WHOLE, Rows, add_command, workdir
from ..report.table import tell, terminal_width
from ..specs import parse
from ..specs.axes import coordinates_of, largest
from ..specs.grid import Wanted, sweeps, targets
from ..specs.patterns import NAMED, Reads, named, slabs, usual
from ..specs.target import COPY, Choice, Target, shapes_of

if TYPE_CHECKING:
    import pandas as pd

    from hyperslab.io.source import Source, SourceVariable

    from ..report.summary import Findings

FILES = ("csv", "json", "parquet", "plot", "html")
_SINGLE = ("format", "codec", "quantize", "endian", "cache")
_ABOUT = """\
Copy variables of FILE into other layouts, and time writing them, opening them
and reading them back by the usual access patterns, cold and warm. With FILE
alone: its largest variable, as it is stored now (copy), in the library's
default chunks, and in chunks that suit a time series, a map, and both. Samples
are interleaved and run in fresh processes; the layout as it is is measured
twice, so that the noise of the run is known. Every value is compared with the
original. In brackets below: what is taken when an option is not given.
"""

_EXAMPLES = """\
examples:
  hyperslab bench sst.nc                           what suits this file?
  hyperslab bench sst.nc --chunks time=100,lat=50,lon=50 --chunks default
  hyperslab bench sst.nc --grid codec=none/deflate:1/zstd:3 --grid chunks=same/auto
  hyperslab bench sst.nc -f zarr --codec blosc-zstd --csv sst.csv --plot sst.png
  hyperslab bench https://host/sst.nc --variables sst,ice --patterns map,profile
  hyperslab bench sst.nc --ranks 4                 written and read through MPI
  hyperslab bench sst.nc -f 3 -c 0:-1:0:64:16:16 -c 0:2:1:9:99:99     as bm_file

exit codes: 0; 1 a layout failed, holds wrong values, or the run was interrupted;
2 what was asked for cannot be had, and nothing was measured.

-c, -e, -f, -o, -s and -v are bm_file's; the page "hyperslab bench" of the book has the
whole table.
"""

_OPTIONS: dict[str, Rows] = {
    "": [
        ("FILE", "netCDF (classic, 64-bit offset, CDF-5, netCDF-4), HDF5 or Zarr; a path or a URL"),
        ("--variables A,B", "which to copy, group/name in groups; all for every one (the largest)",
         SEVERAL),
    ],
    "layouts to try (several values of --chunks: each)": [
        ("-f --format F",
         "1 netcdf3, 2 netcdf3-64bit, 3 netcdf4, 4 netcdf4-classic, 5 cdf5, or hdf5, zarr2, "
         "zarr3, nczarr (the file's; netcdf4 where a classic file would need chunks)"),
        ("--chunks C",
         "1,721,1440 or time=1,lat=721 (others keep theirs), default (the library's choice), "
         "auto (one layout each for a map, a series and both), same, contiguous; may be repeated",
         SEVERAL),
        CODEC,
        SHUFFLE,
        ("--quantize MODE:N", "keep N digits (bitgroom, granular_bitround) or bits (bitround)"),
        ("-e --endian 1|2", "byte order: 1 or little, 2 or big (the file's)"),
        ("--cache SIZE", "chunk cache of each variable, such as 64MiB (the library's)"),
        ("--grid NAME=V/V", "try each value of format, chunks, codec, shuffle, quantize, endian or "
         "cache; repeated: every combination", SEVERAL),
        ("-c V:Z:S:C:C:C[,…]", "as bm_file, a layout each: variable (number or name), deflate "
         "level (-1 none), shuffle (0 or 1), chunk lengths", {"dest": "bm", **SEVERAL}),
        ("--no-copy", "leave out the layout as it is, which others are compared with",
         {"dest": "copy", "action": "store_false"}),
    ],
    "reads to time": [
        ("--patterns A,B", "time_series, map, profile, row, column, whole, or none (what the "
         "dimensions suggest)", SEVERAL),
        ("-s --slabs N", "read in slabs of 1/N of the slowest dimension", WHOLE),
    ],
    "measuring": [
        ("--repeats N", "how often each layout is measured; intervals need 6 (7)",
         {"default": 7, **WHOLE}),
        ("--memory SIZE", "most memory of the process that makes a copy (%(default)s)",
         {"default": f"{BENCH_BYTES // 2**20}MiB"}),
        ("--ranks N", "write and read one variable by N processes, through MPI and parallel HDF5",
         WHOLE),
        ("--independent", "with --ranks: each rank for itself, not in collective calls"),
        ("--workdir DIR", "where copies are made: the disk that is timed (here)", {"default": ""}),
        ("--seed N", "of the order (0)", {"default": 0, **WHOLE}),
    ],
    "results": [
        ("--csv FILE", "one line a layout, bm_file's columns first; - for output"),
        ("--json FILE", "the same with the sentences; - for output"),
        ("--parquet FILE", "every sample and phase"),
        ("--plot FILE", "a picture: .png, .svg or .pdf"),
        ("--html FILE", "the report and the picture as one page"),
        ("-o --output FILE", "write the best layout over the patterns (or the only one) to FILE"),
        ("-v --verbose", "also show calls, bytes and CPU time"),
        ("-q --quiet", "no progress"),
    ],
}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """What is to be measured: the options, resolved for the file."""

    head: str  # the file and what is copied of it, in words
    names: tuple[str, ...]  # the variables that are copied
    targets: tuple[Target, ...]  # the layouts, the file's own first
    reads: Reads
    memory_bytes: int  # most bytes for data on their way


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Add the command `bench` to those of `hyperslab`, and return its parser."""
    return add_command(commands, "bench", "[options] FILE", _ABOUT, _EXAMPLES, _OPTIONS, bench)


def bench(arguments: argparse.Namespace) -> int:
    """Measure, report, and return the exit code: 0, or 1 when a layout failed or is wrong."""
    from ..report.files import check
    from ..report.summary import Findings

    if arguments.csv == arguments.json == "-":
        raise ValueError("--csv - and --json - both go to the output: give one of them a file")
    check(arguments, (*FILES, "output"))
    if arguments.output and Path(arguments.output).exists():
        raise ValueError(f"--output {arguments.output} exists: remove it, or give another name")
    workdir(arguments.workdir)
    asked = asked_for(arguments)
    if not arguments.quiet:
        tell(f"layouts: {', '.join(target.name for target in asked.targets)}")
        by = f"whole, by {arguments.ranks} ranks" if arguments.ranks else ""
        tell(f"reads: {by or ', '.join(asked.reads) or 'none'}")
    try:
        frame = _measure(arguments, asked)
        found = Findings(frame)
        _report(arguments, frame, asked.head)
        if arguments.output:
            _write_best(arguments, found, asked)
    except KeyboardInterrupt:
        print("\ninterrupted: the copies are removed, the file is as it was", file=sys.stderr)
        return 1
    return 1 if found.lost or found.unverified else 0


def measured(words: Sequence[str]) -> pd.DataFrame:
    """Return the records of a benchmark, for the words after `hyperslab bench`; nothing else."""
    arguments = add(argparse.ArgumentParser().add_subparsers()).parse_args(words)
    return _measure(arguments, asked_for(arguments))


def asked_for(arguments: argparse.Namespace) -> Asked:
    """Open the file and return what is to be measured; a ValueError says what cannot be had."""
    from hyperslab.io.source import open_source

    from .ranks import check_ranks, writable

    memory = parse.size(arguments.memory)
    if arguments.seed < 0:
        raise ValueError(f"--seed {arguments.seed}: give a whole number from 0")
    if arguments.repeats < 1:
        raise ValueError(f"--repeats {arguments.repeats}: give at least 1, or 7 for intervals")
    check_ranks(arguments)
    with open_source(arguments.file) as source:
        chosen = _choose(source, arguments)
        wanted = _wanted(arguments)
        made = targets(wanted, source.format, source.variables, chosen)
        reads: Reads = {}
        head = [_head(arguments.file, source, chosen)]
        if arguments.ranks:
            made = writable(made, chosen, asked=bool(wanted.options or wanted.bm))
            how = "independent" if arguments.independent else "collective"
            head.append(f"written and read through MPI by {arguments.ranks} ranks, {how}")
        else:
            reads = _reads(arguments, source, chosen)
    if wanted.common:
        head.append(f"new layouts: {wanted.common}")
    return Asked("\n".join(head), tuple(v.name for v in chosen), tuple(made), reads, memory)


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


def _listed(given: Sequence[str]) -> list[str]:
    """Return the names of an option that may be repeated, and takes several with commas."""
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def _choose(source: Source, arguments: argparse.Namespace) -> list[SourceVariable]:
    """Return the variables to copy: those named (also by -c), all, or the largest."""
    names, known = _listed(arguments.variables), list(source.variables)
    if not names:
        names = [name for text in arguments.bm for name in parse.bm_choices(text, known)]
    if names:
        return source.choose(None if names == ["all"] else names)
    return [largest(source)]


def _reads(
    arguments: argparse.Namespace, source: Source, chosen: Sequence[SourceVariable]
) -> Reads:
    """Return the reads to time, each of which some chosen variable has."""
    names, parts = _listed(arguments.patterns), arguments.slabs
    if not names and parts is None:
        names = usual(source.variables, chosen)
    elif names == ["none"]:
        names = []
    if unknown := [name for name in names if name not in NAMED]:
        raise ValueError(f"--patterns {unknown[0]}: give some of {', '.join(NAMED)}, or none")
    found = named(names, source.variables, chosen)
    if parts is not None:
        if parts < 1:
            raise ValueError(f"-s {parts}: give at least 1")
        filled = [v for v in chosen if v.shape and 0 not in v.shape]
        found[f"slabs/{parts}"] = {v.name: slabs(v.shape, parts) for v in filled}
    if empty := [name for name, each in found.items() if not each]:
        raise ValueError(
            f"{empty[0]}: no variable that is copied has such a read: {shapes_of(chosen)}: give "
            "others of --patterns or -s, or other --variables"
        )
    return found


def _head(address: str | Path, source: Source, chosen: Sequence[SourceVariable]) -> str:
    """Return the file and what is copied of it, in words."""
    what = []
    for variable in chosen[:3]:
        stored = "x".join(map(str, variable.chunks or ()))
        how = f"chunks {stored}" if stored else "contiguous"
        how += f", {variable.codec}" if variable.codec else ""
        what.append(f"{variable.name} ({variable.shown_dims}; {variable.dtype}, {how})")
    if len(chosen) > 3:
        what.append(f"{len(chosen) - 3} more")
    size = f", {amount(source.stat_bytes, 'B')}" if source.stat_bytes >= 0 else ""
    values = amount(sum(variable.nbytes for variable in chosen), "B")
    return f"{address}: {source.format}{size}; {values} of values: {'; '.join(what)}"


def _measure(arguments: argparse.Namespace, asked: Asked) -> pd.DataFrame:
    """Return the records, the layouts in the order they were asked for."""
    import pandas as pd

    from . import engine

    frame = engine.bench(
        arguments.file,
        asked.targets,
        variables=asked.names,
        reads=asked.reads,
        repeats=arguments.repeats,
        memory_bytes=asked.memory_bytes,
        workdir=workdir(arguments.workdir),
        seed=arguments.seed,
        ranks=arguments.ranks or 0,
        independent=arguments.independent,
        say=None if arguments.quiet else lambda note: tell(f"note: {note}"),
    )
    names = [target.name for target in asked.targets]
    place = pd.Series(range(len(names)), names)  # blocks are shuffled
    return frame.sort_values(
        "case", key=lambda case: case.map(place), kind="stable", ignore_index=True
    )


def _report(arguments: argparse.Namespace, frame: pd.DataFrame, head: str) -> None:
    """Print the report, and write the files that were asked for."""
    from ..report.files import maybe_unread, write
    from ..report.table import wrapped
    from ..report.text import notes, text

    width, said = terminal_width(), notes(frame)
    parts = [
        wrapped(head, width),
        text(frame, counts=arguments.verbose, width=width),
        wrapped("\n".join(f"note: {note}" for note in said), width),
    ]
    with maybe_unread():
        piped = "-" in (arguments.csv, arguments.json)
        tell("\n\n".join(filter(None, parts)), sys.stderr if piped else sys.stdout)
    with maybe_unread():
        files = {option: getattr(arguments, option) for option in FILES}
        title = Path(str(arguments.file).rstrip("/")).name
        write(frame, files, title=title, head=head, notes=said)


def _write_best(arguments: argparse.Namespace, found: Findings, asked: Asked) -> None:
    """Write the best layout that was asked for, with its coordinates, whole or not at all."""
    from hyperslab.io.source import open_source

    from ..rechunk import copy

    good = {target.name: target for target in asked.targets if target.name not in found.lost}
    wanted = [target for target in good.values() if target.name != COPY]
    if not good:
        return
    over = found.overall
    top = (over[0] if over[1].value > 1 else COPY) if over else found.best[0].target
    chosen = wanted[0] if len(wanted) == 1 else good[top]
    with open_source(arguments.file) as source:
        wider, names = with_coordinates(source, asked.names, chosen)
        left_out = [name for name in source.variables if name not in names]
    limit = asked.memory_bytes
    made = copy(arguments.file, arguments.output, wider, variables=names, memory_bytes=limit)
    tell(f"{chosen.name}: {arguments.output}, with {listing([*names], 8)}")
    for note in made.notes:
        tell(f"note: {note}")
    if left_out:
        tell(f"note: {arguments.output} lacks {listing(left_out, 8)}: --variables says what is "
             "copied, and its coordinates come along.")  # fmt: skip


def with_coordinates(
    source: Source, names: Sequence[str], target: Target
) -> tuple[Target, tuple[str, ...]]:
    """Add what variables need, in the layout that it has, as far as a format can hold it."""
    kept = list(names)
    for name in coordinates_of(source.variables, names):
        wider = replace(target, each=(*target.each, (name, Choice())))
        try:
            variables = source.choose([*kept, name])
            wider.fit(variables, source.attrs)
        except ValueError:  # text, groups, or a type that the format has not
            continue
        kept, target = [*kept, name], wider
    return target, tuple(kept)
