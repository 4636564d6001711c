"""Advise on pairs of a file and a mix of accesses, then measure every candidate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from hyperslab.io.layout import CHUNKED
from hyperslab.measure.processes import Processes

from ..advice.price import Predictor
from ..advice.question import Question
from ..advice.rank import PROCESSES, advise
from ..advice.rows import Advice, Row
from ..advice.trials import NEAR
from ..source import open_source
from .remembering import Remembering

ALL = 10_000
PREDICTED, ADVISED, CANDIDATE, LEFT = "predicted", "advised", "candidate", "left"


@dataclass(frozen=True)
class Pair:
    """A file and how it is read.

    Parameters
    ----------
    name
        Of both.
    path
        Of the file.
    shares
        Share of each access by name.
    variable
        Its name; the largest if empty.
    roles
        Axes of dimensions that the file does not tell.
    """

    name: str
    path: str
    shares: Mapping[str, float] = field(default_factory=dict)
    variable: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Effort:
    """How much is measured.

    Parameters
    ----------
    sample_bytes
        Of each file.
    few
        Layouts, and remedies, that advice measures.
    repeats
        Blocks, of advice and of all candidates.
    screened
        After so many blocks only those near the quickest are measured on, and the file as it is:
        see `hyperslab.advise.advice.trials`.
    most
        Layouts, and remedies, that are measured in the end; those predicted to be slowest are left.

    Examples
    --------
    >>> Effort(most=5).screened
    2
    """

    sample_bytes: int = 16 * 2**20
    few: int = 4
    repeats: int = 5
    screened: int = 2
    most: int = ALL


def pairs(
    files: Mapping[str, str | Path], mixes: Mapping[str, Sequence[Mapping[str, float]]]
) -> list[Pair]:
    """Return every file with each of its mixes.

    Examples
    --------
    >>> [one.name for one in pairs({"a": "a.nc"}, {"a": [{"map": 1.0}, {"map": 0.3, "row": 0.7}]})]
    ['a, map', 'a, 30% map 70% row']
    """
    found = []
    for name, path in files.items():
        for shares in mixes[name]:
            words = [
                access if share == 1 else f"{share:.0%} {access}"
                for access, share in shares.items()
            ]
            found.append(Pair(f"{name}, {' '.join(words)}", str(path), shares))
    return found


def given(folder: str | Path) -> list[Pair]:
    """Return the files of a folder, each with a time series, a map, and both.

    Of a file without a time series, the reads that suit it are taken.

    Parameters
    ----------
    folder
        With netCDF and HDF5 files and Zarr stores.
    """
    ends = (".nc", ".nc4", ".h5", ".hdf5", ".zarr")
    paths = sorted(path for path in Path(folder).iterdir() if path.suffix in ends)
    mixes: list[Mapping[str, float]] = [
        {}, {"time_series": 1.0}, {"map": 1.0}, {"time_series": 0.7, "map": 0.3},
    ]  # fmt: skip
    names = ("usual", "time_series", "map", "70% time_series 30% map")
    return [
        Pair(f"{path.name}, {name}", str(path), shares)
        for path in paths
        for name, shares in zip(names, mixes, strict=True)
    ]


def evaluate(
    chosen: Iterable[Pair],
    predictor: Predictor,
    workdir: Path,
    effort: Effort | None = None,
    say: Callable[[str], None] | None = None,
) -> Iterator[Mapping[str, object]]:
    """Yield records: for each pair what was predicted best, what was advised, and their ranks.

    Advice is asked for as a user does, but in as many blocks as `effort` names. Then, in blocks of
    their own, all candidates, or the most that are to be, are measured on the same sample; ranks
    and gains are of that.

    Parameters
    ----------
    chosen
        Pairs.
    predictor
        Says how long a read takes.
    workdir
        Where files are made and removed.
    effort
        How much is measured.
    say
        Is told the pair that comes next.

    Yields
    ------
    mapping
        Of a pair (case) twice, with mode "predicted" and "advised": gain_predicted, gain (with
        its interval), rank (1 is the best), tried (so many measured), weight (its time over that
        of the best, and no less than `NEAR` where it was left early), and hints, which names it;
        of every candidate that was measured, with mode "candidate", its gains and in how many
        blocks (tried); of every other, with mode "left", its predicted gain, and in note why it
        could not be measured, "" where it was not to be. Where there is no rank,
        hints says why.
    """
    effort, remembers = effort or Effort(), Remembering(predictor)
    with Processes(PROCESSES) as processes:
        for pair in chosen:
            if say:
                say(pair.name)
            try:
                asked = _asked(pair, workdir, effort)
                advised = advise(asked, remembers, processes=processes)
                every = advise(_all(asked, effort), remembers, processes=processes)
            except ValueError as error:  # it has no such read
                yield {"case": pair.name, "mode": ADVISED, "hints": f"not asked: {error}"}
                continue
            yield from judged(pair.name, advised, every)


def _asked(pair: Pair, workdir: Path, effort: Effort) -> Question:
    return Question(
        pair.path,
        pair.shares,
        pair.variable,
        pair.roles,
        cache="warm",
        formats=(_own_format(pair.path),),
        measured=effort.few,
        repeats=effort.repeats,
        screened=effort.screened,
        sample_bytes=effort.sample_bytes,
        workdir=workdir,
    )


def judged(name: str, advised: Advice, every: Advice) -> Iterator[Mapping[str, object]]:
    """Yield the records of a pair.

    Parameters
    ----------
    name
        Of the pair.
    advised
        With a few measured.
    every
        The same with all measured, or the most that are to be.
    """
    known = [row for row in (every.present, *every.rows) if row.measured_gain is not None]
    order = sorted(known, key=lambda row: (row.left_early, -_gain(row)))
    able = [row for row in order if math.isfinite(row.sample_gain)]
    best = max(able, key=lambda row: row.sample_gain, default=every.present)
    first = advised.first
    named = first.candidate.name if first else every.present.candidate.name
    choices = {PREDICTED: best.candidate.name, ADVISED: named}
    for mode, choice in choices.items():
        found = next((row for row in order if row.candidate.name == choice), None)
        if found is None or found.measured_gain is None:
            yield {"case": name, "mode": mode, "hints": f"{choice} was not measured"}
            continue
        yield {
            "case": name,
            "mode": mode,
            "hints": choice,
            "gain_predicted": found.sample_gain,
            "gain": found.measured_gain.value,
            "gain_low": found.measured_gain.low,
            "gain_high": found.measured_gain.high,
            "rank": 1 + order.index(found),
            "tried": len(order),
            "weight": _over(order[0], found),
        }
    for row in (*order, *(row for row in every.rows if row.measured_gain is None)):
        measured = row.measured_gain
        yield {
            **row.candidate.layout.record(),
            "case": name,
            "mode": LEFT if measured is None else CANDIDATE,
            "hints": row.candidate.name,
            "library": row.candidate.library,
            "file_bytes": row.nbytes,
            "gain_predicted": row.sample_gain,
            "gain": _gain(row),
            "tried": math.nan if measured is None else measured.n,
            "note": row.status if measured is None else "",
        }


def good(frame: pd.DataFrame, mode: str = ADVISED, within: float = 1.1) -> tuple[int, int]:
    """Return of how many pairs the choice was the best, or within so much of it, and how many.

    Parameters
    ----------
    frame : pandas.DataFrame
        Records from `evaluate`.
    mode
        "predicted" or "advised".
    within
        Its time over that of the best.
    """
    rows = frame[(frame["mode"] == mode) & frame["rank"].notna()]
    return int(((rows["rank"] == 1) | (rows["weight"] <= within)).sum()), len(rows)


def _over(best: Row, row: Row) -> float:
    """Return the time of a candidate over that of the best."""
    times = _gain(best) / _gain(row)
    return max(times, NEAR) if row.left_early else times


def _gain(row: Row) -> float:
    return row.measured_gain.value if row.measured_gain is not None else math.nan


def _all(asked: Question, effort: Effort) -> Question:
    return replace(asked, measured=effort.most, seed=asked.seed + 1, disk_bytes=2**36)


def _own_format(path: str) -> str:
    """Return the format that new layouts of a file are measured in."""
    with open_source(path) as source:
        return source.format if source.format in CHUNKED else "netcdf4"
