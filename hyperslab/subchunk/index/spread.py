"""How close points lie, and where in a chunk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BUDGET = 0.02  # bytes of an index for each byte of compressed data, if nothing is said
SPACINGS = (1024, 2**26)  # bytes of decompressed data between points, from and to
MARK = 2**14  # bytes of output between marks, at most: how finely reading can end
_TURN = (5**0.5 - 1) / 2  # chunks that follow each other get shifts that differ most


def check_options(spacing: int | None, budget: float | None) -> None:
    low, high = SPACINGS
    if spacing is not None and not low <= spacing <= high:
        raise ValueError(
            f"spacing is {spacing} bytes: give {low} to {high}, or none to let the budget decide"
        )
    if budget is not None and not 0 < budget <= 1:
        raise ValueError(f"budget is {budget}: give a share of the data above 0, such as 0.02")


@dataclass(frozen=True)
class Spread:
    """How many points lie before each place of a chunk."""

    at: NDArray[np.float64]  # of shape (n,), bytes of output, ascending from 0
    points: NDArray[np.float64]  # before each; between them it is a straight line
    mark: int = MARK  # bytes of output between marks
    widest: int = 0  # bytes between points at most, where there is a place between; 0 for any

    @classmethod
    def even(cls, spacing: int, chunk_bytes: int) -> Spread:
        ends = np.array([0.0, float(chunk_bytes)])
        return cls(ends, ends / spacing, -(-spacing // -(-spacing // MARK)))

    @property
    def spacing(self) -> int:
        return round(float(self.at[-1]) / max(float(self.points[-1]), 1.0))

    def starts(self, out: NDArray[np.integer], chunk: int = 0) -> NDArray[np.intp]:
        """Return which places are points; the first is, the others shift a little by chunk."""
        # A series through all chunks is then never unlucky in all of them.
        # Places never lie quite as far along as was asked for.
        before = np.interp(out + self.mark / 2, self.at, self.points)
        passed = np.floor(before + chunk * _TURN % 1).astype(np.int64)
        chosen = np.flatnonzero(np.diff(passed, prepend=passed[0] - 1))
        return self._closer(out, chosen) if self.widest else chosen

    def _closer(self, out: NDArray[np.integer], chosen: NDArray[np.intp]) -> NDArray[np.intp]:
        """Add points where two are too far apart, as where blocks that are stored lie between."""
        ends = np.append(out[chosen[1:]], self.at[-1])
        more: list[int] = []
        for gap in np.flatnonzero(ends - out[chosen] > self.widest).tolist():
            position, behind = int(chosen[gap]), int(np.searchsorted(out, ends[gap]))
            while ends[gap] - out[position] > self.widest and position + 1 < behind:
                within = int(np.searchsorted(out, out[position] + self.widest, "right")) - 1
                position = max(within, position + 1)
                more.append(position)
        return np.union1d(chosen, np.array(more, np.intp))
