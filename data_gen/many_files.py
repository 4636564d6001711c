"""Write a dataset to many files in one pass: each frame is drawn once, in constant memory."""

import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from data_gen.datasets import Dataset
from hyperslab.io import Layout, Writer, create

SPARE_BYTES = 64 * 2**20  # left free on the disk, beside what is written


class NotEnoughSpaceError(OSError):
    """The disk has no room for what was to be written."""


def need_space(folder: Path, needed_bytes: int) -> None:
    """Raise unless a folder's disk has room for some bytes and a little more.

    Raises
    ------
    NotEnoughSpaceError

    Examples
    --------
    >>> need_space(Path("."), 1)
    """
    free = shutil.disk_usage(folder).free
    if free < needed_bytes + SPARE_BYTES:
        raise NotEnoughSpaceError(
            f"{needed_bytes / 2**20:,.0f} MiB may be written to {folder} and "
            f"{SPARE_BYTES / 2**20:.0f} must stay free, but only {free / 2**20:,.0f} MiB are: "
            "make room there, name another folder, or take fewer steps"
        )


def write(
    source: Dataset,
    targets: Mapping[Path, Layout],
    *,
    progress: bool = False,
    sync: bool = True,
) -> None:
    """Write a dataset to one or more new files.

    Parameters
    ----------
    source : Dataset
        From `data_gen.dataset`.
    targets : mapping of Path to Layout
        The files, none of which may exist.
    progress : bool
        Whether a bar is shown on standard error.
    sync : bool
        Whether each file is flushed to the device at the end.

    Raises
    ------
    NotEnoughSpaceError
        When the values, uncompressed, would not fit on the disk; before anything is written.

    Examples
    --------
    >>> import tempfile
    >>> from data_gen import dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.nc"
    ...     write(dataset("array", shape=(4, 5)), {path: Layout("netcdf4")})
    ...     path.is_file()
    True
    """
    for path in targets:
        need_space(path.parent, source.nbytes * len(targets))
    about = source.description
    with ExitStack() as stack:
        queues = []
        for path, layout in targets.items():
            writer = create(
                path,
                about.variables,
                layout,
                coordinates=about.coordinates,
                attrs=about.attrs,
            )
            stack.enter_context(writer)
            unit = layout.shards or layout.chunks
            queues.append(_Queue(writer, unit[0] if unit else 1))
        for part in _counted(source, progress):
            for name, (selection, values) in source.draw(part).items():
                for queue in queues:
                    queue.put(name, selection, values)
        for queue in queues:
            queue.finish()
            if sync:
                queue.writer.sync()


def _counted(source: Dataset, progress: bool) -> Iterable[int]:
    if not progress:
        return range(source.parts)
    from tqdm import tqdm

    counted: Iterable[int] = tqdm(range(source.parts), desc=source.name, unit="frame", miniters=1)
    return counted


class _Queue:
    """Holds frames back until they fill a chunk, so that each chunk is compressed once."""

    def __init__(self, writer: Writer, rows: int) -> None:
        self.writer, self.rows = writer, rows
        self._held: dict[str, tuple[int, list[np.ndarray]]] = {}

    def put(self, name: str, selection: tuple[slice | int, ...], values: np.ndarray) -> None:
        start = selection[0].start if isinstance(selection[0], slice) else selection[0]
        first, held = self._held.setdefault(name, (start or 0, []))
        held.append(values)
        if sum(len(v) for v in held) >= self.rows:
            self._write(name, first, held)
            del self._held[name]

    def _write(self, name: str, first: int, held: list[np.ndarray]) -> None:
        values = held[0] if len(held) == 1 else np.concatenate(held)
        rows = slice(first, first + len(values))
        self.writer.write(name, (rows, *[slice(None)] * (values.ndim - 1)), values)

    def finish(self) -> None:
        for name, (first, held) in self._held.items():
            self._write(name, first, held)
        self._held.clear()
