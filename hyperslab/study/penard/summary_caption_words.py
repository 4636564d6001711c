"""What stands below the figures that sum Penard et al. (2025) up, and in place of them."""

import math

import pandas as pd

from ...text import spread
from .s3 import LINK
from .summary_choice import NEAR, REMEDIES, labels
from .summary_seconds import spelled_link


def caption_choice(seconds: pd.DataFrame, off: float) -> str:
    """Return the caption of the figure that decides.

    Parameters
    ----------
    seconds : pandas.DataFrame
        From `summary_seconds.seconds`.
    off : float
        From `Summary`.
    """
    return (
        "Which remedy, by chunk size, access and place, for a file with deflate and no shuffle: "
        "time of the read, opening included, as a multiple of the quickest remedy's (bold). "
        f"Framed: the least work within {NEAR:g} times; work grows downwards, and what lies below "
        f"an index rewrites the file.{_marked(seconds, off, 'with a star')}{_stored(seconds)} "
        "Empty: not measured."
    )


def caption_times(seconds: pd.DataFrame, off: float) -> str:
    """Return the caption of the figure of seconds.

    Parameters
    ----------
    seconds, off
        As of `caption_choice`.
    """
    timed = seconds[(seconds["n"] > 0) & seconds["way"].isin(list(REMEDIES))]["n"]
    theirs = (
        " Crosses: the document's, where its Table 3 has them."
        if seconds["whole"].any()
        else " The document's seconds are for more chunks, and are not drawn."
    )
    return (
        "Seconds of each remedy from each place, opening included: medians with "
        f"{spread(int(timed.max()), int(timed.min()))}.{_marked(seconds, off, 'hollow')}{theirs}"
    )


def alt_choice(seconds: pd.DataFrame) -> str:
    """Return what the figure that decides shows, in words."""
    return (
        "Four tables of numbers, for series and maps of the ocean and the temperature: "
        f"{len(REMEDIES)} remedies down, from the least work to the most, and "
        f"{', '.join(labels(seconds).values())} across; darker takes longer. What is framed is "
        "said in the list below."
    )


def alt_times(seconds: pd.DataFrame) -> str:
    """Return what the figure of seconds shows, in words."""
    return (
        "Four panels, for series and maps of the ocean and the temperature: seconds of "
        f"{len(REMEDIES)} remedies, logarithmic, with a mark for each of "
        f"{', '.join(labels(seconds).values())}; hollow by the model."
    )


def _marked(seconds: pd.DataFrame, off: float, how: str) -> str:
    if not (seconds["n"] == 0).any():
        return ""
    sure = "" if math.isnan(off) else f", off by {100 * off:.0f} % at most where a read was timed"
    return f" What is {how} is by the model of {{doc}}`penard_link`{sure}."


def _stored(seconds: pd.DataFrame) -> str:
    here = labels(seconds).get("s3", "")
    return f" The {here} is behind {spelled_link(LINK)}." if here.endswith("here") else ""
