"""Text for terminals: tables, broken lines, amounts and lists."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import fill


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
    parts = [[first]]
    for name in others:
        if width and len(parts[-1]) > 1 and _wide(columns, [*parts[-1], name]) > width:
            parts.append([first])
        parts[-1].append(name)
    return "\n\n".join(_grid({name: columns[name] for name in part}) for part in parts)


def _wide(columns: Mapping[str, Sequence[str]], names: Sequence[str]) -> int:
    cells = ([*name.split("\n"), *columns[name]] for name in names)
    return sum(max(map(len, one)) for one in cells) + 2 * (len(names) - 1)


def _grid(columns: Mapping[str, Sequence[str]]) -> str:
    heads = [head.split("\n") for head in columns]
    deep = max(map(len, heads))
    heads = [[""] * (deep - len(head)) + head for head in heads]
    widths = [
        max(map(len, (*head, *values)))
        for head, values in zip(heads, columns.values(), strict=True)
    ]
    rows = [*zip(*heads, strict=True), ["-" * width for width in widths]]
    rows += zip(*columns.values(), strict=True)
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def for_terminal(text: str) -> str:
    """Return text as a terminal may have it: names from files must not steer it.

    Examples
    --------
    >>> for_terminal("wind\\x1b[31m\\nred")
    'wind [31m\\nred'
    """
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def wrapped(lines: str, width: int) -> str:
    """Return lines broken at words, what goes on indented; 0 for any width.

    Examples
    --------
    >>> print(wrapped("map, cold: nothing is faster", 16))
    map, cold:
      nothing is
      faster
    """
    if not width:
        return lines
    kept = (
        fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for line in lines.split("\n")
    )
    return "\n".join(kept)


def amount(size: float) -> str:
    """Return bytes for people, in decimal units.

    Examples
    --------
    >>> amount(40997536), amount(512), amount(float("nan"))
    ('41.0 MB', '512 B', '-')
    """
    if math.isnan(size):
        return "-"
    for power, unit in ((9, "GB"), (6, "MB"), (3, "kB")):
        if size >= 10**power:
            digits = 2 if size < 10 ** (power + 1) else 1
            return f"{size / 10**power:,.{digits}f} {unit}"
    return f"{size:.0f} B"


def listing(names: Sequence[str]) -> str:
    """Return names as "a, b and c".

    Examples
    --------
    >>> listing(["a", "b", "c"])
    'a, b and c'
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
