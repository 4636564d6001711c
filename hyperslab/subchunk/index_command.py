"""The command ``hyperslab index``."""

from __future__ import annotations

import argparse
import functools
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from .check import check
from .errors import MissingFileError, NoIndexError, SubchunkError, UnfitFileError
from .index.build import build
from .index.format import VERSION, Entry
from .index.index import Index
from .index.spread import check_options
from .place import SUFFIX, absolute, file_name, target_path

OK, FAILED, USAGE = 0, 1, 2
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "KIB": 2**10, "MIB": 2**20}
_TITLES = ("variable", "shape", "chunks", "of", "spacing", "points", "bytes", "share")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
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
    for name, kind, metavar, text in (
        ("index", str, "PLACE",
         "folder of the indexes, or of one file its name, ending in .subchunk (beside each file)"),
        ("variables", str, "NAME[,NAME…]",
         "variables to index (all that can be; with --add, those the index has)"),
        ("budget", _parser_of("share", "2% or 0.02", _share), "SHARE",
         "size of an index for its data, such as 2%% (the default) or 0.02"),
        ("spacing", _parser_of("size", "65536, 64KiB or 1MiB", _bytes), "SIZE",
         "decompressed bytes between points, such as 64KiB (as the budget allows)"),
        ("jobs", int, "N",
         "chunks, or of several files files, indexed at a time (one a core; small chunks: one)"),
        ("scheduler", str, "ADDRESS",
         "a dask scheduler whose workers see the files (several files: a local cluster)"),
        ("storage-options",
         _parser_of("JSON object", '{"anon": true}', lambda text: {**json.loads(text)}), "JSON",
         """what opens URLs, such as '{"anon": true}' for fsspec"""),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=kind, metavar=metavar, help=text)
    what = parser.add_mutually_exclusive_group()
    for name, text in (
        ("add", "add chunks of a file that grew, or variables; build it where there is none"),
        ("check", "compare indexes with their files, byte for byte"),
        ("info", "say what indexes hold"),
    ):  # fmt: skip
        what.add_argument(f"--{name}", action="store_true", help=text)


def run(arguments: argparse.Namespace) -> int:
    if arguments.jobs is not None and arguments.jobs < 1:
        raise ValueError(f"--jobs is {arguments.jobs}: give 1 or more")
    if "" in map(str, arguments.files):
        raise ValueError("FILE is empty: name a netCDF-4 or HDF5 file")
    pairs = _pairs(arguments.files, arguments.index)
    if len({target for _, target in pairs}) < len(pairs):
        raise ValueError("two files of the same name would have one index: index them apart")
    if arguments.info or arguments.check:
        look = functools.partial(_look, arguments)
        codes = [_exit_code(path, functools.partial(look, path, target)) for path, target in pairs]
        return codes[0] if len(codes) == 1 else min(max(codes), FAILED)  # as some were done
    names = ("spacing", "budget", "add", "storage_options")
    how = {name: getattr(arguments, name) for name in names}
    how["variables"] = arguments.variables.split(",") if arguments.variables else None
    if len(pairs) > 1 or arguments.scheduler:
        return build_many(pairs, arguments.jobs, arguments.scheduler, **how)
    path, target = pairs[0]

    def build_timed() -> None:
        began = time.monotonic()
        how["progress"] = _progress(file_name(path))
        build(path, target, threads=arguments.jobs, **how)
        print(f"{_summary(path, target)}; {time.monotonic() - began:.1f} s")

    return _exit_code(path, build_timed)


def build_many(
    pairs: Sequence[tuple[str | Path, Path]],
    jobs: int | None = None,
    scheduler: str | None = None,
    **how: Any,
) -> int:
    """Build indexes on a dask cluster, a local one by default; one that fails is named."""
    from distributed import Client, as_completed

    check_options(how.get("spacing"), how.get("budget"))
    cluster: dict[str, Any] = {"address": scheduler}
    if scheduler is None:
        workers = min(jobs or os.cpu_count() or 1, len(pairs))
        cluster = {"n_workers": workers, "threads_per_worker": 1, "host": "127.0.0.1"}
        cluster["dashboard_address"] = "127.0.0.1:0"  # 8787 may be another cluster's
    failed = 0
    # Not dask's own choice from now on: the caller may compute something else meanwhile.
    with Client(set_as_default=False, **cluster) as client:  # type: ignore[no-untyped-call]
        how |= {"pure": False, "retries": 2}
        tasks = {
            client.submit(_build_one, absolute(pair[0]), pair[1].absolute(), **how): pair
            for pair in pairs
        }
        finished = as_completed(list(tasks), loop=client.loop)  # type: ignore[no-untyped-call]
        for done, future in enumerate(finished, 1):
            path, target = tasks[future]
            failing = future.status == "error"
            failure, warned = (str(future.exception()), []) if failing else future.result()
            for message in warned:
                print(f"hyperslab index: {path}: {message}", file=sys.stderr)
            if failure:
                failed += 1
                print(f"hyperslab index: {path}: {failure}", file=sys.stderr)
            else:
                print(f"[{done}/{len(pairs)}] {_summary(path, target)}", flush=True)
    if failed:
        print(f"hyperslab index: {failed} of {len(pairs)} files failed", file=sys.stderr)
    return FAILED if failed else OK


def _build_one(path: str | Path, target: Path, **how: Any) -> tuple[str, list[str]]:
    """Build one index, on one thread; return what went wrong, and what was warned of."""
    failure = ""
    with warnings.catch_warnings(record=True) as caught:
        try:
            build(path, target, threads=1, **how)
        except (SubchunkError, OSError, ValueError) as error:  # no reason to try it again elsewhere
            failure = str(error)
    return failure, [str(warning.message) for warning in caught]


def _progress(name: str) -> Callable[[int, int], None]:
    """Return what says on standard error how many chunks are done, at most every second."""
    began = reported = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal reported
        now = time.monotonic()
        if (now - reported < 1 and done < total) or now - began < 1:
            return
        reported, left = now, (now - began) * (total - done) / done
        print(f"{name}: {done} of {total} chunks, {left:.0f} s left", file=sys.stderr)

    return report


def _summary(path: str | Path, target: Path) -> str:
    index = Index(target)
    line, data = f"{target.name}: {index.head.size:,} bytes", index.data.get("size")
    if data:
        line += f", {100 * index.head.size / data:.2f} % of {file_name(path)}"
    if lost := len(index.listing.left_out) + len(index.listing.left_out_attrs):
        line += f"; left out: {lost}, `hyperslab index --info {path}` says why"
    return line


def _parser_of(kind: str, example: str, read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return what argparse reads an option by, and says what to give where it cannot."""

    def parsed(text: str) -> Any:
        try:
            return read(text)
        except (KeyError, OverflowError, TypeError, ValueError):
            why = f"{text!r} is no {kind}: give such as {example}"
            raise argparse.ArgumentTypeError(why) from None

    return parsed


def _bytes(text: str) -> int:
    number = text.strip().rstrip("BKMibkm")
    return int(float(number) * _UNITS[text.strip()[len(number) :].upper()])


def _share(text: str) -> float:
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def _pairs(files: Sequence[str], index: str | None) -> list[tuple[str, Path]]:
    if index is None or (index and Path(index).is_dir()):
        return [(name, target_path(name, index)) for name in files]
    if index.endswith(SUFFIX) and len(files) == 1:
        return [(files[0], Path(index))]
    raise ValueError(
        f"--index is {index!r}, which is no such folder: make it first, or give, for one file, a "
        f"name that ends in {SUFFIX}"
    )


def _exit_code(path: str, act: Callable[[], None]) -> int:
    try:
        with warnings.catch_warnings(record=True) as caught:
            act()
        for warning in caught:
            print(f"hyperslab index: {path}: {warning.message}", file=sys.stderr)
    except (SubchunkError, OSError) as error:
        why = " ".join(_shown(str(error)).split())  # HDF5 writes two lines
        print(f"hyperslab index: {path}: {why}", file=sys.stderr)
        unfit = isinstance(error, FileNotFoundError | NoIndexError | UnfitFileError)
        return USAGE if unfit else FAILED
    return OK


def _shown(text: str) -> str:
    """Return text with spaces for what would steer a terminal, such as in names."""
    return "".join(c if c.isprintable() else " " for c in text)


def _look(arguments: argparse.Namespace, path: str, target: Path) -> None:
    if not target.exists():
        raise MissingFileError(f"no index {target}: build it with `hyperslab index {path}`")
    if arguments.info:
        index = Index(target)
        print(f"{target.name}: ", end="")
        for line in _lines(index):
            print(_shown(line))
        return
    count = check(path, target, storage_options=arguments.storage_options)
    print(
        f"{target.name} fits {file_name(path)}: {count:,} stretches of compressed data as indexed"
    )


def _lines(index: Index) -> Iterator[str]:
    """Give lines that say what an index holds: a table, then what is read plainly and why."""
    data = index.data.get("size")
    size = f"{data:,}" if isinstance(data, int) else "unknown"
    yield f"format {VERSION}, {index.head.size:,} bytes, for a file of {size} bytes"
    entries = index.entries.values()
    rows = [_TITLES, *(_row(index, entry) for entry in entries if entry.spacing)]
    if len(rows) > 1:
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for name, *numbers in rows:
            words = (word.rjust(width) for word, width in zip(numbers, widths[1:], strict=True))
            yield "  ".join([name.ljust(widths[0]), *words]).rstrip()
    for entry in entries:
        if not entry.spacing:
            plain = entry.variable.plain or "it was not indexed"
            if entry.values:
                plain = f"its {len(entry.values):,} bytes are in the index"
            yield f"{entry.variable.name} {_shape(entry.variable.shape)} is read plainly: {plain}"
    for name, why in {**index.listing.left_out, **index.listing.left_out_attrs}.items():
        yield f"{name} is left out: {why}"


def _row(index: Index, entry: Entry) -> tuple[str, ...]:
    chunks, points = index.points(entry)
    front, variable = f"{entry.place}/", entry.variable
    tables = [table.size for key, table in index.head.tables.items() if key.startswith(front)]
    size, data = sum(tables) + int(points.kept_bytes.sum()), int(chunks.size.sum())
    return (
        variable.name,
        _shape(variable.shape),
        f"{len(chunks):,}",
        _shape(variable.chunks),
        f"{entry.spacing / 1024:,.0f} KiB",
        f"{len(points):,}",
        f"{size:,}",
        f"{100 * size / data:.2f} %" if data else "",
    )


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "scalar"
