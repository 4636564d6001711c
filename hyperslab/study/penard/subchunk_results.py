"""Times, sizes and counts of the page on the sub-chunk index, from its records."""

import math

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval, median_interval, paired_ratio

FILES = {
    "gfs": "temperature, shuffle off",
    "gfs-on": "temperature, shuffle on",
    "cmems": "ocean, shuffle off",
    "cmems-on": "ocean, shuffle on",
}
# Penard et al. 2025, Table 3: seconds of chunkindex on the local disk, 13 chunks, shuffle off.
DOCUMENT_SERIES_S, DOCUMENT_CHUNKS = 1.22, 13
COUNTS = ("rchar", "syscr", "user_s", "sys_s")


def times(records: pd.DataFrame) -> pd.DataFrame:
    """Return the time of each read through each index, opening included, for a chunk touched.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "spacing".

    Returns
    -------
    pandas.DataFrame
        file, read ("series" or "frame"), index ("h5py" for none), ms, low, high (milliseconds a
        chunk), gain (h5py's time over this one's, an Interval), bytes and calls (passed through
        read calls, a chunk), cpu_ms (a chunk), n.
    """
    timed = main(records)
    timed = timed[timed["phase"].isin(("open", "read"))]
    samples = timed.groupby(["case", "block"], sort=False).agg(
        wall_s=("wall_s", "sum"),
        touched=("predicted_reads", "max"),
        **{name: (name, _whole_sum) for name in COUNTS},
    )
    each = samples.div(samples["touched"], axis=0)
    rows = []
    for case in each.index.unique("case"):
        file, kind, index = str(case).split("/")
        read = kind.partition("-")[0]
        part = each.loc[case]
        whole = each.loc[f"{file}/{read}-whole/h5py"]["wall_s"].rename("whole_s")
        pair = part.join(whole, how="inner")
        middle = median_interval(1e3 * part["wall_s"])
        rows.append(
            {
                "file": file,
                "read": read,
                "index": index,
                "ms": middle.value,
                "low": middle.low,
                "high": middle.high,
                "gain": paired_ratio(pair["whole_s"], pair["wall_s"]),
                "bytes": part["rchar"].median(),
                "calls": part["syscr"].median(),
                "cpu_ms": 1e3 * (part["user_s"] + part["sys_s"]).median(),
                "n": middle.n,
            }
        )
    return pd.DataFrame(rows)


def sizes(records: pd.DataFrame) -> pd.DataFrame:
    """Return the size of each index.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "indexes".

    Returns
    -------
    pandas.DataFrame
        file, index, share (of the compressed data), spacing (bytes), points (a chunk).
    """
    parts = records["case"].str.split("/", expand=True)
    return pd.DataFrame(
        {
            "file": parts[0],
            "index": parts[1],
            "share": records["file_bytes"] / records["useful_bytes"],
            "spacing": records["spacing_bytes"],
            "points": records["points"] / records["stages"],
        }
    )


def curves(timed: pd.DataFrame, sized: pd.DataFrame) -> pd.DataFrame:
    """Return the series through each index beside that index's size, smallest first."""
    joined = timed[timed["read"] == "series"].merge(sized, on=["file", "index"])
    return joined.sort_values("share", ignore_index=True)


def costs(records: pd.DataFrame) -> pd.DataFrame:
    """Return the CPU time of building an index beside that of reading the file once.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "build".

    Returns
    -------
    pandas.DataFrame
        file, build_s, read_s (CPU seconds, medians), times (build over read, an Interval), n.
    """
    rows = main(records)
    rows = rows.assign(cpu_s=rows["user_s"] + rows["sys_s"])
    table = rows.groupby(["block", "case"])["cpu_s"].sum(min_count=1).unstack("case")
    found = []
    for file in FILES:
        pair = table[[f"{file}/build", f"{file}/h5py"]].dropna()
        ratio = paired_ratio(pair[f"{file}/build"], pair[f"{file}/h5py"])
        build_s, read_s = pair.median()
        found.append(
            {"file": file, "build_s": build_s, "read_s": read_s, "times": ratio, "n": ratio.n}
        )
    return pd.DataFrame(found)


def window_shares(records: pd.DataFrame) -> pd.DataFrame:
    """Return what a window holds on average, by file.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "windows".

    Returns
    -------
    pandas.DataFrame
        file, used (share of the bytes that is referred to), packed and sparse (bytes a window,
        deflated), points.
    """
    rows = []
    for file, part in records.groupby("case", sort=False):
        size = part.set_index("phase")["file_bytes"]
        count = part["points"].iloc[0]
        rows.append(
            {
                "file": str(file),
                "used": size["referred"] / size["whole"],
                "packed": size["packed"] / count,
                "sparse": size["sparse"] / count,
                "points": count,
            }
        )
    return pd.DataFrame(rows)


def one(table: pd.DataFrame, **where: str) -> dict[str, object]:
    """Return the only row with some values."""
    for column, value in where.items():
        table = table[table[column] == value]
    [row] = table.to_dict("records")
    return {str(name): value for name, value in row.items()}


def gain(timed: pd.DataFrame, file: str, read: str, index: str) -> Interval:
    """Return how many times as long h5py took."""
    found = one(timed, file=file, read=read, index=index)["gain"]
    assert isinstance(found, Interval)
    return found


def _whole_sum(values: "pd.Series[float]") -> float:
    """Return a sum that is missing where a part of it is."""
    return float(values.sum()) if values.notna().all() else math.nan


def on_toy_grid(records: pd.DataFrame) -> bool:
    """Return whether the temperature lies on a smaller grid than the document's.

    Parameters
    ----------
    records : pandas.DataFrame

    Examples
    --------
    >>> on_toy_grid(pd.DataFrame({"chunks": ["1x13x721x1440", "1x380x1287"]}))
    False
    """
    return "1x13x721x1440" not in set(records["chunks"])
