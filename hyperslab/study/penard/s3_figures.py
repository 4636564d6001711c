"""Figure 10 of Penard et al. 2025 with our records."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from . import link_figures
from .s3 import NEAR, links

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figure_10(timed: pd.DataFrame, theirs: Mapping[str, Mapping[str, float]]) -> "Figure":
    """Draw the time of each read from a store that speaks S3.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    theirs : mapping
        The document's seconds by panel and way; empty where they do not stand beside ours.
    """
    (ours,) = links()  # what listens on this machine is named as a server of ours is
    return link_figures.figure_10(timed.replace({"link": {NEAR: ours}}), theirs)
