"""Random fields with a prescribed power spectrum, drawn one frame at a time.

A field is a pure function of (seed, words that name it, time), so frames can be drawn in any
order and by any process, and memory does not grow with their number.
"""

import zlib

import numpy as np
from scipy import fft


def stream(seed: int, *words: object) -> np.random.Generator:
    """Return a random generator that depends on a seed and the words that name a field.

    Parameters
    ----------
    seed : int
        Seed of the whole dataset, 0 or more.
    *words : object
        What the numbers are for; their text is hashed.

    Examples
    --------
    >>> bool(stream(0, "eddies").random() == stream(0, "eddies").random())
    True
    >>> bool(stream(0, "eddies").random() == stream(0, "tide").random())
    False
    """
    keys = [zlib.crc32(str(word).encode()) for word in words]
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence([seed, *keys])))


def fast_shape(rows: int, columns: int) -> tuple[int, int]:
    """Return the smallest shape, no side below those given, that transforms fast.

    Examples
    --------
    >>> fast_shape(380, 1287)
    (384, 1296)
    """
    return fft.next_fast_len(rows, real=True), fft.next_fast_len(columns, real=True)


def wavenumbers(shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the wavenumbers of a real 2-D transform, in cycles over the whole length.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the field.

    Returns
    -------
    ky, kx : float32 arrays of shape (rows, 1) and (1, columns // 2 + 1)

    Examples
    --------
    >>> ky, kx = wavenumbers((4, 4))
    >>> ky.ravel().tolist(), kx.ravel().tolist()
    ([0.0, 1.0, -2.0, -1.0], [0.0, 1.0, 2.0])
    """
    rows, columns = shape
    ky = fft.fftfreq(rows, 1 / rows).astype("f4")[:, None]
    kx = fft.rfftfreq(columns, 1 / columns).astype("f4")[None, :]
    return ky, kx


def amplitude(k: np.ndarray, slope: float, low: float, high: float | None = None) -> np.ndarray:
    """Return mode amplitudes of a field of unit variance with spectrum E(k) ~ k**-slope.

    Parameters
    ----------
    k : float32 array of shape (rows, columns // 2 + 1)
        Isotropic wavenumber of each mode.
    slope : float
        Slope of the one-dimensional (ring-summed) spectrum beyond `low`.
    low, high : float
        Wavenumbers, in the units of `k`, where the spectrum flattens and where it is cut off.

    Examples
    --------
    >>> ky, kx = wavenumbers((8, 8))
    >>> a = amplitude(np.hypot(ky, kx), 3.0, 2.0)
    >>> float(a[0, 0]), round(float(2 * (a**2).sum()), 3)
    (0.0, 1.0)
    """
    power = (low**2 + np.square(k, dtype="f8")) ** (-(slope + 1) / 2)
    if high is not None:
        power *= np.exp(-((k / high) ** 4))
    power[0, 0] = 0
    out: np.ndarray = np.sqrt(power / (2 * power.sum())).astype("f4")
    return out


def white(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return complex white noise of unit mean square, as modes of a real field.

    Examples
    --------
    >>> white(stream(0, "noise"), (4, 3)).dtype
    dtype('complex64')
    """
    noise = rng.standard_normal((*shape, 2), dtype="f4")
    noise *= np.float32(np.sqrt(0.5))
    return noise.view("c8")[..., 0]


def turned(modes: np.ndarray, angle: np.ndarray, time: float) -> np.ndarray:
    """Return modes whose phases have turned by ``angle * time``.

    Parameters
    ----------
    modes : complex64 array
    angle : float32 array of the same shape
        Radians a unit of time.
    time : float
        Time, in the unit of `angle`.

    Examples
    --------
    >>> m = np.ones((1, 1), "c8")
    >>> complex(turned(m, np.full((1, 1), np.pi / 2, "f4"), 2.0)[0, 0]).real
    -1.0
    """
    if time == 0:
        return modes.copy()
    phase = angle * np.float32(time)
    out = np.empty(modes.shape, "c8")
    np.cos(phase, out=out.real)
    np.sin(phase, out=out.imag)
    np.conjugate(out, out=out)
    out *= modes
    return out


def field(modes: np.ndarray, shape: tuple[int, int], crop: tuple[int, int]) -> np.ndarray:
    """Return the real field of some modes: float32, cut to its first rows and columns.

    Parameters
    ----------
    modes : complex64 array of shape (rows, columns // 2 + 1); overwritten
    shape, crop : (int, int)
        Rows and columns of the periodic field, and of the part returned.

    Examples
    --------
    >>> field(white(stream(0, "a"), (8, 5)), (8, 8), (6, 7)).shape
    (6, 7)
    """
    whole: np.ndarray = fft.irfft2(modes, s=shape, norm="forward", overwrite_x=True)
    return whole[: crop[0], : crop[1]]


def radial_spectrum(
    values: np.ndarray, dy: float = 1.0, dx: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ring-summed power spectrum of a 2-D field under a Hann window.

    Parameters
    ----------
    values : float array of shape (rows, columns)
    dy, dx : float
        Grid steps; wavenumbers are in cycles over their unit.

    Returns
    -------
    k, energy : float64 arrays

    Examples
    --------
    >>> k, energy = radial_spectrum(np.random.default_rng(0).normal(size=(64, 64)))
    >>> float(k[0]) == 1 / 64, len(k) == len(energy)
    (True, True)
    """
    rows, columns = values.shape
    window = np.hanning(rows)[:, None] * np.hanning(columns)[None, :]
    power = np.abs(fft.rfft2((values - values.mean()) * window)) ** 2
    k = np.hypot(fft.fftfreq(rows, dy)[:, None], fft.rfftfreq(columns, dx)[None, :])
    step = 1 / min(rows * dy, columns * dx)
    ring = np.rint(k / step).astype(int)
    weight = np.full(power.shape, 2.0)
    weight[:, 0] = 1
    energy = np.bincount(ring.ravel(), (power * weight).ravel())
    last = min(rows, columns) // 2
    return step * np.arange(1, last), energy[1:last]


def slope(k: np.ndarray, energy: np.ndarray, low: float, high: float) -> float:
    """Return the logarithmic slope of a spectrum between two wavenumbers.

    Examples
    --------
    >>> k = np.arange(1.0, 50.0)
    >>> round(slope(k, k**-3.0, 10, 30), 6)
    -3.0
    """
    chosen = (k >= low) & (k <= high) & (energy > 0)
    return float(np.polyfit(np.log(k[chosen]), np.log(energy[chosen]), 1)[0])
