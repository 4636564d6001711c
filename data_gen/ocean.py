"""Mediterranean-like surface currents, hourly, on the grid of Penard et al. (2025)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import ndimage

from data_gen import coast
from data_gen.spectral import amplitude, fast_shape, field, stream, turned, wavenumbers, white

FILL = np.float32(1e20)  # over land, as NEMO and CMEMS write it
DEGREE_M = 111_200.0
M2_HOURS = 12.4206


@dataclass(frozen=True)
class Ocean:
    """Parameters of the synthetic ocean; the defaults give the sizes of Penard's Table 1.

    Examples
    --------
    >>> Ocean(steps=2).shape
    (2, 380, 1287)
    """

    steps: int = 72  # frames
    nlat: int = 380
    nlon: int = 1287
    slope: float = 3.0  # kinetic energy ~ k**-slope beyond the scale of the eddies
    scale: float = 250.0  # km, wavelength of the most energetic eddies
    cutoff: float = 60.0  # cycles per 1000 km, where a model's viscosity takes over
    speed: float = 0.21  # m/s, rms of one component of the eddies' velocity
    boundary: float = 0.22  # m/s, peak of the current along the coasts
    shelf: float = 25.0  # km, width over which the flow adjusts to the coast
    tide: float = 0.03  # m/s, rms of a component of the M2 current
    inertial: float = 0.04  # m/s, rms of a component of the inertial oscillations
    step_s: float = 3600.0  # s between frames
    seed: int = 0

    @property
    def shape(self) -> tuple[int, int, int]:
        """Frames, rows and columns of the whole variable."""
        return self.steps, self.nlat, self.nlon


class Currents:
    """Draws eastward and northward velocities, one frame at a time.

    The flow is the curl of a stream function that lies at the corners of the grid cells and is
    constant on every corner that touches land: it has no divergence and never crosses a coast.
    Inertial oscillations, which do diverge, fade towards the coasts instead.

    Examples
    --------
    >>> u, v = Currents(Ocean(nlat=40, nlon=130)).frame(3)
    >>> u.shape, u.dtype, bool((u == FILL).any())
    ((40, 130), dtype('float32'), True)
    """

    def __init__(self, parameters: Ocean | None = None) -> None:
        p = self.parameters = parameters or Ocean()
        self.lat = np.linspace(30.1875, 45.97917, p.nlat, dtype="f4")
        self.lon = np.linspace(-17.29167, 36.29167, p.nlon, dtype="f4")
        self.dy_m = DEGREE_M * 15.79167 / (p.nlat - 1)
        east = DEGREE_M * 53.58334 / (p.nlon - 1)
        self.dx_m = (east * np.cos(np.deg2rad(self.lat, dtype="f8"))).astype("f4")[:, None]
        self._corners = (p.nlat + 1, p.nlon + 1)
        self._shape = fast_shape(p.nlat + 33, p.nlon + 33)
        ky, kx = wavenumbers(self._shape)
        rows, columns = self._shape
        middle_m = float(self.dx_m[p.nlat // 2, 0])
        self._kx = kx * np.float32(1e6 / (columns * middle_m))
        self._k = np.hypot(ky * np.float32(1e6 / (rows * self.dy_m)), self._kx)

    @cached_property
    def land(self) -> np.ndarray:
        """Where there is no water, whatever the seed: bool (lat, lon)."""
        p = self.parameters
        lon, lat = np.meshgrid(self.lon.astype("f8"), self.lat.astype("f8"))
        ragged = amplitude(self._k, 1.5, 8.0)
        crop = (p.nlat, p.nlon)
        for axis, name, degrees in ((lon, "east", 0.05), (lat, "north", 0.04)):
            modes = white(stream(0, "coast", name), self._k.shape) * ragged
            axis += degrees * field(modes, self._shape, crop)
        dry = coast.land(lon, lat, coast.MAINLAND) | coast.land(lon, lat, coast.ISLANDS)
        basins, _ = ndimage.label(~dry)
        out: np.ndarray = basins != np.bincount(basins.ravel())[1:].argmax() + 1
        return out

    @cached_property
    def offshore_km(self) -> np.ndarray:
        """Distance of each cell corner from the coast: float32 (lat + 1, lon + 1), 0 on land."""
        around = np.pad(self.land, 1, mode="edge")
        shore = around[1:, 1:] | around[:-1, 1:] | around[1:, :-1] | around[:-1, :-1]
        if not shore.any():
            return np.full(shore.shape, np.inf, "f4")
        step = (self.dy_m / 1e3, float(self.dx_m.mean()) / 1e3)
        out: np.ndarray = ndimage.distance_transform_edt(~shore, sampling=step).astype("f4")
        return out

    @cached_property
    def _eddies(self) -> tuple[np.ndarray, np.ndarray]:
        """Modes of the eddies' stream function (m2/s), and how fast they turn (rad/s)."""
        p = self.parameters
        spectrum = amplitude(self._k, p.slope + 2, 1e3 / p.scale, p.cutoff)
        radians = 2e-6 * np.pi * self._k
        spectrum *= p.speed / np.sqrt(np.square(radians * spectrum, dtype="f8").sum())
        modes = white(stream(p.seed, "eddies"), self._k.shape) * spectrum
        # Eddies drift west by some kilometres a day and turn over in days, small ones faster.
        drift = 2e-6 * np.pi * self._kx * 0.035
        random = stream(p.seed, "turn").standard_normal(self._k.shape, dtype="f4")
        turn = 2e-6 * np.pi * p.speed * self._k ** (2 / 3) * random
        return modes, (drift + turn).astype("f4")

    def _smooth(self, *words: str) -> np.ndarray:
        """Return a smooth random field of unit variance on the corners."""
        modes = white(stream(self.parameters.seed, *words), self._k.shape)
        modes *= amplitude(self._k, 5.0, 2.0, 20.0)
        return field(modes, self._shape, self._corners)

    @cached_property
    def _taper(self) -> np.ndarray:
        return np.tanh(self.offshore_km / np.float32(self.parameters.shelf))

    @cached_property
    def _steady(self) -> np.ndarray:
        """Stream function of the mean flow (m2/s): along the coasts, land on its right."""
        p = self.parameters
        width = 1.6 * p.shelf
        jet = -p.boundary * width * 1e3 / 0.86 * (1 - np.exp(-((self.offshore_km / width) ** 2)))
        return (jet * np.clip(1 + 0.6 * self._smooth("boundary"), 0, 2)).astype("f4")

    @cached_property
    def _tides(self) -> tuple[np.ndarray, np.ndarray]:
        """Stream functions of the tide in phase and in quadrature (m2/s), stronger inshore."""
        p = self.parameters
        near = 0.4 + np.exp(-self.offshore_km / 80.0)
        scale = np.float32(p.tide * 9e4) * near * self._taper
        return scale * self._smooth("tide", "in"), scale * self._smooth("tide", "out")

    @cached_property
    def _inertial(self) -> tuple[np.ndarray, np.ndarray]:
        """Complex velocity of the inertial motion (m/s), and its frequency in each row (rad/s)."""
        p = self.parameters
        quiet = np.tanh(self.offshore_km[:-1, :-1] / np.float32(2 * p.shelf)) ** 2
        east, north = (self._smooth("inertial", w)[:-1, :-1] for w in ("east", "north"))
        rate = 1.4584e-4 * np.sin(np.deg2rad(self.lat, dtype="f8"))
        return (p.inertial * quiet * (east + 1j * north)).astype("c8"), rate[:, None]

    def open_stream_function(self, step: int) -> np.ndarray:
        """Return the eddies' stream function as if there were no land: m2/s, (lat + 1, lon + 1)."""
        modes, angle = self._eddies
        turned_modes = turned(modes, angle, step * self.parameters.step_s)
        return field(turned_modes, self._shape, self._corners)

    def stream_function(self, step: int) -> np.ndarray:
        """Return the stream function of a step, 0 on land: float32 (lat + 1, lon + 1), m2/s.

        Parameters
        ----------
        step : int
            Number of the frame, any whole number.
        """
        p = self.parameters
        hours = step * p.step_s / 3600
        phase = 2 * np.pi * hours / M2_HOURS
        psi = self.open_stream_function(step)
        psi *= self._taper
        psi += self._steady
        tide_in, tide_out = self._tides
        psi += np.float32(np.cos(phase)) * tide_in
        psi += np.float32(np.sin(phase)) * tide_out
        return psi

    def faces(self, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocities through the cells' faces: no divergence, none through a coast.

        Parameters
        ----------
        step : int
            Number of the frame.

        Returns
        -------
        u, v : float32 arrays of shape (lat, lon + 1) and (lat + 1, lon), m/s
        """
        psi = self.stream_function(step)
        u = np.diff(psi, axis=0)
        u *= np.float32(-1 / self.dy_m)
        v = np.diff(psi, axis=1)
        v /= np.concatenate([self.dx_m, self.dx_m[-1:]])
        return u, v

    def frame(self, step: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocities at the cells' centres: two float32 (lat, lon), m/s.

        Parameters
        ----------
        step : int
            Number of the frame, any whole number; frames may be drawn in any order.

        Returns
        -------
        u, v : float32 arrays of shape (lat, lon), m/s; `FILL` over land
        """
        p = self.parameters
        u_face, v_face = self.faces(step)
        u = u_face[:, :-1] + u_face[:, 1:]
        v = v_face[:-1] + v_face[1:]
        u *= np.float32(0.5)
        v *= np.float32(0.5)
        if p.inertial:
            velocity, rate = self._inertial
            spin = velocity * np.exp(-1j * rate * (step * p.step_s)).astype("c8")
            u += spin.real
            v += spin.imag
        u[self.land] = FILL
        v[self.land] = FILL
        return u, v

    def frames(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield every frame in order."""
        return (self.frame(step) for step in range(self.parameters.steps))
