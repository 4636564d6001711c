"""What a notebook says and shows on its page: sentences, figures, tables."""

import functools
import math
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import yaml

from ..measure.noise import judge
from ..measure.records import main
from ..text import ENOUGH, Interval, data, exact, number, percent, printable, spread
from . import show as display
from .figures import SCALES, Beside, Curves, Dots
from .profile import LOADER, root
from .show import NotebookRun, noise
from .show import lost as caveats

_ANSWER, _ADVICE = "**Found.**", "**Do.**"  # how an answer, and what to do, begin
__all__ = ["caveats", "document", "exact", "noise", "said", "say", "show", "table"]


def say(text: str, *, rests_on: Sequence[pd.DataFrame] = (), **values: object) -> None:
    """Show sentences of MyST, one a line, with values in them: ``{gain:faster}``, ``{size:MB}``."""
    answer, mark, _ = text.partition(_ADVICE)
    shown = [value.n for value in values.values() if isinstance(value, Interval) and value.n]
    if void := _void(*rests_on):
        text = f"{_ANSWER} Nothing is said of times: {void}."
    elif mark and rests_on and (few := _few(map(_most_blocks, rests_on)) or _few(shown)):
        text = f"{answer}{mark} No advice from this run: {few}."
    display.text(said(text, **values))


def no_advice(*frames: pd.DataFrame) -> str:
    """Return why times give no advice: void, or too few blocks; empty where they give it."""
    return _void(*frames) or _few(map(_most_blocks, frames))


def _void(*frames: pd.DataFrame) -> str:
    """Return what makes times useless, empty if nothing does."""
    for item in (item for frame in frames for item in judge(frame) if item.useless):
        if item.others == "void":
            return f"other programs used {percent(item.others_cpu)} of the CPU"
        return f"one configuration, measured twice in each block, was {percent(item.away)} apart"
    return ""


def _few(blocks: Iterable[int]) -> str:
    few = [number for number in blocks if number < ENOUGH]
    return f"advice takes {ENOUGH} blocks, and it has {min(few)}" if few else ""


def _most_blocks(frame: pd.DataFrame) -> int:
    counts = main(frame).groupby("case", observed=True)["block"].nunique()
    return int(counts.max()) if len(counts) else 0


def said(text: str, **values: object) -> str:
    """Return what `say` shows: lines with a value that was not measured are left out."""
    unmeasured = {
        name
        for name, value in values.items()
        if (isinstance(value, Interval) and not value.n)
        or (isinstance(value, float) and math.isnan(value))
    }
    lines = text.strip().splitlines()
    shown = [line for line in lines if not unmeasured & _fields(line)]
    if len(shown) < len(lines):
        shown.append("*What was not measured here is left out.*")
    # Parts between backticks are code, in which a backslash would be seen.
    escapes = (display.cell, lambda value: printable(value).replace("`", "'"))
    prose, code = (
        {n: escape(v) if isinstance(v, str) else v for n, v in values.items()} for escape in escapes
    )
    parts = "\n".join(shown).split("`")
    return "`".join(part.format(**(code if at % 2 else prose)) for at, part in enumerate(parts))


def _fields(line: str) -> set[str]:
    return {name.partition(".")[0] for _, name, _, _ in string.Formatter().parse(line) if name}


def show(run: NotebookRun, figure: Callable[[], Any], name: str, caption: str, alt: str) -> None:
    """Show a figure, labelled ``fig-<name>``, in light and dark; none of an empty table."""
    if isinstance(figure, Dots | Curves | Beside):
        first = figure.parts[0] if isinstance(figure, Beside) else figure
        measured = [dot for dot in first.table.get(first.value, ()) if dot.n]
        if not measured:
            return
        blocks = [dot.n for dot in measured if dot.low < dot.high or dot.n < ENOUGH]  # no counts
        caption += f" Medians with {spread(max(blocks), min(blocks))}." if blocks else ""
    display.figure(run, figure, name, caption, alt)


def table(
    run: NotebookRun,  # as of `show`; a table needs no folder
    columns: "Mapping[str, pd.Series[Any] | Mapping[str, float]] | pd.DataFrame",
    name: str,
    caption: str,
    *,
    folded: bool = False,
) -> None:
    """Show a table, labelled ``tab-<name>``, whose rows are those of tables from `compare`."""
    columns = dict(columns)  # of a table, too
    few = [n for values in columns.values() for n in map(_blocks, values) if 0 < n < ENOUGH]
    if few:
        caption += f" Without an interval: fewer than {ENOUGH} blocks."
    written = [_written(head, pd.Series(values)) for head, values in columns.items()]
    labels = next(column.index.names for column in written if column.index.names[0])
    whole = pd.concat(written, axis=1).fillna("–").rename_axis(labels)
    shown = whole.reset_index()
    for label in labels:
        shown[label] = [data(str(value)) for value in shown[label]]
    display.table(shown, name, caption, folded=folded)


def _written(head: str, column: "pd.Series[Any]") -> "pd.Series[str]":
    unit = head.partition("(")[2].rstrip(")")  # of "cold (ms)"; values are in seconds or bytes
    scale = SCALES.get(unit, 1.0)

    def write(value: Any) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, Interval):
            low, high = scale * value.low, scale * value.high
            shown = Interval(scale * value.value, low, high, value.n)
            return f"{shown}" if value.n >= ENOUGH else number(shown.value)
        return number(scale * value, 2 if unit == "%" else 3).replace("-", "−")

    return column.map(write).rename(head)


def _blocks(value: Any) -> int:
    return value.n if isinstance(value, Interval) else 0


@functools.cache
def _documents() -> dict[str, dict[str, Any]]:
    text = (root() / "book/documents.yml").read_text(encoding="utf-8")
    documents: dict[str, dict[str, Any]] = yaml.load(text, LOADER)
    return documents


def document(key: str, figure: str) -> "pd.Series[float]":
    """Return numbers of a document's figure, `document("lee2008", "figure 7")`, by labels."""
    values = _documents()[key][figure]
    if isinstance(values, dict):
        return pd.Series(values, dtype="f8")
    names, *rows = values
    numbers = {tuple(row[:-1]): row[-1] for row in rows}
    index = pd.MultiIndex.from_tuples(list(numbers), names=names[:-1])
    return pd.Series(list(numbers.values()), index, dtype="f8")
