"""The command ``hyperslab index``."""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .check import check
from .errors import MissingFileError, SubchunkError
from .index.build import build, widen
from .index.index import SUFFIX, Index
from .index.options import BUDGET
from .info import lines

OK, FAILED = 0, 1
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "KIB": 2**10, "MIB": 2**20}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="netCDF-4 or HDF5 files")
    parser.add_argument(
        "--index",
        metavar="PLACE",
        help="folder of the indexes, or with one file its name, which ends in .subchunk (each "
        "index beside its file)",
    )
    parser.add_argument(
        "--variables", metavar="NAME[,NAME…]", help="variables to index (all that can be)"
    )
    parser.add_argument(
        "--budget",
        type=share,
        default=BUDGET,
        metavar="SHARE",
        help="size of an index for its data, such as 2%% (the default) or 0.02",
    )
    parser.add_argument(
        "--spacing",
        type=size,
        metavar="SIZE",
        help="decompressed bytes between points, such as 64KiB (as the budget allows)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=0,
        metavar="N",
        help="chunks, or with several files files, that are indexed at a time (one a core)",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a dask scheduler whose workers see the files (several files: a local cluster)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--add", action="store_true", help="add the chunks of a file that grew to its index"
    )
    what.add_argument(
        "--check", action="store_true", help="compare indexes with their files, byte for byte"
    )
    what.add_argument("--info", action="store_true", help="say what indexes hold")


def run(arguments: argparse.Namespace) -> int:
    """Do what the arguments ask; return the exit code.

    Raises
    ------
    ValueError
        For arguments that make no sense.
    """
    if arguments.jobs < 0:
        raise ValueError(f"--jobs is {arguments.jobs}: give 1 or more")
    pairs = _pairs(arguments.files, arguments.index)
    if len({target for _, target in pairs}) < len(pairs):
        raise ValueError("two files of the same name would have one index: index them apart")
    if arguments.info or arguments.check:
        act = _info if arguments.info else _check
        return max(_tried(path, functools.partial(act, path, target)) for path, target in pairs)
    names = arguments.variables.split(",") if arguments.variables else None
    if len(pairs) > 1 or arguments.scheduler:
        from .cluster import build_many

        return build_many(
            pairs,
            variables=names,
            spacing=arguments.spacing,
            budget=arguments.budget,
            add=arguments.add,
            jobs=arguments.jobs,
            scheduler=arguments.scheduler,
        )
    path, target = pairs[0]

    def one() -> int:
        began = time.monotonic()
        progress = Progress(path.name)
        threads = arguments.jobs or None
        if arguments.add:
            widen(path, target, threads=threads, progress=progress)
        else:
            build(
                path,
                target,
                variables=names,
                spacing=arguments.spacing,
                budget=arguments.budget,
                threads=threads,
                progress=progress,
            )
        print(f"{said(path, target)} in {time.monotonic() - began:.1f} s")
        return OK

    return _tried(path, one)


class Progress:
    """Says on standard error how many chunks are done, at most every second."""

    def __init__(self, name: str) -> None:
        self._name, self._began, self._said = name, time.monotonic(), time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if (now - self._said < 1 and done < total) or now - self._began < 1:
            return
        self._said = now
        left = (now - self._began) * (total - done) / done
        print(f"{self._name}: {done} of {total} chunks, {left:.0f} s left", file=sys.stderr)


def said(path: Path, target: Path) -> str:
    """Return a line on an index that was built."""
    kept, data = target.stat().st_size, path.stat().st_size
    return f"{target.name}: {kept:,} bytes, {100 * kept / data:.2f} % of {path.name}"


def size(text: str) -> int:
    """Return a number of bytes from words such as "64KiB".

    Examples
    --------
    >>> size("64KiB"), size("1000")
    (65536, 1000)
    """
    number = text.strip().rstrip("BKMibkm")
    unit = text.strip()[len(number) :].upper()
    try:
        return int(float(number) * _UNITS[unit])
    except (KeyError, ValueError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no size: give bytes, or such as 64KiB or 1MiB"
        ) from None


def share(text: str) -> float:
    """Return a share from words such as "2%".

    Examples
    --------
    >>> share("2%"), share("0.05")
    (0.02, 0.05)
    """
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no share: give such as 2% or 0.02") from None


def _pairs(files: Sequence[str], place: str | None) -> list[tuple[Path, Path]]:
    """Return each file with its index."""
    if place is None:
        return [(Path(name), Path(name + SUFFIX)) for name in files]
    if Path(place).is_dir():
        return [(Path(name), Path(place) / (Path(name).name + SUFFIX)) for name in files]
    if place.endswith(SUFFIX) and len(files) == 1:
        return [(Path(files[0]), Path(place))]
    if place.endswith(SUFFIX):
        raise ValueError(f"--index {place}: it can be one file's; give a folder for {len(files)}")
    raise ValueError(
        f"--index {place}: no such folder; make it first, or give a name that ends in {SUFFIX}"
    )


def _tried(path: Path, act: Callable[[], int]) -> int:
    try:
        return act()
    except (SubchunkError, OSError) as error:
        print(f"hyperslab index: {os.fspath(path)}: {error}", file=sys.stderr)
        return FAILED


def _check(path: Path, target: Path) -> int:
    _there(path, target)
    count = check(path, target)
    print(f"{target.name} fits {path.name}: {count:,} stretches of compressed data as indexed")
    return OK


def _info(path: Path, target: Path) -> int:
    _there(path, target)
    index = Index(target)
    print(f"{target.name}: ", end="")
    for line in lines(index):
        print(line)
    return OK


def _there(path: Path, target: Path) -> None:
    if not target.exists():
        raise MissingFileError(f"no index {target}: build it with `hyperslab index {path}`")
