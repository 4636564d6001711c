"""Tables and broken lines for terminals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill


def grid(columns: Mapping[str, Sequence[str]], width: int = 0) -> str:
    """Return a table of text: the first column to the left, the others to the right.

    Where it is wider than `width` (0: any), it is parted into several, each with the first column.
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
    heads = [name.split("\n") for name in columns]
    deep = max(map(len, heads))
    heads = [[""] * (deep - len(head)) + head for head in heads]
    widths = [wide[name] for name in columns]
    rows = [*zip(*heads, strict=True), ["-" * n for n in widths]]
    rows += zip(*columns.values(), strict=True)
    lines = []
    for row in rows:
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(n) for cell, n in others)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def for_terminal(text: str) -> str:
    """Return text as a terminal may have it: names from files must not steer it."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def wrapped(lines: str, width: int) -> str:
    """Return lines broken at words, what goes on indented; 0 for any width."""
    if not width:
        return lines
    kept = (
        fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for line in lines.split("\n")
    )
    return "\n".join(kept)
