"""Tables and broken lines for terminals."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TextIO

from hyperslab.text import printable


def grid(columns: Mapping[str, Sequence[str]], width: int = 0) -> str:
    """Return a table of text, parted into several where it is wider than `width` (0: any)."""
    first, *others = columns
    deep = max(name.count("\n") for name in columns)
    texts: dict[str, list[str]] = {}
    for name, cells in columns.items():
        head = ("\n" * (deep - name.count("\n")) + name).split("\n")
        wide = max(map(len, (*head, *cells)))
        justify = str.ljust if name == first else str.rjust
        texts[name] = [justify(text, wide) for text in (*head, "-" * wide, *cells)]
    groups = [[first]]
    for name in others:
        taken = sum(len(texts[column][0]) + 2 for column in groups[-1]) + len(texts[name][0])
        if width and len(groups[-1]) > 1 and taken > width:
            groups.append([first])
        groups[-1].append(name)
    tables = []
    for group in groups:
        lines = (
            "  ".join(row).rstrip() for row in zip(*(texts[name] for name in group), strict=True)
        )
        tables.append("\n".join(lines).lstrip("\n"))
    return "\n\n".join(tables)


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
    broken = (
        fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for line in lines.split("\n")
    )
    return "\n".join(broken)
