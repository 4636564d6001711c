"""Times and counts of the page on local reads, from its records."""

import math
from collections.abc import Sequence

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval, median_interval, paired_ratio

PANELS = {
    "cmems/series": "A. ocean, series",
    "gfs/series": "B. temperature, series",
    "cmems/frame": "C. ocean, frame",
    "gfs/frame": "D. temperature, frame",
}
CHUNKS = {"cmems": 72, "gfs": 13}
"""Chunks that a series of the document's files touches; a frame touches one."""
# Penard et al. 2025, Table 3, local: seconds of the fastest three of each read.
TABLE_3 = {
    "cmems/series": {"nczarr": 0.036, "zarr": 0.066, "xarray-off": 0.305},
    "gfs/series": {"nczarr": 0.339, "zarr": 0.454, "chunkindex-off": 1.22},
    "cmems/frame": {"netcdf4-off": 0.0158, "nczarr": 0.016, "netcdf4-on": 0.0162},
    "gfs/frame": {"nczarr": 0.0423, "zarr": 0.0441, "netcdf4-on": 0.202},
}
COUNTS = ("rchar", "syscr", "user_s", "sys_s")
_PHASES = ("open", "read")


def times(*records: pd.DataFrame) -> pd.DataFrame:
    """Return the time of each read, opening included, for a chunk touched.

    Parameters
    ----------
    *records : pandas.DataFrame
        Of the experiments "reads", "others" and "cold".

    Returns
    -------
    pandas.DataFrame
        panel (a key of `PANELS`), way (library and store, as in the case), state, ms, low, high
        (milliseconds a chunk), open_ms (a read), read_ms, bytes and calls (passed through read
        calls, a chunk), cpu_ms (a chunk), system_ms (of it), format, codec, touched (chunks), n.
    """
    rows = []
    for (case, state), part in _phases(pd.concat(records)).groupby(
        ["case", "cache_state"], sort=False
    ):
        kind, read, way = str(case).split("/")
        samples = part.groupby("block").agg(
            wall_s=("wall_s", "sum"), **{name: (name, _whole_sum) for name in COUNTS}
        )
        touched = float(part["predicted_reads"].iloc[0])
        each = samples / touched
        middle = median_interval(1e3 * each["wall_s"])
        phases = 1e3 * part.groupby("phase")["wall_s"].median()
        rows.append(
            {
                "panel": f"{kind}/{read.removesuffix('-today')}",
                "way": way,
                "state": state,
                "ms": middle.value,
                "low": middle.low,
                "high": middle.high,
                "open_ms": phases["open"],
                "read_ms": phases["read"],
                "bytes": each["rchar"].median(),
                "calls": each["syscr"].median(),
                "cpu_ms": 1e3 * (each["user_s"] + each["sys_s"]).median(),
                "system_ms": 1e3 * each["sys_s"].median(),
                "format": part["format"].iloc[0],
                "codec": part["codec"].iloc[0],
                "touched": touched,
                "n": middle.n,
            }
        )
    return pd.DataFrame(rows)


def documented() -> pd.DataFrame:
    """Return the document's times, for a chunk touched.

    Returns
    -------
    pandas.DataFrame
        panel, way, ms.
    """
    rows = []
    for panel, found in TABLE_3.items():
        kind, read = panel.split("/")
        touched = CHUNKS[kind] if read == "series" else 1
        rows += [
            {"panel": panel, "way": way, "ms": 1e3 * seconds / touched}
            for way, seconds in found.items()
        ]
    return pd.DataFrame(rows)


def gain(
    records: pd.DataFrame, of: str, to: str, *, phases: Sequence[str] = _PHASES, state: str = "warm"
) -> Interval:
    """Return the time of one case over that of another, paired by block.

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment.
    of, to : str
        Names of cases.
    phases : sequence of str
        Those whose seconds are summed.
    state : str
        "warm" or "cold".
    """
    rows = main(records)
    rows = rows[rows["phase"].isin(list(phases)) & (rows["cache_state"] == state)]
    table = rows.groupby(["block", "case"])["wall_s"].sum().unstack("case")
    pair = table[[of, to]].dropna()
    return paired_ratio(pair[of], pair[to])


def counts(timed: pd.DataFrame, unpacked: pd.DataFrame, panel: str = "gfs/series") -> pd.DataFrame:
    """Return what each way asks of a chunk, warm, most CPU time first.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `times`.
    unpacked : pandas.DataFrame
        Records of the experiment "decompressed".
    panel : str
        A key of `PANELS`.

    Returns
    -------
    pandas.DataFrame
        Rows of `times`, with decompressed (bytes of the first chunk).
    """
    part = timed[(timed["panel"] == panel) & (timed["state"] == "warm")]
    names = unpacked["case"].str.replace("-today", "").str.rsplit("/", n=1, expand=True)
    sizes = pd.DataFrame(
        {"panel": names[0], "way": names[1], "decompressed": unpacked["predicted_bytes"]}
    )
    return part.merge(sizes, on=["panel", "way"]).sort_values("cpu_ms", ascending=False)


def one(table: pd.DataFrame, **where: str) -> dict[str, float]:
    """Return the numbers of the only row with some values."""
    for column, value in where.items():
        table = table[table[column] == value]
    [row] = table.to_dict("records")
    return {str(name): value for name, value in row.items() if isinstance(value, int | float)}


def _phases(records: pd.DataFrame) -> pd.DataFrame:
    rows = main(records)
    return rows[rows["phase"].isin(list(_PHASES))]


def _whole_sum(values: "pd.Series[float]") -> float:
    """Return a sum that is missing where a part of it is."""
    return float(values.sum()) if values.notna().all() else math.nan
