"""Global air temperature on pressure levels, hourly, on the grid of Penard et al. (2025)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import fft, ndimage
from scipy.interpolate import PchipInterpolator

from data_gen import coast
from data_gen.spectral import amplitude, fast_shape, stream, turned, wavenumbers, white

LEVELS = np.array([1000, 925, 850, 700, 600, 500, 400, 300, 250, 200, 150, 100, 50], "i4")  # hPa
HEIGHT = -7.0 * np.log(LEVELS / 1000.0)  # km, log-pressure

# Zonal means of a northern winter, K: a row a level, columns every 15 degrees from the south pole.
_CLIMATE = """
    256 262 274 284 296 300.5 300.5 298.5 291 278 263 250 246
    254 259 270.5 279.5 291.5 295 295 294 287.5 275 261.5 251.5 248.5
    252 257 267.5 276 288 290.5 290.5 290 283 271.5 260 252 249.5
    246.5 251 260.5 269.5 279.5 282.5 282.5 282.5 275.5 264 254 246.5 244
    240 244.5 253.5 262.5 272.5 275.5 275.5 275.5 268.5 257 247 240 237.5
    233 237 246 255 264.5 268 268 267.5 260.5 249.5 239.5 232.5 230.5
    223.5 227 235 243.5 253 257 257 256.5 248.5 237.5 228.5 222 220
    217 218.5 223 229.5 239 242 242 241.5 234 224.5 218.5 213.5 212
    221 221 222 223 230.5 232 232 231.5 226 219.5 217 212.5 210.5
    227 226 224 220 220.5 219.5 219.5 219 217.5 217.5 218 211.5 208
    230.5 229 225.5 218.5 209.5 206 205.5 206 210.5 217 219 211 206
    232 231 226.5 217 202.5 195 193.5 195 204 215 218.5 209.5 203
    233.5 232.5 227 218 208.5 203 201.5 203 209 215 216 206 199
"""
CLIMATE = np.array([row.split() for row in _CLIMATE.strip().splitlines()], "f8")


@dataclass(frozen=True)
class Atmosphere:
    """Parameters of the synthetic atmosphere; the defaults give the sizes of Penard's Table 1.

    Examples
    --------
    >>> Atmosphere(steps=2).shape
    (2, 13, 721, 1440)
    """

    steps: int = 13  # frames
    nlat: int = 721
    nlon: int = 1440
    slope: float = 4.0  # of the spectrum of the synoptic waves
    cutoff: float = 420.0  # waves a circle, the effective resolution: three to four grid steps
    wander: float = 8.7  # degrees of latitude, rms by which waves displace the air
    meso: float = 0.75  # K, rms of the mesoscale range, k**-5/3
    terrain: float = 6.0  # K, how much colder the ground is a hill's height above the sea
    coarse: int = 925  # hPa: from there down values are multiples of 2**-9 K, above of 2**-10 K
    step_s: float = 3600.0  # s between frames
    seed: int = 0

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Frames, levels, rows and columns of the whole variable."""
        return self.steps, len(LEVELS), self.nlat, self.nlon


class GFS:
    """Draws air temperature on all levels, one frame at a time.

    Waves displace the climate's isotherms along the meridians, so the air is as variable as its
    gradients allow and fronts form where they are steep; land and sea, the polar vortex, the
    sun and mesoscale noise are added. Values are packed as 16-bit GRIB packs them.

    Examples
    --------
    >>> t = GFS(Atmosphere(nlat=46, nlon=90)).frame(0)
    >>> t.shape, t.dtype, bool(180 < t.min() < t.max() < 330)
    ((13, 46, 90), dtype('float32'), True)
    """

    waves = 3  # vertical structures of the synoptic waves
    layers = 5  # independent layers of mesoscale noise
    nodes = 8192  # of the climate's table in latitude

    def __init__(self, parameters: Atmosphere | None = None) -> None:
        p = self.parameters = parameters or Atmosphere()
        self.lat = np.linspace(90, -90, p.nlat, dtype="f4")
        self.lon = (np.arange(p.nlon) * (360 / p.nlon)).astype("f4")
        self._shape = (fast_shape(p.nlat, p.nlon)[0], p.nlon)
        ky, kx = wavenumbers(self._shape)
        self._k = np.hypot(ky * np.float32(p.nlon / self._shape[0]), kx)  # waves a circle
        drift = 12.0 / 6.371e6  # rad/s a wave: 12 m/s, less for the longest waves
        self._angle = (kx * drift * (1 - 1 / (1 + (self._k / 6) ** 2))).astype("f4")

    @cached_property
    def _from_equator(self) -> np.ndarray:
        out: np.ndarray = np.abs(self.lat.astype("f8"))
        return out

    def _rows(self, spectrum: np.ndarray, tilt: bool) -> np.ndarray:
        """Return what turns a plane's zonal modes into a sphere's: complex64 (lat, modes).

        Waves keep their length in km towards the poles, unit variance in each row, and where
        asked lean as eddies about a jet do.
        """
        p = self.parameters
        m = np.arange(p.nlon // 2 + 1, dtype="f8")
        power = 2 * np.square(spectrum, dtype="f8").sum(0)
        squeeze = np.maximum(np.cos(np.deg2rad(self._from_equator)), 1e-3)[:, None]
        local = np.minimum(m / squeeze, 4 * m[-1])
        level = np.maximum(power, power.max() * 1e-16)
        factor = np.exp(0.5 * (np.interp(local, m, np.log(level)) - np.log(level)))
        factor[:, 0] = 1
        factor *= np.exp(-((local / (1.2 * m[-1])) ** 8))
        factor /= np.sqrt((factor**2 * power).sum(1, keepdims=True))
        poleward = self._from_equator[:, None] - 46
        lean = np.deg2rad(18.0 * np.exp(-((poleward / 26) ** 2)) - 0.35 * poleward) if tilt else 0.0
        sweep = np.exp(1j * m * lean * np.cos(np.deg2rad(self._from_equator))[:, None])
        out: np.ndarray = (factor * sweep).astype("c8")
        return out

    @cached_property
    def _synoptic(self) -> tuple[list[np.ndarray], np.ndarray]:
        spectrum = amplitude(self._k, self.parameters.slope, 8.0, self.parameters.cutoff)
        return self._modes("synoptic", self.waves, spectrum), self._rows(spectrum, tilt=True)

    @cached_property
    def _mesoscale(self) -> tuple[list[np.ndarray], np.ndarray]:
        spectrum = amplitude(self._k, 5 / 3, 30.0, self.parameters.cutoff)
        return self._modes("meso", self.layers, spectrum), self._rows(spectrum, tilt=False)

    def _modes(self, name: str, count: int, spectrum: np.ndarray) -> list[np.ndarray]:
        seed = self.parameters.seed
        return [white(stream(seed, name, i), spectrum.shape) * spectrum for i in range(count)]

    def _field(self, modes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        p = self.parameters
        zonal = fft.ifft(modes, axis=0, norm="forward", overwrite_x=True)[: p.nlat]
        zonal *= rows
        out: np.ndarray = fft.irfft(zonal, n=p.nlon, axis=1, norm="forward", overwrite_x=True)
        return out

    @cached_property
    def land(self) -> np.ndarray:
        """Where there is land: bool (lat, lon)."""
        lon, lat = np.meshgrid((self.lon.astype("f8") + 180) % 360 - 180, self.lat.astype("f8"))
        return coast.land(lon, lat, coast.WORLD)

    @cached_property
    def _contrast(self) -> tuple[np.ndarray, np.ndarray]:
        """Winter's cold and summer's warm land at the ground (K), and how land blurs (0-1)."""
        p = self.parameters
        blur = ndimage.gaussian_filter(
            self.land.astype("f4"), 2.0 * p.nlat / 180, mode=("nearest", "wrap")
        )
        lat = self.lat.astype("f8")
        amount = -18.0 / (1 + np.exp(-(lat - 38) / 7)) * np.exp(-np.maximum(lat - 72, 0) / 9)
        amount += 6.0 * np.exp(-(((lat + 24) / 13) ** 2))
        spectrum = amplitude(self._k, 2.0, 6.0, p.cutoff)
        modes = white(stream(p.seed, "terrain"), spectrum.shape) * spectrum
        hills = np.maximum(self._field(modes, self._rows(spectrum, tilt=False)), 0)
        cold = blur * (amount[:, None].astype("f4") - np.float32(p.terrain) * hills)
        return cold - cold.mean(1, keepdims=True), blur * np.cos(np.deg2rad(lat))[:, None]

    @cached_property
    def _table(self) -> np.ndarray:
        """Climate of each level at equal steps of latitude, -90 to 90: float32 (levels, nodes)."""
        lat = np.linspace(-90, 90, self.nodes + 1)
        smooth = PchipInterpolator(np.linspace(-90, 90, 13), CLIMATE, axis=1)(lat)
        width = self.nodes / 180 * 3.0
        table = ndimage.gaussian_filter1d(smooth, width, axis=1, mode="nearest")
        # Gather the gradient of the middle latitudes into the polar front.
        offset = np.abs(lat) - 43
        front = np.tanh(offset / 14) - np.tanh(offset / 2.5)
        table += np.clip(4.5 * (1 - HEIGHT / 9), 0, None)[:, None] * front
        out: np.ndarray = table.astype("f4")
        return out

    def _climate(self, level: int, lat: np.ndarray) -> np.ndarray:
        """Return the climate of a level at given latitudes (degrees; overwritten)."""
        lat += 90
        lat *= np.float32(self.nodes / 180)
        np.clip(lat, 0, self.nodes - 0.01, out=lat)
        node = lat.astype("i4")
        lat -= node
        row = self._table[level]
        lat *= np.diff(row)[node]
        lat += row[node]
        return lat

    def frame(self, step: int) -> np.ndarray:
        """Return the temperature of a step.

        Parameters
        ----------
        step : int
            Number of the frame, any whole number; frames may be drawn in any order.

        Returns
        -------
        float32 array of shape (level, lat, lon), K
        """
        p = self.parameters
        time = step * p.step_s
        modes, rows = self._synoptic
        waves = [self._field(turned(m, self._angle, time), rows) for m in modes]
        meso_modes, meso_rows = self._mesoscale
        noise = [self._field(turned(m, self._angle, time), meso_rows) for m in meso_modes]
        out = np.empty((len(LEVELS), p.nlat, p.nlon), "f4")
        for level in range(len(LEVELS)):
            out[level] = self._level(level, time, waves, noise)
        return out

    def _level(
        self,
        level: int,
        time_s: float,
        waves: list[np.ndarray],
        noise: list[np.ndarray],
    ) -> np.ndarray:
        """Return one level's packed temperature: float32 (lat, lon), K."""
        p, z = self.parameters, float(HEIGHT[level])
        shift = np.zeros((p.nlat, p.nlon), "f4")
        for j, wave in enumerate(waves):
            shift += np.float32(0.8 ** (j + 1) * np.cos(np.pi * j * z / 21)) * wave
        shift *= self._storm
        shift += self._vortex(z)
        shift += self.lat[:, None]
        air = self._climate(level, shift)
        air += np.float32(0.5) * waves[-1]
        # Over troughs the tropopause is low and the air about it warm.
        warm = 0.6 * np.exp(-(((z - 11.0) / 1.8) ** 2))
        if warm > 0.01:
            air += np.float32(warm) * self._storm * waves[1]
        cold, ground = self._contrast
        if z < 12:
            air += np.float32(np.exp(-z / 2.5)) * cold
        if z < 2.5:
            sun = np.cos(2 * np.pi * (time_s / 86400 + self.lon.astype("f8") / 360 - 14.5 / 24))
            air += (2.5 * np.exp(-z / 0.8) * sun).astype("f4") * ground
        for weight, layer in zip(self._blend(z), noise, strict=True):
            if weight > 1e-3:
                air += np.float32(p.meso * weight) * layer
        return pack(air, 2.0 ** (-9 if LEVELS[level] >= p.coarse else -10))

    @cached_property
    def _storm(self) -> np.ndarray:
        """How far waves displace the air, degrees: far in the storm tracks, little elsewhere."""
        lat = self._from_equator
        track = 0.2 + np.exp(-(((lat - 50) / 22) ** 2))
        track *= np.sqrt(np.cos(np.deg2rad(lat)).clip(0))
        return (self.parameters.wander * track).astype("f4")[:, None]

    def _vortex(self, z: float) -> np.ndarray:
        """Return how the planetary waves displace the air at a height (km), in degrees."""
        lat = self.lat.astype("f8")[:, None]
        lon = np.deg2rad(self.lon.astype("f8"))
        reach = np.exp(-(((lat - 62) / 16) ** 2)) * np.sqrt(np.cos(np.deg2rad(lat)).clip(0))
        one, two = np.cos(lon - 2.6 - 0.05 * z), np.cos(2 * (lon - 1.2 + 0.04 * z))
        out: np.ndarray = ((3 + 9 * (z / 21) ** 2) * reach * (one + 0.6 * two)).astype("f4")
        return out

    def _blend(self, z: float) -> np.ndarray:
        """Return the weight of each layer of noise at a height (km)."""
        centre = np.linspace(0, HEIGHT[-1], self.layers)
        near = np.exp(-(((z - centre) / (HEIGHT[-1] / 6)) ** 2))
        out: np.ndarray = near / np.sqrt((near**2).sum()) * np.exp(-0.5 * ((z - 3) / 8) ** 2)
        return out

    def frames(self) -> Iterator[np.ndarray]:
        """Yield every frame in order."""
        return (self.frame(step) for step in range(self.parameters.steps))


def pack(values: np.ndarray, step: float) -> np.ndarray:
    """Return a field rounded to its minimum plus multiples of a step, as GRIB packs it.

    Parameters
    ----------
    values : float32 array, K
    step : float
        A power of two, K.

    Examples
    --------
    >>> pack(np.array([200.0, 200.3], "f4"), 0.25).tolist()
    [200.0, 200.25]
    """
    low = values.min()
    count = values - low
    count *= np.float32(1 / step)
    np.rint(count, out=count)
    count *= np.float32(step)
    count += low
    out: np.ndarray = count
    return out
