"""Two fields, in every codec that is compared."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import data_gen
from data_gen.ocean import FILL

from ...access import reader
from ...storage.layout import Layout
from ...storage.write import write_array
from .fidelity import Fidelity, compare, sizes

_SHUFFLED = {"codec": "deflate", "level": 1, "shuffle": True}
_ROUNDED = MappingProxyType(
    {
        "bitgroom-3": ("bitgroom", 3),
        "granular-3": ("granular_bitround", 3),
        "bitround-12": ("bitround", 12),
        "bitround-10": ("bitround", 10),
        "bitround-8": ("bitround", 8),
    }
)
CODECS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "none": {},
        "deflate-1": {"codec": "deflate", "level": 1},
        "deflate-4": {"codec": "deflate", "level": 4},
        "shuffle-deflate-1": _SHUFFLED,
        "shuffle-deflate-4": {**_SHUFFLED, "level": 4},
        "zstd": {"codec": "zstd"},
        "blosc-lz4": {"codec": "blosc-lz4", "shuffle": True},
        "blosc-zstd": {"codec": "blosc-zstd", "shuffle": True},
        "szip": {"codec": "szip"},
        "bzip2": {"codec": "bzip2"},
        "zarr-deflate": {"format": "zarr3", "codec": "deflate"},
        "zarr-zstd": {"format": "zarr3", "codec": "zstd"},
        "zarr-blosc-lz4": {"format": "zarr3", "codec": "blosc-lz4", "shuffle": True},
        "zarr-blosc-zstd": {"format": "zarr3", "codec": "blosc-zstd", "shuffle": True},
        **{name: {**_SHUFFLED, "quantize": how} for name, how in _ROUNDED.items()},
        "bitround-10-blosc-zstd": {
            "codec": "blosc-zstd", "shuffle": True, "quantize": ("bitround", 10),
        },
    }
)  # fmt: skip
"""What is given to `Layout` beside the chunks, by the name that records have."""
FIELDS = ("ocean", "air")


@dataclass(frozen=True)
class CodecFiles:
    """The two fields, 24 chunks or more each; `make` makes what is missing.

    Parameters
    ----------
    scratch : Path
        Of this run.
    maps : int
        Of each field.
    divisor : int
        What the sides of the maps are divided by.

    Examples
    --------
    >>> files = CodecFiles(Path("s"), 4, 1)
    >>> files.path("ocean", "zstd").as_posix(), files.layout("ocean", "zstd").chunks
    ('s/ocean-zstd.nc', (1, 190, 429))
    """

    scratch: Path
    maps: int
    divisor: int

    def shape(self, field: str) -> tuple[int, int, int]:
        """Return the shape of a field: maps, rows and columns."""
        rows, columns = (380, 1287) if field == "ocean" else (721, 1440)
        return self.maps, rows // self.divisor, columns // self.divisor

    def layout(self, field: str, codec: str) -> Layout:
        """Return how one of `CODECS` stores a field."""
        _, rows, columns = self.shape(field)
        return Layout(chunks=(1, -(-rows // 2), -(-columns // 3)), **CODECS[codec])

    def path(self, field: str, codec: str) -> Path:
        """Return where a field lies in a codec."""
        return self.scratch / f"{field}-{codec}{self.layout(field, codec).suffix}"

    def fill(self, field: str) -> float | None:
        """Return the value that means that there is none, where a field has one."""
        return float(FILL) if field == "ocean" else None

    def selections(self, field: str) -> dict[str, tuple[slice | int, ...]]:
        """Return what is read: the series of a point, and a map."""
        maps, rows, columns = self.shape(field)
        every = slice(None)
        return {"series": (every, rows // 2, columns // 2), "map": (maps // 2, every, every)}

    def values(self, field: str) -> NDArray[np.float32]:
        """Draw a field."""
        _, rows, columns = self.shape(field)
        if field == "ocean":
            drawn = data_gen.dataset("ocean", steps=self.maps)
            maps = [drawn.draw(part)["uo"][1][0] for part in range(self.maps)]
        else:
            [whole] = (values[0] for _, values in data_gen.dataset("gfs", steps=1).draw(0).values())
            maps = [whole[level % len(whole)] for level in range(self.maps)]
        thin = np.stack(maps)[:, :: self.divisor, :: self.divisor]
        return np.ascontiguousarray(thin[:, :rows, :columns], "f4")

    def truth(self, field: str, codec: str) -> Path:
        """Return where the values lie that a codec gives; the lossless share the field's own."""
        name = codec if self.layout(field, codec).quantize else "exact"
        return self.scratch / f"{field}-{name}.npy"

    def make(self) -> None:
        """Write every file once, and keep what they hold and what writing took."""
        self.scratch.mkdir(parents=True, exist_ok=True)
        rows = []
        for field in FIELDS:
            values = self.values(field)
            np.save(self.truth(field, "none"), values)
            rows += [self._write(field, codec, values) for codec in CODECS]
        self._rows.write_text(json.dumps(rows))

    def _write(self, field: str, codec: str, values: NDArray[np.float32]) -> dict[str, object]:
        layout, path = self.layout(field, codec), self.path(field, codec)
        began = time.process_time()
        size = write_array(path, values, layout, fill_value=self.fill(field), overwrite=True)
        spent = time.process_time() - began
        if layout.quantize:
            library = "h5py" if layout.codec == "deflate" else "netcdf4"
            with reader(library).open(path, "data") as opened:
                rounded = opened.read()
            check_bound(values, rounded, layout, self.fill(field))
            np.save(self.truth(field, codec), rounded)
        return {
            "case": f"{field}/{codec}",
            "file_bytes": size,
            "useful_bytes": values.nbytes,
            "user_s": spent,
        }

    @property
    def _rows(self) -> Path:
        return self.scratch / "written.json"

    def written(self) -> Iterator[dict[str, object]]:
        """Yield the size of each file and what writing it took: a row of records each."""
        for row in json.loads(self._rows.read_text()):
            field, codec = row["case"].split("/")
            yield {**row, "phase": "write", **self.layout(field, codec).record()}

    def fidelities(self) -> Iterator[dict[str, object]]:
        """Yield what rounding left of each field: a row for a band of wavelengths."""
        for field in FIELDS:
            values = np.load(self.truth(field, "none"))
            for codec in CODECS:
                if not self.layout(field, codec).quantize:
                    continue
                rounded = np.load(self.truth(field, codec))
                found = compare(zip(values, rounded, strict=True), self.fill(field))
                yield from rows(f"{field}/{codec}", found)


def rows(case: str, found: Fidelity) -> Iterator[dict[str, object]]:
    """Yield a fidelity as rows of records, one for a band.

    Examples
    --------
    >>> found = Fidelity(0.1, 0.01, 0.5, np.array([8.0, 4.0]), np.array([1.0, 0.9]), 0.99)
    >>> [row["wavelength"] for row in rows("a", found)], found.kept
    ([8.0, 4.0], 8.0)
    """
    for wavelength, coherence in zip(found.wavelengths, found.coherence, strict=True):
        yield {
            "case": case,
            "phase": "band",
            "wavelength": float(wavelength),
            "coherence": float(coherence),
            "error": found.error,
            "relative_error": found.relative,
            "changed": found.changed,
            "spectra": found.spectra,
            "kept_from": found.kept,
        }


def bound(layout: Layout) -> float:
    """Return the largest relative error that a layout's rounding may make.

    Examples
    --------
    >>> bound(Layout(quantize=("bitround", 8))), bound(Layout(quantize=("bitgroom", 3)))
    (0.001953125, 0.005)
    """
    if layout.quantize is None:
        return 0.0
    how, digits = layout.quantize
    return 2.0 ** -(digits + 1) if how == "bitround" else 0.5 * 10.0 ** (1 - digits)


def check_bound(
    values: NDArray[np.float32], rounded: NDArray[np.float32], layout: Layout, fill: float | None
) -> None:
    """Refuse values that were rounded farther than the algorithm promises.

    Raises
    ------
    ValueError
        Naming the largest error.
    """
    there = np.ones(values.shape, bool) if fill is None else values != fill
    exact = values[there].astype("f8")
    worst = float((np.abs(exact - rounded[there]) / sizes(exact)).max(initial=0.0))
    if worst > bound(layout) * (1 + 1e-6):
        raise ValueError(f"{layout.quantize} changed a value by {worst:.2g} of it")
