"""The seconds that choose a library for a read, from every page that tries several for one."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..analysis.cost import PHASES
from ..measure.records import main
from ..measure.stats import median_interval
from .penard.link_model import named, place
from .penard.local_words import spelled as local_spelled
from .penard.summary_seconds import EXPERIMENTS, PLACES, seconds
from .penard.wire_figures import labels

COLUMNS = ("data", "access", "chunk", "place", "way", "seconds", "low", "high", "n")
_DISK = "this machine's disk"
_PENARD = {"cmems": "the ocean, series and maps", "gfs": "the temperature, series and maps"}
_DATA = {"air": "the air", "gfs": "the temperature", "ocean": "the ocean", "radar": "radar tiles"}
_ACCESS = {
    "box": "a box", "frame": "a map", "map": "a map", "profile": "a profile", "series": "a series",
    "strided": "with a stride", "whole": "all of it",
}  # fmt: skip


@dataclass(frozen=True)
class Source:
    """Where reads of one array by several libraries are, and what to call them.

    Parameters
    ----------
    notebook, experiment : str
    said : callable
        From a record to the data, the access and the way, in words; None where it is no such read.
    """

    notebook: str
    experiment: str
    said: Callable[[Mapping[str, Any]], tuple[str, str, str] | None]


def _modelled(row: Mapping[str, Any]) -> tuple[str, str, str]:
    data, _, layout = str(row["size"]).partition(": ")
    return (
        f"{_DATA[data]}, the cost of a read",
        _ACCESS[row["pattern"]],
        f"{row['library']}, {layout}",
    )


def _packed(row: Mapping[str, Any]) -> tuple[str, str, str]:
    data, _, codec = str(row["case"]).split("/")
    return (
        f"{_DATA[data]}, compression today",
        _ACCESS[row["pattern"]],
        f"{row['library']}, {codec}",
    )


def _cached(row: Mapping[str, Any]) -> tuple[str, str, str]:
    small = row["file"] == "small chunks"
    way = row["library"] if small else f"{row['library']}, {row['cache']}"
    return "rows, the chunk cache", str(row["pattern"]), str(way)


def _clouded(row: Mapping[str, Any]) -> tuple[str, str, str] | None:
    kind, _, layout = str(row["case"]).split("/")
    if kind != "array":
        return None
    way = f"{row['library']}, {layout.replace('-', ' ')}"
    return "the ocean, layouts for the cloud", _ACCESS[row["pattern"]], way


SOURCES = (
    Source("cost_model", "reads", _modelled),
    Source("codecs_today", "reads", _packed),
    Source("chunking_cache", "remedies", _cached),
    Source("cloud_layouts", "linked", _clouded),
)
"""Beside the pages on series and maps, which `penard.summary_seconds` gathers."""


def choices(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the seconds of each way to read, by data set, access, chunks and place.

    Parameters
    ----------
    frames : mapping
        Records by notebook.

    Returns
    -------
    pandas.DataFrame
        `COLUMNS`: data, access, chunk, place and way in words; seconds, low, high and n (blocks; 0
        by the model, and then without interval); of each the quickest first.
    """
    parts = [_series_and_maps(frames), _cold(frames)]
    parts += [
        _of(source, frames[source.notebook]) for source in SOURCES if source.notebook in frames
    ]
    parts = [part for part in parts if len(part)]
    if not parts:
        return pd.DataFrame(columns=list(COLUMNS))
    return pd.concat(parts, ignore_index=True)[list(COLUMNS)]


def _series_and_maps(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the reads of the summary of Penard et al.: five places, links by the model too."""
    found = {key: named(frames[page]) for key, (page, _) in EXPERIMENTS.items() if page in frames}
    table = pd.DataFrame(seconds(found)) if found else pd.DataFrame()
    if table.empty:
        return table
    table = table[table["seconds"].notna()].sort_values("seconds")
    order = {name: number for number, name in enumerate(PLACES)}
    table = table.sort_values("place", key=lambda places: places.map(order), kind="stable")
    sizes = table.groupby(table["panel"].str.partition("/")[0])["chunk_bytes"].max()
    shapes = _shapes(found.values())
    kinds = [panel.partition("/")[0] for panel in table["panel"]]
    return table.assign(
        data=[_PENARD[kind] for kind in kinds],
        access=[_ACCESS[panel.partition("/")[2]] for panel in table["panel"]],
        chunk=[f"{_sized(sizes[kind])}: {shapes[kind]}" for kind in kinds],
        place=table["label"],
        way=[
            local_spelled(way) if where == "local" else _spelled(way)
            for way, where in zip(table["way"], table["place"], strict=True)
        ],
    )


def _cold(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the same reads from a file that is not in memory."""
    page = EXPERIMENTS["local"][0]
    if page not in frames:
        return pd.DataFrame()
    records = main(frames[page])
    shapes = _shapes([records])
    bytes_of = {kind: math.prod(map(int, shape.split("x"))) * 4 for kind, shape in shapes.items()}

    def said(row: Mapping[str, Any]) -> tuple[str, str, str]:
        panel, way = place(str(row["case"]))
        kind, _, read = panel.partition("/")
        return _PENARD[kind], _ACCESS[read], local_spelled(way)

    found = _of(Source(page, "cold", said), records)
    if found.empty:
        return found
    named = {_PENARD[kind]: f"{_sized(bytes_of[kind])}: {shapes[kind]}" for kind in shapes}
    return found.assign(chunk=found["data"].map(named))


def _shapes(found: Any) -> dict[str, str]:
    """Return the chunks of the netCDF file of each kind."""
    records = pd.concat(list(found))
    records = records[records["format"] == "netcdf4"]
    kinds = records["case"].str.partition("/")[0]
    return {
        kind: str(records[(kinds == kind) & (records["chunks"] != "")]["chunks"].iloc[0])
        for kind in _PENARD
        if (kinds == kind).any()
    }


def _of(source: Source, records: pd.DataFrame) -> pd.DataFrame:
    """Return what a source has, the quickest first."""
    good = main(records)
    good = good[
        (good["experiment"] == source.experiment)
        & good["phase"].isin(PHASES)
        & good["wall_s"].notna()
    ]
    rows = []
    for (_, state), part in good.groupby(["case", "cache_state"], sort=False):
        first = part.iloc[0]
        words = source.said({str(name): value for name, value in first.items()})
        if words is None:
            continue
        middle = median_interval(part.groupby("block")["wall_s"].sum())
        over = str(first["link"]).upper()
        rows.append(
            {
                **dict(zip(("data", "access", "way"), words, strict=True)),
                "chunk": str(first["chunks"]) or "no chunks",
                "place": f"{over} on a link" if over else _DISK + ", cold" * (state == "cold"),
                "seconds": middle.value,
                "low": middle.low,
                "high": middle.high,
                "n": middle.n,
            }
        )
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values("seconds", kind="stable")


def _sized(size: float) -> str:
    return f"{size / 1e6:.3g} MB"


def _spelled(way: str) -> str:
    label, shuffle = labels()[way]
    return f"{label} (shuffle {shuffle})" if shuffle else label
