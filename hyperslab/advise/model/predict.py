"""Predict how long a read takes, and of what that is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .calibration import Calibration
from .geometry import Geometry, geometry
from .read import Read
from .terms import codec, cost_of, disk_terms, path, regimes, shared, terms
from .wire import wire_seconds

PARTS = {
    "first": "calls", "again": "calls", "chunk": "chunks", "run": "copy", "step": "copy",
    "small": "copy", "large": "copy", "new": "memory", "raw": "bytes", "request": "bytes",
    "load": "decode", "each": "decode", "out": "decode", "in": "decode",
}  # fmt: skip
"""Which part of a time each count belongs to."""


@dataclass(frozen=True)
class Prediction:
    """How long a read takes.

    Parameters
    ----------
    seconds
        Expected.
    low, high
        Between which it lies nine times out of ten, judged by files that were left out of the
        calibration.
    parts
        Seconds of each part: open, calls, chunks, decode, memory (new pages), copy, bytes (out of
        the page cache), disk, wire.
    counts
        What is touched.
    """

    seconds: float
    low: float
    high: float
    parts: Mapping[str, float]
    counts: Geometry

    @property
    def most(self) -> str:
        """The part that takes the most."""
        return max(self.parts, key=lambda name: self.parts[name])


def predict(read: Read, calibration: Calibration) -> Prediction:
    """Predict how long a read takes on the machine that was calibrated.

    Parameters
    ----------
    read : Read
    calibration : Calibration

    Raises
    ------
    UnknownLibraryError, UnknownCodecError
        For what was not calibrated: nothing is guessed.

    Examples
    --------
    >>> from hyperslab.io import Layout
    >>> costs = {"plain/binary:first": 1e-3, "plain/binary:request": 1e-6}
    >>> known = Calibration(costs, {"": (0.9, 1.2)}, {}, {}, "2026-01-01T00:00:00+00:00", 9, 1.0)
    >>> row = Read((9, 1000), "f4", Layout("binary"), ((3, slice(None)),), "plain")
    >>> found = predict(row, known)
    >>> round(found.seconds, 6), round(found.high, 6), found.most
    (0.001001, 0.001201, 'calls')
    """
    calibration.check(read)
    counts = geometry(read)
    parts: dict[str, float] = {}
    decoder = codec(read)
    for name, number in terms(read, counts).items():
        head, _, term = name.partition(":")
        if head == decoder and read.decode_s is not None and term != "load":
            continue
        part = PARTS[term]
        parts[part] = parts.get(part, 0.0) + number * cost_of(name, calibration.costs)
    if decoder and read.decode_s is not None:
        parts["decode"] = parts.get("decode", 0.0) + read.decode_s * counts.fetched * shared(
            read, counts
        )
    if read.opens:
        parts["open"] = calibration.costs.get(f"{path(read)}:open", 0.0)
    if read.link is not None:
        parts["wire"] = wire_seconds(read, counts)
    elif read.cache == "cold":
        disk = disk_terms(read, counts).items()
        parts["disk"] = sum(number * calibration.costs.get(name, 0.0) for name, number in disk)
    seconds = sum(parts.values())
    low, high = _factors(read, calibration)
    return Prediction(seconds, seconds * low, seconds * high, parts, counts)


def _factors(read: Read, calibration: Calibration) -> tuple[float, float]:
    for key in regimes(read):
        if key in calibration.spread:
            low, high = calibration.spread[key]
            return min(low, 1.0), max(high, 1.0)
    return 0.5, 2.0
