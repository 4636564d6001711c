"""Requests, bytes and times of every layout, from the records of the page on the cloud."""

from __future__ import annotations

import math

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval, paired_ratio
from ...network import Link
from ..penard import link_model
from .cloud import OPENINGS, WAYS

NAMES = {
    "netcdf": "netCDF-4, as it comes",
    "netcdf-bare": "netCDF-4, no read-ahead",
    "paged": "netCDF-4 in pages",
    "large": "netCDF-4, larger chunks",
    "references": "references, kerchunk",
    "virtual": "references, VirtualiZarr",
    "zarr2": "Zarr 2",
    "zarr2-one": "Zarr 2, consolidated",
    "zarr3": "Zarr 3",
    "zarr3-one": "Zarr 3, consolidated",
    "shards": "Zarr 3 in shards",
    "index": "netCDF-4, our index",
    "index-large": "larger chunks, our index",
}
"""What the page calls a layout and its reader."""
assert set(NAMES) == {*WAYS, *OPENINGS}
PANELS = {"array/series": "series", "array/map": "map", "many/open": "open"}
TITLES = {"series": "a series", "map": "a map", "open": "opening many variables"}
BESIDE = {"references": "kerchunk", "virtual": "kerchunk", "index": "index", "index-large": "index"}
_STORE = {**{n: w.store for n, w in WAYS.items()}, **{n: s for n, (s, _) in OPENINGS.items()}}


def table(linked: pd.DataFrame, link: Link) -> pd.DataFrame:
    """Return what each layout moved and how long it took.

    Parameters
    ----------
    linked : pandas.DataFrame
        Records of the experiment "linked".
    link : Link

    Returns
    -------
    pandas.DataFrame
        read (series, map, open), way (a key of `NAMES`), seconds, low, high, n, predicted, error,
        requests, stages, handshakes, wire_bytes, cpu_s, as of `link_model.table`, opening
        included; connections; opened_requests and opened_bytes (of opening alone).
    """
    found = link_model.table({"http": link, "s3": link}, linked)
    rows = main(linked)
    opened = rows[rows["phase"] == "open"].groupby("case")[["requests", "wire_bytes"]].median()
    found["read"] = found["panel"].map(PANELS)
    found["connections"] = found["case"].map(rows.groupby("case")["connections"].max())
    found["opened_requests"] = found["case"].map(opened["requests"])
    found["opened_bytes"] = found["case"].map(opened["wire_bytes"])
    order = {name: number for number, name in enumerate((*PANELS.values(), *NAMES))}
    return found.sort_values(["read", "way"], key=lambda column: column.map(order))


def changing(linked: pd.DataFrame) -> list[str]:
    """Return the cases whose requests or bytes were not the same in every repetition.

    Parameters
    ----------
    linked : pandas.DataFrame
        Records of the experiment "linked".
    """
    rows = linked[linked["status"] == "ok"]
    kinds = rows.groupby(["case", "phase"])[["requests", "wire_bytes"]].nunique().max(axis=1)
    return sorted({str(case) for case, _ in kinds[kinds > 1].index})


def one(found: pd.DataFrame, read: str, way: str) -> pd.Series[float] | None:
    """Return a row of `table`, or None where it was not measured."""
    rows = found[(found["read"] == read) & (found["way"] == way)]
    return None if rows.empty else rows.iloc[0]


def best(found: pd.DataFrame, read: str) -> str:
    """Return the layout of which a read took the least time, of those that were read most often.

    Parameters
    ----------
    found : pandas.DataFrame
        From `table`.
    read : str
    """
    rows = found[found["read"] == read]
    rows = rows[rows["n"] == rows["n"].max()]
    return str(rows.sort_values("seconds", kind="stable")["way"].iloc[0])


def faster(linked: pd.DataFrame, read: str, way: str, known: str) -> Interval | None:
    """Return the time of a known layout over that of another, paired by block.

    Parameters
    ----------
    linked : pandas.DataFrame
        Records of the experiment "linked".
    read : str
    way, known : str
        Keys of `NAMES`.

    Returns
    -------
    Interval or None
        None where either was not measured.
    """
    panel = next(panel for panel, name in PANELS.items() if name == read)
    wall = link_model.samples(linked).pivot_table(index="block", columns="case", values="wall_s")
    cases = [f"{panel}/{known}", f"{panel}/{way}"]
    if not set(cases) <= set(wall.columns):
        return None
    both = wall[cases].dropna()
    return paired_ratio(both[cases[0]], both[cases[1]])


def sizes(stored: pd.DataFrame, kind: str, way: str) -> tuple[float, float, float]:
    """Return the bytes of a store, its objects, and the bytes beside it; NaN where unknown.

    Parameters
    ----------
    stored : pandas.DataFrame
        Records of the experiment "stored".
    kind : str
        "array" or "many".
    way : str
        A key of `NAMES`.
    """
    size = dict(zip(stored["case"], stored["file_bytes"], strict=True))
    count = dict(zip(stored["case"], stored["requests"], strict=True))
    case, unknown = f"{kind}/{_STORE[way]}", math.nan
    beside = size.get(f"{case}/{BESIDE.get(way)}", 0.0)
    return float(size.get(case, unknown)), float(count.get(case, unknown)), float(beside)
