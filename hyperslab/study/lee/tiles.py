"""Radar tiles and the layouts that they are stored in (Lee et al. 2008, section 4.2)."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import data_gen

from ...storage.layout import Layout
from ..penard.datasets import TABLE_5

SHAPE = (1501, 2001)
PRODUCTS = (
    "cref", "hcref", "lcref", "hsr", "etop18", "etop30", "vil", "vild", "shi", "posh", "mehs",
    "rate",
)  # fmt: skip
"""Of a tile, as `data_gen.radar` names them."""
LEVELS = tuple(range(1, 10))
KEPT_BITS = 7  # of the mantissa, where values are rounded
FLOAT = "dbz"
"""The group of cases on reflectivity as floating-point numbers."""

_SHUFFLED: dict[str, Any] = {"codec": "deflate", "level": 1, "shuffle": True}


def levels(profile: str) -> tuple[int, ...]:
    """Return the levels of deflate that a profile times.

    Examples
    --------
    >>> levels("quick")
    (1, 9)
    """
    return (1, 9) if profile in ("smoke", "quick") else LEVELS


def packings(group: str, profile: str, shape: tuple[int, ...] = SHAPE) -> dict[str, Layout]:
    """Return the layouts that are tried on a tile, or on its reflectivity in dBZ, by name.

    All have one chunk for each variable, as in the document.

    Parameters
    ----------
    group : str
        "tile1", "tile2", "tile4", or `FLOAT`; the first tile gets all codecs.
    profile : str
    shape : tuple of int
        Of each variable.

    Source
    ------
    Lee et al. (2008), section 4.2: chunks of a whole variable, deflate at level 1.

    Examples
    --------
    >>> list(packings("tile2", "quick"))
    ['none', 'deflate-1']
    >>> packings("dbz", "quick")["bitround-shuffle-deflate-1"].quantize
    ('bitround', 7)
    """
    plain = Layout("netcdf4", chunks=shape)
    if group == FLOAT:
        rounded = replace(plain, quantize=("bitround", KEPT_BITS))
        return {
            "float": plain,
            "float-shuffle-deflate-1": replace(plain, **_SHUFFLED),
            "bitround-shuffle-deflate-1": replace(rounded, **_SHUFFLED),
            "bitround-blosc-zstd": replace(rounded, codec="blosc-zstd", shuffle=True),
            "int16-shuffle-deflate-1": replace(plain, **_SHUFFLED),
        }
    found = {"none": plain, "deflate-1": replace(plain, codec="deflate", level=1)}
    if group != "tile1":
        return found
    for level in levels(profile):
        found[f"deflate-{level}"] = replace(plain, codec="deflate", level=level)
    return found | {
        "shuffle-deflate-1": replace(plain, **_SHUFFLED),
        "zstd-3": replace(plain, codec="zstd", level=3),
        "blosc-lz4": replace(plain, codec="blosc-lz4", shuffle=True),
        "blosc-zstd": replace(plain, codec="blosc-zstd", shuffle=True),
    }


@dataclass(frozen=True)
class Tiles:
    """The values of all cases, drawn once and kept as plain arrays.

    Parameters
    ----------
    folder : Path
        Where the arrays lie.
    profile : str
        At "smoke" the grid is a sixteenth of the document's.
    count : int
        How many of a tile's twelve products are taken, evenly over the list.
    seed : int
        Of the synthetic fields.
    """

    folder: Path
    profile: str = "full"
    count: int = len(PRODUCTS)
    seed: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of each variable."""
        return (SHAPE[0] // 4, SHAPE[1] // 4) if self.profile == "smoke" else SHAPE

    @property
    def names(self) -> tuple[str, ...]:
        """The products that are taken.

        Examples
        --------
        >>> Tiles(Path("."), count=4).names
        ('cref', 'hsr', 'vil', 'posh')
        """
        if not 1 <= self.count <= len(PRODUCTS):
            raise ValueError(f"products is {self.count}: give 1 to {len(PRODUCTS)}")
        return tuple(PRODUCTS[i * len(PRODUCTS) // self.count] for i in range(self.count))

    def path(self, group: str, packing: str) -> Path:
        """Return where the values of a case lie."""
        kind = packing.partition("-")[0]
        return self.folder / f"{'packed' if kind == 'int16' else group}.npy"

    def whole(self, tile: str) -> Path:
        """Return the file of a whole tile, all twelve products at deflate 1."""
        return self.folder / f"{tile}.nc"

    def make(self) -> None:
        """Write the whole tiles, as `data_gen` does, and keep the products that are taken."""
        from data_gen.radar import SCALE

        self.folder.mkdir(parents=True, exist_ok=True)
        rows, columns = self.shape
        for tile in TABLE_5:
            source = data_gen.dataset("radar", tile=tile, nlat=rows, nlon=columns, seed=self.seed)
            path, layout = self.whole(tile), packings(tile, "smoke", self.shape)["deflate-1"]
            path.unlink(missing_ok=True)
            data_gen.write(source, {path: layout}, sync=False)
            products = self._read(path)
            np.save(self.folder / f"{tile}.npy", np.stack([products[n] for n in self.names]))
            if tile == "tile1":
                packed = products["cref"][None]
                np.save(self.folder / "packed.npy", packed)
                dbz = (packed / np.float32(SCALE["cref"])).astype("f4")
                np.save(self.folder / f"{FLOAT}.npy", dbz)

    def _read(self, path: Path) -> dict[str, NDArray[Any]]:
        import netCDF4

        with netCDF4.Dataset(path) as file:
            file.set_auto_maskandscale(False)
            return {name: file[name][...] for name in self.names}

    def groups(self) -> dict[str, dict[str, Layout]]:
        """Return all layouts by group and name."""
        return {group: packings(group, self.profile, self.shape) for group in (*TABLE_5, FLOAT)}
