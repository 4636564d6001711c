"""Reads over slow links: which of them are worth their time."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pandas as pd

from ..analysis import cost
from ..io.experiment import Case, File
from ..io.far import Place, ReadOver
from ..measure.case import Stopwatch
from ..network import Link, Server

LABELS = ("read", "layout", "reader")
# What verdicts compare; the others are ranked.
JUDGED = frozenset(
    {
        ("ocean series", "netCDF-4", "chunkindex"),
        ("ocean series", "netCDF-4", "h5py"),
        ("ocean map", "Zarr, Blosc", "zarr"),
        ("ocean map", "NCZarr", "zarr"),
        ("temperature series", "netCDF-4", "chunkindex"),
        ("temperature series", "netCDF-4, shuffle", "h5py"),
        ("temperature map", "netCDF-4", "chunkindex"),
        ("temperature map", "netCDF-4, shuffle", "h5py"),
    }
)
MOST_BYTES = 256_000_000  # of the plain request


def affordable(
    cases: Sequence[Case],
    moved: pd.DataFrame,
    links: Mapping[str, Link],
    limit_s: float,
    judged: Collection[tuple[str, ...]] = (),
    ranked_blocks: int = 0,
) -> list[Case]:
    """Return what verdicts compare, and of other reads those within a limit by the model."""
    (link,) = {case.work.place.name for case in cases if isinstance(case.work, ReadOver)}
    expected = cost.seconds(cost.moved(moved, LABELS), links[link]).to_dict()
    keys = [tuple(case.labels[name] for name in LABELS) for case in cases]
    seconds = {key: expected.get(key, math.inf) for key in keys}
    needed = [key for key in keys if key in judged]
    most_s = limit_s if needed else max(limit_s, min(seconds.values()))
    chosen = [key for key in keys if key in needed or seconds[key] <= most_s]
    pair = min(needed, key=seconds.__getitem__) if needed else chosen[0]
    return [
        replace(case, aa=key == pair, most_blocks=0 if key in (*needed, pair) else ranked_blocks)
        for case, key in zip(cases, keys, strict=True)
        if key in chosen
    ]


def judged(cases: Sequence[Case]) -> list[Case]:
    return [case for case in cases if tuple(case.labels[name] for name in LABELS) in JUDGED]


def plain_request(place: Place, file: File) -> Case:
    """Return a case that tells how fast a link without a rate carries bytes."""
    labels = dict(zip(LABELS, ("plain request", "netCDF-4", "http.client"), strict=True))
    return Case(labels, PlainRequest(place, file.path), aa=True)


@dataclass(frozen=True)
class PlainRequest:
    """Get the beginning of a file over a new connection, with no library in between."""

    place: Place
    path: Path

    @property
    def size(self) -> int:
        return min(MOST_BYTES, self.path.stat().st_size)

    def parts(self, cache_state: str) -> dict[str, Any]:
        columns, forget = self.place.columns, self.place.forget
        return {"run": self, "check": self.right, "columns": columns, "prepare": forget}

    def right(self, read: bytes) -> bool:
        with self.path.open("rb") as file:
            return read == file.read(self.size)

    def __call__(self, watch: Stopwatch) -> bytes:
        name, size, server = self.path.name, self.size, self.place.server
        assert isinstance(server, Server)
        connection = HTTPConnection("127.0.0.1", server.port)
        with watch("read"):
            headers = {"Range": f"bytes=0-{size - 1}"}
            connection.request("GET", f"/{name}", headers=headers)
            answer = connection.getresponse()
            body = answer.read()
        connection.close()
        if answer.status != 206:
            raise OSError(f"{name}: the server answered {answer.status} to a range")
        watch.note(wire_bytes=len(body), useful_bytes=len(body))
        return body
