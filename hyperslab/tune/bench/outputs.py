"""The layouts that `hyperslab bench` keeps: checked before it measures, written after."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperslab.io.layout import Layout

from ..report.files import maybe_unread
from ..report.table import for_terminal
from .asked import Asked

if TYPE_CHECKING:
    import pandas as pd

    from hyperslab.measure.case import Stopwatch
    from hyperslab.tune.rechunk import CopyReport

    from ..source import Source
    from ..specs.target import Target

__all__ = ["FILES", "check_kept", "keep", "maybe_unread"]

_TIMEOUT_S = 30 * 86_400.0

FILES = ("csv", "json", "parquet", "plot", "html", "output")


def check_kept(arguments: argparse.Namespace, targets: Sequence[Target]) -> None:
    """Refuse a folder for the layouts that has not room for their names."""
    if not arguments.keep:
        return
    folder = Path(arguments.keep)
    above = next(place for place in (folder, *folder.resolve().parents) if place.exists())
    if not above.is_dir():
        what = "is a file" if above == folder else f"cannot be made: {above} is a file"
        raise ValueError(f"--keep {arguments.keep} {what}: give the name of a folder")
    if not os.access(above, os.W_OK):
        raise ValueError(f"--keep {arguments.keep} cannot be written to: take another folder")
    taken = [os.path.realpath(getattr(arguments, option) or "") for option in FILES]
    for path in _kept_paths(folder, targets).values():
        if path.exists() or path.is_symlink():
            raise ValueError(f"--keep: {path} exists: remove it, or give another folder")
        if os.path.realpath(path) in taken:
            raise ValueError(f"--keep: {path} is to be written twice: give another folder")


def keep(arguments: argparse.Namespace, frame: pd.DataFrame, asked: Asked) -> None:
    """Write the layouts that were to be kept, whole or not at all."""
    from ..report.summary import COPY, best, lost, overall

    good = [target for target in asked.targets if target.name not in lost(frame)]
    kept: list[tuple[Target, Path]] = []
    if arguments.output and good:
        over = overall(frame)
        wanted = [target for target in good if target.name != COPY]
        top = best(frame)[0].target
        if over:
            top = over[0] if over[1].value > 1 else COPY
        chosen = wanted[0] if len(wanted) == 1 else next(t for t in good if t.name == top)
        kept.append((chosen, Path(arguments.output)))
    if arguments.keep:
        Path(arguments.keep).mkdir(parents=True, exist_ok=True)
        paths = _kept_paths(Path(arguments.keep), asked.targets)
        kept += [(target, paths[target.name]) for target in good]
    for target, path in kept:
        _write(arguments, asked, target, path)


def _write(arguments: argparse.Namespace, asked: Asked, target: Target, path: Path) -> None:
    """Write one layout with the coordinates, and say what the file holds."""
    from ..source import open_source

    with open_source(arguments.file) as source:
        wider, names = with_coordinates(source, asked.names, target)
        left_out = [name for name in source.variables if name not in names]
    made = _copied(
        _Copy(
            (arguments.file, os.fspath(path), wider),
            {
                "variables": names,
                "memory_bytes": asked.memory_bytes,
                "whole_process": True,
                "verify": arguments.verify,
            },
        )
    )
    print(for_terminal(f"{target.name}: {path}, with {_listed(names)}"), file=sys.stderr)
    notes = list(made.notes)
    if left_out:
        notes.append(
            f"{path} lacks {_listed(left_out)}: --variables says what is copied, and its "
            "coordinates come along."
        )
    for note in notes:
        print(for_terminal(f"note: {note}"), file=sys.stderr)


def with_coordinates(
    source: Source, names: Sequence[str], target: Target
) -> tuple[Target, tuple[str, ...]]:
    """Add what variables need, in the layout that it has, as far as a format can hold it."""
    from ..specs.coordinates import coordinates_of
    from ..specs.fitting import fit
    from ..specs.target import Choice

    kept = list(names)
    for name in coordinates_of(source.variables, names):
        wider = replace(target, each=(*target.each, (name, Choice())))
        try:
            variables = source.choose([*kept, name])
            fit(variables, wider.layouts(variables), source.attrs)
        except ValueError:  # text, groups, or a type that the format has not
            continue
        kept, target = [*kept, name], wider
    return target, tuple(kept)


@dataclass(frozen=True)
class _Copy:
    """A copy as what a process of the harness runs, so that it keeps within a memory limit."""

    words: tuple[str, str, Target]
    options: Mapping[str, Any]

    def __call__(self, watch: Stopwatch) -> None:
        from hyperslab.measure.memory import give_back
        from hyperslab.tune.rechunk import copy

        give_back()
        with watch("copy"):
            report = copy(*self.words, **self.options)
        watch.note(report=report)


def _copied(work: _Copy) -> CopyReport:
    from hyperslab.measure.case import Case
    from hyperslab.measure.processes import Processes
    from hyperslab.measure.worker import Job
    from hyperslab.tune.partial import remove_leftovers
    from hyperslab.tune.rechunk import CopyReport

    from .engine import error_of

    path = Path(work.words[1])
    try:
        outcome = Processes().run(Job(Case("copy", work, start="spawn"), _TIMEOUT_S))
    finally:  # what was killed could not do it
        remove_leftovers(path.parent, path.name)
    if outcome.status != "ok":
        raise error_of(outcome.status)
    report = outcome.rows[0]["report"]
    assert isinstance(report, CopyReport)
    return report


def _kept_paths(folder: Path, targets: Sequence[Target]) -> dict[str, Path]:
    """Return a path for each layout: its name, as far as a file can be called so."""
    found: dict[str, Path] = {}
    for target in targets:
        slug = re.sub(r"[^A-Za-z0-9.=_-]+", "-", target.name).strip("-")
        suffix = Layout(target.format).suffix
        path, n = folder / f"{slug}{suffix}", 2
        while path in found.values():
            path, n = folder / f"{slug}-{n}{suffix}", n + 1
        found[target.name] = path
    return found


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(names[:8]) + more
