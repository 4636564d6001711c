"""`hyperslab advise FILE`: from the options to the report."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from hyperslab.tune.partial import whole_or_nothing

from ..advice.rows import Advice
from ..bench.outputs import maybe_unread
from ..report.table import for_terminal
from .asked import question, resolved, workdir_of
from .options import add as add_options


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `advise` to those of `hyperslab`."""
    add_options(commands).set_defaults(call=run)


def run(arguments: argparse.Namespace) -> int:
    """Advise and report; return the exit code: 0, or 1 when it was interrupted.

    Raises
    ------
    ValueError
        When something that was asked for cannot be had; nothing is measured then.
    """
    from ..advice.predictors import predictor
    from ..advice.rank import advise

    say = None if arguments.quiet else _say
    if not arguments.file:
        if not arguments.calibrate:
            raise ValueError("no FILE is named: give a netCDF, HDF5 or Zarr file")
        predictor(again=True, workdir=workdir_of(arguments.workdir), say=_say)
        return 0
    asked = question(arguments)
    _check(arguments)
    resolved(asked)
    try:
        predicts = predictor(
            rough=arguments.rough, again=arguments.calibrate, workdir=asked.workdir, say=say
        )
        advice = advise(asked, predicts, say)
        _report(arguments, advice)
    except KeyboardInterrupt:
        print("\ninterrupted: nothing is left behind, the file is as it was", file=sys.stderr)
        return 1
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Refuse outputs that could not be written, before anything is measured."""
    if arguments.plot:
        from ..report.plot import check as check_plot

        check_plot(Path(arguments.plot))
    for option in ("json", "plot", "html"):
        given = getattr(arguments, option)
        if not given or given == "-":
            continue
        if not Path(given).resolve().parent.is_dir():
            raise ValueError(f"--{option} {given}: its folder does not exist: make it first")
        if Path(given).is_dir():
            raise ValueError(f"--{option} {given} is a folder: give the name of a file")
        if os.path.realpath(given) == os.path.realpath(arguments.file):
            raise ValueError(f"--{option} {given} is the file itself: give another name")


def _report(arguments: argparse.Namespace, advice: Advice) -> None:
    from .text import as_json, text

    width = shutil.get_terminal_size((0, 0)).columns
    shown = text(advice, rows=arguments.rows, width=width)
    with maybe_unread():
        print(for_terminal(shown), file=sys.stderr if arguments.json == "-" else sys.stdout)
    made = json.dumps(as_json(advice), indent=1)
    if arguments.json == "-":
        with maybe_unread():
            print(made)
    elif arguments.json:
        _put(arguments.json, lambda place: place.write_text(made + "\n", encoding="utf-8"))
    if arguments.plot or arguments.html:
        _drawn(arguments, advice)


def _drawn(arguments: argparse.Namespace, advice: Advice) -> None:
    """Write the picture and the page."""
    from hyperslab.measure.records import frame_of

    from . import page
    from .figure import picture
    from .rows import rows

    title = Path(str(arguments.file).rstrip("/")).name
    frame = frame_of(rows(advice))
    if arguments.plot:
        drawn = picture(frame, Path(arguments.plot).suffix, title)
        _put(arguments.plot, lambda place: place.write_bytes(drawn))
    if arguments.html:
        page.write(frame, arguments.html, title, str(arguments.file))


def _put(path: str, write: Callable[[Path], object]) -> None:
    with whole_or_nothing(Path(path), overwrite=True) as place:
        write(place)


def _say(words: str) -> None:
    print(for_terminal(words), file=sys.stderr)


def advised(words: Sequence[str], calibrated: Path | None = None) -> Advice:
    """Return the advice for the words after `hyperslab advise`; nothing is written or applied.

    A machine that is not calibrated is not calibrated here: typical costs stand in then.

    Parameters
    ----------
    words
    calibrated
        A folder where a calibration may be kept, before the user's own.

    Raises
    ------
    ValueError
        When something that was asked for cannot be had.
    """
    from ..advice.predictors import known
    from ..advice.rank import advise

    commands = argparse.ArgumentParser().add_subparsers()
    arguments = add_options(commands).parse_args(words)
    asked = question(arguments)
    resolved(asked)
    return advise(asked, known(calibrated, rough=arguments.rough))
