"""The seconds that choose a library for a read, from every page that tries several for one."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..analysis import places
from ..analysis.cost import PHASES
from ..measure.records import main
from ..measure.stats import median_interval
from .penard.local_labels import labelled

COLUMNS = ("data", "access", "chunk", "place", "way", "seconds", "low", "high", "n")
_PENARD = ("penard_local", "penard_link", "penard_s3")
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
    return (
        f"{row['field']}, compression today",
        _ACCESS[row["read"]],
        f"{row['library']}, {row['layout']}",
    )


def _cached(row: Mapping[str, Any]) -> tuple[str, str, str]:
    small = row["file"] == "small chunks"
    way = row["library"] if small else f"{row['library']}, {row['cache']}"
    return "rows, the chunk cache", str(row["pattern"]), str(way)


def _clouded(row: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if row["read"] not in _ACCESS:
        return None
    return (
        "the ocean, layouts for the cloud",
        _ACCESS[row["read"]],
        f"{row['layout']}: {row['reader']}",
    )


SOURCES = (
    Source("cost_model", "reads", _modelled),
    Source("codecs_today", "reads", _packed),
    Source("chunking_cache", "remedies", _cached),
    Source("cloud_layouts", "linked", _clouded),
)
"""Beside the pages on series and maps, which `hyperslab.analysis.places` gathers."""


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
    """Return the reads of the pages on series and maps: five places, links by the model too."""
    found = {name: labelled(frames[name]) for name in _PENARD if name in frames}
    if not found:
        return pd.DataFrame()
    seconds, chunks, rows = places.everywhere(found), _chunks(found.values()), []
    for (place, read, layout, reader), row in zip(
        seconds.index, seconds.to_dict("records"), strict=True
    ):
        rows.append(
            {
                **dict(zip(("data", "access"), _read(read), strict=True)),
                "chunk": chunks[read.partition(" ")[0]],
                "place": place,
                "way": f"{layout}: {reader}",
                **{name: getattr(row["value"], name) for name in ("low", "high")},
                "seconds": row["value"].value,
                "n": row["value"].n if row["timed"] else 0,
            }
        )
    table = pd.DataFrame(rows)
    order = {name: number for number, name in enumerate(dict.fromkeys(table["place"]))}
    table = table[table["seconds"].notna()].sort_values("seconds")
    return table.sort_values("place", key=lambda names: names.map(order), kind="stable")


def _cold(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the same reads from a file that is not in memory."""
    if _PENARD[0] not in frames:
        return pd.DataFrame()
    records = labelled(main(frames[_PENARD[0]]))
    source = Source(
        _PENARD[0], "cold", lambda row: (*_read(row["read"]), f"{row['layout']}: {row['reader']}")
    )
    found, chunks = _of(source, records), _chunks([records])
    return found.assign(chunk=[chunks[data.split()[1].strip(",")] for data in found["data"]])


def _read(read: str) -> tuple[str, str]:
    """Return the data and the access of a read such as "ocean map", in words."""
    kind, access = read.split()
    return f"the {kind}, series and maps", _ACCESS[access]


def _chunks(found: Iterable[pd.DataFrame]) -> dict[str, str]:
    """Return the size and shape of the chunks of the netCDF file of each kind."""
    records = pd.concat(
        [part[(part["format"] == "netcdf4") & (part["chunks"] != "")] for part in found]
    )
    kinds = records["read"].astype(str).str.partition(" ")[0]
    shapes = records.groupby(kinds)["chunks"].first()
    sizes = {kind: 4 * math.prod(map(int, shape.split("x"))) for kind, shape in shapes.items()}
    return {str(kind): f"{_sized(sizes[kind])}: {shape}" for kind, shape in shapes.items()}


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
                "place": f"{over} on a link"
                if over
                else places.DISK + ", cold" * (state == "cold"),
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
