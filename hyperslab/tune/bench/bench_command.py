"""`hyperslab bench FILE`: from the options to the report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hyperslab.text import amount

from ..copy_plan import BENCH_BYTES
from ..report.table import tell, terminal_width
from ..shared_options import CODEC, SEVERAL, SHUFFLE, WHOLE, Rows, add_command, workdir
from ..specs.axes import NAMED, Reads, largest, named, usual
from ..specs.parse import SWEPT, common, size, targets
from ..specs.target import COPY, Target, shapes_of

if TYPE_CHECKING:
    import pandas as pd

    from hyperslab.io.source import Source, SourceVariable

FILES = ("csv", "json", "plot", "html")
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

exit codes: 0; 1 a layout failed, holds wrong values, or the run was interrupted;
2 what was asked for cannot be had, and nothing was measured.

The page "hyperslab bench" of the book says which options stand for bm_file's.
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
        ("--cache SIZE", "chunk cache of each variable, such as 64MiB (the library's)"),
        ("--grid NAME=V/V", "try these values of chunks, format, codec, shuffle, quantize or cache "
         "too; repeated: every combination", SEVERAL),
    ],
    "reads to time": [
        ("--patterns A,B", "time_series, map, profile, row, column, whole, or none (what the "
         "dimensions suggest)", SEVERAL),
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
    ],
    "results": [
        ("--csv FILE", "one line a layout, bm_file's columns first; - for output"),
        ("--json FILE", "the same with the sentences; - for output"),
        ("--plot FILE", "a picture: .png, .svg or .pdf"),
        ("--html FILE", "the report and the picture as one page"),
        ("-v --verbose", "also show calls, bytes and CPU time"),
        ("-q --quiet", "no progress"),
    ],
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    """What is to be measured."""

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
    from ..report.report_files import check
    from ..report.summary import Findings

    if arguments.csv == arguments.json == "-":
        raise ValueError("--csv - and --json - both go to the output: give one of them a file")
    check(arguments, FILES)
    workdir(arguments.workdir)
    request = request_of(arguments)
    if not arguments.quiet:
        tell(f"layouts: {', '.join(target.name for target in request.targets)}")
        by = f"whole, by {arguments.ranks} ranks" if arguments.ranks else ""
        tell(f"reads: {by or ', '.join(request.reads) or 'none'}")
    try:
        frame = _measure(arguments, request)
        findings = Findings(frame)
        _report(arguments, frame, request.head)
    except KeyboardInterrupt:
        print("\ninterrupted: the copies are removed, the file is as it was", file=sys.stderr)
        return 1
    return 1 if findings.lost or findings.unverified else 0


def measured(words: Sequence[str], *, seed: int = 0, copy: bool = True) -> pd.DataFrame:
    """Return the records of a benchmark, for the words after `hyperslab bench`; nothing else."""
    arguments = add(argparse.ArgumentParser().add_subparsers()).parse_args(words)
    request = request_of(arguments)
    chosen = tuple(target for target in request.targets if copy or target.name != COPY)
    return _measure(arguments, replace(request, targets=chosen), seed)


def request_of(arguments: argparse.Namespace) -> Request:
    """Open the file and return what is to be measured; a ValueError says what cannot be had."""
    from hyperslab.io.opening import open_source

    from .mpi_ranks import writable

    memory = size(arguments.memory)
    if arguments.repeats < 1:
        raise ValueError(f"--repeats {arguments.repeats}: give at least 1, or 7 for intervals")
    if arguments.independent and arguments.ranks is None:
        raise ValueError("--independent is of --ranks: give --ranks N too")
    options = _options(arguments)
    with open_source(arguments.file) as source:
        names = _listed(arguments.variables)
        chosen = source.choose(None if names == ["all"] else names or [largest(source).name])
        layouts = targets(options, source.format, source.variables, chosen)
        reads: Reads = {}
        head = [_head(arguments.file, source, chosen)]
        if arguments.ranks is not None:
            layouts = writable(arguments, layouts, chosen, explicit=bool(options))
            how = "independent" if arguments.independent else "collective"
            head.append(f"written and read through MPI by {arguments.ranks} ranks, {how}")
        else:
            reads = _reads(arguments, source, chosen)
    if shared := common(options):
        head.append(f"new layouts: {shared}")
    return Request("\n".join(head), tuple(v.name for v in chosen), tuple(layouts), reads, memory)


def _options(arguments: argparse.Namespace) -> Mapping[str, Sequence[str]]:
    """Return the values of the options of layouts, those of `--grid` too, by `SWEPT`."""
    swept: dict[str, list[str]] = {name: [] for name in SWEPT}
    for name in SWEPT:
        given = getattr(arguments, name)
        if name == "shuffle" and given is not None:
            given = "yes" if given else "no"
        swept[name] += given if isinstance(given, list) else [given] if given else []
    for text in arguments.grid:
        name, _, given = text.partition("=")
        listed = [value.strip() for value in given.split("/") if value.strip()]
        if name.strip().lower() not in SWEPT or not listed:
            allowed = ", ".join(SWEPT)
            raise ValueError(f"--grid {text}: give NAME=VALUE/VALUE, with a name of {allowed}")
        swept[name.strip().lower()] += listed
    return {name: list(dict.fromkeys(values)) for name, values in swept.items() if values}


def _listed(given: Sequence[str]) -> list[str]:
    """Return the names of an option that may be repeated, and takes several with commas."""
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def _reads(
    arguments: argparse.Namespace, source: Source, chosen: Sequence[SourceVariable]
) -> Reads:
    """Return the reads to time, each of which some chosen variable has."""
    names = _listed(arguments.patterns) or usual(source.variables, chosen)
    if names == ["none"]:
        return {}
    if unknown := [name for name in names if name not in NAMED]:
        raise ValueError(f"--patterns {unknown[0]}: give some of {', '.join(NAMED)}, or none")
    reads = named(names, source.variables, chosen)
    if empty := [name for name, each in reads.items() if not each]:
        raise ValueError(
            f"{empty[0]}: no variable that is copied has such a read: {shapes_of(chosen)}: give "
            "others of --patterns, or other --variables"
        )
    return reads


def _head(address: str | Path, source: Source, chosen: Sequence[SourceVariable]) -> str:
    what = []
    for v in chosen[:3]:
        how = f"chunks {'x'.join(map(str, v.chunks))}" if v.chunks else "contiguous"
        how += f", {v.codec}" if v.codec else ""
        what.append(f"{v.name} ({v.shown_dims}; {v.dtype}, {how})")
    if len(chosen) > 3:
        what.append(f"{len(chosen) - 3} more")
    file_size = f", {amount(source.stat_bytes, 'B')}" if source.stat_bytes >= 0 else ""
    nbytes = amount(sum(variable.nbytes for variable in chosen), "B")
    return f"{address}: {source.format}{file_size}; {nbytes} of values: {'; '.join(what)}"


def _measure(arguments: argparse.Namespace, request: Request, seed: int = 0) -> pd.DataFrame:
    """Return the records, the layouts in the order they were asked for."""
    import pandas as pd

    from . import bench_run

    frame = bench_run.bench(
        arguments.file,
        request.targets,
        variables=request.names,
        reads=request.reads,
        repeats=arguments.repeats,
        memory_bytes=request.memory_bytes,
        workdir=workdir(arguments.workdir),
        seed=seed,
        ranks=arguments.ranks or 0,
        independent=arguments.independent,
        say=None if arguments.quiet else lambda note: tell(f"note: {note}"),
    )
    names = [target.name for target in request.targets]
    order = pd.Series(range(len(names)), names)  # blocks are shuffled
    return frame.sort_values(
        "case", key=lambda case: case.map(order), kind="stable", ignore_index=True
    )


def _report(arguments: argparse.Namespace, frame: pd.DataFrame, head: str) -> None:
    from ..report.report_files import maybe_unread, write
    from ..report.table import wrapped
    from ..report.text import notes, text

    width, remarks = terminal_width(), notes(frame)
    sections = [
        wrapped(head, width),
        text(frame, counts=arguments.verbose, width=width),
        wrapped("\n".join(f"note: {note}" for note in remarks), width),
    ]
    with maybe_unread():
        piped = "-" in (arguments.csv, arguments.json)
        tell("\n\n".join(filter(None, sections)), sys.stderr if piped else sys.stdout)
    with maybe_unread():
        files = {option: getattr(arguments, option) for option in FILES}
        title = Path(str(arguments.file).rstrip("/")).name
        write(frame, files, title=title, head=head, notes=remarks)
