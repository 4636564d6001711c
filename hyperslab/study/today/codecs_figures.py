"""The figures of the page on codecs, from its records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ..style import plain
from .codecs_files import FIELDS
from .codecs_results import NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"ocean": "ocean currents", "air": "air temperature"}


def figure_sizes(found: pd.DataFrame) -> Figure:
    """Draw the size of every codec's file and the time of a map.

    Parameters
    ----------
    found : pandas.DataFrame
        From `codecs_results.table`.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(7.4, 5.6), sharey=True)
    places = {codec: len(NAMES) - 1 - number for number, codec in enumerate(NAMES)}
    for number, field in enumerate(FIELDS):
        part = found[found["field"] == field]
        shift = 0.13 - 0.26 * number
        at = [places[codec] + shift for codec in part["codec"]]
        style = {"fmt": "os"[number], "ms": 4.5, "color": f"C{number}", "label": TITLES[field]}
        panels[0].errorbar(part["ratio"], at, **style)
        for axes, pattern in ((panels[1], "map"), (panels[2], "series")):
            values = part[f"{pattern}_ms"]
            error = [values - part[f"{pattern}_low"], part[f"{pattern}_high"] - values]
            axes.errorbar(values, at, xerr=error, capsize=2, **style)
    labels = ("values over file", "a map, ms", "a series, ms")
    for axes, label in zip(panels, labels, strict=True):
        axes.set(xscale="log", xlabel=label)
        axes.set_yticks(list(places.values()), list(NAMES.values()))
        plain(axes.xaxis)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def figure_coherence(fidelity: pd.DataFrame) -> Figure:
    """Draw which wavelengths each rounding keeps.

    Parameters
    ----------
    fidelity : pandas.DataFrame
        Records of the experiment "fidelity".
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    figure, panels = plt.subplots(1, 2, figsize=(7.2, 3.4), sharey=True)
    for axes, field in zip(panels, FIELDS, strict=True):
        for number, codec in enumerate(name for name in NAMES if _rounds_alone(name)):
            part = fidelity[fidelity["case"] == f"{field}/{codec}"]
            lost = (1 - part["coherence"]).clip(lower=1e-12)
            axes.plot(
                part["wavelength"],
                lost,
                "osD^v"[number % 5] + "-",
                ms=3.5,
                color=f"C{number}",
                label=NAMES[codec],
            )
        axes.axhline(0.01, color="0.5", lw=1, ls=":")
        axes.set(xscale="log", yscale="log", title=TITLES[field], xlabel="wavelength, grid lengths")
        axes.invert_xaxis()
        plain(axes.xaxis)
        axes.xaxis.set_major_locator(LogLocator())  # two narrow panels
    panels[0].set_ylabel("1 − squared coherence")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _rounds_alone(codec: str) -> bool:
    return codec.split("-")[0] in ("bitgroom", "granular", "bitround") and "blosc" not in codec
