"""A benchmark as files: CSV, JSON, Parquet and a picture."""

from __future__ import annotations

import json as json_
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from hyperslab.measure.stats import Interval
from hyperslab.tune.partial import whole_or_nothing

from .best import best, overall
from .summary import Quantity, medians, summary, targets
from .text import sentences, warnings


def write(
    frame: pd.DataFrame,
    *,
    csv: str | None = None,
    json: str | None = None,
    parquet: str | None = None,
    plot: str | None = None,
    title: str = "",
    notes: Sequence[str] = (),
) -> None:
    """Write what was asked for; "-" is standard output.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `hyperslab.advise.bench.engine.bench`.
    csv, json, parquet, plot
        Names of files; None for none.
    title
        Above the picture.
    notes
        What else the benchmark has to say; goes into the JSON.

    Raises
    ------
    OSError
        When a file cannot be written; what had its name stays.
    """
    if parquet:
        _put("parquet", parquet, frame.to_parquet(None, index=False))
    if plot:
        from .plot import picture

        _put("plot", plot, picture(frame, Path(plot).suffix, title))
    made = [("csv", csv, as_csv(frame) if csv else "")]
    made += [("json", json, as_json(frame, notes) if json else "")]
    for option, name, text in sorted(made, key=lambda one: one[1] == "-"):
        if name == "-":  # last: its reader may leave
            sys.stdout.write(text)
        elif name:
            _put(option, name, text.encode())


def as_csv(frame: pd.DataFrame) -> str:
    """Return the summary as CSV: a line of names, then one line a layout."""
    return str(summary(frame).to_csv(index=False, lineterminator="\n"))


def as_json(frame: pd.DataFrame, notes: Sequence[str] = ()) -> str:
    """Return the summary, every time with its samples, and the sentences, as JSON."""
    middle = medians(frame)
    rows = json_.loads(str(summary(frame).to_json(orient="records")))
    over = overall(frame)
    found = {
        "layouts": rows,
        "times_s": {name: _times(name, middle) for name in targets(frame)},
        "best": {one.quantity.label: one.target if one.ahead else None for one in best(frame)},
        "best_over_all": over[0] if over else None,
        "sentences": sentences(frame).splitlines(),
        "warnings": warnings(frame).splitlines(),
        "notes": list(notes),
    }
    return json_.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _times(
    name: str, middle: Mapping[tuple[str, Quantity], Interval]
) -> dict[str, dict[str, float]]:
    return {
        quantity.label: {key: getattr(found, key) for key in ("value", "low", "high", "n")}
        for (target, quantity), found in middle.items()
        if target == name
    }


def _put(option: str, name: str, data: bytes) -> None:
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
