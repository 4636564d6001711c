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
    parts = [[first]]
    for name in others:
        taken = sum(len(texts[one][0]) + 2 for one in parts[-1]) + len(texts[name][0])
        if width and len(parts[-1]) > 1 and taken > width:
            parts.append([first])
        parts[-1].append(name)
    tables = []
    for part in parts:
        lines = (
            "  ".join(row).rstrip() for row in zip(*(texts[name] for name in part), strict=True)
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
    kept = (
        fill(line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for line in lines.split("\n")
    )
    return "\n".join(kept)
