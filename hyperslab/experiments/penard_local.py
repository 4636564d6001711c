"""Reads of local files through every library, with the indexes that lie beside the files."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..access import reader
from ..access.chunkindex_layout import SUFFIX as CHUNKINDEX
from ..io import work
from ..io.beside import index as index
from ..io.beside import inner as inner
from ..io.experiment import File, columns
from ..measure.case import Stopwatch
from ..subchunk.index.index import SUFFIX as SUBCHUNK

BARE = ("h5py", "h5netcdf", "xarray", "data_gen.datasets", __name__,
        "hyperslab.access.h5py", "hyperslab.access.xarray")  # fmt: skip
"""What is imported before a first read in a process, in which xarray imports the rest itself."""
_INDEXES = {"subchunk": SUBCHUNK, "chunkindex_layout": CHUNKINDEX}


@dataclass(frozen=True)
class ReadHere:
    """Read part of a local file, and compare it with the array: phases open, read and close.

    Unlike `hyperslab.io.experiment.Read` it does not evict the file again once it is open, as
    opening is part of what is compared, and the index of a file is evicted with it.

    Parameters
    ----------
    file : File
    selection
        As numpy has it.
    reader : str
        Name of a reader.
    cache_bytes : int
        Of the library's chunk cache; 0 leaves it as it is.
    """

    file: File
    selection: tuple[Any, ...]
    reader: str
    cache_bytes: int = 0

    def parts(self, cache_state: str) -> dict[str, Any]:
        """Return what a sample runs, and what describes it."""
        path, array = self.file.path, self.file.array
        path = self.file.twin() if cache_state == "warm" else path
        suffixes = ["", *(_INDEXES[name] for name in _INDEXES if name == self.reader)]
        what = (path, self.reader, self.selection, array.variable)
        return {
            "run": Sample(*what, cache_bytes=self.cache_bytes),
            "check": work.Equals(self.file.part(self.selection)),
            "columns": {
                **columns(self.file.layout, self.reader),
                "stages": array.shape[0],
                "predicted_reads": np.arange(array.shape[0])[self.selection[0]].size,
                **({"cache_bytes": self.cache_bytes} if self.cache_bytes else {}),
            },
            "files": tuple(path.with_name(path.name + suffix) for suffix in suffixes),
            # Zarr too is forked: its event loop begins with the first read, in the sample itself.
            "start": "fork",
        }


@dataclass(frozen=True)
class Sample(work.Read):
    """Read a selection, with a chunk cache of a given size unless that is 0."""

    cache_bytes: int = 0

    # What xarray puts off to its first open and its first read.
    needs: ClassVar = (__name__, "h5netcdf.legacyapi", "dask.array")

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        chosen = reader(self.library)
        with watch("open"):
            opened = chosen.open(
                self.path, self.variable, chunk_cache_bytes=self.cache_bytes or None
            )
        with watch("read"):
            values = opened.read(self.selection)
        watch.note(useful_bytes=values.nbytes)
        with watch("close"):
            opened.close()
        return values
