"""Which reads of the page on local reads were made cold, and which were not."""

import pandas as pd

from .local_figures import NAMES, split
from .local_results import PANELS


def left_out(timed: pd.DataFrame) -> str:
    """Return what was read warm and not cold, empty where nothing was left out, or all.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `times`.
    """
    cells = {state: _cells(timed, state) for state in ("warm", "cold")}
    lacking = cells["warm"] - cells["cold"]
    if not lacking or not cells["cold"]:
        return ""
    seen = {split(way) for _, way in cells["cold"]}
    names = {name for name, _ in seen}
    missing = [words for name, words in NAMES.items() if name in _names(lacking) - names]
    parts = missing.copy()  # joined by semicolons: some names have commas
    if not any(shuffle == "off" for _, shuffle in seen):
        parts.append("the files without shuffle")
    panels = [
        title for panel, title in PANELS.items() if panel not in {at for at, _ in cells["cold"]}
    ]
    if panels:
        parts.append(f"the reads of {'; '.join(title.partition('. ')[2] for title in panels)}")
    rest = {way for _, way in lacking if split(way)[0] in names and split(way)[1] != "off"}
    if rest and not panels:
        parts.append("some reads that no verdict compares")
    said = "; ".join(parts) or "some reads that no verdict compares"
    return (
        f"Read warm only, as a cold read takes minutes that this profile does not have: {said}. "
        "The profile full reads them cold too."
    )


def _cells(timed: pd.DataFrame, state: str) -> set[tuple[str, str]]:
    part = timed[timed["state"] == state]
    return set(zip(part["panel"], part["way"], strict=True))


def _names(cells: set[tuple[str, str]]) -> set[str]:
    return {split(way)[0] for _, way in cells}
