"""What the records of parallel writes say: requests by way, seconds with intervals."""

from typing import Any, cast

import numpy as np
import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval, median_interval, paired_ratio
from ...parallel import LIBRARIES
from ...text import comparison, listing

NAMES = {"hdf5": "HDF5", "pnetcdf": "PnetCDF", "mpiio": "MPI-IO"}
TITLES = {
    "interleaved": "interleaved columns",
    "rows": "contiguous rows",
    "overhang": "a chunk that overhangs",
    "within": "within a chunk",
}
MODES = {
    "rowwise": "a call for each run",
    "independent": "independent",
    "collective": "collective",
}


def lead(*frames: pd.DataFrame) -> str:
    """Return the library that is told of first: HDF5 where it is in the records.

    Examples
    --------
    >>> lead(pd.DataFrame({"library": ["mpiio", "pnetcdf"]}))
    'pnetcdf'
    """
    here = {name for frame in frames for name in frame["library"].unique()}
    return next((name for name in LIBRARIES if name in here), "")


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as mappings from their columns."""
    return cast(list[dict[str, Any]], frame.to_dict("records"))


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows by pattern, library, mode and ranks: samples come in a random order."""
    ranks = {name: n for names in (TITLES, NAMES, MODES) for n, name in enumerate(names)}
    keys = [name for name in ("pattern", "library", "mode", "latency_s", "ranks") if name in frame]

    def place(column: "pd.Series[Any]") -> "pd.Series[Any]":
        return column.map(ranks).fillna(0) if column.name in keys[:3] else column

    return frame.sort_values(keys, key=place, kind="stable") if len(frame) else frame


def few(n: int) -> str:
    """Return a remark where there are too few blocks for an interval, else "".

    Examples
    --------
    >>> few(1), few(7)
    (' (1 block: too few for an interval)', '')
    """
    blocks = "1 block" if n == 1 else f"{n} blocks"
    return f" ({blocks}: too few for an interval)" if n < 6 else ""


def slower(of: str, to: str, found: Interval) -> str:
    """Return a sentence on how two ways of writing compare, without a direction where none is.

    Parameters
    ----------
    of, to : str
        The two, as the beginning and the end of the sentence.
    found : Interval
        Seconds of the one over those of the other.

    Examples
    --------
    >>> slower("HDF5", "PnetCDF", Interval(2.0, 1.9, 2.1, 7))
    'HDF5 is 2× slower than PnetCDF.'
    >>> slower("HDF5", "PnetCDF", Interval(1.0, 0.9, 1.1, 7))
    'HDF5 and PnetCDF cannot be told apart: the ratio of their times lies in [0.90, 1.10].'
    """
    return _compared(of, to, found, "times", ("slower", "faster"))


def faster(of: str, to: str, found: Interval) -> str:
    """Return a sentence on how the rates of two ways of writing the same bytes compare.

    Parameters
    ----------
    of, to : str
        The two, as the beginning and the end of the sentence.
    found : Interval
        The rate of the one over that of the other.

    Examples
    --------
    >>> faster("HDF5", "PnetCDF", Interval(1.37, 1.3, 1.4, 7))
    'HDF5 is 37 % faster than PnetCDF.'
    >>> faster("HDF5", "PnetCDF", Interval(1.0, 0.9, 1.1, 7))
    'HDF5 and PnetCDF cannot be told apart: the ratio of their rates lies in [0.90, 1.10].'
    """
    return _compared(of, to, found, "rates", ("faster", "slower"))


def _compared(of: str, to: str, found: Interval, what: str, words: tuple[str, str]) -> str:
    if found.low < found.high and found.contains(1):
        inside = f"[{found.low:.2f}, {found.high:.2f}]"
        return f"{of} and {to} cannot be told apart: the ratio of their {what} lies in {inside}."
    return f"{of} is {comparison(found, *words)} than {to}{few(found.n)}."


def apart(library: str) -> str:
    """Return the mode in which a library writes each run for itself, as HDF5 does independently."""
    return "rowwise" if library == "mpiio" else "independent"


def by(library: str) -> str:
    """Return how a library writes each run for itself, in words."""
    return "with a call for each row" if library == "mpiio" else "independently"


def requests(
    frame: pd.DataFrame, case: str, ranks: float = np.nan, column: str = "requests"
) -> int:
    """Return a count of one case, -1 where it was not counted."""
    rows = frame[(frame["case"] == case) & (frame["hints"] == "")]
    if not np.isnan(ranks):
        rows = rows[rows["ranks"] == ranks]
    return int(rows[column].iloc[0]) if len(rows) else -1


def most_ranks(frame: pd.DataFrame) -> int:
    """Return the ranks at which all ways were counted: the most of those with the most cases."""
    kinds = frame.groupby("ranks")["case"].nunique()
    return int(max(kinds.index, key=lambda ranks: (kinds[ranks], ranks)))


def parts(sizes: pd.DataFrame, case: str, ranks: float) -> str:
    """Return what the requests of a case are, by phase and size; "" where that was not kept.

    Parameters
    ----------
    sizes : pandas.DataFrame
        From `jobs.sizes`.
    case : str
    ranks : float

    Examples
    --------
    >>> rows = {"case": "x", "ranks": 2, "hints": "", "phase": ["write", "close"]}
    >>> parts(pd.DataFrame({**rows, "chunk_bytes": [64, 256], "requests": [256, 7]}), "x", 2)
    '256 in the write (256 of 64 to 127 B) and 7 in the close (7 of 256 to 511 B)'
    """
    mine = sizes[(sizes["case"] == case) & (sizes["ranks"] == ranks) & (sizes["hints"] == "")]
    said = []
    for phase, part in mine.groupby("phase", sort=False):
        most = part.sort_values("requests", ascending=False)
        shown = [f"{int(r['requests']):,} of {_between(r['chunk_bytes'])}" for r in rows_of(most)]
        said.append(f"{int(part['requests'].sum()):,} in the {phase} ({listing(shown, 5)})")
    return listing(said, 5) if said else ""


def _between(size: float) -> str:
    """Return the sizes from a power of two up to its double.

    Examples
    --------
    >>> _between(64), _between(512), _between(262144)
    ('64 to 127 B', '512 to 1023 B', '256 to 512 KiB')
    """
    if size < 2:
        return "1 B at most"
    if size < 1024:
        return f"{size:.0f} to {2 * size - 1:.0f} B"
    unit, name = (1024, "KiB") if size < 2**20 else (2**20, "MiB")
    return f"{size / unit:.0f} to {2 * size / unit:.0f} {name}"


def longest(frame: pd.DataFrame) -> float:
    """Return the longest latency of records, in seconds."""
    return float(frame["latency_s"].max())


def added(latency_s: float) -> str:
    """Return what is added to each request, as the beginning of a sentence.

    Examples
    --------
    >>> added(0.003), added(0.0)
    ('When each request takes 3 ms longer', 'On this file system, with nothing added')
    """
    if not latency_s:
        return "On this file system, with nothing added"
    return f"When each request takes {1e3 * latency_s:g} ms longer"


def timed(*frames: pd.DataFrame, phase: str = "write") -> pd.DataFrame:
    """Return the seconds of a phase for each case, latency and number of ranks.

    Returns
    -------
    pandas.DataFrame
        case, library, mode, pattern, size, ranks, latency_s, seconds, low, high, n, stages,
        requests, rate (bytes/s), rate_low, rate_high, best (the least seconds of the first three
        blocks), best_rate.
    """
    rows = main(pd.concat([frame for frame in frames if len(frame)] or [*frames]))
    rows = rows[rows["phase"] == phase]
    keys = ["case", "library", "mode", "pattern", "size", "ranks", "latency_s"]
    found = []
    for values, part in rows.groupby(keys, sort=False):
        middle, size = median_interval(part["wall_s"]), float(part["useful_bytes"].iloc[0])
        found.append(
            dict(zip(keys, values, strict=True))
            | {
                "seconds": middle.value,
                "low": middle.low,
                "high": middle.high,
                "n": middle.n,
                "stages": float(part["stages"].median()),
                "requests": float(part["requests"].median()),
                "rate": size / middle.value,
                "rate_low": size / middle.high,
                "rate_high": size / middle.low,
                "best": best_of_three(part),
                "best_rate": size / best_of_three(part),
            }
        )
    columns = [*keys, "seconds", "low", "high", "n", "stages", "requests"]
    columns += ["rate", "rate_low", "rate_high", "best", "best_rate"]
    return in_order(pd.DataFrame(found, columns=columns))


def best_of_three(part: pd.DataFrame) -> float:
    """Return the least seconds of the first three blocks, the document's statistic; NaN of fewer.

    Examples
    --------
    >>> best_of_three(pd.DataFrame({"block": [3, 1, 0, 2], "wall_s": [1.0, 4.0, 3.0, 2.0]}))
    2.0
    """
    first = part.sort_values("block")["wall_s"].head(3)
    return float(first.min()) if len(first) == 3 else np.nan


def best_words(frame: pd.DataFrame) -> str:
    """Return what a caption says of the best of three, "" where no case has three blocks.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `timed`.
    """
    if frame["best"].notna().any():
        return ". Best of three, which is the document's own statistic: of the first three blocks"
    return ""


def ratio(frame: pd.DataFrame, of: str, to: str, latency_s: float) -> Interval | None:
    """Return the ratio of two cases' seconds of writing, paired by block; None without both."""
    rows = main(frame)
    rows = rows[(rows["phase"] == "write") & (rows["latency_s"] == latency_s)]
    table = rows.pivot_table("wall_s", "block", "case")
    if not {of, to} <= set(table.columns):
        return None
    both = table[[of, to]].dropna()
    return paired_ratio(both[of], both[to]) if len(both) else None


def rates(frame: pd.DataFrame, of: str, to: str) -> Interval | None:
    """Return the ratio of two cases' rates of writing as many bytes, with nothing added."""
    return ratio(frame, to, of, 0.0)
