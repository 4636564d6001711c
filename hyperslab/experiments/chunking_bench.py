"""bm_file's own examples, given to `hyperslab bench` and to itself, and what they print."""

import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ..io.chunk_shapes import predicted_bytes
from ..io.creation import write_array
from ..io.layout import Layout
from ..measure.records import main
from ..tune.bench.bench_command import measured
from ..tune.report.summary import BM_COLUMNS, BM_RATES, Findings

Rows = Iterator[Mapping[str, object]]
BM_FILE = "bm_file"  # the layout of netCDF-C's own program, in records
_TIMES = {"write": "data write time", "reread": "data reread time"}  # by phase, in µs


def integers(path: Path, shape: Sequence[int], dtype: str, seed: int = 0) -> Path:
    """Write random whole numbers below 255 into a classic file, as the document's were."""
    path.parent.mkdir(parents=True, exist_ok=True)
    values = np.random.default_rng([seed, *shape]).integers(0, 255, shape).astype(dtype)
    dims = ("z", "y", "x") if len(shape) == 3 else tuple(f"dim_{d}" for d in range(len(shape)))
    write_array(path, values, Layout("netcdf3"), dims=dims, overwrite=True)
    return path


def words(path: Path, chunks: Iterable[Sequence[int]], *more: str) -> list[str]:
    """Return the words after `hyperslab bench` that copy a file uncompressed into these chunks."""
    each = [word for chunk in chunks for word in ("--chunks", ",".join(map(str, chunk)))]
    return [*more, *each, str(path)]


def rows(arguments: Sequence[str], seed: int, *, copy: bool = True, **columns: object) -> Rows:
    """Yield the records of one benchmark: those of layouts, and of the whole file."""
    frame = measured(arguments, seed=seed, copy=copy)
    whole = (frame["phase"] == "stat") & (frame["case"] == "")
    frame["verified"] |= whole  # a size is looked up: there is nothing to compare
    frame = frame[(frame["experiment"] == "bench") | whole]
    frame = frame.drop(columns=["run_id", "profile", "notebook", "experiment"])
    for row in frame.assign(layout=frame["case"]).to_dict("records"):
        yield {**{str(name): value for name, value in row.items()}, **columns}


def program(path: str) -> str:
    if path and not os.access(path, os.X_OK):
        raise ValueError(f"bm_file={path!r}: give the path of netCDF-C's program, or nothing")
    return str(Path(path).resolve()) if path else ""


def by_bm_file(bm_file: str, path: Path, chunk: Sequence[int], form: str, **labels: str) -> Rows:
    """Yield what bm_file itself prints of a copy in one kind of chunks: its size, two times."""
    about = {**labels, "library": BM_FILE, "phase": "size"}
    if not bm_file:
        yield {**about, "verified": False, "status": "missing: bm_file, whose path was not given"}
        return
    copy = path.with_name(f"{BM_FILE}.nc")
    lengths = ":".join(map(str, chunk))
    options = ["-h", "-d", "-m", "-f", form, "-o", copy.name, "-c", f"0:-1:0:{lengths}", path.name]
    done = subprocess.run([bm_file, *options], cwd=path.parent, capture_output=True, text=True)
    for output in (copy, copy.with_name(f"tst_copy_{copy.name}")):
        output.unlink(missing_ok=True)
    lines = done.stdout.splitlines()
    if done.returncode or len(lines) < 2:
        yield {**about, "verified": False, "status": f"failed: {done.stderr or done.returncode}"}
        return
    printed = dict(zip(lines[0].split(", "), lines[1].split(", "), strict=False))
    yield {**about, "verified": True, "file_bytes": float(printed["output size"])}
    for phase, column in _TIMES.items():
        yield {**about, "verified": True, "phase": phase, "wall_s": float(printed[column]) / 1e6}


def shorts(
    folder: Path, lengths: Sequence[int], repeats: int, seed: int, bm_file: str = ""
) -> Rows:
    """Yield the records of 16-bit integers in one dimension and more, one chunk each."""
    for ndims, length in enumerate(lengths, 1):
        chunk = (length,) * ndims
        path = integers(folder / f"shorts-{ndims}d.nc", chunk, "i2")
        more = ("-f", "4", "--patterns", "none", "--workdir", str(folder))
        arguments = words(path, [chunk], *more, "--repeats", str(repeats))
        yield from rows(arguments, seed, copy=False, dimensions=str(ndims))
        yield from by_bm_file(bm_file, path, chunk, "4", layout=BM_FILE, dimensions=str(ndims))


def copies(folder: Path, side: int, chunks: Sequence[int], seed: int, bm_file: str = "") -> Rows:
    """Yield real and predicted sizes of a square array's copies, after that of bm_file's own."""
    path = integers(folder / "square.nc", (side, side), "i4")
    more = ("-f", "3", "--patterns", "none", "--workdir", str(folder), "--repeats", "1")
    arguments = words(path, [(length, length) for length in chunks], *more)
    frame = main(measured(arguments, seed=seed, copy=False))
    frame = frame[frame["experiment"] == "bench"]
    yield from by_bm_file(bm_file, path, (chunks[0], chunks[0]), "3", layout=BM_FILE)
    path.unlink()
    for length in chunks:
        name = f"{length}x{length}"
        records = frame[frame["chunks"] == name]
        failed = records["status"][records["status"] != "ok"]
        yield {
            "layout": name,
            "phase": "size",
            "format": "netcdf4",
            "chunks": name,
            "file_bytes": float(records["file_bytes"].max()),
            "predicted_bytes": predicted_bytes((side, side), (length, length), 4),
            "useful_bytes": 4 * side * side,
            "verified": bool(records["verified"].all()),
            "status": failed.iloc[0] if len(failed) else "ok",
        }


def columns(frame: pd.DataFrame, by_dimensions: pd.DataFrame) -> Rows:
    """Yield a row for each of bm_file's columns: whether it is there, filled, and right."""
    groups = by_dimensions.groupby("dimensions", sort=False, observed=True)
    tables = [Findings(frame).table, pd.concat(Findings(group).table[:1] for _, group in groups)]
    for name in BM_COLUMNS:
        wrong = [why for table in tables if (why := fault(table, name))]
        yield {"column": name, "phase": "column", "status": wrong[0] if wrong else "ok"}


def fault(table: pd.DataFrame, name: str) -> str:
    if name not in table:
        return f"there is no column {name!r}"
    if table[name].isna().any() or table[name].astype(str).eq("").any():
        return f"the column {name!r} is not filled"
    if name in BM_RATES:
        implied = table[name].astype(float) * table[BM_RATES[name]].astype(float)
        useful = table["ratio"] * table["file_bytes"]
        if ((implied / useful - 1).abs() > 1e-3).any():
            return f"{name!r} is not the data's bytes over {BM_RATES[name]!r}"
    if name == "output size" and (table[name] != table["file_bytes"]).any():
        return "'output size' is not the size of the file"
    return ""
