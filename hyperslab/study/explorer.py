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
    tables = [summaries(load(path), title) for title, path in paths.items() if path.exists()]
    if not tables:
        raise FileNotFoundError(
            f"no records of the profile {profile}: `hyperslab run --profile {profile}` makes them"
        )
    timed = [table for table in tables if len(table)] or tables[:1]  # an empty one has no types
    return pd.concat(timed, ignore_index=True)


def summaries(records: pd.DataFrame, page: str) -> pd.DataFrame:
    """Return one row for each phase of each case that was timed: medians over blocks."""
    good = main(records)
    grouped = good[good["wall_s"].notna()].groupby(_KEYS, sort=False)
    described = grouped[[name for name in DESCRIBED if name not in _KEYS]].first()
    table = pd.concat([described, grouped[list(COUNTS)].median()], axis=1).reset_index()
    table = table.rename(columns=DESCRIBED | COUNTS)
    medians = [median_interval(seconds) for _, seconds in grouped["wall_s"]]
    for words, end in (("time", "value"), ("from", "low"), ("to", "high")):
        table[f"{words}, ms"] = [1e3 * getattr(median, end) for median in medians]
    table["blocks"] = [median.n for median in medians]
    for name in _MB:
        table[COUNTS[name]] /= 1e6
    return table.assign(page=page)[COLUMNS]
