"""All samples of a run in one table."""

from dataclasses import dataclass

import pandas as pd

from ..measure.records import load, main
from ..measure.stats import median_interval
from .explorer_choices import choices
from .profile import check_profile, entries, root

DESCRIBED = {
    "library": "library", "chunks": "chunks", "pattern": "pattern", "cache_state": "cache",
    "format": "format", "codec": "codec", "link": "link",
}  # fmt: skip
"""Columns of records that say what was read, and what the table calls them."""
SHOWN = ("case", "library", "chunks", "pattern", "cache", "phase", "time, ms")
"""Columns that the page shows before it is asked for others."""
_OTHERS = ("from, ms", "to, ms", "blocks", "page", "experiment", "format", "codec", "link")
_KEYS = ["experiment", "case", "cache_state", "phase"]
_COUNTS = {"requests": "requests", "wire_bytes": "MB moved", "rchar": "MB read", "syscr": "calls"}
_MB = ("wire_bytes", "rchar")


@dataclass(frozen=True)
class Found:
    """The summaries of a run.

    Parameters
    ----------
    profile : str
    summaries : pandas.DataFrame
        From `summaries`.
    choices : pandas.DataFrame
        From `explorer_choices.choices`.
    """

    profile: str
    summaries: pd.DataFrame
    choices: pd.DataFrame


def gathered(*, profile: str = "quick", workdir: str = "build/adhoc", records: str = "") -> Found:
    """Read the records of a run.

    Parameters
    ----------
    profile : str
    workdir : str
        Where results are; relative to the repository.
    records : str
        A folder of records to read instead.

    Raises
    ------
    FileNotFoundError
        When there are no records.
    """
    check_profile(profile)
    top = root()
    folder = (top / records if records else top / workdir / "results" / profile).resolve()
    titles = {entry.name: entry.title for entry in entries(top)}
    paths = {name: folder / f"{name}.parquet" for name in titles}
    frames = {name: load(path) for name, path in paths.items() if path.exists()}
    if not frames:
        raise FileNotFoundError(
            f"no records of the profile {profile}: `hyperslab run --profile {profile}` makes them"
        )
    parts = [summaries(frame, titles[name]) for name, frame in frames.items()]
    timed = [part for part in parts if len(part)] or parts[:1]  # an empty one has no types
    return Found(profile, pd.concat(timed, ignore_index=True), choices(frames))


def summaries(records: pd.DataFrame, page: str) -> pd.DataFrame:
    """Return one row for each phase of each case that was timed.

    Parameters
    ----------
    records : pandas.DataFrame
        Of a notebook.
    page : str
        Its title.

    Returns
    -------
    pandas.DataFrame
        `SHOWN`, of which time is a median over blocks; from and to (its interval, or the range of
        few blocks), blocks, page, experiment, the others of `DESCRIBED`, and counts.

    Examples
    --------
    >>> from hyperslab.measure.records import frame_of
    >>> row = {"experiment": "e", "case": "a", "phase": "read", "status": "ok"}
    >>> rows = frame_of([row | {"block": n, "wall_s": s} for n, s in enumerate((0.1, 0.2, 0.3))])
    >>> summaries(rows, "P")[["case", "time, ms", "blocks"]].to_dict("records")
    [{'case': 'a', 'time, ms': 200.0, 'blocks': 3}]
    """
    good = main(records)
    good = good[good["wall_s"].notna()]
    rows = []
    for keys, part in good.groupby(_KEYS, sort=False):
        middle = median_interval(part["wall_s"])
        first = part.iloc[0]
        rows.append(
            {
                "page": page,
                **dict(zip(_KEYS, keys, strict=True)),
                **{words: first[name] for name, words in DESCRIBED.items()},
                "time, ms": 1e3 * middle.value,
                "from, ms": 1e3 * middle.low,
                "to, ms": 1e3 * middle.high,
                "blocks": middle.n,
                **{
                    words: part[name].median() / (1e6 if name in _MB else 1)
                    for name, words in _COUNTS.items()
                },
            }
        )
    return pd.DataFrame(rows, columns=[*SHOWN, *_OTHERS, *_COUNTS.values()])
