"""A predictor that is asked twice about the same values, and stores them once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from hyperslab.io.layout import Layout
from hyperslab.measure.processes import Processes

from ..advice.price import Packed, Predictor
from ..advice.trials import digest
from ..model.read import Read


@dataclass(frozen=True)
class Remembering:
    """A predictor that stores the same values in the same layout once.

    Parameters
    ----------
    predictor
        That is asked.
    """

    predictor: Predictor
    known: dict[object, Packed] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What predicts."""
        return self.predictor.name

    def seconds(self, read: Read) -> float:
        """Return the seconds of a read."""
        return self.predictor.seconds(read)

    def packed(
        self,
        values: NDArray[Any],
        layout: Layout,
        library: str,
        folder: Path,
        processes: Processes,
    ) -> Packed:
        """Return what a layout does to values."""
        key = (digest([values]), values.shape, layout, library)
        if key not in self.known:
            self.known[key] = self.predictor.packed(values, layout, library, folder, processes)
        return self.known[key]
