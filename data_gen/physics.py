"""The physics that the synthetic fields are held to: ranges of observed and modelled fields."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from data_gen.datasets import dataset
from data_gen.gfs import GFS, HEIGHT, LEVELS, Atmosphere
from data_gen.ocean import Currents, Ocean
from data_gen.radar import NO_ECHO
from data_gen.spectral import radial_spectrum, slope

PROBE = (280, 506)
"""Latitude and longitude index of Penard's time series in the ocean."""

Values = NDArray[Any]
LEVEL = {int(hpa): number for number, hpa in enumerate(LEVELS)}


@dataclass(frozen=True)
class Check:
    """One number that a field must keep.

    Parameters
    ----------
    field, quantity : str
    value : float
    low, high : float
        Between which it must lie, both included.
    """

    field: str
    quantity: str
    value: float
    low: float
    high: float


def checks(seed: int = 0) -> Iterator[Check]:
    """Yield what the first frames of a seed are held to."""
    yield from _ocean_checks(seed)
    yield from _gfs_checks(seed)
    yield from _radar_checks(seed)


def _ocean_checks(seed: int) -> Iterator[Check]:
    sea = Currents(Ocean(seed=seed))
    u, v = sea.frame(0)
    speed = np.hypot(u, v)[~sea.land]
    yield Check("ocean", "share of sea", float(1 - sea.land.mean()), 0.45, 0.48)
    yield Check("ocean", "sea at the point of the series (1)", float(not sea.land[PROBE]), 1, 1)
    yield Check("ocean", "largest speed, m/s", float(speed.max()), 0.8, 2.0)
    yield Check("ocean", "slope of kinetic energy", energy_slope(sea), -3.35, -2.65)
    through, divergence = coast_flow(sea)
    yield Check("ocean", "largest flow through a coast, m/s", through, 0, 1e-12)
    yield Check("ocean", "divergence over one of its two terms", divergence, 0, 1e-3)
    yield Check("ocean", "period of the tide there, h", tide_hours(seed), 12, 13)


def energy_slope(sea: Currents) -> float:
    """Return the slope of the eddies' kinetic energy, 10 to 30 cycles in 1000 km."""
    psi = sea.open_stream_function(0)
    dx_m = float(sea.dx_m.mean())
    u = np.diff(psi, axis=0)[:, 1:] / sea.dy_m
    v = np.diff(psi, axis=1)[1:] / dx_m
    k, energy = radial_spectrum(u, sea.dy_m / 1e6, dx_m / 1e6)
    return slope(k, energy + radial_spectrum(v, sea.dy_m / 1e6, dx_m / 1e6)[1], 10, 30)


def coast_flow(sea: Currents) -> tuple[float, float]:
    """Return the largest flow through a coast (m/s), and the rms divergence over one term of it."""
    u, v = sea.faces(0)
    land = sea.land
    east = np.abs(u[:, 1:-1][land[:, 1:] != land[:, :-1]])
    north = np.abs(v[1:-1][land[1:] != land[:-1]])
    # cells are narrower in the north: compare flows through their sides, m2/s
    width = np.concatenate([sea.dx_m, sea.dx_m[-1:]])
    zonal = np.diff(u, axis=1) * sea.dy_m
    divergence = zonal + np.diff(v * width, axis=0)
    return float(max(east.max(), north.max())), float(divergence.std() / zonal.std())


def tide_hours(seed: int) -> float:
    """Return the period of the strongest oscillation of the tide alone, from 25 hours."""
    calm = Currents(Ocean(seed=seed, speed=0.0, boundary=0.0, inertial=0.0))
    series = np.array([calm.frame(hour)[0][PROBE] for hour in range(25)])
    power = np.abs(np.fft.rfft(series - series.mean())) ** 2
    return 25 / float(power[1:].argmax() + 1)


def _gfs_checks(seed: int) -> Iterator[Check]:
    air = GFS(Atmosphere(seed=seed))
    frame = air.frame(0)
    mean = frame.mean((1, 2), dtype="f8")
    yield Check("temperature", "lowest temperature, K", float(frame.min()), 180, 215)
    yield Check("temperature", "highest temperature, K", float(frame.max()), 295, 330)
    fall = (mean[LEVEL[850]] - mean[LEVEL[300]]) / (HEIGHT[LEVEL[300]] - HEIGHT[LEVEL[850]])
    yield Check("temperature", "lapse rate 850 to 300 hPa, K/km", float(fall), 5, 7.5)
    zonal_means = frame[LEVEL[850]].mean(1, dtype="f8")
    colder = float(zonal_means[len(zonal_means) // 2] - max(zonal_means[0], zonal_means[-1]))
    yield Check("temperature", "equator over the warmer pole at 850 hPa, K", colder, 20, 60)
    near = zonal_deviation(frame[LEVEL[1000]])
    yield Check("temperature", "deviation from the zonal mean at 1000 hPa, K", near, 5.2, 7.2)
    span = float(np.ptp(frame[LEVEL[100]]))
    yield Check("temperature", "range at 100 hPa, K", span, 35, 55)
    yield Check(
        "temperature", "slope of the zonal spectrum at 500 hPa", zonal_slope(air, frame), -3.3, -2.5
    )
    yield Check("temperature", "packing residual, steps", packing_residual(frame), 0, 0.05)


def zonal_deviation(level: Values) -> float:
    """Return the rms deviation of a level from its zonal means."""
    rest = level - level.mean(1, keepdims=True, dtype="f8")
    return float(np.sqrt((rest**2).mean()))


def zonal_slope(air: GFS, frame: Values) -> float:
    """Return the slope of the spectrum along parallels, 10 to 35 waves, 30 to 60 degrees."""
    rows = (np.abs(air.lat) >= 30) & (np.abs(air.lat) <= 60)
    power = (np.abs(np.fft.rfft(frame[LEVEL[500]][rows], axis=1)) ** 2).mean(0)
    waves = np.arange(10, 36)
    return float(np.polyfit(np.log(waves), np.log(power[10:36]), 1)[0])


def packing_residual(frame: Values) -> float:
    """Return how far values lie from whole steps of a 16-bit packing, in steps, at most."""
    worst = 0.0
    for level, hpa in zip(frame.astype("f8"), LEVELS, strict=True):
        count = (level - level.min()) * 2.0 ** (9 if hpa >= Atmosphere().coarse else 10)
        worst = max(worst, float(np.abs(count - np.rint(count)).max()))
        if count.max() >= 2**16:
            return float("inf")
    return worst


def _radar_checks(seed: int) -> Iterator[Check]:
    drawn = dataset("radar", tile="tile1", seed=seed).draw(0)
    products = {name: values for name, (_, values) in drawn.items()}
    has = {name: values > NO_ECHO for name, values in products.items()}
    outside = float((has["etop30"] & ~has["etop18"]).sum())
    yield Check("radar", "30 dBZ tops outside 18 dBZ ones", outside, 0, 0)
    weakest = float(products["cref"][has["shi"]].min()) / 100
    yield Check("radar", "weakest echo with hail, dBZ", weakest, 40, 80)
    hail = has["shi"]
    size = 2.54 * np.sqrt(products["shi"][hail] / 10)
    wrong = float(np.abs(products["mehs"][hail] / 100 - size).max())
    yield Check("radar", "MEHS against 2.54 √SHI, mm", wrong, 0, 0.01)
    yield Check("radar", "strongest echo, dBZ", float(products["cref"].max()) / 100, 50, 75)
