"""How much of a field is left after its values were rounded."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

KEPT = 0.99
"""Squared coherence down to which a wavelength counts as kept."""
BANDS = 12

Map = NDArray[np.float32]


@dataclass(frozen=True)
class Fidelity:
    """What rounding did to a field.

    Parameters
    ----------
    error : float
        Largest absolute difference, in the unit of the values.
    relative : float
        Largest difference over the value's own size, as `sizes` has it.
    changed : float
        Share of values that differ.
    wavelengths : numpy.ndarray, shape (bands,)
        Of the bands' middles, in grid lengths, longest first.
    coherence : numpy.ndarray, shape (bands,)
        Squared coherence of both in each band, 0 to 1.
    spectra : float
        Correlation of the logarithms of both power spectra over the bands.
    """

    error: float
    relative: float
    changed: float
    wavelengths: NDArray[np.float64]
    coherence: NDArray[np.float64]
    spectra: float

    @property
    def kept(self) -> float:
        """The shortest wavelength that is kept, in grid lengths; inf if none is."""
        return float(self.wavelengths[self.coherence >= KEPT].min(initial=math.inf))


def compare(pairs: Iterable[tuple[Map, Map]], fill: float | None = None) -> Fidelity:
    """Compare maps with what rounding made of them.

    Parameters
    ----------
    pairs : iterable of (original, rounded)
        Of one shape (rows, columns).
    fill : float, optional
        Values that mean that there is none; they must be the same in both.

    Raises
    ------
    ValueError
        When a missing value became another, or there are no maps.

    Examples
    --------
    >>> wave = np.sin(np.arange(64) / 3)[None, :] * np.ones((64, 1), "f4")
    >>> found = compare([(wave, wave)])
    >>> found.error, found.changed, bool(found.coherence.min() > 0.999), found.kept < 3
    (0.0, 0.0, True, True)
    """
    error = relative = 0.0
    changed = count = 0
    power_a = power_b = cross = np.zeros(BANDS)
    bands: NDArray[np.int64] | None = None
    shape = (0, 0)
    for original, rounded in pairs:
        there = np.ones(original.shape, bool) if fill is None else original != fill
        if fill is not None and not np.array_equal(there, rounded != fill):
            raise ValueError("rounding made a missing value another, or another one missing")
        a, b = (np.where(there, values, 0).astype("f8") for values in (original, rounded))
        apart = np.abs(a - b)
        error = max(error, float(apart.max()))
        relative = max(relative, float((apart / sizes(a)).max()))
        changed += int((apart > 0).sum())
        count += int(there.sum())
        if bands is None:
            shape = original.shape
            bands = _bands(shape)
        ours, theirs = (np.fft.rfft2(values - values.mean()) for values in (a, b))
        power_a = power_a + _sum(bands, np.abs(ours) ** 2)
        power_b = power_b + _sum(bands, np.abs(theirs) ** 2)
        cross = cross + _sum(bands, (ours * theirs.conj()).real)
    if bands is None:
        raise ValueError("there are no maps to compare")
    known = (power_a > 0) & (power_b > 0)
    coherence = cross[known] ** 2 / (power_a[known] * power_b[known])
    logs = np.log(power_a[known]), np.log(power_b[known])
    spectra = float(np.corrcoef(*logs)[0, 1]) if known.sum() > 1 else 1.0
    return Fidelity(
        error, relative, changed / max(count, 1), _wavelengths(shape)[known], coherence, spectra
    )


def sizes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what errors are measured by: the values' size, at least that of a normal number.

    Some roundings make a negative zero the smallest number there is.

    Examples
    --------
    >>> sizes(np.array([-2.0, 0.0]))
    array([2.00000000e+00, 1.17549435e-38])
    """
    return np.maximum(np.abs(values), np.finfo("f4").tiny)


def _edges(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the bands' edges in cycles a grid length: alike in their logarithm, up to 1/2."""
    return np.geomspace(1 / max(shape) / 1.0001, 0.5, BANDS + 1)


def _wavelengths(shape: tuple[int, ...]) -> NDArray[np.float64]:
    edges = _edges(shape)
    return np.asarray(1 / np.sqrt(edges[:-1] * edges[1:]))


def _bands(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the band of each coefficient of `numpy.fft.rfft2`; -1 and `BANDS` for none."""
    rows, columns = np.fft.fftfreq(shape[0]), np.fft.rfftfreq(shape[1])
    number = np.hypot(rows[:, None], columns[None, :])
    return np.asarray(np.searchsorted(_edges(shape), number, "right") - 1)


def _sum(bands: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    good = (bands >= 0) & (bands < BANDS)
    return np.asarray(np.bincount(bands[good], values[good], BANDS), "f8")
