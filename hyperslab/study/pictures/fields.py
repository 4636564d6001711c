"""Fields on maps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from xarray import DataArray


@dataclass(frozen=True)
class Map:
    """A field on a map; grey where there are no values."""

    field: "DataArray"  # of latitude and longitude, with units
    title: str
    colours: str  # a colour map of matplotlib
    limits: tuple[float, float]  # values of its ends; what is less is not drawn
    arrows: "tuple[DataArray, ...]" = ()  # eastward and northward parts of a flow on the same grid
    contour: float | None = None  # a value along which a line is drawn

    def draw(self, axes: Axes) -> None:
        y, x = self.field.dims
        field = self.field.sortby([y, x])
        lat, lon = field[y].to_numpy(), field[x].to_numpy()
        dx, dy = (float(at[1] - at[0]) / 2 for at in (lon, lat))
        ends = (lon[0] - dx, lon[-1] + dx, lat[0] - dy, lat[-1] + dy)
        scale = 1 / np.cos(np.deg2rad(lat.mean())) if abs(lat.mean()) > 5 else 1
        colours = plt.get_cmap(self.colours).with_extremes(bad="0.7", under=(0, 0, 0, 0))
        low, high = self.limits
        picture = axes.imshow(
            field, cmap=colours, vmin=low, vmax=high, extent=ends, origin="lower", aspect=scale
        )
        bar = axes.figure.colorbar(picture, ax=axes, shrink=0.85, pad=0.015, aspect=18)
        bar.set_label(self.field.attrs["units"])
        bar.outline.set_visible(False)
        if self.contour is not None:
            axes.contour(lon, lat, field, [self.contour], colors="#202020", linewidths=0.9)
        if self.arrows:
            u, v = (component.sortby([y, x])[1::4, 1::4] for component in self.arrows)
            axes.quiver(u[x], u[y], u, v, color="w", scale=18, width=0.0019, headwidth=4)
        axes.set(xlabel="longitude, °E", ylabel="latitude, °N")
        axes.set_title(self.title, loc="left")
        axes.grid(visible=False)


@dataclass(frozen=True)
class Maps:
    """Fields on maps, below each other."""

    maps: Sequence[Map]

    def __call__(self) -> Figure:
        size = (7.2, 3.6 * len(self.maps))
        figure, column = plt.subplots(len(self.maps), 1, figsize=size, dpi=130, squeeze=False)
        for axes, drawn in zip(column.flat, self.maps, strict=True):
            drawn.draw(axes)
        return figure
