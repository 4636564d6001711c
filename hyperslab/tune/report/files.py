"""A report as files: checked before anything is measured, written after."""

from __future__ import annotations

import argparse
import json as json_
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd

from hyperslab.tune.partial import whole_or_nothing

from .page import Section, page
from .plot import check as check_plot
from .plot import picture
from .summary import best, medians, overall, summary, targets
from .text import sentences, text, warnings


def check(arguments: argparse.Namespace, options: Sequence[str]) -> None:
    """Refuse files that could not be written, before anything is measured."""
    if arguments.plot:
        check_plot(Path(arguments.plot))
    seen: dict[str, str] = {}
    for option in options:
        given = getattr(arguments, option)
        if not given or given == "-":
            continue
        folder, real = Path(given).resolve().parent, os.path.realpath(given)
        if not folder.is_dir():
            raise ValueError(f"--{option} {given}: its folder does not exist: make it first")
        if not os.access(folder, os.W_OK):
            raise ValueError(f"--{option} {given}: its folder cannot be written to: take another")
        if option != "output" and Path(given).is_dir():
            raise ValueError(f"--{option} {given} is a folder: give the name of a file")
        if real == os.path.realpath(arguments.file):
            raise ValueError(f"--{option} {given} is the file itself: give another name")
        if real in seen:
            raise ValueError(f"--{seen[real]} and --{option} are both {given}: give each its own")
        seen[real] = option


def write(
    frame: pd.DataFrame,
    *,
    csv: str | None = None,
    json: str | None = None,
    parquet: str | None = None,
    plot: str | None = None,
    html: str | None = None,
    title: str = "",
    head: str = "",
    notes: Sequence[str] = (),
) -> None:
    """Write what was asked for of a benchmark; "-" is standard output."""
    if parquet:
        put("parquet", parquet, frame.to_parquet(None, index=False))
    if plot:
        put("plot", plot, picture(frame, Path(plot).suffix, title))
    if html:
        put("html", html, as_html(frame, title, head, notes).encode())
    made = [("csv", csv, as_csv(frame) if csv else "")]
    made += [("json", json, as_json(frame, notes) if json else "")]
    for option, name, words in sorted(made, key=lambda one: one[1] == "-"):
        if name == "-":  # last: its reader may leave
            sys.stdout.write(words)
        elif name:
            put(option, name, words.encode())


def as_csv(frame: pd.DataFrame) -> str:
    """Return the summary as CSV: a line of names, then one line a layout."""
    return str(summary(frame).to_csv(index=False, lineterminator="\n"))


def as_json(frame: pd.DataFrame, notes: Sequence[str] = ()) -> str:
    """Return the summary, every time with its samples, and the sentences, as JSON."""
    over = overall(frame)
    times: dict[str, dict[str, Mapping[str, float]]] = {name: {} for name in targets(frame)}
    for (target, quantity), x in medians(frame).items():
        times[target][quantity.label] = {"value": x.value, "low": x.low, "high": x.high, "n": x.n}
    found = {
        "layouts": json_.loads(str(summary(frame).to_json(orient="records"))),
        "times_s": times,
        "best": {one.quantity.label: one.target if one.ahead else None for one in best(frame)},
        "best_over_all": over[0] if over else None,
        "sentences": sentences(frame).splitlines(),
        "warnings": warnings(frame).splitlines(),
        "notes": list(notes),
    }
    return json_.dumps(found, indent=1, ensure_ascii=False) + "\n"


def as_html(frame: pd.DataFrame, title: str, head: str = "", notes: Sequence[str] = ()) -> str:
    """Return the report with its picture as one page."""
    svg = picture(frame, ".svg").decode()
    sections = [
        Section("", head),
        Section("What was found", sentences(frame).replace("\n", "\n\n")),
        Section("What was measured", text(frame, counts=True), True, svg[svg.index("<svg") :]),
        Section("Notes", "\n".join(f"- {note}" for note in notes)),
    ]
    return page(title, sections)


def put(option: str, name: str, data: bytes) -> None:
    """Write a file, whole or not at all; a pipe or a device is written to as it is."""
    path = Path(os.path.realpath(name))
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        with whole_or_nothing(path, overwrite=True) as place:
            place.write_bytes(data)
    except BrokenPipeError:
        raise
    except OSError as error:
        why = error.strerror or error
        raise OSError(
            f"--{option} {name} cannot be written: {why}: make room, or take another"
        ) from error


@contextmanager
def maybe_unread() -> Iterator[None]:
    """Go on when nobody reads the output any more, as in a pipe to `head`."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        with suppress(OSError, ValueError):  # what is still in the buffer must go somewhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
