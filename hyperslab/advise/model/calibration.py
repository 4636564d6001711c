"""What was measured of this machine: the costs of the model, kept with what they depend on."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from hyperslab.measure.machine import identity, versions

from .errors import (
    NoCalibrationError,
    StaleCalibrationError,
    UncalibratedError,
    UnknownCodecError,
    UnknownLibraryError,
)
from .read import Read
from .terms import ALIKE, ENGINES, codec, path

MAX_AGE_DAYS = 90
RUN = "run `hyperslab advise --calibrate` (under two minutes)"
_COUNTED = ("geometry.py", "terms.py")  # what costs are of: an old one means something else
# What decides the speed of a read; others may be of any version.
_TIMED = ("python", "numpy", "netcdf-c", "hdf5 (netCDF4)", "hdf5 (h5py)", "netCDF4", "h5py",
          "zarr", "xarray", "h5netcdf", "numcodecs")  # fmt: skip


@dataclass(frozen=True)
class Calibration:
    """The costs of reading on one machine.

    Parameters
    ----------
    costs
        Seconds for each count of a name that `terms` gives.
    spread
        For each regime, what lies between 5 % and 95 % of measured over predicted times of files
        that were left out of the fit.
    identity, versions
        Of the machine and of the libraries.
    made
        Day and time it was made, UTC, ISO 8601.
    samples
        Reads that were timed.
    took_s
        How long that took.

    Examples
    --------
    >>> costs = {"h5py/chunked:first": 1e-3, "h5py/chunked:chunk": 1e-4, "h5py/deflate:out": 3e-9}
    >>> made = Calibration(costs, {}, {}, {}, "2026-01-01T00:00:00+00:00", 9, 1.0)
    >>> made.libraries, made.codecs("h5py")
    (('h5py',), ('deflate',))
    """

    costs: Mapping[str, float]
    spread: Mapping[str, tuple[float, float]]
    identity: Mapping[str, object]
    versions: Mapping[str, str]
    made: str
    samples: int
    took_s: float

    @property
    def libraries(self) -> tuple[str, ...]:
        """Readers that were calibrated."""
        ways = {name.partition(":")[0] for name in self.costs if name.endswith(":first")}
        return tuple(sorted({way.partition("/")[0] for way in ways}))

    @property
    def ways(self) -> tuple[str, ...]:
        """Readers with the kinds of layout they were calibrated for, such as h5py/chunked."""
        return tuple(sorted(n.partition(":")[0] for n in self.costs if n.endswith(":first")))

    def codecs(self, library: str) -> tuple[str, ...]:
        """Return the codecs that were calibrated for a reader, with the shuffle.

        Parameters
        ----------
        library
            Name of a reader.
        """
        engine = f"{ENGINES.get(ALIKE.get(library, library), library)}/"
        known = {name.partition(":")[0] for name in self.costs if name.endswith(":out")}
        return tuple(sorted(name.removeprefix(engine) for name in known if name.startswith(engine)))

    def check(self, read: Read) -> None:
        """Raise an error for a read that holds something that was not calibrated.

        Raises
        ------
        UnknownLibraryError, UnknownCodecError
            Naming it, and what was.
        """
        library = ALIKE.get(read.library, read.library)
        if library not in self.libraries:
            raise UnknownLibraryError(
                f"library {read.library!r} is not calibrated: {', '.join(self.libraries)} are"
            )
        way = path(read)
        if way not in self.ways:
            kinds = ", ".join(w.partition("/")[2] for w in self.ways if w.startswith(f"{library}/"))
            raise UnknownLibraryError(
                f"{read.library} is not calibrated for {way.partition('/')[2]} layouts "
                f"({read.layout.format}): it is for {kinds}"
            )
        decoder = codec(read).partition("/")[2]
        if decoder and read.decode_s is None and decoder not in self.codecs(read.library):
            known = ", ".join(self.codecs(read.library)) or "none"
            raise UnknownCodecError(
                f"codec {decoder!r} is not calibrated for {read.library}: {known} are; "
                "give decode_s, measured on the file itself"
            )

    def save(self, folder: Path | None = None) -> Path:
        """Keep it for this machine, in the user's cache folder; return the file.

        Parameters
        ----------
        folder
            Another folder.
        """
        place = (folder or cache_folder()) / _name(self.identity)
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(f".{place.name}-{os.getpid()}")
        part.write_text(json.dumps({"form": form(), **asdict(self)}, indent=1))
        part.replace(place)
        return place

    @classmethod
    def load(cls, folder: Path | None = None, max_age_days: float = MAX_AGE_DAYS) -> Calibration:
        """Return the calibration of this machine.

        Parameters
        ----------
        folder
            Where it is kept, if not in the user's cache folder.
        max_age_days
            Older ones are refused.

        Raises
        ------
        NoCalibrationError
            When there is none, or it cannot be read.
        StaleCalibrationError
            When it is of other libraries, another processor, or too old; it says which.
        """
        where = folder or cache_folder()
        place = where / _name(identity())
        if not place.exists():
            others = sorted(where.glob("cost-model-*.json"))
            if others:
                raise StaleCalibrationError(
                    f"the calibration kept here is of another machine ({_cpu(others[0])}; this one "
                    f"has {identity()['cpu']}): {RUN}"
                )
            raise NoCalibrationError(f"this machine has no calibration yet: {RUN}")
        try:
            found = json.loads(place.read_text())
            if found.pop("form") != form():
                raise StaleCalibrationError(
                    f"the calibration was made by a version that counts other things: {RUN}"
                )
            spread = {name: (float(a), float(b)) for name, (a, b) in found.pop("spread").items()}
            made = cls(spread=spread, **found)
        except (ValueError, KeyError, TypeError) as error:
            raise NoCalibrationError(f"the calibration cannot be read ({error}): {RUN}") from error
        made.check_fresh(max_age_days)
        return made

    def check_fresh(self, max_age_days: float = MAX_AGE_DAYS) -> None:
        """Raise an error unless it is of this machine, these libraries, and not too old.

        Raises
        ------
        StaleCalibrationError
            Naming what changed.
        """
        here, now = identity(), versions()
        if changed := [key for key in here if self.identity.get(key) != here[key]]:
            said = ", ".join(f"{k} was {self.identity.get(k)}, is {here[k]}" for k in changed)
            raise StaleCalibrationError(f"the calibration is of another machine: {said}; {RUN}")
        if changed := [key for key in _TIMED if self.versions.get(key) != now.get(key)]:
            said = ", ".join(
                f"{k} was {self.versions.get(k, 'absent')}, is {now.get(k, 'absent')}"
                for k in changed
            )
            raise StaleCalibrationError(f"the calibration is of other libraries: {said}; {RUN}")
        age = datetime.datetime.now(datetime.UTC) - datetime.datetime.fromisoformat(self.made)
        if age > datetime.timedelta(days=max_age_days):
            raise StaleCalibrationError(
                f"the calibration is {age.days} days old, {max_age_days:g} are allowed: {RUN}"
            )


@cache
def form() -> str:
    """Return what tells apart versions of this program that count different things."""
    folder = Path(__file__).parent
    return hashlib.sha256(b"".join((folder / n).read_bytes() for n in _COUNTED)).hexdigest()[:12]


def cache_folder() -> Path:
    """Return the user's cache folder of this program; it need not exist.

    Raises
    ------
    UncalibratedError
        When this user has no home folder.

    Examples
    --------
    >>> cache_folder().name
    'hyperslab'
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        return given / "hyperslab"
    try:
        return Path("~/.cache/hyperslab").expanduser()
    except RuntimeError as error:
        raise UncalibratedError(
            "this user has no home folder for the calibration: name a folder in the environment "
            "variable XDG_CACHE_HOME"
        ) from error


def _name(machine: Mapping[str, object]) -> str:
    key = json.dumps(dict(machine), sort_keys=True, default=str)
    return f"cost-model-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"


def _cpu(place: Path) -> str:
    try:
        return str(json.loads(place.read_text())["identity"]["cpu"])
    except (OSError, ValueError, KeyError, TypeError):
        return "unknown"
