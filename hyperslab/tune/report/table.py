"""Tables and broken lines for terminals."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TextIO

from hyperslab.text import printable


def grid(columns: Mapping[str, Sequence[str]], width: int = 0) -> str:
    """Return a table of text: the first column to the left, the others to the right.

    Where it is wider than `width` (0: any), it is parted into several, each with the first column.

    Examples
    --------
    >>> print(grid({"layout": ["copy", "1x5"], "file": ["41.0 MB", "5 B"]}))
    layout     file
    ------  -------
    copy    41.0 MB
    1x5         5 B
    """
    first, *others = columns
    wide = {name: max(map(len, (*name.split("\n"), *columns[name]))) for name in columns}
    parts = [[first]]
    for name in others:
        taken = sum(wide[one] + 2 for one in parts[-1]) + wide[name]
        if width and len(parts[-1]) > 1 and taken > width:
            parts.append([first])
        parts[-1].append(name)
    return "\n\n".join(_grid({name: columns[name] for name in part}, wide) for part in parts)


def _grid(columns: Mapping[str, Sequence[str]], wide: Mapping[str, int]) -> str:
    deep = max(name.count("\n") for name in columns)
    heads = [("\n" * (deep - name.count("\n")) + name).split("\n") for name in columns]
    widths = [wide[name] for name in columns]
    rows = [*zip(*heads, strict=True), ["-" * n for n in widths]]
    rows += zip(*columns.values(), strict=True)
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(n) for cell, n in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def tell(text: str, where: TextIO | None = None) -> None:
    """Print lines, to standard error if nothing else: names from files must not steer it."""
    print("\n".join(map(printable, text.split("\n"))), file=where or sys.stderr)


def terminal_width() -> int:
    """Return the characters of a line; 0 where the output is no terminal: nothing is broken."""
    return shutil.get_terminal_size((0, 0)).columns


def wrapped(lines: str, width: int) -> str:
    """Return lines broken at words, what goes on indented; 0 for any width."""
    if not width:
        return lines
    kept = (
        fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for line in lines.split("\n")
    )
    return "\n".join(kept)
