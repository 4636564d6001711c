"""The sentences and tables on scatter, windows, building and parts of chunks, from the records."""

from typing import Any

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval
from ...text import amount, comparison, number, percent
from .subchunk_results import FILES, one
from .subchunk_words import percents, real

_REQUESTS = {"row": "row", "patch": "patch", "box": "box"}
_PARTS = {
    "h5py/deflate": "netCDF-4, deflate, by h5py",
    "subchunk/deflate": "netCDF-4, deflate, by the index",
    "zarr2/blosc": "Zarr 2, Blosc",
    "zarr3/blosc": "Zarr 3, Blosc",
    "zarr3/zstd": "Zarr 3, zstd",
    "zarr3-shards/zstd": "Zarr 3, zstd, shards",
}


def table_pieces(pieces: pd.DataFrame) -> pd.DataFrame:
    """Return how each request is scattered, as text.

    Parameters
    ----------
    pieces : pandas.DataFrame
        Records of the experiment "pieces".
    """
    rows = []
    for shuffle in ("off", "on"):
        for request, words in _REQUESTS.items():
            theirs = one(pieces, case=f"{request}/{shuffle}")
            ours = one(pieces, case=f"ours/{request}/{shuffle}")
            rows.append(
                {
                    "request": words,
                    "shuffle": shuffle,
                    "wanted": amount(real(theirs["useful_bytes"]), "B"),
                    "runs of bytes": f"{real(theirs['predicted_reads']):.0f}",
                    "sections, document's points": f"{real(theirs['requests']):.0f}",
                    "decoded": amount(real(theirs["predicted_bytes"]), "B"),
                    "sections, our points": f"{real(ours['requests']):.0f}",
                    "decoded ": amount(real(ours["predicted_bytes"]), "B"),
                }
            )
    return pd.DataFrame(rows)


def scatter(pieces: pd.DataFrame) -> str:
    """Return what scatter costs.

    Parameters
    ----------
    pieces : pandas.DataFrame
        Records of the experiment "pieces".
    """
    row, shuffled = one(pieces, case="row/off"), one(pieces, case="row/on")
    mine, fine = one(pieces, case="ours/row/off"), one(pieces, case="ours/row/on")
    decoded = real(shuffled["predicted_bytes"]) / real(row["predicted_bytes"])
    finer = real(fine["predicted_bytes"]) / real(mine["predicted_bytes"])
    return (
        f"With the document's points a row needs {_sections(row)} without shuffle and "
        f"{_sections(shuffled)} with it, and {_more(decoded)} bytes are decoded. The bytes that "
        "are compressed together matter as much as their number: with our points, as dense as the "
        f"budget allows for each file, {_sections(mine)} and {_sections(fine)}, and with shuffle "
        f"{_more(finer)} bytes are decoded than without."
    )


def caption_windows(shares: pd.DataFrame) -> str:
    """Return the caption of the windows."""
    return (
        f"Windows of 32 KiB at {shares['points'].max():.0f} places all over the first chunk of "
        "each file: the share of their bytes that the data behind the point refers to, and what a "
        "window takes, deflated, whole and with the other bytes zeroed. The dotted line is a "
        "window as it is."
    )


def windows(shares: pd.DataFrame, five: pd.DataFrame) -> str:
    """Return what windows cost.

    Parameters
    ----------
    shares : pandas.DataFrame
        From `window_shares`.
    five : pandas.DataFrame
        Records of the experiment "index-size".
    """
    saved = shares["packed"] / shares["sparse"]
    size = (five["file_bytes"] / five["useful_bytes"]).to_numpy()
    stored = (five["file_bytes"] / five["chunk_bytes"]).to_numpy()
    return (
        f"Of a window {percents(shares['used'])} are used. Zeroing the rest before it is deflated "
        f"makes windows {saved.min():.0f} to {saved.max():.0f} times smaller and changes no "
        "decoded byte. The document reckons five windows in a chunk of 1 MB to be 16 % of the "
        f"data: whole they are {percent(size[0])} of the values, and {percent(stored[0])} of "
        f"the chunk as it is compressed. Deflated, as Figure 3 of the document stores them, they "
        f"are {percent(size[1])} and {percent(stored[1])}; of sparse ones, {percent(size[2])} and "
        f"{percent(stored[2])}."
    )


def table_costs(costs: pd.DataFrame) -> pd.DataFrame:
    """Return what building costs, as text."""
    return pd.DataFrame(
        [
            {
                "file": FILES[row["file"]],
                "build, s of CPU": f"{row['build_s']:.2f}",
                "read once by h5py, s of CPU": f"{row['read_s']:.2f}",
                "times": _interval(row["times"]),
            }
            for row in costs.to_dict("records")
        ]
    )


def caption_costs(costs: pd.DataFrame) -> str:
    """Return the caption of the table of costs."""
    return (
        "CPU time of building the index of one variable at the default budget, one thread, and of "
        "reading the variable once with h5py: medians, and the paired ratio with its interval, of "
        f"{costs['n'].max():.0f} blocks; below six an interval is the range."
    )


def table_parts(records: pd.DataFrame) -> pd.DataFrame:
    """Return what a small box reads of each layout, as text.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "partial".
    """
    rows = []
    for case, row in _parts(records).to_dict("index").items():
        rows.append(
            {
                "stored as": _PARTS[str(case)],
                "read": amount(row["rchar"], "B"),
                "calls": f"{row['syscr']:.0f}",
                "for each byte wanted": number(row["rchar"] / row["useful_bytes"]),
            }
        )
    return pd.DataFrame(rows)


def parts(records: pd.DataFrame) -> str:
    """Return what reads part of a chunk today.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "partial".
    """
    table = _parts(records)["rchar"]
    if table.isna().any():
        return ""
    shard = comparison(table["zarr3-shards/zstd"] / table["zarr3/zstd"], "more", "less")
    blosc = [amount(table[f"{name}/blosc"], "B") for name in ("zarr2", "zarr3")]
    index = comparison(table["subchunk/deflate"] / table["h5py/deflate"], "more", "less")
    return (
        "zarr-python 3 has no `partial_decompress`, the option the document means; what it has is "
        "shards, whose inner chunks are compressed one by one, by any codec. Through shards it "
        f"reads {shard} than from plain chunks of zstd; from chunks of Blosc, where the option "
        f"once applied, it reads {blosc[0]} in Zarr 2 and {blosc[1]} in Zarr 3. Shards "
        f"must be written so; the index reads {index} than h5py from a file as it is."
    )


def _parts(records: pd.DataFrame) -> pd.DataFrame:
    rows = main(records).groupby(["case", "block"])
    sums = rows[["rchar", "syscr"]].sum(min_count=1).join(rows["useful_bytes"].max())
    return sums.groupby("case").median().reindex(list(_PARTS)).dropna(how="all")


def _sections(row: dict[str, object]) -> str:
    count = int(real(row["requests"]))
    return "one section" if count == 1 else f"{count} sections"


def _more(times: float) -> str:
    return comparison(times, "more", "fewer")


def _interval(value: Any) -> str:
    assert isinstance(value, Interval)
    return f"{value.value:.2f} [{value.low:.2f}, {value.high:.2f}]"
