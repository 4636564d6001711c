"""Find the costs from reads that were timed, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..read import Read
from ..terms import disk_terms, regimes, summed, terms

_FLOOR_S = 5e-5  # below, a relative error means nothing
_ROUNDS = 6
_NEAR = 0.03  # errors from here on count by their size and no longer by its square
_FEWEST = 5  # reads that a regime needs for a spread of its own


@dataclass(frozen=True)
class Sample:
    """A read that was timed.

    Parameters
    ----------
    read
    seconds
        Median of its samples.
    group
        Its file: files are left out whole to see how far the model is off.
    """

    read: Read
    seconds: float
    group: str


def fitted(samples: Sequence[Sample]) -> dict[str, float]:
    """Return the cost of each count, in seconds: none is negative, and relative errors are least.

    Warm reads give the costs of libraries and codecs; what cold ones take beyond these is the
    disk's.

    Parameters
    ----------
    samples
        At least one.

    Examples
    --------
    >>> from hyperslab.io import Layout
    >>> reads = [Read((n, 9), "f4", Layout("binary"), (...,), "plain") for n in (100, 4000)]
    >>> costs = fitted([Sample(read, 1e-3, "a") for read in reads])
    >>> round(costs["plain/binary:first"], 6)
    0.001
    """
    warm = [sample for sample in samples if sample.read.cache == "warm"]
    rows = [terms(sample.read) for sample in warm]
    costs = _solved(rows, [sample.seconds for sample in warm], [_FLOOR_S] * len(rows))
    for name in [name for name in costs if name.endswith(":large")]:
        # Large results come in huge pages: a byte of them costs no more than one of small ones.
        small = f"{name.removesuffix('large')}small"
        costs[name] = min(costs[name], costs.get(small, costs[name]))
    cold = [sample for sample in samples if sample.read.cache == "cold"]
    known = [summed(terms(sample.read), costs) for sample in cold]
    beyond = [max(s.seconds - k, 0.0) for s, k in zip(cold, known, strict=True)]
    floors = [s.seconds - b + _FLOOR_S for s, b in zip(cold, beyond, strict=True)]
    return costs | _solved([disk_terms(sample.read) for sample in cold], beyond, floors)


def spread(samples: Sequence[Sample]) -> dict[str, tuple[float, float]]:
    """Return, by regime, between what lie measured over predicted times of files left out.

    Parameters
    ----------
    samples
        Each file is left out of the fit in turn.

    Returns
    -------
    dict
        The 5 % and the 95 % quantile; of "" over all.
    """
    ratios: dict[str, list[float]] = {}
    for group in sorted({sample.group for sample in samples}):
        costs = fitted([sample for sample in samples if sample.group != group])
        for sample in samples:
            counts = {**terms(sample.read), **_disk(sample.read)}
            known = all(name in costs or name.endswith(":large") for name in counts)
            if sample.group != group or not known:
                continue
            ratio = (sample.seconds + _FLOOR_S) / (summed(counts, costs) + _FLOOR_S)
            for key in regimes(sample.read):
                ratios.setdefault(key, []).append(ratio)
    return {
        key: (float(np.quantile(found, 0.05)), float(np.quantile(found, 0.95)))
        for key, found in ratios.items()
        if len(found) >= _FEWEST or key == ""
    }


def _disk(read: Read) -> dict[str, float]:
    return disk_terms(read) if read.cache == "cold" else {}


def _solved(
    rows: Sequence[dict[str, float]], seconds: Iterable[float], floors: Iterable[float]
) -> dict[str, float]:
    """Return the costs with the least relative errors, outliers counting less."""
    from scipy.optimize import nnls

    if not rows:
        return {}
    names = sorted({name for row in rows for name in row})
    matrix = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    times = np.fromiter(seconds, float)
    weight: NDArray[np.float64] = 1 / (times + np.fromiter(floors, float))
    scale = np.maximum(np.abs(matrix * weight[:, None]).max(axis=0), 1e-300)
    costs, used = np.zeros(len(names)), weight
    for _ in range(_ROUNDS):
        found, _ = nnls(matrix * used[:, None] / scale, times * used, maxiter=50 * len(names))
        costs = found / scale
        off = np.abs(matrix @ costs - times) * weight
        used = weight / np.sqrt(np.maximum(off, _NEAR) / _NEAR)
    return {name: float(cost) for name, cost in zip(names, costs, strict=True)}
