"""What every case of a run took, as one table."""

import pandas as pd

from ..measure.records import load, main
from ..measure.stats import median_interval
from .profile import drawn_between, entries

DESCRIBED = {
    "library": "library", "chunks": "chunks", "pattern": "pattern", "cache_state": "cache",
    "format": "format", "codec": "codec", "link": "link",
}  # fmt: skip
"""Columns of records that say what was read, and what the table calls them."""
COUNTS = {"requests": "requests", "wire_bytes": "MB moved", "rchar": "MB read", "syscr": "calls"}
SHOWN = ["page", "experiment", "case", "library", "cache", "phase", "time, ms"]
"""Columns that the page shows before it is asked for others."""
_OTHERS = ["from, ms", "to, ms", "blocks", "chunks", "pattern", "format", "codec", "link"]
COLUMNS = [*SHOWN, *_OTHERS, *COUNTS.values()]
_KEYS = ["experiment", "case", "cache_state", "phase"]
_MB = ("wire_bytes", "rchar")


def gathered(
    *, profile: str = "quick", workdir: str = "build/adhoc", records: str = ""
) -> pd.DataFrame:
    """Return what every case of a run took: `COLUMNS`, a row for each phase."""
    _, folder = drawn_between(profile, workdir, records)
    paths = {item.title: folder / f"{item.name}.parquet" for item in entries()}
    parts = [summaries(load(path), title) for title, path in paths.items() if path.exists()]
    if not parts:
        raise FileNotFoundError(
            f"no records of the profile {profile}: `hyperslab run --profile {profile}` makes them"
        )
    timed = [part for part in parts if len(part)] or parts[:1]  # an empty one has no types
    return pd.concat(timed, ignore_index=True)


def summaries(records: pd.DataFrame, page: str) -> pd.DataFrame:
    """Return one row for each phase of each case that was timed: medians over blocks."""
    good = main(records)
    rows = []
    for keys, part in good[good["wall_s"].notna()].groupby(_KEYS, sort=False):
        middle = median_interval(part["wall_s"])
        row = {"page": page, **dict(zip(_KEYS, keys, strict=True))}
        row |= {words: part[name].iloc[0] for name, words in DESCRIBED.items()}
        for words, seconds in (("time", middle.value), ("from", middle.low), ("to", middle.high)):
            row[f"{words}, ms"] = 1e3 * seconds
        row["blocks"] = middle.n
        for name, words in COUNTS.items():
            row[words] = part[name].median() / (1e6 if name in _MB else 1)
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)
