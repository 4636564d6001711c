"""The command ``hyperslab index``."""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .check import check
from .errors import MissingFileError, SubchunkError
from .index.build import build, widen
from .index.index import Index
from .index.options import BUDGET
from .index.place import SUFFIX, file_name
from .index.target import target_place
from .info import lines

OK, FAILED = 0, 1
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "KIB": 2**10, "MIB": 2**20}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `index` to those of `hyperslab`."""
    parser = commands.add_parser(
        "index",
        description="Build FILE.subchunk beside each netCDF-4 or HDF5 file, with which "
        "xr.open_dataset(FILE, engine='subchunk') reads a few values out of a large compressed "
        "chunk without decompressing it. The file is read once and not changed.",
    )
    parser.set_defaults(call=run)
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="netCDF-4 or HDF5 files, or their URLs"
    )
    parser.add_argument(
        "--index",
        metavar="PLACE",
        help="folder of the indexes, or with one file its name, which ends in .subchunk (each "
        "index beside its file)",
    )
    parser.add_argument(
        "--variables",
        metavar="NAME[,NAME…]",
        help="variables to index (all that can be; with --add, those the index has)",
    )
    parser.add_argument(
        "--budget",
        type=share,
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
        metavar="N",
        help="chunks, or with several files files, that are indexed at a time (one a core; "
        "small chunks one after another)",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a dask scheduler whose workers see the files (several files: a local cluster)",
    )
    parser.add_argument(
        "--storage-options",
        type=options,
        metavar="JSON",
        help="""what opens URLs, such as '{"anon": true}' for fsspec""",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--add",
        action="store_true",
        help="add the chunks of a file that grew to its index, or variables; build it if it is not "
        "there",
    )
    what.add_argument(
        "--check", action="store_true", help="compare indexes with their files, byte for byte"
    )
    what.add_argument("--info", action="store_true", help="say what indexes hold")


def run(arguments: argparse.Namespace) -> int:
    """Do what the arguments ask; return the exit code."""
    if arguments.jobs is not None and arguments.jobs < 1:
        raise ValueError(f"--jobs is {arguments.jobs}: give 1 or more")
    if "" in map(str, arguments.files):
        raise ValueError("FILE is empty: name a netCDF-4 or HDF5 file")
    pairs = _pairs(arguments.files, arguments.index)
    if len({target for _, target in pairs}) < len(pairs):
        raise ValueError("two files of the same name would have one index: index them apart")
    if arguments.info or arguments.check:
        act = _info if arguments.info else functools.partial(_check, arguments.storage_options)
        return max(_tried(path, functools.partial(act, path, target)) for path, target in pairs)
    if arguments.add and not arguments.variables and (arguments.spacing or arguments.budget):
        raise ValueError(
            "--add keeps the spacing of what is indexed: name new variables with --variables for "
            "--spacing or --budget, or build the index again without --add"
        )
    names = arguments.variables.split(",") if arguments.variables else None
    if len(pairs) > 1 or arguments.scheduler:
        from .cluster import build_many

        return build_many(
            pairs,
            variables=names,
            spacing=arguments.spacing,
            budget=arguments.budget,
            add=arguments.add,
            jobs=arguments.jobs or 0,
            scheduler=arguments.scheduler,
            storage_options=arguments.storage_options,
        )
    path, target = pairs[0]

    def one() -> int:
        began = time.monotonic()
        build_or_widen(
            path,
            target,
            arguments.add,
            variables=names,
            spacing=arguments.spacing,
            budget=arguments.budget,
            threads=arguments.jobs or None,
            storage_options=arguments.storage_options,
            progress=Progress(file_name(path)),
        )
        print(f"{said(path, target)}; {time.monotonic() - began:.1f} s")
        return OK

    return _tried(path, one)


def build_or_widen(
    path: str | Path, target: Path, add: bool, *, budget: float | None, **options: Any
) -> None:
    """Widen an index that exists if that is asked; else build it."""
    if add and target.exists():
        widen(path, target, budget=budget, **options)
    else:
        build(path, target, budget=BUDGET if budget is None else budget, **options)


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


def said(path: str | Path, target: Path) -> str:
    """Return a line on an index that was built."""
    index = Index(target)
    kept, data = index.head.size, index.data.get("size")
    share = f", {100 * kept / data:.2f} % of {file_name(path)}" if data else ""
    lost = len(index.listing.left_out) + len(index.listing.left_out_attrs)
    more = f"; left out: {lost}, `hyperslab index --info {path}` says why" if lost else ""
    return f"{target.name}: {kept:,} bytes{share}{more}"


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


def options(text: str) -> dict[str, Any]:
    """Return options from JSON.

    Examples
    --------
    >>> options('{"anon": true}')
    {'anon': True}
    """
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError(f"{text!r} is no JSON object: give such as {{}}")
    return found


def _pairs(files: Sequence[str], place: str | None) -> list[tuple[str, Path]]:
    """Return each file with its index."""
    if place is None or Path(place).is_dir():
        return [(name, target_place(name, place)) for name in files]
    if place.endswith(SUFFIX) and len(files) == 1:
        return [(files[0], Path(place))]
    if place.endswith(SUFFIX):
        raise ValueError(f"--index {place}: it can be one file's; give a folder for {len(files)}")
    raise ValueError(
        f"--index {place}: no such folder; make it first, or give a name that ends in {SUFFIX}"
    )


def _tried(path: str, act: Callable[[], int]) -> int:
    try:
        with warnings.catch_warnings(record=True) as told:
            code = act()
        for each in told:
            print(f"hyperslab index: {path}: {each.message}", file=sys.stderr)
        return code
    except (SubchunkError, OSError) as error:
        why = " ".join(_shown(str(error)).split())  # HDF5 writes two lines
        print(f"hyperslab index: {path}: {why}", file=sys.stderr)
        return FAILED


def _shown(text: str) -> str:
    """Return text with spaces for what would steer a terminal, such as in names."""
    return "".join(c if c.isprintable() else " " for c in text)


def _check(storage_options: Mapping[str, Any] | None, path: str, target: Path) -> int:
    _there(path, target)
    count = check(path, target, storage_options=storage_options)
    print(
        f"{target.name} fits {file_name(path)}: {count:,} stretches of compressed data as indexed"
    )
    return OK


def _info(path: str, target: Path) -> int:
    _there(path, target)
    index = Index(target)
    print(f"{target.name}: ", end="")
    for line in lines(index):
        print(_shown(line))
    return OK


def _there(path: str, target: Path) -> None:
    if not target.exists():
        raise MissingFileError(f"no index {target}: build it with `hyperslab index {path}`")
