"""The cost model: the time of a read is what it touches, each count with a cost of this machine.

time = calls × a + bytes × b + faults × c + stages × round trip + wire bytes / rate
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass

from .counts import Counts, Read, counts_of
from .fetches import UncalibratedError, wire_seconds

LANES = max(os.cpu_count() or 1, 1)
PAGE_BYTES = 4096
HUGE_BYTES = 4 * 2**20  # from here on numpy asks for huge pages, which cost far fewer faults
THREADED = ("zarr", "xarray-zarr", "kerchunk", "subchunk")
"""Readers that decode chunks on all cores."""
ALIKE = {"h5py-none": "h5py", "h5py-64k": "h5py", "h5py-blocks": "h5py", "kerchunk": "zarr"}
"""Readers that do the same work as another, and differ in what they fetch."""
BELOW = {
    "h5netcdf": "h5py",
    "xarray-h5netcdf": "h5py",
    "xarray-netcdf4": "netcdf4",
    "xarray-zarr": "zarr",
}
"""Readers that read through another: a call costs them more, all else the same."""
PARTS = {
    "first": "calls", "again": "calls", "chunk": "chunks", "run": "copy", "step": "copy",
    "byte": "copy", "fault": "memory", "raw": "bytes", "request": "bytes",
    "each": "decode", "out": "decode", "in": "decode",
    "extent": "disk", "span": "disk", "stream": "disk",
}  # fmt: skip
"""Which part of a time each count belongs to."""
TYPICAL = {
    "first": 100e-6, "again": 100e-6, "chunk": 15e-6, "zarr:chunk": 400e-6,
    "subchunk:chunk": 60e-6, "run": 0.2e-6, "byte": 0.2e-9, "raw": 0.1e-9,
    "out": 1e-9, "deflate:out": 4e-9, "deflate+shuffle:out": 4.3e-9, "zstd:out": 1.5e-9,
    "zstd+shuffle:out": 1.8e-9,
    "extent": 80e-6, "span": 1e-9, "stream": 1e-9,
}  # fmt: skip
"""Costs of a machine that nobody has calibrated, in seconds: of a term, of one of a reader or of
one of a codec."""


class NoCalibrationError(OSError):
    """There is no calibration of this machine, or one of other libraries or of long ago."""


@dataclass(frozen=True)
class Prediction:
    """How long a read takes."""

    parts: Mapping[str, float]  # seconds of open, calls, chunks, decode, memory, copy, bytes, …
    counts: Counts  # what is touched

    @property
    def seconds(self) -> float:
        """Expected seconds."""
        return sum(self.parts.values())

    @property
    def most(self) -> str:
        """The part that takes the most."""
        return max(self.parts, key=lambda name: self.parts[name])


@dataclass(frozen=True)
class Calibration:
    """The costs of reading on one machine."""

    costs: Mapping[str, float]  # seconds for each count, by the name that `terms` gives
    identity: Mapping[str, object] | None = None  # of the machine
    versions: Mapping[str, str] | None = None  # of the libraries
    made: str = ""  # UTC, ISO 8601; "" of typical costs
    samples: int = 0  # reads that were timed
    took_s: float = 0.0

    @property
    def name(self) -> str:
        """What predicts, in words."""
        return "the cost model of this machine" if self.made else "counts with typical costs"

    @property
    def ways(self) -> tuple[str, ...]:
        """Readers with the kinds of layout that they were calibrated for, such as h5py/chunked."""
        return tuple(sorted(n.partition(":")[0] for n in self.costs if n.endswith(":first")))

    @property
    def libraries(self) -> tuple[str, ...]:
        """Readers that were calibrated."""
        return tuple(sorted({way.partition("/")[0] for way in self.ways}))

    def codecs(self, library: str) -> tuple[str, ...]:
        """Return the codecs that were calibrated for a reader, with the shuffle."""
        engine = f"{engine_of(library)}/"
        known = {name.partition(":")[0] for name in self.costs if name.endswith(":out")}
        return tuple(sorted(name.removeprefix(engine) for name in known if name.startswith(engine)))

    def predict(self, read: Read) -> Prediction:
        """Predict how long a read takes; an UncalibratedError says what was not calibrated."""
        self._check(read)
        counts = counts_of(read)
        decoder, parts = codec(read), dict[str, float]()
        for name, number in terms(read, counts).items():
            head, _, term = name.partition(":")
            if head != decoder or read.decode_s is None:
                part = PARTS[term]
                parts[part] = parts.get(part, 0.0) + number * self._cost(name)
        if decoder and read.decode_s is not None:
            decoding = read.decode_s * counts.fetched * decoding_share(read, counts)
            parts["decode"] = parts.get("decode", 0.0) + decoding
        if read.opens:
            parts["open"] = self.costs.get(f"{way(read)}:open", 0.0)
        if read.link is not None:
            parts["wire"] = wire_seconds(read, counts)
        return Prediction(parts, counts)

    def _cost(self, name: str) -> float:
        """Return one cost; of typical ones that of the codec, of the reader or of any."""
        if self.made:
            return self.costs.get(name, 0.0)
        head, _, term = name.partition(":")
        library, _, way = head.partition("/")
        keys = (f"{way}:{term}", f"{library}:{term}", term)
        return next((self.costs[key] for key in keys if key in self.costs), 0.0)

    def _check(self, read: Read) -> None:
        """Raise an error for a read that holds something that was not calibrated."""
        if not self.made:
            return
        kind = way(read).partition("/")[2]
        if way(read) not in self.ways:
            raise UncalibratedError(
                f"{read.library!r} is not calibrated for {kind} layouts ({read.layout.format}): "
                f"{', '.join(self.ways)} are"
            )
        decoder = codec(read).partition("/")[2]
        if decoder and read.decode_s is None and decoder not in self.codecs(read.library):
            known = ", ".join(self.codecs(read.library)) or "none"
            raise UncalibratedError(
                f"codec {decoder!r} is not calibrated for {read.library}: {known} are; "
                "give decode_s, measured on the file itself"
            )


ROUGH = Calibration(TYPICAL)


def engine_of(library: str) -> str:
    """Return what decodes chunks for a reader: those of one engine share the cost of it."""
    library = ALIKE.get(library, library)
    return BELOW.get(library, library)


def way(read: Read) -> str:
    """Return which library reads which way: a call of it has a cost of its own.

    References (kerchunk's) are read by zarr-python; an index reads inside chunks.
    """
    kind = "zarr" if read.library == "kerchunk" else read.kind
    if read.library == "subchunk" and read.layout.codec is not None:
        kind = "inside"
    return f"{ALIKE.get(read.library, read.library)}/{kind}"


def codec(read: Read) -> str:
    """Return the engine and codec that decode, with the shuffle; "" where nothing is decoded."""
    if read.layout.codec is None:
        return ""
    shuffled = "+shuffle" if read.layout.shuffle else ""
    return f"{engine_of(read.library)}/{read.layout.codec}{shuffled}"


def terms(read: Read, counts: Counts) -> dict[str, float]:
    """Return the counts that make up the time of a read, by the name of their cost.

    Names are `way:count` for what the library does, `codec:count` for decoding, and `disk:count`
    for what a cold read takes beyond a warm one.
    """
    own, decoder = way(read), codec(read)
    work = f"{engine_of(read.library)}/{own.partition('/')[2]}"
    small = counts.useful_bytes / counts.calls < HUGE_BYTES
    new_bytes = counts.useful_bytes if small else 0
    result: dict[str, float] = {
        f"{own}:first": 1.0,
        f"{own}:again": counts.calls - 1.0,
        f"{work}:run": counts.runs,
        f"{work}:step": counts.steps,
        f"{work}:byte": counts.useful_bytes,
        f"{work}:chunk": counts.chunks,
    }
    if read.library == "subchunk" or not counts.chunks:
        result[f"{work}:request"] = counts.requests
    else:
        new_bytes += min(counts.decoded_bytes, read.held_bytes or counts.decoded_bytes)
    result[f"{work}:fault"] = new_bytes / PAGE_BYTES
    if decoder:
        share = decoding_share(read, counts)
        result[f"{decoder}:each"] = share * counts.fetched
        result[f"{decoder}:out"] = share * counts.decoded_bytes
        result[f"{decoder}:in"] = share * counts.stored_bytes
    else:
        result[f"{work}:raw"] = counts.stored_bytes
    if read.cache == "cold" and read.link is None:
        # What is read bit by bit comes ahead of being asked for, during the work.
        disk = "disk, files" if read.kind == "zarr" else "disk"
        streamed = counts.requests >= 2 * counts.extents
        result[f"{disk}:extent"] = counts.extents
        result[f"{disk}:{'stream' if streamed else 'span'}"] = counts.span_bytes
    return {name: float(value) for name, value in result.items() if value}


def decoding_share(read: Read, counts: Counts) -> float:
    """Return the share of the decoding that one core does, of readers that use all of them."""
    if read.library not in THREADED or not counts.fetched:
        return 1.0
    each = max(counts.fetched // counts.calls, 1)
    return math.ceil(each / LANES) / each
