"""The calibration of this machine, as it is kept: found, refused when it no longer fits, made."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from hyperslab.measure.machine import identity, versions

from ..partial import whole_or_nothing
from .costs import ROUGH, Calibration, NoCalibrationError
from .fetches import UncalibratedError

MAX_AGE_DAYS = 90
FORM = 2  # of the terms: a calibration with other ones means something else
RUN = "run `hyperslab advise --calibrate` (under two minutes)"
# What decides the speed of a read; other packages may be of any version.
_TIMED = (
    "python", "numpy", "netcdf-c", "hdf5 (netCDF4)", "hdf5 (h5py)", "netCDF4", "h5py", "zarr",
    "xarray", "h5netcdf", "numcodecs",
)  # fmt: skip


def save(calibration: Calibration, folder: Path | None = None) -> Path:
    """Keep it for this machine, in the user's cache folder or another; return the file."""
    path = (folder or cache_folder()) / _file_name(calibration.identity or {})
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_or_nothing(path, overwrite=True) as place:
        place.write_text(json.dumps({"form": FORM, **asdict(calibration)}, indent=1))
    return path


def load(folder: Path | None = None) -> Calibration:
    """Return the calibration of this machine, from the user's cache folder or another.

    A NoCalibrationError says that there is none, or why the one that there is does not fit.
    """
    path = (folder or cache_folder()) / _file_name(identity())
    if not path.exists():
        raise NoCalibrationError(f"this machine has no calibration yet: {RUN}")
    try:
        content = json.loads(path.read_text())
        if content.pop("form") != FORM:
            raise ValueError("it was made by a version that counts other things")
        kept = Calibration(**content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NoCalibrationError(f"the calibration cannot be read ({error}): {RUN}") from error
    now, before = versions(), kept.versions or {}
    if changed := [key for key in _TIMED if before.get(key) != now.get(key)]:
        said = ", ".join(f"{key} was {before.get(key)}, is {now.get(key)}" for key in changed)
        raise NoCalibrationError(f"the calibration is of other libraries: {said}; {RUN}")
    age = datetime.datetime.now(datetime.UTC) - datetime.datetime.fromisoformat(kept.made)
    if age.days > MAX_AGE_DAYS:
        raise NoCalibrationError(
            f"the calibration is {age.days} days old, {MAX_AGE_DAYS} are allowed: {RUN}"
        )
    return kept


def known(folder: Path | None = None, *, rough: bool = False) -> Calibration:
    """Return what predicts times here, without calibrating: typical costs where it must.

    One may be kept in a folder of its own, which comes before the user's cache folder.
    """
    for place in () if rough else (folder, None):
        with suppress(NoCalibrationError):
            return load(place)
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
    made = calibrate.calibrate(workdir=workdir, progress=say is not None)
    path = save(made)
    if say:
        say(f"calibrated: {path}")
    return made


def cache_folder() -> Path:
    """Return the user's cache folder of this program; it need not exist."""
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


def _file_name(machine: Mapping[str, object]) -> str:
    key = json.dumps(dict(machine), sort_keys=True, default=str)
    return f"cost-model-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"
