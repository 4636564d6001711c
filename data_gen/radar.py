"""Radar mosaic tiles: twelve int16 products on 1501 x 2001 points, as in Lee et al. (2008)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from scipy import ndimage

from data_gen.spectral import amplitude, fast_shape, field, stream, wavenumbers, white

NO_ECHO, NO_COVERAGE = -990, -9990  # as stored

# name: stored values in one unit
SCALE: Mapping[str, int] = MappingProxyType(
    {
        "cref": 100,
        "hcref": 100,
        "lcref": 100,
        "hsr": 100,
        "etop18": 100,
        "etop30": 100,
        "vil": 100,
        "vild": 1000,
        "shi": 10,
        "posh": 1,
        "mehs": 100,
        "rate": 100,
    }
)
# Fraction of each tile with echo: gives the compression ratios of Lee's Table 5.
COVERAGE: Mapping[str, float] = MappingProxyType({"tile1": 0.0765, "tile2": 0.1285, "tile4": 0.069})


@dataclass(frozen=True)
class Storms:
    """Parameters of one tile.

    Examples
    --------
    >>> Storms(coverage=0.05).shape
    (1501, 2001)
    """

    nlat: int = 1501
    nlon: int = 2001
    coverage: float = 0.1  # fraction of the tile with echo
    slope: float = 4.2  # of the spectrum of the rain systems
    cells: int = 72  # convective cells
    lines: int = 3  # squall lines, which hold a third of them
    texture: float = 1.0  # dB, grain of the echoes
    bands: float = 2.0  # dB, unevenness of the rain within a system
    seed: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.nlat, self.nlon


class Tile:
    """Draws the products of one tile.

    Examples
    --------
    >>> products = Tile(Storms(nlat=150, nlon=200, cells=9)).products()
    >>> products["cref"].dtype, products["cref"].shape, len(products)
    (dtype('int16'), (150, 200), 12)
    """

    def __init__(self, parameters: Storms | None = None) -> None:
        p = self.parameters = parameters or Storms()
        self.lat = np.linspace(40.0, 40.0 - 0.01 * (p.nlat - 1), p.nlat)
        self.lon = np.linspace(-95.0, -95.0 + 0.01 * (p.nlon - 1), p.nlon)
        self._shape = fast_shape(p.nlat + 64, p.nlon + 64)
        ky, kx = wavenumbers(self._shape)
        rows, columns = self._shape
        self._k = np.hypot(ky / rows, kx / columns) * np.float32(1000)  # cycles per 1000 points

    def _field(self, name: str, slope: float, low: float, high: float | None = None) -> np.ndarray:
        modes = white(stream(self.parameters.seed, name), self._k.shape)
        modes *= amplitude(self._k, slope, low, high)
        return field(modes, self._shape, self.parameters.shape)

    @cached_property
    def covered(self) -> np.ndarray:
        """Where some radar of the network sees: bool (lat, lon)."""
        p, rng, coarse = self.parameters, stream(self.parameters.seed, "network"), 10
        y, x = np.mgrid[0 : p.nlat + coarse : coarse, 0 : p.nlon + coarse : coarse].astype("f4")
        nearest = np.full(y.shape, np.inf, "f4")
        for row in np.arange(60, p.nlat + 240, 240):
            for column in np.arange(-60, p.nlon + 240, 250):
                away_y, away_x = rng.uniform(-70, 70, 2)
                if column > 1.1 * (row - 1050):  # the south-western corner is sea
                    reach = (y - row - away_y) ** 2 + (x - column - away_x) ** 2
                    np.minimum(nearest, reach, out=nearest)
        fine = ndimage.zoom(np.sqrt(nearest), coarse, order=1, grid_mode=True, mode="nearest")
        out: np.ndarray = fine[: p.nlat, : p.nlon] < 300
        return out

    def _places(self, depth: np.ndarray) -> np.ndarray:
        """Return the cells' centres: float64 (cells, 2), rows and columns."""
        p, rng = self.parameters, stream(self.parameters.seed, "places")
        weight = np.where(depth > 0, depth, 0)[::4, ::4]
        odds = (weight / weight.sum(dtype="f8")).ravel().astype("f8")
        spots = rng.choice(weight.size, p.cells + p.lines, p=odds / odds.sum())
        centres = 4.0 * np.stack(np.divmod(spots, weight.shape[1]), axis=1)
        each = p.cells // (3 * max(p.lines, 1))
        tilt = rng.uniform(0.2, 0.9)
        for line in range(p.lines):
            along = rng.uniform(-1, 1, each)
            length, bow = rng.uniform(90, 220), rng.uniform(0.1, 0.35)
            across = bow * length * (1 - along**2) + rng.normal(0, 4, each)
            angle = tilt + rng.normal(0, 0.15)
            cells = centres[line * each : (line + 1) * each]
            middle = centres[p.cells + line]
            cells[:, 0] = middle[0] + length * along * np.cos(angle) - across * np.sin(angle)
            cells[:, 1] = middle[1] + length * along * np.sin(angle) + across * np.cos(angle)
        return centres[: p.cells]

    def _cores(self, depth: np.ndarray) -> np.ndarray:
        """Return the strength of the convective cells: float32 (lat, lon), 0 to 1."""
        p, rng = self.parameters, stream(self.parameters.seed, "cells")
        core = np.zeros(p.shape, "f4")
        for y, x in self._places(depth):
            size, peak = rng.lognormal(2.35, 0.3), rng.beta(2, 3.4)
            stretch, angle = rng.uniform(1, 2), rng.uniform(0, np.pi)
            reach = int(3.5 * size * stretch)
            rows = slice(max(int(y) - reach, 0), max(min(int(y) + reach + 1, p.nlat), 0))
            columns = slice(max(int(x) - reach, 0), max(min(int(x) + reach + 1, p.nlon), 0))
            dy, dx = np.ogrid[rows, columns]
            dy, dx = (dy - y).astype("f4"), (dx - x).astype("f4")
            along = dx * np.cos(angle) + dy * np.sin(angle)
            across = dy * np.cos(angle) - dx * np.sin(angle)
            cell = peak * np.exp(-0.5 * ((along / (size * stretch)) ** 2 + (across / size) ** 2))
            core[rows, columns] = np.maximum(core[rows, columns], cell)
        return core

    def products(self) -> dict[str, np.ndarray]:
        """Return the twelve products: each int16 (lat, lon), stored values."""
        p = self.parameters
        rain = self._field("rain", p.slope, 1.2)
        cores = self._cores(rain - np.quantile(rain[::4, ::4], 1 - p.coverage))
        rain += 3 * cores
        covered = self.covered
        cut = np.quantile(rain[::4, ::4][covered[::4, ::4]], 1 - p.coverage / covered.mean())
        echo = (rain > cut) & covered
        grain = self._field("grain", 1.0, 60.0)
        depth, core = rain[echo] - cut, cores[echo]
        weak = np.where(depth > 0, np.sqrt(np.minimum(depth, 2.5)), 0)
        bands = self._field("bands", 2.6, 16.0)[echo]
        dbz = 15 + 11 * weak + 34 * core + p.bands * bands + p.texture * grain[echo]
        noise = [np.roll(grain, (211 * i, 377 * i), axis=(0, 1))[echo] for i in (1, 2, 3)]
        values = _moments(np.minimum(dbz, 74), core, noise)
        empty = np.where(covered, NO_ECHO, NO_COVERAGE).astype("i2")
        out = {}
        for name, scale in SCALE.items():
            stored = np.rint(values[name] * scale)
            np.copyto(stored, NO_ECHO, where=~np.isfinite(stored))
            whole = empty.copy()
            whole[echo] = stored
            out[name] = whole
        return out


def _moments(dbz: np.ndarray, core: np.ndarray, noise: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Return each product where there is echo, in its unit, NaN where it has no value."""
    keep = np.full(dbz.shape, np.nan, "f4")

    def only(where: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.where(where, values, keep)

    z = 10 ** (np.minimum(dbz, 56) / 10)  # capped as for hail
    top18 = only(dbz >= 18, 4.2 + 0.13 * (dbz - 18) + 6 * core + 0.8 * noise[0])
    high = 3.2 + 0.14 * (dbz - 30) + 6 * core + 0.6 * noise[1]
    top30 = only(dbz >= 30, np.minimum(top18 - 0.5, high))
    low = dbz - 2 - 1.5 * np.abs(noise[1])
    hybrid = low - 1 + 0.8 * noise[2]
    vil = only(dbz >= 18, 3.44e-3 * z ** (4 / 7) * top18)
    # Witt et al. (1998): the flux of hail's energy above the melting level, and what follows.
    flux = np.clip((dbz - 40) / 10, 0, 1) * 5e-6 * 10 ** (0.084 * dbz)
    shi = 0.1 * flux * np.maximum(top30 - 4, 0) * 1000
    shi = np.rint(10 * only(shi >= 1, shi)) / 10
    posh = np.clip(29 * np.log(shi / 57.5) + 50, 0, 100)
    return {
        "cref": dbz,
        "hcref": only(dbz >= 5, 2.5 + 4 * core + np.abs(0.9 * noise[2] + 0.5 * noise[0])),
        "lcref": only(low >= 5, low),
        "hsr": only(hybrid >= 5, hybrid),
        "etop18": top18,
        "etop30": top30,
        "vil": vil,
        "vild": only(vil > 0.1, vil / top18),
        "shi": shi,
        "posh": only(posh > 0, posh),
        "mehs": 2.54 * np.sqrt(shi),
        "rate": only(dbz >= 12, (z / 300) ** (1 / 1.4)),
    }
