"""The sentences and tables of the page on S3, with their numbers from the records."""

import numpy as np
import pandas as pd

from ...text import spread
from .link_model import WORDS
from .local_results import CHUNKS, PANELS
from .s3 import WHERE
from .s3_reads import ABROAD, NEAR
from .wire_figures import labels

TABLE_3 = {
    "cmems/series": {"chunkindex-off": 1.89, "chunkindex-on": 2.23, "h5py-on": 2.27},
    "gfs/series": {"chunkindex-off": 2.68, "chunkindex-on": 3.85, "nczarr": 4.74},
    "cmems/frame": {"nczarr": 0.37, "zarr": 0.37, "h5py-off": 0.61},
    "gfs/frame": {"zarr": 0.57, "nczarr": 0.61, "chunkindex-off": 0.65},
}
"""Seconds of the fastest three of each read from the document's store."""
_TRIES = {
    "netcdf4/http": "netCDF4-python reads a file over HTTP, by `#mode=bytes`",
    "netcdf4/s3": "netCDF4-python reads a file from S3, by `#mode=bytes,s3`",
    "nczarr/http": "netCDF4-python reads compressed NCZarr over HTTP, by `#mode=nczarr`",
    "nczarr/s3": "netCDF4-python reads compressed NCZarr from S3, by `#mode=nczarr,s3`",
    "nczarr/deflate": "NCZarr is compressed by deflate inside, and read back",
}


def summary(timed: pd.DataFrame) -> str:
    """Return what was found.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    """
    rows = timed.set_index("case")
    found = ["**What we found.**"]
    parts = []
    for panel, words in WORDS.items():
        ours, theirs = f"{panel}/h5py-on", f"{panel}/zarr"
        if ours in rows.index and theirs in rows.index:
            parts.append(
                f"{words} {_seconds(rows, ours)} against {_seconds(rows, theirs)}"
                f"{_moved(rows, ours, theirs)}"
            )
    found.append(f"h5py with s3fs as it comes, against Zarr: {'; '.join(parts)}.")
    lean, plain = "cmems/frame-today/h5py-off-nocache", "cmems/frame/h5py-off"
    if lean in rows.index:
        found.append(
            "s3fs reads ahead by 50 MiB: without that the ocean's map takes h5py "
            f"{_seconds(rows, lean)}, not {_seconds(rows, plain)}{_moved(rows, lean, plain)}."
        )
    index = "gfs/series-today/subchunk-off"
    if index in rows.index:
        found.append(
            f"Our index reads {WORDS['gfs/series']} in {_seconds(rows, index)}"
            f"{_moved(rows, index)}."
        )
    return " ".join(found)


def setting(timed: pd.DataFrame) -> str:
    """Return what the page's store is, and what it is not.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    """
    if _abroad(timed) or _near(timed):
        given = (
            "The store is one that others run and that speaks S3, named by the variable "
            f"`{WHERE}` of the environment ({{ref}}`sec-real-store`). It keeps no log for us, so "
            "that requests and bytes are not counted; "
        )
        if _near(timed):
            return given + (
                "and it listens on this machine: no network lies between, and the two share "
                "memory, disk and cores. Such seconds are nobody's; they are not those of a store "
                "that serves others."
            )
        return given + (
            "the seconds are those of that store, of this machine and of what lies between, at the "
            "time of the run."
        )
    return (
        "The store is a small server on this machine that verifies each request's signature, "
        "behind a link of 1 Gbit/s and 20 ms. Such numbers are nobody's: they only give requests "
        "and bytes a weight, and what this page finds is in the counts. "
        "{doc}`/notebooks/penard_link` has the map for other links; {ref}`sec-real-store` says how "
        "this page reads from a store of yours."
    )


def table(timed: pd.DataFrame) -> pd.DataFrame:
    """Return seconds, requests and megabytes of each read, a row a reader and shuffle.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    """
    found = []
    for way, (label, shuffle) in labels().items():
        mine = timed[timed["way"] == way].set_index("panel")
        if mine.empty:
            continue
        row = {"reader": label, "shuffle": shuffle or "–"}
        for panel, title in PANELS.items():
            text = "–"
            if panel in mine.index:
                one = mine.loc[panel]
                text = f"{one['seconds']:.3g} s"
                if one["requests"] > 0:
                    text += f" / {one['requests']:.0f} / {one['wire_bytes'] / 1e6:.3g} MB"
            row[title.partition(". ")[2]] = text
        found.append(row)
    return pd.DataFrame(found)


def tried(rows: pd.DataFrame) -> str:
    """Return what the document says cannot be done, and what came of it here.

    Parameters
    ----------
    rows : pandas.DataFrame
        Records of the experiment "tries".
    """
    lines = []
    for case, words in _TRIES.items():
        status = str(rows[rows["case"] == case]["status"].iloc[0])
        lines.append(f"- {words}: {'it works' if status == 'ok' else f'it fails: {status}'}.")
    return "\n".join(lines)


def caption_10(timed: pd.DataFrame, *, beside: bool) -> str:
    """Return the caption of Figure 10.

    Parameters
    ----------
    timed : pandas.DataFrame
        From `link_model.table`.
    beside : bool
        Whether the document's seconds are drawn.
    """
    theirs = (
        " Diamonds: the document's fastest three, from its own store."
        if beside
        else " The document's seconds are for more chunks, and are not drawn."
    )
    abroad = _abroad(timed) and not _near(timed)
    where = "a store that others run" if abroad else "S3 on this machine"
    nobodys = "" if abroad else " This is not the speed of anybody's store."
    return (
        f"Time of each read from {where}, opening included, as in Figure 10 of "
        f"{{cite:t}}`penard2025`: medians, with {spread(timed['n'].max(), timed['n'].min())}."
        f"{theirs}{nobodys}"
    )


def advice() -> str:
    """Return what to do today."""
    return (
        "## What to do today\n\n"
        "```python\n"
        "import fsspec, h5py\n"
        'far = fsspec.open("s3://bucket/sst.nc", default_cache_type="readahead", '
        "default_block_size=2**16)\n"
        'with far as stream, h5py.File(stream) as file:\n    values = file["uo"][0]\n'
        "```\n\n"
        "- **Choose s3fs's cache by the read.** The table has what each of them moves and takes.\n"
        "- **Give Zarr a store that does not ask twice.** s3fs sends a HEAD before each GET; "
        "obstore does not.\n"
    )


def _seconds(rows: pd.DataFrame, case: str) -> str:
    return f"{float(rows.loc[[case], 'seconds'].iloc[0]):.3g} s"


def _abroad(timed: pd.DataFrame) -> bool:
    return bool((timed["link"] == ABROAD).any())


def _near(timed: pd.DataFrame) -> bool:
    return bool((timed["link"] == NEAR).any())


def _moved(rows: pd.DataFrame, *cases: str) -> str:
    """Return what reads moved, in brackets; empty where the store did not tell."""
    if any(np.isnan(float(rows.loc[[case], "wire_bytes"].iloc[0])) for case in cases):
        return ""
    return f" ({' against '.join(_megabytes(rows, case) for case in cases)})"


def _megabytes(rows: pd.DataFrame, case: str) -> str:
    return f"{float(rows.loc[[case], 'wire_bytes'].iloc[0]) / 1e6:.3g} MB"


def whole(records: pd.DataFrame) -> bool:
    """Return whether a series goes through as many chunks as in the document's files."""
    return _frames(records) == CHUNKS


def taken(records: pd.DataFrame) -> str:
    """Return what was scaled down, empty when nothing was.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "delay", or of one from a store.
    """
    if whole(records):
        return ""
    frames = _frames(records)
    delays = records["latency_s"].dropna().unique()  # none on the way to a store of others
    less = "".join(f" Its links have a delay of {1e3 * s:.0f} ms." for s in delays if s != 0.1)
    return (
        f"This run reads {frames['cmems']} of the {CHUNKS['cmems']} chunks of the ocean and "
        f"{frames['gfs']} of the {CHUNKS['gfs']} of the temperature. The seconds of a series grow "
        "with its chunks, by another law for each reader, so the document's do not stand beside "
        f"ours, and what compares seconds is not judged: the profile full does both.{less}"
    )


def _frames(records: pd.DataFrame) -> dict[str, int]:
    """Return chunks of a series in this run, by file."""
    kinds = records["case"].str.partition("/")[0]
    return {kind: int(np.nanmax(records[kinds == kind]["predicted_reads"])) for kind in CHUNKS}
