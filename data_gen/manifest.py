"""Datasets on disk, made once: checked against a manifest, made again where they do not fit."""

import fcntl
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from data_gen.datasets import Dataset, dataset, generator
from data_gen.many_files import write
from hyperslab.io import Layout
from hyperslab.io.work import remove


class AlteredError(ValueError):
    """A dataset on disk is not what its manifest says."""


def ensure(
    name: str,
    layout: Layout,
    folder: str | Path = "build/data",
    *,
    check: str = "size",
    remake: bool = True,
    progress: bool = False,
    **parameters: object,
) -> Path:
    """Return the path of a dataset on disk, making it if it is not there or not whole.

    Parameters
    ----------
    name : str
        One of `data_gen.NAMES`.
    layout : Layout
        How it is stored.
    folder : str or Path
        Where; it is made if need be.
    check : str
        "size" compares size and time of change with the manifest, "checksum" every byte.
    remake : bool
        Whether an altered file is made again (with a line on standard error) or is an error.
    progress : bool
        Whether a bar is shown.
    **parameters
        As `data_gen.dataset` takes them.

    Raises
    ------
    AlteredError
        When the file is not what its manifest says and `remake` is off.
    NotEnoughSpaceError
        When the disk has no room; before anything is written.
    ValueError
        When a parameter is not possible.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = ensure("array", Layout("netcdf4"), folder, shape=(4, 5))
    ...     again = ensure("array", Layout("netcdf4"), folder, shape=(4, 5))
    ...     path == again, path.suffix
    (True, '.nc')
    """
    return ensure_all(
        name, [layout], folder, check=check, remake=remake, progress=progress, **parameters
    )[0]


def ensure_all(
    name: str,
    layouts: Sequence[Layout],
    folder: str | Path = "build/data",
    *,
    check: str = "size",
    remake: bool = True,
    progress: bool = False,
    **parameters: object,
) -> list[Path]:
    """Return the paths of one dataset in several layouts, drawing its frames once for all.

    Parameters are those of `ensure`, with several layouts.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = ensure_all("array", [Layout("netcdf4"), Layout("binary")], folder, shape=(9,))
    ...     [path.suffix for path in paths]
    ['.nc', '.bin']
    """
    if check not in ("size", "checksum"):
        raise ValueError(f"check={check!r}: give 'size' or 'checksum'")
    source, folder = dataset(name, **parameters), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    targets = {_path(folder, source, layout): layout for layout in layouts}
    with ExitStack() as locks:
        for path in sorted(targets):  # always in one order, so that two processes cannot deadlock
            locks.enter_context(_locked(path))
        missing = {}
        for path, layout in targets.items():
            fault = _fault(path, _recipe(source, layout), check)
            if fault and fault != "absent":
                if not remake:
                    raise AlteredError(f"{path.name}: {fault}; remove it, or allow remaking it")
                print(f"{path.name}: {fault}; it is made again", file=sys.stderr)
            if fault:
                missing[path] = layout
        if missing:
            _make(source, missing, progress)
    return [_path(folder, source, layout) for layout in layouts]


def _make(source: Dataset, targets: Mapping[Path, Layout], progress: bool) -> None:
    temporary = {path: path.with_name(f".part-{path.name}") for path in targets}
    try:
        for path, unfinished in temporary.items():
            remove(unfinished)  # of a killed process: we hold the lock
            remove(path)
            remove(manifest_path(path))
        write(source, {temporary[path]: targets[path] for path in targets}, progress=progress)
        for path, unfinished in temporary.items():
            stored = _stored(unfinished) | {"sha256": checksum(unfinished)}
            unfinished.replace(path)
            _save(manifest_path(path), _recipe(source, targets[path]) | stored)
    finally:
        for unfinished in temporary.values():
            remove(unfinished)


def manifest_path(path: Path) -> Path:
    """Return where the manifest of a dataset's file lies.

    Examples
    --------
    >>> manifest_path(Path("a.nc")).name
    'a.nc.json'
    """
    return path.with_name(path.name + ".json")


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file, or of a directory's files with their names.

    Parameters
    ----------
    path : Path
    """
    total = hashlib.sha256()
    for file in _files(path):
        if file != path:
            total.update(file.relative_to(path).as_posix().encode() + b"\0")
        with file.open("rb") as stream:
            total.update(hashlib.file_digest(stream, "sha256").digest())
    return total.hexdigest()


def _path(folder: Path, source: Dataset, layout: Layout) -> Path:
    """Different parameters or layouts never share a file."""
    recipe = {"parameters": source.record(), "layout": asdict(layout)}
    key = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:10]
    return folder / f"{source.name}-{layout.format}-{key}{layout.suffix}"


def _recipe(source: Dataset, layout: Layout) -> dict[str, object]:
    return {
        "dataset": source.name,
        "parameters": source.record(),
        "layout": json.loads(json.dumps(asdict(layout))),
        "generator": generator(),
    }


def _fault(path: Path, recipe: Mapping[str, object], check: str) -> str:
    """Return what is wrong with a file, "absent", or nothing."""
    if not path.exists():
        return "absent"
    try:
        manifest = json.loads(manifest_path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return "it has no manifest"
    except (OSError, ValueError) as error:
        return f"its manifest cannot be read ({type(error).__name__})"
    for key, value in recipe.items():
        if manifest.get(key) != value:
            return f"it was made with another {key}"
    stored = _stored(path)
    if manifest.get("bytes") != stored["bytes"] or manifest.get("files") != stored["files"]:
        return f"it has {stored['bytes']} bytes and its manifest says {manifest.get('bytes')}"
    if check == "checksum" or manifest.get("changed_ns") != stored["changed_ns"]:
        if manifest.get("sha256") != checksum(path):
            return "its contents are not what its manifest says"
        _save(manifest_path(path), manifest | stored)
    return ""


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file())


def _stored(path: Path) -> dict[str, object]:
    stats = [file.stat() for file in _files(path)]
    return {
        "bytes": sum(s.st_size for s in stats),
        "files": len(stats),
        "changed_ns": max((s.st_mtime_ns for s in stats), default=0),
    }


def _save(path: Path, manifest: Mapping[str, object]) -> None:
    unfinished = path.with_name(f".part-{path.name}")
    unfinished.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    unfinished.replace(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file: a process that is killed lets go of it."""
    lock = path.with_name(f".lock-{path.name}")
    with lock.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
