"""`hyperslab bench FILE`: from the options to the report."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..report.table import for_terminal
from .asked import Asked, asked_for
from .options import add as add_options

if TYPE_CHECKING:
    import pandas as pd


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `bench` to those of `hyperslab`."""
    add_options(commands).set_defaults(call=bench)


def bench(arguments: argparse.Namespace) -> int:
    """Measure, report, and return the exit code: 0, or 1 when a layout failed or is wrong."""
    from ..report.files import check
    from .outputs import FILES, check_kept, keep

    if arguments.csv == arguments.json == "-":
        raise ValueError("--csv - and --json - both go to the output: give one of them a file")
    check(arguments, FILES)
    if arguments.output and Path(arguments.output).exists():
        raise ValueError(f"--output {arguments.output} exists: remove it, or give another name")
    _place(arguments.workdir)
    asked = asked_for(arguments)
    check_kept(arguments, asked.targets)
    if not arguments.quiet:
        print(for_terminal(asked.words()), file=sys.stderr)
    try:
        frame, notes = _measure(arguments, asked)
        status = _report(arguments, frame, asked.head, notes)
        keep(arguments, frame, asked)
    except KeyboardInterrupt:
        print("\ninterrupted: the copies are removed, the file is as it was", file=sys.stderr)
        return 1
    return status


def measured(words: Sequence[str]) -> pd.DataFrame:
    """Return the records of a benchmark, for the words after `hyperslab bench`."""
    commands = argparse.ArgumentParser().add_subparsers()
    arguments = add_options(commands).parse_args(words)
    return _measure(arguments, asked_for(arguments))[0]


def _measure(arguments: argparse.Namespace, asked: Asked) -> tuple[pd.DataFrame, list[str]]:
    from hyperslab.tune.copy_plan import MemoryLimitError

    from ..report.summary import COPY
    from . import engine

    try:
        frame = engine.bench(
            arguments.file,
            asked.targets,
            variables=asked.names,
            patterns=asked.patterns,
            repeats=arguments.repeats,
            memory_bytes=asked.memory_bytes,
            verify=arguments.verify,
            workdir=_place(arguments.workdir),
            seed=arguments.seed,
            ranks=arguments.ranks or 0,
            independent=arguments.independent,
            say=None if arguments.quiet else _say,
        )
    except MemoryLimitError as error:
        if not str(error).startswith(f"{COPY}: "):
            raise
        less = "leave out the layout as it is (--no-copy)"
        raise MemoryLimitError(str(error).replace("take smaller chunks", less)) from error
    place = {target.name: n for n, target in enumerate(asked.targets)}
    order = frame["case"].map(place).fillna(len(place))  # as asked for; blocks are shuffled
    frame = frame.iloc[order.argsort(kind="stable")].reset_index(drop=True)
    return frame, engine.notes(frame)


def _say(note: str) -> None:
    print(for_terminal(f"note: {note}"), file=sys.stderr)


def _report(
    arguments: argparse.Namespace, frame: pd.DataFrame, head: str, notes: Sequence[str]
) -> int:
    from ..report.files import maybe_unread, write
    from ..report.summary import lost, unverified
    from ..report.table import wrapped
    from ..report.text import text

    piped = "-" in (arguments.csv, arguments.json)
    width = shutil.get_terminal_size((0, 0)).columns  # 0: not a terminal, nothing is broken
    parts = [
        wrapped(head, width),
        text(frame, counts=arguments.verbose, width=width),
        wrapped("\n".join(f"note: {note}" for note in notes), width),
    ]
    with maybe_unread():
        shown = for_terminal("\n\n".join(filter(None, parts)))
        print(shown, file=sys.stderr if piped else sys.stdout)
    with maybe_unread():
        write(
            frame,
            csv=arguments.csv,
            json=arguments.json,
            parquet=arguments.parquet,
            plot=arguments.plot,
            html=arguments.html,
            title=Path(str(arguments.file).rstrip("/")).name,
            head=head,
            notes=notes,
        )
    return 1 if lost(frame) or unverified(frame) else 0


def _place(given: str | None) -> Path:
    """Return the folder to work in, where the copies get a folder of their own."""
    place = Path(given) if given else Path.cwd()
    if not place.is_dir():
        raise ValueError(f"--workdir {given}: no such folder: make it, or give another")
    if not os.access(place, os.W_OK):
        raise ValueError(
            f"copies cannot be made in {place}, which cannot be written to: give another folder "
            "with --workdir"
        )
    return place
