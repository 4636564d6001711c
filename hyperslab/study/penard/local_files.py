"""What the page on local reads reads: both files in every layout, their indexes, true values."""

import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import data_gen

from ...access.chunkindex_layout import SUFFIX as THEIRS
from ...experiments.penard_link import inner
from ...storage.layout import Layout
from ...subchunk.index.index import SUFFIX as OURS
from .datasets import DRAWN, TABLE_1
from .subchunk_files import DEFAULT, DOCUMENT, SHUFFLES, Files, Index
from .survey import Survey

PAGE_BYTES = 4 * 2**20
STORES = ("zarr", "zarr-deflate", "nczarr", "nczarr-deflate", "paged", "zarr3-shards")
"""Zarr and NCZarr as in the document and with the codec of its netCDF files; HDF5 in pages; and
Zarr 3, whose shards are the document's chunks."""
AT_ONCE = 2
"""Processes that make files."""


@dataclass(frozen=True)
class LocalFiles(Files):
    """Files of one run: netCDF-4 with indexes beside it, Zarr and NCZarr; `make` makes them.

    Parameters
    ----------
    source : Path, optional
        The folder of other files of a run that they are copies of. Cold reads need files of their
        own: one that was evicted comes back in other pieces of memory, which alone makes a warm
        read quicker or slower.

    Examples
    --------
    >>> LocalFiles(Path("d"), Path("s"), "quick", 12, 2).store("gfs", "zarr").as_posix()
    's/gfs-zarr.zarr'
    """

    source: Path | None = None

    def indexes(self, name: str) -> list[Index]:
        """Return the indexes of a file: ours as it comes, and the document's."""
        del name
        return [DEFAULT, DOCUMENT]

    def index_path(self, name: str, index: Index) -> Path:
        """Return where an index lies: beside its file, where the readers look for it."""
        path = self.path(name)
        return path.with_name(path.name + (THEIRS if index.layout == "document" else OURS))

    def store(self, kind: str, store: str) -> Path:
        """Return where a file ("off", "on") or a directory of `STORES` lies."""
        name = f"{kind}-{store}"
        if store == "paged":
            return self.scratch / f"{name}.h5"
        return self.path(name) if store in SHUFFLES else self.scratch / f"{name}.zarr"

    def stored(self, kind: str) -> dict[str, Layout]:
        """Return the layouts of a dataset, by store."""
        found = Survey(self.plan, self.scratch).layouts(kind)
        chunks = self.plan.source(kind).frame
        for name, format in (("zarr-deflate", "zarr2"), ("nczarr-deflate", "nczarr")):
            found[name] = Layout(format, chunks=chunks, codec="deflate", level=4, shuffle=True)
        found["paged"] = Layout(
            "hdf5", chunks=chunks, codec="deflate", level=4, shuffle=True, page_bytes=PAGE_BYTES
        )
        found["zarr3-shards"] = Layout("zarr3", chunks=inner(chunks), shards=chunks, codec="zstd")
        return {store: found[store] for store in (*SHUFFLES, *STORES)}

    def make(self) -> None:
        """Make the datasets where they are missing, then indexes and true values; or copy all."""
        if self.source is not None:
            shutil.copytree(self.source, self.scratch, dirs_exist_ok=True)
            return
        self.scratch.mkdir(parents=True, exist_ok=True)
        if self.profile == "smoke":  # starting processes takes longer than making toys
            for kind in TABLE_1:
                self._write(kind)
            for name in self.names:
                self._describe(name)
            return
        with ProcessPoolExecutor(AT_ONCE, mp_context=get_context("spawn")) as pool:
            for step, these in ((self._write, reversed(TABLE_1)), (self._describe, self.names)):
                for done in [pool.submit(step, name) for name in these]:
                    done.result()

    def _write(self, kind: str) -> None:
        layouts = self.stored(kind)
        parameters: dict[str, Any] = self.plan.parameters(kind)
        made = data_gen.ensure_all(DRAWN[kind], list(layouts.values()), self.data, **parameters)
        for store, path in zip(layouts, made, strict=True):
            target = self.store(kind, store)
            target.unlink(missing_ok=True)
            target.symlink_to(path.resolve())

    def _describe(self, name: str) -> None:
        self._index(name)
        self._keep_truth(name)
