"""A series and a map of two fields, in every codec."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...access import reader
from ...io.work import Read
from ...measure.case import Case
from ...storage.layout import ZARR
from .codecs_files import CODECS, FIELDS, CodecFiles

MODULES = (
    "netCDF4", "zarr", "hyperslab.study.today.codecs", "hyperslab.access.netcdf4",
    "hyperslab.access.zarr",
)  # fmt: skip
REFERENCE = "shuffle-deflate-4"
"""What the others are compared with: what netCDF users write most."""
COMPARED = (
    "none", "shuffle-deflate-1", REFERENCE, "zstd", "blosc-lz4", "blosc-zstd", "zarr-blosc-lz4",
    "zarr-blosc-zstd",
)  # fmt: skip
"""Codecs of which the quickest is named; the others may be read less often."""


@dataclass(frozen=True)
class Holds:
    """Check that what was read are the values that were kept when the file was written.

    Parameters
    ----------
    truth : Path
    selection : tuple
    """

    truth: Path
    selection: tuple[Any, ...]

    def __call__(self, found: object) -> bool:
        kept = np.load(self.truth, mmap_mode="r")[self.selection]
        return isinstance(found, np.ndarray) and np.array_equal(found, kept)


def cases(files: CodecFiles, other_blocks: int = 0) -> list[Case]:
    """Return both reads of both fields in every codec, warm.

    Parameters
    ----------
    files : CodecFiles
    other_blocks : int
        Blocks of all but `COMPARED`; 0 is all.
    """
    found = []
    for field in FIELDS:
        for codec in CODECS:
            layout, path = files.layout(field, codec), files.path(field, codec)
            library = "zarr" if layout.format in ZARR else "netcdf4"
            for pattern, selection in files.selections(field).items():
                found.append(
                    Case(
                        f"{field}/{pattern}/{codec}",
                        Read(path, library, selection),
                        check=Holds(files.truth(field, codec), selection),
                        columns={
                            **layout.record(),
                            "library": reader(library).library,
                            "pattern": pattern,
                            "quantize": codec if layout.quantize else "",
                        },
                        files=(path,),
                        cache_state="warm",
                        most_blocks=0 if codec in COMPARED else other_blocks,
                        aa=(field, pattern, codec) == ("ocean", "map", REFERENCE),
                    )
                )
    return found
