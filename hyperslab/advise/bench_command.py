"""`hyperslab bench FILE`: from the options to the report."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hyperslab.storage.layout import Layout

from .bench_asked import Asked, asked_for
from .bench_options import add as add_options

if TYPE_CHECKING:
    import pandas as pd

    from .specs import Target

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
    _check_outputs(arguments)
    asked = asked_for(arguments)
    if not arguments.quiet:
        print(asked.words(), file=sys.stderr)
    try:
        with _ended_like_ctrl_c():
            frame, notes = _measure(arguments, asked)
            status = _report(arguments, frame, asked.head, notes)
            _keep(arguments, frame, asked)
    except KeyboardInterrupt:
        print("\ninterrupted: the copies are removed, the file is as it was", file=sys.stderr)
        return 1
    return status


def measured(words: Sequence[str]) -> pd.DataFrame:
    """Return the records of a benchmark, for the words after `hyperslab bench`.

    Parameters
    ----------
    words
        Options and the file, as on the command line; what writes files has no effect.

    Raises
    ------
    ValueError
        When something that was asked for cannot be had.
    """
    commands = argparse.ArgumentParser().add_subparsers()
    arguments = add_options(commands).parse_args(words)
    return _measure(arguments, asked_for(arguments))[0]


@contextmanager
def _ended_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM clean up as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():  # signals are the main one's
        yield
        return

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not stop the cleaning
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _measure(arguments: argparse.Namespace, asked: Asked) -> tuple[pd.DataFrame, list[str]]:
    from . import bench as engine

    with _workdir(arguments.workdir) as folder:
        frame = engine.bench(
            arguments.file,
            asked.targets,
            variables=asked.names,
            patterns=asked.patterns,
            repeats=arguments.repeats,
            memory_bytes=asked.memory_bytes,
            verify="full" if arguments.verify else "none",
            workdir=folder,
            seed=arguments.seed,
            parallel=arguments.parallel,
        )
    place = {target.name: n for n, target in enumerate(asked.targets)}
    order = frame["case"].map(place).fillna(len(place))  # as asked for; blocks are shuffled
    frame = frame.iloc[order.argsort(kind="stable")].reset_index(drop=True)
    return frame, engine.notes(frame)


def _report(
    arguments: argparse.Namespace, frame: pd.DataFrame, head: str, notes: Sequence[str]
) -> int:
    from . import report, report_files, report_text
    from .report_table import wrapped

    piped = "-" in (arguments.csv, arguments.json)
    width = shutil.get_terminal_size((0, 0)).columns  # 0: not a terminal, nothing is broken
    text = report_text.text(frame, counts=arguments.verbose, width=width)
    said = wrapped("\n".join(f"note: {note}" for note in notes), width)
    shown = "\n\n".join(filter(None, (wrapped(head, width), text, said)))
    print(shown, file=sys.stderr if piped else sys.stdout)
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
        folder = Path(given).resolve().parent
        if not folder.is_dir():
            raise ValueError(f"--{option} {given}: its folder does not exist: make it first")
        if not os.access(folder, os.W_OK):
            raise ValueError(f"--{option} {given}: its folder cannot be written to: take another")
        if option != "output" and Path(given).is_dir():
            raise ValueError(f"--{option} {given} is a folder: give the name of a file")
        if os.path.realpath(given) == os.path.realpath(arguments.file):
            raise ValueError(f"--{option} {given} is the file itself: give another name")
    if arguments.output and Path(arguments.output).exists():
        raise ValueError(f"--output {arguments.output} exists: remove it, or give another name")


def _keep(arguments: argparse.Namespace, frame: pd.DataFrame, asked: Asked) -> None:
    """Write the layouts that were to be kept, whole or not at all."""
    if not arguments.output and not arguments.keep:
        return
    from . import report
    from .report_best import best, overall

    good = [target for target in asked.targets if target.name not in report.lost(frame)]
    kept: list[tuple[Target, Path]] = []
    if arguments.output and good:
        over = overall(frame)
        wanted = [target for target in good if target.name != report.COPY]
        top = best(frame)[0].target
        if over:
            top = over[0] if over[1].value > 1 else report.COPY
        chosen = wanted[0] if len(wanted) == 1 else next(t for t in good if t.name == top)
        kept.append((chosen, Path(arguments.output)))
    if arguments.keep:
        Path(arguments.keep).mkdir(parents=True, exist_ok=True)
        kept += [(target, _kept_path(arguments.keep, target)) for target in good]
    for target, path in kept:
        _write(arguments, asked, target, path)


def _write(arguments: argparse.Namespace, asked: Asked, target: Target, path: Path) -> None:
    """Write one layout with the coordinates, and say what the file holds."""
    from .coordinates import whole
    from .copy import copy_apart
    from .source import open_source

    with open_source(arguments.file) as source:
        kept = whole(source, asked.names, target)
    made = copy_apart(
        arguments.file,
        path,
        kept.target,
        variables=kept.names,
        memory_bytes=asked.memory_bytes,
        verify="full" if arguments.verify else "none",
    )
    print(f"{target.name}: {path}, with {_listed(kept.names)}", file=sys.stderr)
    notes = list(made.notes)
    if kept.left_out:
        notes.append(
            f"{path} lacks {_listed(kept.left_out)}: --variables says what is copied, and its "
            "coordinates come along."
        )
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(names[:8]) + more


def _kept_path(folder: str, target: Target) -> Path:
    slug = re.sub(r"[^A-Za-z0-9.=_-]+", "-", target.name).strip("-")
    return Path(folder) / f"{slug}{Layout(target.format).suffix}"


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
