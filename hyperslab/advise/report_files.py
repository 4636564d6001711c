"""A benchmark as files: CSV, JSON, Parquet and a picture."""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from hyperslab.measure.records import save
from hyperslab.measure.stats import Interval

from .report import Quantity, medians, summary, targets
from .report_best import best, overall
from .report_text import sentences, warnings


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
        From `hyperslab.advise.bench.bench`.
    csv, json, parquet, plot
        Names of files; None for none.
    title
        Above the picture.
    notes
        What else the benchmark has to say; goes into the JSON.
    """
    if parquet:
        save(frame, Path(parquet))
    if plot:
        from .plot import save as draw

        draw(frame, Path(plot), title)
    texts = {csv: as_csv(frame) if csv else "", json: as_json(frame, notes) if json else ""}
    for name in sorted(filter(None, texts), key="-".__eq__):  # output last: its reader may leave
        _put(name, texts[name])


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


def _put(name: str, text: str) -> None:
    if name == "-":
        sys.stdout.write(text)
    else:
        Path(name).write_text(text, encoding="utf-8")
