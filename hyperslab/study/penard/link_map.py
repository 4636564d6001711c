"""Which reader is the fastest over links of any rate and delay, by the model."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .link_model import grid
from .local_results import PANELS
from .wire_figures import labels
from .wire_ways import WAYS

ROUND_TRIPS_MS = (1.0, 300.0)
RATES_MBIT = (0.1, 1000.0)
NEAR = 1.1
"""A lead by less than this factor is hardly one."""
MARKED = ((100.0, 0.8, "s"), (100.0, 100.0, "o"))
"""Round trip in ms and rate in Mbit/s of the links as stated and at 100 Mbit/s, and a mark."""
_MBIT = 1e6 / 8
_STEPS = 160


@dataclass(frozen=True)
class Ground:
    """The map of one read.

    Parameters
    ----------
    ways : tuple of str
        What was timed.
    best : numpy.ndarray
        int64 of shape (rates, round trips): the place of the fastest in `ways`.
    lead : numpy.ndarray
        float64 of that shape: how many times as long the fastest takes that reads another file or
        with another library; what merely fetches otherwise, or caches, is none.
    """

    ways: tuple[str, ...]
    best: NDArray[np.int64]
    lead: NDArray[np.float64]

    def shares(self) -> dict[str, float]:
        """Return by way what share of the map it leads, the largest first."""
        numbers, counts = np.unique(self.best, return_counts=True)
        shares = {self.ways[n]: c / self.best.size for n, c in zip(numbers, counts, strict=True)}
        return dict(sorted(shares.items(), key=lambda item: -item[1]))


def axes_of() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the round trips in ms and the rates in Mbit/s of the map."""
    return np.geomspace(*ROUND_TRIPS_MS, _STEPS), np.geomspace(*RATES_MBIT, _STEPS)


def grounds(timed: pd.DataFrame) -> dict[str, Ground]:
    """Return the map of each read, by panel; none of a read that was not timed.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`: what was timed over the delay alone counts.
    """
    found = timed[timed["link"] == "delay"].drop_duplicates("case")
    trips_ms, rates_mbit = axes_of()
    kept = {}
    for panel in PANELS:
        part = found[found["panel"] == panel].reset_index(drop=True)
        if part.empty:
            continue
        seconds = grid(part, trips_ms / 1e3, rates_mbit * _MBIT)
        best = np.asarray(seconds.argmin(axis=0), np.int64)
        alike = _families(part)
        others = np.where(alike[:, None, None] == alike[best], np.inf, seconds)
        lead = others.min(axis=0) / seconds.min(axis=0)
        kept[panel] = Ground(tuple(map(str, part["way"])), best, lead)
    return kept


def spelled(way: str) -> str:
    """Return a way in words.

    Examples
    --------
    >>> spelled("subchunk-on")
    'hyperslab.subchunk, shuffle on'
    """
    label, shuffle = labels()[way]
    return f"{label}, shuffle {shuffle}" if shuffle else label


def _families(part: pd.DataFrame) -> NDArray[np.int64]:
    """Return a number for each way, alike where only a cache or what fetches differs."""
    of = {way.way(store): (way.name, store) for way in WAYS for store in way.stores}
    names = [of[way] for way in part["way"]]
    return np.array([names.index(name) for name in names], np.int64)
