"""Pictures of the synthetic fields, and their sizes beside the documents'."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import data_gen
from data_gen.gfs import LEVELS
from data_gen.radar import NO_COVERAGE, NO_ECHO, SCALE

from . import fields
from .datasets import REAL_GAIN, TABLE_1

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LAND = (0.5, 0.5, 0.5, 0.35)
DOTS = 130
"""Resolution of the fields inside the vector pictures, dots an inch."""


def _map(axes: "Axes", lon: Any, lat: Any, values: Any, label: str, **how: Any) -> None:
    """Draw a field on a map, with a colour bar."""
    dy, dx = (lat[1] - lat[0]) / 2, (lon[1] - lon[0]) / 2
    picture = axes.imshow(
        values,
        extent=(lon[0] - dx, lon[-1] + dx, lat[0] - dy, lat[-1] + dy),
        origin="lower",
        aspect=1 / np.cos(np.deg2rad(np.mean(lat))) if abs(np.mean(lat)) > 5 else 1,
        **how,
    )
    axes.grid(False)
    bar = axes.figure.colorbar(picture, ax=axes, shrink=0.85, pad=0.015, aspect=18)
    bar.set_label(label)
    bar.outline.set_visible(False)
    axes.set(xlabel="longitude, °E", ylabel="latitude, °N")


def _shade(axes: "Axes", lon: Any, lat: Any, where: Any) -> None:
    """Shade land, or what no radar sees."""
    veil = np.zeros((*where.shape, 4))
    veil[where] = LAND
    dy, dx = (lat[1] - lat[0]) / 2, (lon[1] - lon[0]) / 2
    axes.imshow(
        veil,
        extent=(lon[0] - dx, lon[-1] + dx, lat[0] - dy, lat[-1] + dy),
        origin="lower",
        aspect=axes.get_aspect(),
    )


def currents(seed: int) -> "Figure":
    """Draw the first frame of the ocean: speed, and both components.

    Parameters
    ----------
    seed : int
        Of the synthetic fields.
    """
    import matplotlib.pyplot as plt

    sea, u, v = fields.ocean(seed)
    figure, panels = plt.subplots(
        3, 1, figsize=(7.2, 8.2), dpi=DOTS, sharex=True, gridspec_kw={"height_ratios": (1, 1, 1)}
    )
    views = (
        ("speed", np.hypot(u, v), {"cmap": "viridis", "vmin": 0, "vmax": 0.8}),
        ("eastward velocity uo", u, {"cmap": "RdBu_r", "vmin": -0.8, "vmax": 0.8}),
        ("northward velocity vo", v, {"cmap": "RdBu_r", "vmin": -0.8, "vmax": 0.8}),
    )
    for axes, (title, values, how) in zip(panels, views, strict=True):
        _map(axes, sea.lon, sea.lat, values, "m/s", **how)
        _shade(axes, sea.lon, sea.lat, sea.land)
        axes.set_title(title)
        axes.label_outer()
    row, column = fields.PROBE
    panels[0].plot(sea.lon[column], sea.lat[row], "o", ms=5, mfc="none", mec="w", mew=1.2)
    return figure


def eddies(seed: int) -> "Figure":
    """Draw the currents between Sardinia and Sicily with arrows.

    Parameters
    ----------
    seed : int
        Of the synthetic fields.
    """
    import matplotlib.pyplot as plt

    sea, u, v = fields.ocean(seed)
    rows = slice(*np.searchsorted(sea.lat, (36.4, 41.6)))
    columns = slice(*np.searchsorted(sea.lon, (7.0, 16.5)))
    lon, lat = sea.lon[columns], sea.lat[rows]
    figure, axes = plt.subplots(figsize=(7.2, 4.6), dpi=DOTS)
    u, v, land = u[rows, columns], v[rows, columns], sea.land[rows, columns]
    _map(axes, lon, lat, np.hypot(u, v), "m/s", cmap="viridis", vmin=0, vmax=0.8)
    _shade(axes, lon, lat, land)
    thin = (slice(1, None, 4), slice(1, None, 4))
    axes.quiver(
        lon[thin[1]], lat[thin[0]], u[thin], v[thin], color="w", scale=18, width=0.0019, headwidth=4
    )
    return figure


def temperature(seed: int) -> "Figure":
    """Draw the first frame of GFS at 850 hPa, and its zonal means.

    Parameters
    ----------
    seed : int
        Of the synthetic fields.
    """
    import matplotlib.pyplot as plt

    air, frame = fields.gfs(seed)
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(7.2, 6.6), dpi=DOTS, gridspec_kw={"height_ratios": (1.5, 1)}
    )
    half = air.lon.size // 2
    lon = np.concatenate([air.lon[half:] - 360, air.lon[:half]])
    lat, fine = air.lat[::-2], lon[::2]  # as fine as the picture
    level = np.roll(frame[fields.LEVEL[850]], half, axis=1)[::-2, ::2] - 273.15
    land = np.roll(air.land, half, axis=1)[::-2, ::2].astype(float)
    _map(top, fine, lat, level, "°C", cmap="RdYlBu_r", vmin=-36, vmax=28)
    ink = plt.rcParams["axes.edgecolor"]
    top.contour(fine, lat, land, [0.5], colors="#202020", linewidths=0.5)
    top.contour(fine[::2], lat[::2], level[::2, ::2], [0], colors="#202020", linewidths=0.9)
    top.set_title("temperature at 850 hPa; heavy line: 0 °C")
    zonal = frame.mean(2, dtype="f8")
    steps = np.arange(190, 306, 5)
    drawn = bottom.contourf(air.lat, LEVELS, zonal, steps, cmap="RdYlBu_r", extend="both")
    bottom.contour(air.lat, LEVELS, zonal, steps[::2], colors="#202020", linewidths=0.4)
    bar = figure.colorbar(drawn, ax=bottom, shrink=0.9, pad=0.015, aspect=18)
    bar.set_label("K")
    bottom.set(yscale="log", ylim=(1000, 50), xlabel="latitude, °N", ylabel="pressure, hPa")
    bottom.set_yticks([1000, 850, 700, 500, 300, 200, 100, 50], minor=False)
    bottom.set_yticklabels(["1000", "850", "700", "500", "300", "200", "100", "50"])
    bottom.minorticks_off()
    bottom.tick_params(colors=ink)
    bottom.set_title("zonal mean")
    return figure


def reflectivity(seed: int) -> "Figure":
    """Draw two products of a radar tile: composite reflectivity and the 18 dBZ echo top.

    Parameters
    ----------
    seed : int
        Of the synthetic fields.
    """
    import matplotlib.pyplot as plt

    products = fields.tile("tile2", seed)
    about = data_gen.dataset("radar", tile="tile2", seed=seed).description.coordinates
    lon, lat = about["lon"][1][::2], about["lat"][1][::-2]
    figure, panels = plt.subplots(2, 1, figsize=(7.2, 9.6), dpi=DOTS, sharex=True)
    views = (
        ("cref", "composite reflectivity", "dBZ", 0, 70),
        ("etop18", "height of the 18 dBZ echo top", "km", 0, 18),
    )
    for axes, (name, title, unit, low, high) in zip(panels, views, strict=True):
        stored = products[name][::-2, ::2]  # finer than the picture
        values = np.where(stored > NO_ECHO, stored / SCALE[name], np.nan)
        _map(axes, lon, lat, values, unit, cmap="turbo", vmin=low, vmax=high)
        _shade(axes, lon, lat, stored == NO_COVERAGE)
        axes.set_title(f"{title} ({name})")
        axes.label_outer()
    return figure


def sizes(table: pd.DataFrame) -> "Figure":
    """Draw our sizes and the document's for the ten files of Table 1.

    Parameters
    ----------
    table : pandas.DataFrame
        From `sized`.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.2))
    titles = {"cmems": "ocean (CMEMS)", "gfs": "temperature (GFS)"}
    for axes, name in zip(panels, TABLE_1, strict=True):
        rows = table[table["name"] == name]
        axes.barh(rows["kind"], rows["here"], height=0.6, alpha=0.75, label="here")
        axes.plot(rows["document"], rows["kind"], "D", ms=6, color="C1", label="document (2025)")
        axes.invert_yaxis()
        axes.set(xlabel="file size, MiB", title=titles[name])
        axes.grid(axis="y", visible=False)
    panels[0].set_yticks(
        range(5),
        ["netCDF-4, shuffle off", "netCDF-4, shuffle on", "Zarr", "NCZarr, zipped", "NCZarr"],
    )
    panels[1].set_yticklabels([])
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def levels(table: pd.DataFrame) -> "Figure":
    """Draw how much smaller than level 1 each level makes the radar tiles.

    Parameters
    ----------
    table : pandas.DataFrame
        From `gains`.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 3.2))
    low, high = (100 * gain for gain in REAL_GAIN)
    axes.fill_between([9.5, 9.9], low, high, alpha=0.4, color="C2", lw=0)
    axes.text(10.0, (low + high) / 2, "real radar\nat level 9", va="center")
    for (tile, rows), mark in zip(table.groupby("tile"), "osv", strict=True):
        axes.plot(rows["level"], 100 * rows["gain"], f"{mark}-", ms=5, label=str(tile))
    axes.set(xlabel="level of deflate", ylabel="smaller than at level 1, %", xlim=(0.8, 11.4))
    axes.set_ylim(bottom=-0.5)
    axes.set_xticks(range(1, 10))
    axes.legend(loc="upper left")
    return figure
