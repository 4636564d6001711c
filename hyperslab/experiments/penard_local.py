"""Reads of local files through every library, with the indexes that lie beside the files."""

from dataclasses import dataclass
from typing import Any

from ..io import work
from ..io.by_chunkindex import SUFFIX as CHUNKINDEX
from ..io.experiment import File, columns
from ..subchunk.index.index import SUFFIX as SUBCHUNK

BARE = ("h5py", "h5netcdf", "xarray", "data_gen.datasets", __name__,
        "hyperslab.io.by_h5py", "hyperslab.io.by_xarray")  # fmt: skip
"""What is imported before a first read in a process, in which xarray imports the rest itself."""
# What xarray puts off to its first open and its first read.
_NEEDS = (__name__, "h5netcdf.legacyapi", "dask.array")
_INDEXES = {"subchunk": SUBCHUNK, "chunkindex_layout": CHUNKINDEX}


@dataclass(frozen=True)
class ReadHere:
    """Read part of a local file, opened cold too and its index evicted: open, read and close."""

    file: File
    selection: tuple[Any, ...]  # as numpy has it
    reader: str  # name of a reader
    cache_bytes: int = 0  # of the library's chunk cache; 0 leaves it as it is

    def parts(self, cache_state: str) -> dict[str, Any]:
        path, array = self.file.path, self.file.array
        path = self.file.twin() if cache_state == "warm" else path
        suffixes = ["", *([_INDEXES[self.reader]] if self.reader in _INDEXES else [])]
        what = (path, self.reader, self.selection, array.variable)
        return {
            "run": work.Read(*what, cache_bytes=self.cache_bytes, needs=_NEEDS),
            "check": work.Equals(self.file.part(self.selection)),
            "columns": {
                **columns(self.file.layout, self.reader),
                "stages": array.shape[0],
                "predicted_reads": self.file.steps(self.selection),
                **({"cache_bytes": self.cache_bytes} if self.cache_bytes else {}),
            },
            "files": tuple(path.with_name(path.name + suffix) for suffix in suffixes),
            "memory_bytes": self.file.memory_bytes(self.reader),
        }
