"""The options of a command as a table: its words, its help, and what else argparse takes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Rows = Sequence[tuple[str, str] | tuple[str, str, Mapping[str, Any]]]
WHOLE: Mapping[str, Any] = {"type": int}
SEVERAL: Mapping[str, Any] = {"action": "append", "default": []}
CODEC = ("--codec NAME[:LEVEL]",
         "none, deflate, zstd, blosc-lz4, blosc-zstd, bzip2, szip or lzf (the file's)")  # fmt: skip
SHUFFLE = (
    "--shuffle", "shuffle bytes before the codec (as the file does)",
    {"action": argparse.BooleanOptionalAction, "default": None},
)  # fmt: skip


def add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    usage: str,
    about: str,
    examples: str,
    groups: Mapping[str, Rows],
    call: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    """Add a command to those of `hyperslab`, its options in groups ("": none), with its call."""
    parser = commands.add_parser(
        name, description=about, epilog=examples, usage=f"hyperslab {name} {usage}",
        formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False,
    )  # fmt: skip
    for title, rows in groups.items():
        group = parser.add_argument_group(title) if title else parser
        for words, text, *more in rows:
            flags = [word for word in words.split() if word.startswith("-")] or [words.lower()]
            metavar = words.split()[-1]  # what stands for the value; a switch has none
            kind: dict[str, Any] = {"help": text, **(more[0] if more else {})}
            if metavar not in flags:
                kind["metavar"] = metavar
            elif "action" not in kind:
                kind["action"] = "store_true"
            group.add_argument(*flags, **kind)
    parser.set_defaults(call=call)
    return parser


def workdir(given: str) -> Path:
    """Return the folder that files are made in: the current one where none is given."""
    folder = Path(given or Path.cwd())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ValueError(f"--workdir {folder} is no folder that can be written to: make it, or "
                         "give another")  # fmt: skip
    return folder
