"""Pictures that are no comparison: where bytes lie."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..storage.layout import Layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STRIPS = 256  # more would melt into one band


@dataclass(frozen=True)
class ColumnInFile:
    """Where the bytes of one column lie in files of several layouts: Figure 8 of Lee et al. 2008.

    Parameters
    ----------
    layouts : mapping of str to Layout
        Chunks are as long as the array or a whole part of it, and one column wide.
    shape : tuple of int
        Rows and columns of the array.
    column : int
    title : str
    """

    layouts: Mapping[str, Layout]
    shape: tuple[int, int]
    column: int
    title: str

    def __call__(self) -> "Figure":
        """Draw it in the style that is set."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(7.2, 2.8))
        rows, columns = self.shape
        for y, layout in enumerate(self.layouts.values()):
            axes.broken_barh([(0, 1)], (y - 0.3, 0.6), color="C5", alpha=0.25, lw=0)
            spots = [(strip / _STRIPS, 0.25 / _STRIPS) for strip in range(_STRIPS)]
            if layout.chunks:  # they lie row by row of the grid: one of each is of the column
                width = layout.chunks[0] / (rows * columns)
                parts = rows // layout.chunks[0]
                spots = [((part * columns + self.column) * width, width) for part in range(parts)]
            axes.broken_barh(spots, (y - 0.3, 0.6), color="C1", lw=0.8, edgecolor="C1")
        axes.set_yticks(range(len(self.layouts)), list(self.layouts))
        axes.set(xlabel="place in the file, as a share of it", xlim=(0, 1))
        axes.invert_yaxis()
        axes.set_title(self.title, loc="left")
        axes.grid(False)
        return figure
