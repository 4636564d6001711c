"""The synthetic datasets by name: what they hold, and how to draw any part of them."""

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from data_gen import arrays, cf
from data_gen.cf import Description
from data_gen.gfs import GFS, LEVELS, Atmosphere
from data_gen.ocean import FILL, Currents, Ocean
from data_gen.radar import COVERAGE, Storms, Tile

VERSION = "1"
BLOCK_BYTES = 16 * 2**20  # of one part of an array of counted values
TILE_SEED = {"tile1": 21, "tile2": 22, "tile4": 24}

Part = dict[str, tuple[tuple[slice | int, ...], np.ndarray]]


@dataclass(frozen=True)
class RadarTile(Storms):
    """Parameters of a radar tile that is known by name.

    Examples
    --------
    >>> RadarTile(tile="tile2").coverage == COVERAGE["tile2"]
    True
    """

    tile: str = "tile1"
    coverage: float = 0.0  # 0: the tile's own

    def __post_init__(self) -> None:
        if self.tile not in COVERAGE:
            raise ValueError(f"tile={self.tile!r}: give one of {', '.join(COVERAGE)}")
        if not self.coverage:
            object.__setattr__(self, "coverage", COVERAGE[self.tile])


@dataclass(frozen=True)
class CountedArray:
    """Parameters of an array of counted values; the default is Lee's section 5.1.

    Examples
    --------
    >>> CountedArray().shape
    (3162, 3162)
    """

    shape: tuple[int, ...] = arrays.SQUARE
    dtype: str = "i4"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(int(n) for n in self.shape))
        if not self.shape or min(self.shape) < 1:
            raise ValueError(f"shape={self.shape}: give one or more lengths of at least 1")
        if self.dtype not in ("i2", "i4", "i8", "f4", "f8"):
            raise ValueError(f"dtype={self.dtype!r}: give i2, i4, i8, f4 or f8")


@dataclass(frozen=True)
class Dataset:
    """A synthetic dataset: its metadata, and a function that draws any part of it.

    Made by `dataset`.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    parameters : dataclass
        What it is drawn with.
    description : Description
        Variables, coordinates and attributes.
    parts : int
        How many parts there are; a part is one frame of each variable.
    draw : callable
        Takes the number of a part and returns, by variable, its selection and values.
    """

    name: str
    parameters: Any
    description: Description
    parts: int
    draw: Callable[[int], Part]

    @cached_property
    def frame(self) -> tuple[int, ...]:
        """Shape of the part of a variable that is drawn at once: the document's chunk."""
        shape = self.description.variables[0].shape
        if self.name == "radar":
            return shape
        length = 1 if self.name != "array" else _rows(shape, self.description.variables[0].dtype)
        return (length, *shape[1:])

    @property
    def nbytes(self) -> int:
        """Bytes of all values, uncompressed."""
        return sum(variable.nbytes for variable in self.description.variables)

    def record(self) -> dict[str, object]:
        """Return the parameters as plain values, for a manifest."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self.parameters).items()
        }


def _ocean(p: Ocean) -> Dataset:
    drawn = Currents(p)
    about = cf.ocean(
        drawn.lat, drawn.lon, p.steps, p.step_s, float(FILL), seed=p.seed, version=VERSION
    )

    def draw(part: int) -> Part:
        u, v = drawn.frame(part)
        selection = (slice(part, part + 1), slice(None), slice(None))
        return {"uo": (selection, u[None]), "vo": (selection, v[None])}

    return Dataset("ocean", p, about, p.steps, draw)


def _gfs(p: Atmosphere) -> Dataset:
    drawn = GFS(p)
    about = cf.gfs(LEVELS, drawn.lat, drawn.lon, p.steps, p.step_s, seed=p.seed, version=VERSION)

    def draw(part: int) -> Part:
        selection = (slice(part, part + 1), *[slice(None)] * 3)
        return {"air_temperature": (selection, drawn.frame(part)[None])}

    return Dataset("gfs", p, about, p.steps, draw)


def _radar(p: RadarTile) -> Dataset:
    known = {f.name: getattr(p, f.name) for f in fields(Storms)}
    drawn = Tile(Storms(**known | {"seed": 100 * p.seed + TILE_SEED[p.tile]}))
    about = cf.radar(drawn.lat, drawn.lon, p.tile, seed=p.seed, version=VERSION)

    def draw(part: int) -> Part:
        everything = (slice(None), slice(None))
        return {name: (everything, product) for name, product in drawn.products().items()}

    return Dataset("radar", p, about, 1, draw)


def _rows(shape: tuple[int, ...], dtype: str) -> int:
    row = math.prod(shape[1:]) * np.dtype(dtype).itemsize
    return min(max(BLOCK_BYTES // row, 1), shape[0])


def _array(p: CountedArray) -> Dataset:
    rows = _rows(p.shape, p.dtype)

    def draw(part: int) -> Part:
        selection = (slice(part * rows, min((part + 1) * rows, p.shape[0])),)
        selection += (slice(None),) * (len(p.shape) - 1)
        return {"values": (selection, arrays.values(p.shape, selection, p.dtype))}

    parts = -(-p.shape[0] // rows)
    return Dataset("array", p, cf.array(p.shape, p.dtype, VERSION), parts, draw)


_KINDS: Mapping[str, tuple[Any, Callable[[Any], Dataset]]] = {
    "ocean": (Ocean, _ocean),
    "gfs": (Atmosphere, _gfs),
    "radar": (RadarTile, _radar),
    "array": (CountedArray, _array),
}
NAMES = tuple(_KINDS)


def parameters(name: str) -> dict[str, object]:
    """Return the parameters a dataset takes, with their defaults.

    Examples
    --------
    >>> parameters("array")
    {'shape': (3162, 3162), 'dtype': 'i4'}
    """
    return {f.name: f.default for f in fields(_kind(name)[0])}


def dataset(name: str, **given: object) -> Dataset:
    """Return a dataset by its name.

    Parameters
    ----------
    name : str
        One of `NAMES`: "ocean", "gfs", "radar" or "array".
    **given
        Parameters other than their defaults; `parameters` lists them.

    Raises
    ------
    ValueError
        When there is no such dataset or parameter, or a value is not possible.

    Examples
    --------
    >>> dataset("gfs", steps=2).description.variables[0].shape
    (2, 13, 721, 1440)
    >>> dataset("gfs", stepz=2)
    Traceback (most recent call last):
    ...
    ValueError: gfs has no parameter 'stepz'; give some of steps, nlat, nlon, slope, cutoff, \
wander, meso, terrain, coarse, step_s, seed
    """
    kind, build = _kind(name)
    known = parameters(name)
    for key, value in given.items():
        if key not in known:
            raise ValueError(f"{name} has no parameter {key!r}; give some of {', '.join(known)}")
        _check(name, key, value, known[key])
    built: Dataset = _built(build, kind(**given))
    return built


@lru_cache(maxsize=3)
def _built(build: Callable[[Any], Dataset], values: Any) -> Dataset:
    return build(values)


def _kind(name: str) -> tuple[Any, Callable[[Any], Dataset]]:
    if name not in _KINDS:
        raise ValueError(f"no dataset {name!r}; give one of {', '.join(NAMES)}")
    return _KINDS[name]


def _check(name: str, key: str, value: object, default: object) -> None:
    if isinstance(default, int):
        low = 0 if key in ("seed", "cells", "lines", "coarse") else 1
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            raise ValueError(f"{name}: {key}={value!r}; give a whole number of at least {low}")
    elif isinstance(default, float) and (
        isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf
    ):
        raise ValueError(f"{name}: {key}={value!r}; give a number of at least 0")


@lru_cache(maxsize=1)
def generator() -> str:
    """Return the version of the generators: its number and a hash of their code."""
    code = hashlib.sha256()
    for name in ("spectral", "coast", "ocean", "gfs", "radar", "arrays", "cf", "datasets"):
        code.update((Path(__file__).parent / f"{name}.py").read_bytes())
    return f"{VERSION}-{code.hexdigest()[:8]}"
