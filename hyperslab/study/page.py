"""What a notebook says and shows on its page: sentences, figures, tables."""

import functools
import string
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import yaml

from ..text import Interval, number, spread
from . import show as display
from .figures import Dots
from .profile import root
from .session import Session
from .show import lost as caveats
from .show import noise

__all__ = ["caveats", "document", "noise", "said", "say", "show", "table"]


def say(text: str, **values: object) -> None:
    """Show sentences, with values in them; a line with one that was not measured is left out.

    Parameters
    ----------
    text : str
        MyST, a sentence a line. ``{gain:faster}`` stands for an interval and its direction, as
        `hyperslab.text.Interval` prints it; ``{size:MB}`` for one with a unit.
    **values
        Intervals and numbers, by name.
    """
    display.text(said(text, **values))


def said(text: str, **values: object) -> str:
    """Return what `say` shows.

    Examples
    --------
    >>> unknown = Interval(float("nan"), float("nan"), float("nan"), 0)
    >>> said("It was {a:faster}.\\nIt was {b:faster}.", a=Interval(2.0, 1.5, 2.5, 7), b=unknown)
    'It was 2 × [1.5, 2.5] faster.'
    """
    unknown = {
        name for name, value in values.items() if isinstance(value, Interval) and not value.n
    }
    lines = [line for line in text.strip().splitlines() if not unknown & _fields(line)]
    return "\n".join(lines).format(**values)


def _fields(line: str) -> set[str]:
    return {name.partition(".")[0] for _, name, _, _ in string.Formatter().parse(line) if name}


def show(run: Session, figure: Callable[[], Any], name: str, caption: str, alt: str) -> None:
    """Show a figure, drawn for light and for dark pages.

    Parameters
    ----------
    run : Session
    figure : callable
        Such as `Dots`: draws it.
    name : str
        Short and unique; the label is ``fig-<name>``.
    caption : str
        MyST text.
    alt : str
        What the figure shows, for who cannot see it.
    """
    if isinstance(figure, Dots):
        blocks = [found.n for found in figure.table[figure.value] if found.n]
        caption += f" Medians with {spread(max(blocks), min(blocks))}." if blocks else ""
    display.figure(run, figure, name, caption, alt)


def table(
    run: Session,
    columns: Mapping[str, "pd.Series[Any] | Mapping[str, float]"],
    name: str,
    caption: str,
) -> None:
    """Show a table whose rows are those of tables from `compare`.

    Parameters
    ----------
    run : Session
    columns : mapping
        By their heads, such as "cold (ms)": a unit in brackets is that of intervals, in seconds or
        bytes. The labels of the rows come first.
    name : str
        Short and unique; the label is ``tab-<name>``.
    caption : str
        MyST text, on one line.
    """
    written = [_written(head, pd.Series(values)) for head, values in columns.items()]
    labels = [str(column.index.name) for column in written if column.index.name]
    whole = pd.concat(written, axis=1).fillna("–").rename_axis(labels[0])
    display.table(run, whole.reset_index(), name, caption)


def _written(head: str, column: "pd.Series[Any]") -> "pd.Series[str]":
    unit = head.partition("(")[2].rstrip(")")
    scale = {"ms": 1e3, "MB": 1e-6, "kB": 1e-3}.get(unit, 1.0)

    def write(value: Any) -> str:
        if isinstance(value, Interval):
            low, high = scale * value.low, scale * value.high
            return f"{Interval(scale * value.value, low, high, value.n)}" if value.n else "–"
        return number(scale * value)

    return column.map(write).rename(head)


@functools.cache
def _documents() -> dict[str, dict[str, dict[str, float]]]:
    found: dict[str, dict[str, dict[str, float]]] = yaml.safe_load(
        (root() / "book/documents.yml").read_text(encoding="utf-8")
    )
    return found


def document(key: str, figure: str) -> dict[str, float]:
    """Return the numbers that a document prints in one of its figures or tables.

    Parameters
    ----------
    key : str
        Of the document in the bibliography, such as "lee2008".
    figure : str
        Such as "figure 7".

    Returns
    -------
    dict
        By the labels of cases; times in seconds, sizes in bytes, rates in bytes a second.
    """
    return dict(_documents()[key][figure])
