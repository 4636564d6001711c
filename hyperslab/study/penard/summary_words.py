"""The sentences and the table that sum Penard et al. (2025) up, with numbers from the records."""

import pandas as pd

from .local_results import PANELS
from .local_words import spelled
from .summary import PLACES, REMEDIES, TABLE_3, fastest, gains

_READS = {
    "gfs/series": "a series through chunks of 54 MB",
    "cmems/series": "a series through chunks of 1.9 MB",
    "gfs/frame": "a map out of a chunk of 54 MB",
    "cmems/frame": "a map that is a chunk of 1.9 MB",
}
_EVEN = 1.2
"""Gain below which a remedy is not worth its trouble."""


def summary(seconds: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    seconds : pandas.DataFrame
        From `summary.seconds`.
    """
    hits = {
        where: [
            len(set(fastest(seconds, where, panel)["way"]) & set(theirs))
            for panel, theirs in TABLE_3[where].items()
        ]
        for where in PLACES
    }
    spelled_hits = [
        f"{sum(found)} of {3 * len(found)} ({PLACES[where]})" for where, found in hits.items()
    ]
    return (
        "**What we found.** Of the fastest three that the document names for each read, ours share "
        f"{', '.join(spelled_hits)}."
    )


def table_3(seconds: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3 of the document and ours beside it.

    Parameters
    ----------
    seconds : pandas.DataFrame
        From `summary.seconds`.
    """
    rows = []
    for where, words in PLACES.items():
        for panel, title in PANELS.items():
            theirs = TABLE_3[where][panel]
            ours = fastest(seconds, where, panel)
            rows.append(
                {
                    "from": words,
                    "read": title.partition(". ")[2],
                    "document, s": "; ".join(
                        f"{spelled(way)} {value:.3g}" for way, value in theirs.items()
                    ),
                    "ours, s": "; ".join(
                        f"{spelled(str(row.way))} {row.seconds:.3g} [{row.low:.3g}, {row.high:.3g}]"
                        for row in ours.itertuples()
                    ),
                }
            )
    return pd.DataFrame(rows)


def caption_gains(seconds: pd.DataFrame) -> str:
    """Return the caption of the figure of remedies."""
    return (
        "How many times as fast as h5py, as it comes, each remedy reads the file without shuffle, "
        "opening included: medians divided, with the widest interval that the 95 % intervals of "
        f"both allow; {int(seconds['n'].min())} to {int(seconds['n'].max())} blocks each, of which "
        "one alone gives no interval. Left of the line it is slower."
    )


def advice(seconds: pd.DataFrame) -> str:
    """Return what to do for each read in each place, by the gains.

    Parameters
    ----------
    seconds : pandas.DataFrame
        From `summary.seconds`.
    """
    found = gains(seconds)
    lines = []
    for panel, read in _READS.items():
        parts = []
        for where, words in PLACES.items():
            here = found[(found["panel"] == panel) & (found["place"] == where)]
            named = [
                _best(here[[REMEDIES[way][1] == rewritten for way in here["way"]]], how)
                for rewritten, how in ((False, "leave the file"), (True, "rewrite it"))
            ]
            parts.append(f"{words}: {'; '.join(named)}")
        lines.append(f"- **{read[0].upper()}{read[1:]}.** {'. '.join(parts)}.")
    return "\n".join(lines)


def _best(rows: pd.DataFrame, how: str) -> str:
    if rows.empty:
        return f"to {how} was not measured"
    best = rows.sort_values("gain").iloc[-1]
    if best["gain"] < _EVEN:
        return f"nothing that would {how} gains much"
    return f"{how} and {_remedy(str(best['way']))}, {best['gain']:.3g}×"


def _remedy(way: str) -> str:
    return REMEDIES[way][0].replace(": ", " (", 1) + ")" * (": " in REMEDIES[way][0])
