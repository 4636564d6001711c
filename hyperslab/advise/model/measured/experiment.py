"""The reads that calibration times: libraries on plain layouts, codecs on textures, cold ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hyperslab.io.cards import readers
from hyperslab.io.creation import stored_bytes, write_array
from hyperslab.io.layout import Layout
from hyperslab.io.selection import Selection

from ..read import Read
from ..terms import BELOW
from .fields import field
from .reading import Measured, Reading, checksum

CODECS = ("deflate", "zstd", "blosc-lz4", "blosc-zstd", "bzip2", "szip", "lzf")
LIBRARIES = (
    "netcdf4", "h5py", "h5netcdf", "xarray-netcdf4", "xarray-h5netcdf", "subchunk", "zarr",
    "xarray-zarr", "plain",
)  # fmt: skip
# For each engine the reader that codecs are timed with; the others share their cost.
_DECODERS = ("netcdf4", "h5py", "zarr", "subchunk")
_TEXTURES = {
    "deflate": ("packed", "land", "sparse", "steps", "small"),
    "zstd": ("packed", "land", "sparse", "small"),
    "blosc-lz4": ("packed", "land", "sparse", "small"),
    "blosc-zstd": ("packed", "land", "sparse", "small"),
    "bzip2": ("packed", "sparse"),
    "szip": ("packed", "sparse"),
    "lzf": ("packed", "sparse"),
}
_SHUFFLED = {"deflate": (True, False), "blosc-lz4": (True,), "blosc-zstd": (True,)}


@dataclass(frozen=True)
class File:
    """A file that calibration makes.

    Parameters
    ----------
    name
    texture, shape, dtype
        Of its values; see `fields.field`.
    layout
    """

    name: str
    texture: str
    shape: tuple[int, ...]
    dtype: str
    layout: Layout

    def make(self, folder: Path) -> Path:
        """Write it; return where."""
        path = folder / f"{self.name}{self.layout.suffix}"
        write_array(path, self.values(), self.layout)
        return path

    def values(self) -> Any:
        """Return what it holds."""
        return field(self.texture, self.shape, self.dtype)


def files(side: int, codecs: Sequence[str] = CODECS) -> Iterator[File]:
    """Yield the files: the same values in every plain layout, textures in every codec.

    Parameters
    ----------
    side
        Of the map, in elements; the series has a thirty-second of it.
    codecs
        Those of `CODECS`.
    """
    steps = max(side // 32, 2)
    shape, eighth = (steps, side, side), side // 8
    cuts = {
        "map": (1, side, side), "series": (steps, eighth, eighth),
        "small": (max(steps // 4, 1), side // 16, side // 16),
        "half": (steps // 2, side // 2, side // 2),
    }  # fmt: skip
    for name, cut in cuts.items():
        yield File(f"plain-{name}", "noisy", shape, "f4", Layout("netcdf4", cut))
        if name != "small":
            yield File(f"zarr-{name}", "noisy", shape, "f4", Layout("zarr2", cut))
    yield File("plain-contiguous", "noisy", shape, "f4", Layout("netcdf4"))
    yield File("plain-classic", "noisy", shape, "f4", Layout("netcdf3"))
    yield File("plain-binary", "noisy", shape, "f4", Layout("binary"))
    yield File(
        "plain-long", "noisy", (6 * steps, side, side), "f4", Layout("netcdf4", cuts["half"])
    )
    less = (steps, side // 2, side // 2)
    for codec in codecs:
        for shuffle in _SHUFFLED.get(codec, (False,)):
            for texture in _TEXTURES[codec]:
                dtype = "i2" if texture in ("sparse", "steps") else "f4"
                chunks = cuts["small"] if texture == "small" else (steps, side // 8, side // 8)
                for format in ("netcdf4", "zarr2", "hdf5"):
                    if (format == "hdf5") != (codec == "lzf"):
                        continue
                    if codec == "szip" and format == "zarr2":
                        continue
                    yield File(
                        f"{codec}{'-s' if shuffle else ''}-{texture}-{format}",
                        "packed" if texture in ("steps", "small") else texture,
                        less,
                        dtype,
                        Layout(format, chunks, codec=codec, shuffle=shuffle),
                    )


def selections(shape: tuple[int, ...]) -> dict[str, tuple[Selection, ...]]:
    """Return the reads of a file by name, one call or several."""
    t, y, x = shape
    every = slice(None)
    points = [(every, (7 * i) % y, (13 * i) % x) for i in range(12)]
    return {
        "whole": ((every,) * 3,),
        "map": ((t // 3, every, every),),
        "series": ((every, 2 * y // 3, x // 3),),
        "box": (
            (slice(t // 5, max(3 * t // 4, 1)), slice(y // 5, y // 2), slice(x // 10, x // 3)),
        ),
        "rows": ((every, slice(y // 7, y // 7 + 2), every),),
        "column": ((every, every, x // 5),),
        "strided": ((every, slice(0, y, 2), slice(0, x, 3)),),
        "points": tuple(points),
    }


def measured(
    made: Sequence[tuple[File, Path]], libraries: Sequence[str] = LIBRARIES
) -> Iterator[Measured]:
    """Yield the reads of files that were made.

    Parameters
    ----------
    made
        Files and where they lie.
    libraries
        Readers of `LIBRARIES`; what is not installed, or cannot read a file, is left out.
    """
    for file, path in made:
        usable = [name for name in readers(file.layout) if name in libraries]
        chunks = file.layout.chunks
        stored = None
        if file.layout.codec is not None and chunks is not None:
            grid = [-(-n // c) for n, c in zip(file.shape, chunks, strict=True)]
            stored = stored_bytes(path) / math.prod(grid)
        plain = file.layout.codec is None
        values = file.values()
        for library in usable:
            for name, chosen in selections(file.shape).items():
                if not _wanted(file, library, name, plain):
                    continue
                read = Read(file.shape, file.dtype, file.layout, chosen, library, stored)
                total = checksum(values[chosen[-1]])
                one = Measured(f"{file.name}/{library}/{name}", Reading(path, read), total)
                yield one
                if _cold(file, library, name):
                    cold = replace(read, cache="cold")
                    yield replace(one, name=f"{one.name}/cold", reading=Reading(path, cold))


def _wanted(file: File, library: str, name: str, plain: bool) -> bool:
    if library in BELOW:
        # What they cost more shows in reads that are little else.
        small = ("plain-series", "zarr-series", "plain-contiguous", "plain-classic")
        return file.name in small and name in ("map", "series", "points")
    if plain:
        if file.name == "plain-long":
            return name == "whole" and library in ("netcdf4", "h5py")
        return not (library == "subchunk" and name == "points")
    if library not in _DECODERS:
        return False
    if library == "subchunk":
        return file.layout.codec == "deflate" and name in (
            "whole", "map", "series", "box", "strided",
        )  # fmt: skip
    return name == "whole" or (name == "series" and library != "zarr" and "packed" in file.name)


def _cold(file: File, library: str, name: str) -> bool:
    if name in ("strided", "points", "column"):
        return False
    if file.name.startswith(("plain-", "zarr-")):
        return library in ("h5py", "zarr", "plain") or (file.name, library) == (
            "plain-classic",
            "netcdf4",
        )
    return file.layout.codec == "deflate" and library == "netcdf4" and name == "whole"
