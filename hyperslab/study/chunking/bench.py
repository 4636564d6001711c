"""bm_file's own examples, given to `hyperslab bench`: what is asked, and what came of it.

The benchmark itself is a parameter of these functions: it belongs to a part of the library that
the study does not import.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import data_gen

from ...measure.records import main
from ...measure.stats import Interval, median_interval, paired_ratio
from ...storage.geometry import predicted_bytes
from ...storage.layout import Layout
from ...storage.write import write_array

Measure = Callable[[Sequence[str]], pd.DataFrame]
Summary = Callable[[pd.DataFrame], pd.DataFrame]
Rows = Iterator[Mapping[str, object]]

# run_bm_elena: its file has the dimensions z, y and x, and random whole numbers below 255.
ELENA_SHAPE = (1024, 256, 256)
ELENA_CHUNKS = (
    (1024, 16, 256), (1024, 256, 256), (512, 64, 256), (512, 256, 256), (256, 64, 256),
    (256, 256, 256),
)  # fmt: skip
SHORTS = {1: 100000, 2: 316, 3: 46, 4: 17, 5: 10, 6: 6}
"""Length of every dimension of the document's files of 16-bit integers, by their number."""
SIDE, COPY_BYTES = 3162, 40_997_536
SIDES = (128, 790, 791, 3162)

COLUMNS = (
    "input format", "output_format", "input size", "output size", "meta read time",
    "meta write time", "data read time", "data write time", "enddianness",
    "metadata reread time", "data reread time", "read rate", "write rate", "reread rate",
    "deflate", "shuffle", "chunksize[0]", "chunksize[1]", "chunksize[2]", "chunksize[3]",
)  # fmt: skip
"""The columns that bm_file prints, as the document spells them."""
_TABLE = """
1, 4, 200092, 207283, 1613, 1054, 409, 312, 0, 1208, 1551, 488.998, 641.026, 128.949
1, 4, 199824, 208093, 1545, 1293, 397, 284, 0, 1382, 1563, 503.053, 703.211, 127.775
1, 4, 194804, 204260, 1562, 1611, 390, 10704, 0, 1627, 2578, 499.159, 18.1868, 75.5128
1, 4, 167196, 177744, 1531, 1888, 330, 265, 0, 12888, 1301, 506.188, 630.347, 128.395
1, 4, 200172, 211821, 1509, 2065, 422, 308, 0, 1979, 1550, 473.934, 649.351, 129.032
1, 4, 93504, 106272, 1496, 2467, 191, 214, 0, 32208, 809, 488.544, 436.037, 115.342
"""
RATES = {
    "read rate": "data read time",
    "write rate": "data write time",
    "reread rate": "data reread time",
}


def document() -> pd.DataFrame:
    """Return the document's table for shorts in 1 to 6 dimensions, without the last six columns.

    Source: netCDF-C 4.6.2, "A Utility to Help Benchmark Results: bm_file".

    Examples
    --------
    >>> table = document()
    >>> int(table.loc[1, "data read time"]), float(table.loc[1, "read rate"])
    (409, 488.998)
    """
    rows = [[float(x) for x in line.split(",")] for line in _TABLE.strip().splitlines()]
    return pd.DataFrame(rows, columns=COLUMNS[:14], index=pd.Index(SHORTS, name="dimensions"))


def elena(divisor: int) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """Return shape and chunks of run_bm_elena, every length divided.

    Examples
    --------
    >>> elena(4)[0], elena(4)[1][0]
    ((256, 64, 64), (256, 4, 64))
    """
    shape = tuple(n // divisor for n in ELENA_SHAPE)
    return shape, [tuple(n // divisor for n in chunks) for chunks in ELENA_CHUNKS]


def option(chunks: Sequence[int]) -> str:
    """Return bm_file's ``-c`` for the first variable, uncompressed, with these chunks.

    Examples
    --------
    >>> option((1024, 16, 256))
    '0:-1:0:1024:16:256'
    """
    return ":".join(map(str, ("0", -1, 0, *chunks)))


def words(path: Path, chunks: Iterable[Sequence[int]], *more: str) -> list[str]:
    """Return the words after `hyperslab bench` that copy a file into these chunks."""
    each = [word for one in chunks for word in ("-c", option(one))]
    return ["-d", *more, *each, str(path)]


def make_integers(path: Path, shape: Sequence[int], dtype: str, seed: int = 0) -> Path:
    """Write random whole numbers below 255 into a classic file, as the document's were."""
    path.parent.mkdir(parents=True, exist_ok=True)
    values = np.random.default_rng([seed, *shape]).integers(0, 255, shape).astype(dtype)
    dims = ("z", "y", "x") if len(shape) == 3 else tuple(f"dim_{d}" for d in range(len(shape)))
    write_array(path, values, Layout("netcdf3"), dims=dims, overwrite=True)
    return path


def make_currents(path: Path, steps: int, rows: int, columns: int) -> Path:
    """Write hourly currents, one map a chunk, deflated: a file that many people have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    layout = Layout("netcdf4", (1, rows, columns), "deflate", 4, shuffle=True)
    data_gen.write(data_gen.dataset("ocean", steps=steps, nlat=rows, nlon=columns), {path: layout})
    return path


def rows(measure: Measure, given: Sequence[str], **columns: object) -> Rows:
    """Yield the records of one benchmark, as a session keeps them: layouts, and the whole file."""
    frame = measure(given)
    whole = (frame["phase"] == "stat") & (frame["case"] == "")
    frame["verified"] |= whole  # a size is looked up: there is nothing to compare
    frame = frame[(frame["experiment"] == "bench") | whole]
    frame = frame.drop(columns=["run_id", "profile", "notebook", "experiment"])
    for row in frame.to_dict("records"):
        yield {**{str(name): value for name, value in row.items()}, **columns}


def shorts(measure: Measure, folder: Path, repeats: int) -> Rows:
    """Yield the records of a benchmark for each number of dimensions, in the column size."""
    for ndims, length in SHORTS.items():
        path = make_integers(folder / f"shorts-{ndims}d.nc", (length,) * ndims, "i2")
        more = ("-f", "4", "--no-copy", "--patterns", "none", "--repeats", str(repeats))
        given = words(path, [(length,) * ndims], *more)
        yield from rows(measure, given, size=f"{ndims}D")


def shorts_table(records: pd.DataFrame, summary: Summary) -> pd.DataFrame:
    """Return bm_file's columns for each number of dimensions; one row each.

    Beside each rate stand the ends of its interval, as "read rate low" and "read rate high".
    """
    parts = []
    for n in SHORTS:
        part = records[records["size"] == f"{n}D"]
        first = summary(part).iloc[:1]
        own = part[part["case"] == first["target"].iloc[0]]
        ends: dict[str, float] = {}
        for rate, phase in zip(RATES, ("data_read", "data_write", "data_reread"), strict=True):
            chosen = main(own[own["phase"] == phase])
            found = median_interval(chosen["useful_bytes"] / 1e6 / chosen["wall_s"])
            ends |= {f"{rate} low": found.low, f"{rate} high": found.high}
        parts.append(first.assign(**ends))
    table = pd.concat(parts, ignore_index=True)
    return table.set_index(pd.Index(SHORTS, name="dimensions"))


def copies(measure: Measure, folder: Path, sides: Sequence[int]) -> Rows:
    """Yield real and predicted sizes of copies of a 3162 x 3162 array, for each chunk length."""
    path = make_integers(folder / "square.nc", (SIDE, SIDE), "i4")
    more = ("-f", "3", "--no-copy", "--patterns", "none", "--repeats", "1")
    frame = main(measure(words(path, [(side, side) for side in sides], *more)))
    frame = frame[frame["experiment"] == "bench"]
    path.unlink()
    for side in sides:
        part = frame[frame["chunks"] == f"{side}x{side}"]
        if part["file_bytes"].notna().any():
            yield {
                "case": f"{side}x{side}",
                "phase": "size",
                "format": "netcdf4",
                "chunks": f"{side}x{side}",
                "file_bytes": float(part["file_bytes"].max()),
                "predicted_bytes": predicted_bytes((SIDE, SIDE), (side, side), 4),
                "useful_bytes": 4 * SIDE * SIDE,
                "verified": bool(part["verified"].all()),
            }


def columns(tables: Iterable[pd.DataFrame]) -> Rows:
    """Yield one row for each of bm_file's columns: whether it is there, filled, and right.

    A rate is right when it is the bytes of the data over the time beside it, as in bm_file; a
    size, when it is the file's.

    Parameters
    ----------
    tables : iterable of pandas.DataFrame
        Summaries of benchmarks.
    """
    listed = list(tables)
    for name in COLUMNS:
        wrong = [why for table in listed if (why := _fault(table, name))]
        yield {"case": name, "phase": "column", "status": wrong[0] if wrong else "ok"}


def _fault(table: pd.DataFrame, name: str) -> str:
    if name not in table:
        return f"there is no column {name!r}"
    if table[name].isna().any() or table[name].astype(str).eq("").any():
        return f"the column {name!r} is not filled"
    if name in RATES:
        bytes_ = table[name].astype(float) * table[RATES[name]].astype(float)
        useful = table["ratio"] * table["file_bytes"]
        if ((bytes_ / useful - 1).abs() > 1e-3).any():
            return f"{name!r} is not the data's bytes over {RATES[name]!r}"
    if name == "output size" and (table[name] != table["file_bytes"]).any():
        return "'output size' is not the size of the file"
    return ""


STEPS = {
    "write": ("meta_write", "data_write", "sync", "close"),
    "put": ("data_write",),
    "read again": ("data_reread",),
}


def rates(records: pd.DataFrame) -> pd.DataFrame:
    """Return rates of writing and reading again, and counts, for each layout.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "elena".

    Returns
    -------
    pandas.DataFrame
        case, step, rate, low, high (MB/s of 10^6 bytes), n; wchar, syscw, rchar, syscr, minflt
        (medians) of the step.
    """
    timed = main(records)
    found = []
    for case, part in timed[timed["phase"].isin(sum(STEPS.values(), ()))].groupby(
        "case", sort=False
    ):
        useful = part.loc[part["phase"] == "data_write", "useful_bytes"].max()
        for step, phases in STEPS.items():
            chosen = part[part["phase"].isin(phases)]
            if chosen.empty:
                continue
            by_block = chosen.groupby("block")
            median = median_interval(useful / 1e6 / by_block["wall_s"].sum())
            counted = by_block[["wchar", "syscw", "rchar", "syscr", "minflt"]].sum(min_count=1)
            found.append(
                {"case": case, "step": step, "rate": median.value, "low": median.low,
                 "high": median.high, "n": median.n, **counted.median().to_dict()}
            )  # fmt: skip
    return pd.DataFrame(found)


def reads(records: pd.DataFrame) -> pd.DataFrame:
    """Return times of the access patterns for each layout, with the gain over the file as it is.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "example".

    Returns
    -------
    pandas.DataFrame
        case, pattern, cache_state, ms, low, high, gain (Interval; how many times as fast as the
        file's own layout), rchar, syscr, user_s (medians), file_bytes.
    """
    timed = main(records)
    sizes = timed.groupby("case")["file_bytes"].max()
    timed = timed[timed["phase"].str.startswith("pattern:")]
    found = []
    for (pattern, state), part in timed.groupby(["pattern", "cache_state"], sort=False):
        own = part[part["case"] == "copy"].groupby("block")["wall_s"].sum()
        for case, one in part.groupby("case", sort=False):
            seconds = one.groupby("block")["wall_s"].sum()
            median = median_interval(1e3 * seconds)
            both = pd.concat([own, seconds], axis=1, join="inner")
            found.append(
                {"case": case, "pattern": pattern, "cache_state": state, "ms": median.value,
                 "low": median.low, "high": median.high, "n": median.n,
                 "gain": paired_ratio(both.iloc[:, 0], both.iloc[:, 1]),
                 **one[["rchar", "syscr", "user_s"]].median().to_dict(),
                 "file_bytes": sizes[case]}
            )  # fmt: skip
    return pd.DataFrame(found)


def gain(table: pd.DataFrame, pattern: str, state: str) -> tuple[str, Interval]:
    """Return the quickest layout for a pattern, and how much faster than the file's own."""
    part = table[(table["pattern"] == pattern) & (table["cache_state"] == state)]
    top = part.iloc[int(part["ms"].argmin())]
    return str(top["case"]), top["gain"]
