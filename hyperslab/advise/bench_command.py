"""`hyperslab bench FILE`: from the options to the report."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from . import specs_parse
from .bench_options import add as add_options
from .pattern_specs import NAMED, Pattern, named, usual
from .specs_grid import Wanted, sweeps, targets

if TYPE_CHECKING:
    import pandas as pd

    from .source import Source, SourceVariable
    from .specs import Target

_SINGLE = ("format", "codec", "quantize", "endian", "cache")
_FOLDER = ".hyperslab-bench-"


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `bench` to those of `hyperslab`."""
    add_options(commands).set_defaults(call=bench)


def bench(arguments: argparse.Namespace) -> int:
    """Measure, report, and return the exit code: 0, or 1 when a layout failed or is wrong.

    Raises
    ------
    ValueError
        When something that was asked for cannot be had; nothing is measured then.
    """
    from .source import open_source

    memory = specs_parse.size(arguments.memory)
    if arguments.repeats < 1:
        raise ValueError(f"--repeats {arguments.repeats}: give at least 1, or 7 for intervals")
    _check_outputs(arguments)
    with open_source(arguments.file) as source:
        chosen = _choose(source, arguments.variables)
        tried = targets(_wanted(arguments), source.format, source.variables, chosen)
        reads = _patterns(arguments, source, chosen)
        head = _head(arguments, source, chosen)
        format = source.format
    if not arguments.quiet:
        _say(head, tried, reads, arguments.repeats)
    frame, notes = _measure(arguments, tried, [v.name for v in chosen], reads, memory)
    status = _report(arguments, frame, [head, ""], notes)
    _keep(arguments, frame, tried, [v.name for v in chosen], memory, format)
    return status


def _measure(
    arguments: argparse.Namespace,
    tried: Sequence[Target],
    names: Sequence[str],
    reads: Sequence[Pattern],
    memory: int,
) -> tuple[pd.DataFrame, list[str]]:
    from . import bench as engine

    with _workdir(arguments.workdir) as folder:
        frame = engine.bench(
            arguments.file,
            tried,
            variables=names,
            patterns=reads,
            repeats=arguments.repeats,
            memory_bytes=memory,
            verify="full" if arguments.verify else "none",
            workdir=folder,
            seed=arguments.seed,
            parallel=arguments.parallel,
        )
    return frame, engine.notes(frame)


def _report(
    arguments: argparse.Namespace, frame: pd.DataFrame, head: Sequence[str], notes: Sequence[str]
) -> int:
    from . import report, report_files, report_text

    piped = "-" in (arguments.csv, arguments.json)
    text = report_text.text(frame, counts=arguments.verbose)
    noted = "".join(f"\nnote: {note}" for note in notes)
    print("\n".join([*head, text + noted]), file=sys.stderr if piped else sys.stdout)
    report_files.write(
        frame,
        csv=arguments.csv,
        json=arguments.json,
        parquet=arguments.parquet,
        plot=arguments.plot,
        title=Path(str(arguments.file).rstrip("/")).name,
        notes=notes,
    )
    return 1 if report.lost(frame) or report.unverified(frame) else 0


def _wanted(arguments: argparse.Namespace) -> Wanted:
    """Return the layouts that were asked for; what is given twice is refused."""
    options = dict(sweeps(arguments.grid))
    plain = {name: [getattr(arguments, name)] for name in _SINGLE if getattr(arguments, name)}
    if arguments.chunks:
        plain["chunks"] = arguments.chunks
    if arguments.shuffle is not None:
        plain["shuffle"] = ["yes" if arguments.shuffle else "no"]
    if twice := options.keys() & plain.keys():
        name = sorted(twice)[0]
        raise ValueError(f"--{name} and --grid {name}=… together: put all values into one of them")
    return Wanted({**plain, **options}, arguments.bm, arguments.copy)


def _choose(source: Source, given: Sequence[str] | None) -> list[SourceVariable]:
    """Return the variables to copy: those named, all, or the largest."""
    names = [name.strip() for text in given or () for name in text.split(",") if name.strip()]
    if names == ["all"]:
        return source.choose(None)
    if names:
        return source.choose(names)
    able = source.choose(None)
    fields = [v for v in able if len(v.shape) > 1] or able
    return [max(fields, key=lambda variable: variable.nbytes)]


def _patterns(
    arguments: argparse.Namespace, source: Source, chosen: Sequence[SourceVariable]
) -> list[Pattern]:
    """Return the reads to time, each of which some chosen variable has."""
    given = [name.strip() for text in arguments.patterns or () for name in text.split(",")]
    others = _bm_patterns(arguments, list(source.variables))
    if not given:
        found = others or usual(source.variables, chosen)
    elif given == ["none"]:
        found = others
    else:
        if unknown := [name for name in given if name not in NAMED]:
            raise ValueError(f"--patterns {unknown[0]}: give some of {', '.join(NAMED)}, or none")
        found = [*named(given, source.variables), *others]
    for pattern in found:
        if not pattern.selections(chosen):
            shapes = "; ".join(f"{v.name} ({', '.join(v.dims) or 'a scalar'})" for v in chosen[:4])
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
        parsed = [specs_parse.bm_boxes(option, str(text), names) for option, text in boxes.items()]
        if len({frozenset(one) for one in parsed}) != 1:
            raise ValueError("-t, -u and -r name different variables: name the same in each")
        each = tuple((name, tuple(one[name] for one in parsed)) for name in parsed[0])
        found.append(Pattern("boxes", boxes=each))  # type: ignore[arg-type]
    return found


def _head(arguments: argparse.Namespace, source: Source, chosen: Sequence[SourceVariable]) -> str:
    from .report_text import amount

    what = []
    for variable in chosen[:3]:
        dims = ", ".join(f"{d} {n}" for d, n in zip(variable.dims, variable.shape, strict=True))
        stored = variable.chunks and "chunks " + "x".join(map(str, variable.chunks))
        how = ", ".join(filter(None, (stored or "contiguous", variable.codec)))
        what.append(f"{variable.name} ({dims or 'a scalar'}; {variable.dtype}, {how})")
    if len(chosen) > 3:
        what.append(f"{len(chosen) - 3} more")
    size = f", {amount(source.stat_bytes)}" if source.stat_bytes >= 0 else ""
    values = amount(sum(variable.nbytes for variable in chosen))
    return f"{arguments.file}: {source.format}{size}; {values} of values: {'; '.join(what)}"


def _say(head: str, tried: Sequence[Target], reads: Sequence[Pattern], repeats: int) -> None:
    """Say on standard error what comes, before it takes its time."""
    print(head, file=sys.stderr)
    print(
        f"{len(tried)} layouts ({', '.join(target.name for target in tried)}), {repeats} times each"
        f", reads: {', '.join(pattern.name for pattern in reads) or 'none'}",
        file=sys.stderr,
    )


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Refuse outputs that could not be written, before anything is measured."""
    if arguments.csv == arguments.json == "-":
        raise ValueError("--csv - and --json - both go to the output: give one of them a file")
    if arguments.plot:
        from .plot import check

        check(Path(arguments.plot))
    for option in ("csv", "json", "parquet", "plot", "output"):
        given = getattr(arguments, option)
        if not given or given == "-":
            continue
        if not Path(given).resolve().parent.is_dir():
            raise ValueError(f"--{option} {given}: its folder does not exist: make it first")
        if os.path.realpath(given) == os.path.realpath(arguments.file):
            raise ValueError(f"--{option} {given} is the file itself: give another name")
    if arguments.output and Path(arguments.output).exists():
        raise ValueError(f"--output {arguments.output} exists: remove it, or give another name")


def _keep(
    arguments: argparse.Namespace,
    frame: pd.DataFrame,
    tried: Sequence[Target],
    names: Sequence[str],
    memory: int,
    format: str,
) -> None:
    """Write the layouts that were to be kept, whole or not at all."""
    if not arguments.output and not arguments.keep:
        return
    from . import report
    from .copy import copy
    from .report_best import best, overall

    def write(target: Target, path: Path) -> None:
        verify = "full" if arguments.verify else "none"
        copy(arguments.file, path, target, variables=names, memory_bytes=memory, verify=verify)
        print(f"{target.name}: {path}", file=sys.stderr)

    failed = report.lost(frame)
    good = [target for target in tried if target.name not in failed]
    if arguments.output and good:
        over = overall(frame)
        asked = [target for target in good if target.name != report.COPY]
        top = over[0] if over else best(frame)[0].target
        only = asked[0] if len(asked) == 1 else next(t for t in good if t.name == top)
        write(only, Path(arguments.output))
    if arguments.keep:
        folder = Path(arguments.keep)
        folder.mkdir(parents=True, exist_ok=True)
        for target in good:
            from hyperslab.storage.layout import Layout

            slug = re.sub(r"[^A-Za-z0-9.=_-]+", "-", target.name).strip("-")
            path = folder / f"{slug}{Layout(target.format).suffix}"
            if path.exists():
                raise OSError(f"--keep {arguments.keep}: {path.name} exists there: remove it")
            write(target, path)


@contextmanager
def _workdir(given: str | None) -> Iterator[Path]:
    """Give a folder of its own, removed at the end; those of killed runs go too."""
    place = Path(given) if given else Path.cwd()
    if not place.is_dir():
        raise ValueError(f"--workdir {given}: no such folder: make it, or give another")
    for left in place.glob(f"{_FOLDER}*"):
        pid = left.name.removeprefix(_FOLDER)
        if pid.isdigit() and not _alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    folder = place / f"{_FOLDER}{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        raise ValueError(
            f"copies cannot be made in {place} ({error.strerror}): give another folder with "
            "--workdir"
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
