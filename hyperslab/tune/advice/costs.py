"""The cost model: the time of a read is what it touches, each count with a cost of this machine."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import os
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from hyperslab.measure.machine import identity, versions

from ..partial import whole_or_nothing
from .counts import Counts, Read, counts_of
from .fetches import UncalibratedError, wire_seconds

LANES = max(os.cpu_count() or 1, 1)
PAGE_BYTES = 4096
HUGE_BYTES = 4 * 2**20  # from here on numpy asks for huge pages, which cost far fewer faults
THREADED = ("zarr", "xarray-zarr", "subchunk")
"""Readers that decode chunks on all cores."""
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
"""Costs of a machine that nobody has calibrated, in seconds; of a term, for a reader or codec."""
MAX_AGE_DAYS = 90
FORM = 2  # of the terms: a calibration with other ones means something else
_RUN = "run `hyperslab advise --calibrate` (under two minutes)"
# What decides the speed of a read; other packages may be of any version.
_TIMED = (
    "python", "numpy", "netcdf-c", "hdf5 (netCDF4)", "hdf5 (h5py)", "netCDF4", "h5py", "zarr",
    "xarray", "h5netcdf", "numcodecs",
)  # fmt: skip


class NoCalibrationError(OSError):
    """There is no calibration of this machine, or one of other libraries or of long ago."""


@dataclass(frozen=True)
class Prediction:
    """How long a read takes."""

    parts: Mapping[str, float]  # seconds of open, calls, chunks, decode, memory, copy, bytes, …
    counts: Counts  # what is touched

    @property
    def seconds(self) -> float:
        return sum(self.parts.values())

    @property
    def most(self) -> str:
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
    def ways(self) -> tuple[str, ...]:
        """Readers with the kinds of layout that they were calibrated for, such as h5py/chunked."""
        return tuple(sorted(n.partition(":")[0] for n in self.costs if n.endswith(":first")))

    @property
    def libraries(self) -> tuple[str, ...]:
        return tuple(sorted({way.partition("/")[0] for way in self.ways}))

    def codecs(self, library: str) -> tuple[str, ...]:
        """Return the codecs that were calibrated for a reader, with the shuffle."""
        engine = f"{engine_of(library)}/"
        heads = {name.partition(":")[0] for name in self.costs if name.endswith(":out")}
        return tuple(sorted(name.removeprefix(engine) for name in heads if name.startswith(engine)))

    def predict(self, read: Read) -> Prediction:
        """Predict how long a read takes; an UncalibratedError says what was not calibrated."""
        self._check(read)
        counts, parts = counts_of(read), defaultdict[str, float](float)
        for name, number in terms(read, counts).items():
            head, _, term = name.partition(":")
            if head != codec(read) or read.decode_s is None:
                parts[PARTS[term]] += number * self._cost(name)
        if codec(read) and read.decode_s is not None:
            parts["decode"] = read.decode_s * counts.fetched * decoding_share(read, counts)
        if read.link is not None:  # an access opens the file: libraries fetch values with that
            parts["open"] = self.costs.get(f"{way(read)}:open", 0.0)
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
        if way(read) not in self.ways:
            raise UncalibratedError(
                f"{read.library!r} is not calibrated for {way(read).partition('/')[2]} layouts "
                f"({read.layout.format}): {', '.join(self.ways)} are"
            )
        decoder, able = codec(read).partition("/")[2], self.codecs(read.library)
        if decoder and read.decode_s is None and decoder not in able:
            raise UncalibratedError(
                f"codec {decoder!r} is not calibrated for {read.library}: "
                f"{', '.join(able) or 'none'} are; give decode_s, measured on the file itself"
            )


ROUGH = Calibration(TYPICAL)


def engine_of(library: str) -> str:
    """Return what decodes chunks for a reader: those of one engine share the cost of it."""
    return BELOW.get(library, library)


def way(read: Read) -> str:
    """Return which library reads which way, an index inside chunks: a call of it has its cost."""
    inside = read.library == "subchunk" and read.layout.codec is not None
    return f"{read.library}/{'inside' if inside else read.kind}"


def codec(read: Read) -> str:
    """Return the engine and codec that decode, with the shuffle; "" where nothing is decoded."""
    if read.layout.codec is None:
        return ""
    shuffled = "+shuffle" if read.layout.shuffle else ""
    return f"{engine_of(read.library)}/{read.layout.codec}{shuffled}"


def terms(read: Read, counts: Counts) -> dict[str, float]:
    """Return the counts that make up the time of a read, by the name of their cost."""
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


def save(calibration: Calibration, folder: Path | None = None) -> Path:
    """Keep it for this machine, in the user's cache folder or another; return the file."""
    path = _calibration_path(folder, calibration.identity or {})
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_or_nothing(path, overwrite=True) as unfinished:
        unfinished.write_text(json.dumps({"form": FORM, **asdict(calibration)}, indent=1))
    return path


def load(folder: Path | None = None) -> Calibration:
    """Return what was kept; a NoCalibrationError says that there is none, or why it is refused."""
    path = _calibration_path(folder, identity())
    if not path.exists():
        raise NoCalibrationError(f"this machine has no calibration yet: {_RUN}")
    try:
        content = json.loads(path.read_text())
        if content.pop("form") != FORM:
            raise ValueError("it was made by a version that counts other things")
        calibration = Calibration(**content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoCalibrationError(f"the calibration cannot be read ({error}): {_RUN}") from error
    now, before = versions(), calibration.versions or {}
    if changed := [key for key in _TIMED if before.get(key) != now.get(key)]:
        changes = ", ".join(f"{key} was {before.get(key)}, is {now.get(key)}" for key in changed)
        raise NoCalibrationError(f"the calibration is of other libraries: {changes}; {_RUN}")
    age = datetime.datetime.now(datetime.UTC) - datetime.datetime.fromisoformat(calibration.made)
    if age.days > MAX_AGE_DAYS:
        raise NoCalibrationError(
            f"the calibration is {age.days} days old, {MAX_AGE_DAYS} are allowed: {_RUN}"
        )
    return calibration


def known(folder: Path | None = None) -> Calibration:
    """Return what is kept in a folder, else in the user's cache folder, else typical costs."""
    for cache_folder in (folder, None):
        with suppress(NoCalibrationError):
            return load(cache_folder)
    return ROUGH


def ensured(
    *, again: bool = False, workdir: Path | None = None, say: Callable[[str], None] | None = None
) -> Calibration:
    """Return the calibration of this machine, which is made where there is none yet, or again."""
    from . import calibrate

    why = "asked for"
    if not again:
        try:
            return load()
        except NoCalibrationError as error:
            why = str(error)
    if say:
        say(f"calibrating the cost model of this machine, in under two minutes ({why})")
    calibration = calibrate.calibrate(workdir=workdir)
    path = save(calibration)
    if say:
        say(f"calibrated: {path}")
    return calibration


def _calibration_path(folder: Path | None, machine: Mapping[str, object]) -> Path:
    """Return the file of a machine's costs, in a folder or the user's cache folder."""
    if folder is None:
        home = Path(os.environ.get("XDG_CACHE_HOME", ""))
        folder = (home if home.is_absolute() else Path("~/.cache").expanduser()) / "hyperslab"
    key = json.dumps(dict(machine), sort_keys=True, default=str)
    return folder / f"cost-model-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"
