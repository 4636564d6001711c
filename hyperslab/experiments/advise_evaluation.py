"""Files to try advice on, how each is read, and how good the advice is among all candidates."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import data_gen

from ..io.layout import Layout
from ..io.opening import open_source
from ..measure.processes import Processes
from ..tune.advice.costs import Calibration
from ..tune.advice.pricing import Row
from ..tune.advice.question import Question, subject_of
from ..tune.advice.rank import Advice, measured, predicted
from ..tune.advice.visit import MODULES
from ..tune.specs.target import chunked_format

Shares = Mapping[str, float]
_LEVELS = 13  # of the atmosphere
_SERIES, _MAP, _MIXED, _MAPS = (
    {"time_series": 1.0}, {"map": 1.0}, {"time_series": 0.7, "map": 0.3},
    {"time_series": 0.1, "map": 0.9},
)  # fmt: skip
_PLANE: tuple[Shares, ...] = ({"row": 1.0}, {"column": 1.0}, {"row": 0.5, "column": 0.5})
_FIELD: tuple[Shares, ...] = (_SERIES, _MAP, _MIXED, _MAPS)


def make(folder: Path, steps: int = 24, mib: int = 5) -> dict[str, Path]:
    """Write files of every kind, whose grids are thinned to variables of at most so many MiB."""
    folder.mkdir(parents=True, exist_ok=True)
    times = max(steps // 4, 2)
    ocean = data_gen.dataset("ocean", steps=steps, **_grid(380, 1287, steps, mib))
    air = data_gen.dataset("gfs", steps=times, **_grid(721, 1440, times * _LEVELS, mib))
    radar = data_gen.dataset("radar", **_grid(1501, 2001, 1, mib))
    deflate = Layout("netcdf4", ocean.frame, "deflate", 4)
    plain = Layout("netcdf4", air.frame, "deflate", 4)
    sea = {
        "ocean": deflate,
        "ocean, shuffled": replace(deflate, shuffle=True),
        "ocean, classic": Layout("netcdf3"),
        "ocean, Zarr 2": Layout("zarr2", ocean.frame, "blosc-lz4", 5, shuffle=True),
        "ocean, Zarr 3": Layout("zarr3", ocean.frame, "zstd", 3),
    }
    above = {"atmosphere": plain, "atmosphere, shuffled": replace(plain, shuffle=True)}
    paths: dict[str, Path] = {}
    for stem, source, layouts in (("ocean", ocean, sea), ("air", air, above)):
        files = {
            name: folder / f"{stem}-{n}{layout.suffix}"
            for n, (name, layout) in enumerate(layouts.items())
        }
        data_gen.write(source, {path: layouts[name] for name, path in files.items()})
        paths |= files
    paths["radar"] = folder / "radar.nc"
    data_gen.write(radar, {paths["radar"]: Layout("netcdf4", radar.frame, "deflate", 1)})
    return paths


def _grid(rows: int, columns: int, frames: int, mib: int) -> dict[str, int]:
    divisor = math.ceil(math.sqrt(rows * columns * frames * 4 / (mib * 2**20)))
    return {"nlat": rows // divisor, "nlon": columns // divisor}


def mixes(names: Mapping[str, Path]) -> dict[str, tuple[Shares, ...]]:
    kinds = {"radar": _PLANE, "atmosphere": (*_FIELD[:3], {"profile": 1.0})}
    return {name: kinds.get(name.partition(",")[0], _FIELD) for name in names}


@dataclass(frozen=True)
class Pair:
    name: str  # of both
    path: str  # of the file
    shares: Shares  # share of each access by name


def pairs(files: Mapping[str, str | Path], mixes: Mapping[str, Sequence[Shares]]) -> list[Pair]:
    return [
        Pair(f"{name}, {_spelled(shares)}", str(path), shares)
        for name, path in files.items()
        for shares in mixes[name]
    ]


def _spelled(shares: Shares) -> str:
    words = (name if share == 1 else f"{share:.0%} {name}" for name, share in shares.items())
    return " ".join(words) or "usual"


def given(folder: str | Path) -> list[Pair]:
    suffixes = (".nc", ".nc4", ".h5", ".hdf5", ".zarr")
    files = {path.name: path for path in sorted(Path(folder).iterdir()) if path.suffix in suffixes}
    return pairs(files, dict.fromkeys(files, ({}, _SERIES, _MAP, _MIXED)))


def evaluate(
    chosen: Iterable[Pair], calibration: Calibration, template: Question, most: int
) -> Iterator[Mapping[str, object]]:
    """Yield records: for each pair what was predicted best, what was advised, and their ranks."""
    with Processes(MODULES) as processes:
        for pair in chosen:
            with open_source(pair.path) as source:
                own = chunked_format(source.format)
            question = replace(template, address=pair.path, shares=pair.shares, formats=(own,))
            wider = replace(question, measured=most, seed=template.seed + 1)
            try:
                guess = predicted(subject_of(question), calibration, processes)
            except ValueError as error:  # it has no such read
                yield {"case": pair.name, "mode": "advised", "hints": f"not asked: {error}"}
                continue
            every = replace(guess, subject=replace(guess.subject, question=wider))
            advised, every = measured(guess, processes), measured(every, processes)
            # The fastest of many medians is partly lucky.
            again = measured(_finalists(advised, every), processes)
            yield from judged(pair.name, advised, every, again)


def judged(
    name: str, advised: Advice, every: Advice, again: Advice
) -> Iterator[Mapping[str, object]]:
    """Yield the records of a pair: from its advice, from more measured, from the best again."""
    order = _order(every)
    final = {row.candidate.name: _gain(row) for row in (again.present, *again.rows)}
    for mode, label in _choices(advised, every).items():
        row = next((row for row in order if row.candidate.name == label), None)
        if row is None or row.measured_gain is None:
            yield {"case": name, "mode": mode, "hints": f"{label} was not measured"}
            continue
        others = (final[other.candidate.name] for other in order if other is not row)
        weight = next(others, final[label]) / final[label]
        if math.isnan(weight):
            yield {"case": name, "mode": mode, "hints": f"{label} could not be measured again"}
            continue
        yield {
            "case": name,
            "mode": mode,
            "hints": label,
            "gain_predicted": row.sample_gain,
            "gain": row.measured_gain.value,
            "gain_low": row.measured_gain.low,
            "gain_high": row.measured_gain.high,
            "rank": 1 + order.index(row),
            "tried": len(order),
            "weight": weight,
        }
    for row in (*order, *(row for row in every.rows if row.measured_gain is None)):
        gain = row.measured_gain
        yield {
            **row.candidate.layout.record(),
            "case": name,
            "mode": "left" if gain is None else "candidate",
            "hints": row.candidate.name,
            "library": row.candidate.library,
            "file_bytes": row.nbytes,
            "gain_predicted": row.sample_gain,
            "gain": _gain(row),
            "tried": math.nan if gain is None else gain.n,
            "note": row.status if gain is None else "",
        }


def _order(every: Advice) -> list[Row]:
    with_gain = [row for row in (every.present, *every.rows) if row.measured_gain is not None]
    return sorted(with_gain, key=lambda row: (row.left_early, -_gain(row)))


def _choices(advised: Advice, every: Advice) -> dict[str, str]:
    predictable = [row for row in _order(every) if math.isfinite(row.sample_gain)]
    best = max(predictable, key=lambda row: row.sample_gain, default=every.present)
    chosen = {"predicted": best, "advised": advised.first or every.present}
    return {mode: row.candidate.name for mode, row in chosen.items()}


def _finalists(advised: Advice, every: Advice) -> Advice:
    """Return advice to be measured again: the two best, and what was predicted and advised."""
    best = [row.candidate.name for row in _order(every)[:2]]
    names = {*best, *_choices(advised, every).values()}
    rows = tuple(replace(r, measured=None, measured_gain=None, left_early=False)
                 for r in every.rows if r.candidate.name in names)  # fmt: skip
    question = every.subject.question
    once_more = replace(question, measured=len(rows), screened=0, seed=question.seed + 1)
    return replace(every, rows=rows, subject=replace(every.subject, question=once_more))


def _gain(row: Row) -> float:
    return math.nan if row.measured_gain is None else row.measured_gain.value
