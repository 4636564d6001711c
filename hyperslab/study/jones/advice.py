"""What a user of netCDF4-python may change, and what each change gains."""

from dataclasses import dataclass
from itertools import product

import pandas as pd

from ...measure.records import main
from ...measure.stats import Interval
from .baseline import ratio
from .quarter import THREADS


@dataclass(frozen=True)
class Change:
    """One thing that a user may change, and the two cases that show its gain.

    Parameters
    ----------
    name : str
        Unique.
    what : str
        What is changed, in words.
    code : str
        The line that does it.
    experiment, before, after : str
        Two cases of one experiment.
    """

    name: str
    what: str
    code: str
    experiment: str
    before: str
    after: str


_SLOW, _PLAIN, _H5PY = (
    f"{reader}/sequential" for reader in ("netcdf4-python", "netcdf4-python-plain", "h5py")
)
_OFF = "dataset.set_auto_maskandscale(False)"
_FILE = "h5py.File(path)[name][a:b]"
_PICK = "variable[a : a + 131072].reshape(-1, 4, 512)[:, 0]"
_POOL = f"ThreadPoolExecutor({THREADS})"


def _patterns(name: str, what: str, code: str, before: str, after: str) -> Change:
    return Change(name, what, code, "patterns", before, after)


def _quarter(name: str, what: str, code: str, library: str, after: str) -> Change:
    before = f"{library}/pieces"
    return Change(name, f"one of four: {what}", code, "quarter", before, f"{library}/{after}")


CHANGES = (
    _patterns(
        "mask-64k",
        "masking and scaling off, reads of 64 KiB",
        _OFF,
        f"{_SLOW}/64KiB",
        f"{_PLAIN}/64KiB",
    ),
    _patterns(
        "mask-1m",
        "masking and scaling off, reads of 1 MiB",
        _OFF,
        f"{_SLOW}/1MiB",
        f"{_PLAIN}/1MiB",
    ),
    _patterns(
        "larger-64k",
        "reads of 64 KiB, not 4 KiB",
        "variable[a : a + 8192]",
        f"{_SLOW}/4KiB",
        f"{_SLOW}/64KiB",
    ),
    _patterns(
        "larger-1m",
        "reads of 1 MiB, not 64 KiB",
        "variable[a : a + 131072]",
        f"{_SLOW}/64KiB",
        f"{_SLOW}/1MiB",
    ),
    _patterns("h5py-4k", "h5py, reads of 4 KiB", _FILE, f"{_SLOW}/4KiB", f"{_H5PY}/4KiB"),
    _patterns("h5py-1m", "h5py, reads of 1 MiB", _FILE, f"{_SLOW}/1MiB", f"{_H5PY}/1MiB"),
    _patterns(
        "all", "h5py, and reads of 1 MiB, not 4 KiB", _FILE, f"{_SLOW}/4KiB", f"{_H5PY}/1MiB"
    ),
    _quarter("contiguous", "read on, and pick", _PICK, "netcdf4-python", "contiguous"),
    _quarter("contiguous-h5py", "h5py, read on, and pick", _PICK, "h5py", "contiguous"),
    _quarter(
        "threads-netcdf4",
        f"{THREADS} threads and a lock",
        f"{_POOL}, with lock:",
        "netcdf4-python",
        "threads",
    ),
    _quarter("threads-h5py", f"h5py, {THREADS} threads", _POOL, "h5py", "threads"),
    _quarter("threads-pread", f"os.pread, {THREADS} threads", _POOL, "pread", "threads"),
)
"""What may be changed; without another word in netCDF4-python as it comes, with masking."""


def gains(*records: pd.DataFrame) -> pd.DataFrame:
    """Return what each change gains.

    Parameters
    ----------
    *records : pandas.DataFrame
        Of the experiments "patterns" and "quarter".

    Returns
    -------
    pandas.DataFrame
        name, what, code, state, before, after (bytes a second, medians), gain (an Interval: rate
        after over rate before, paired by block). A pair that was not measured is not in it.
    """
    found = []
    for part in records:
        experiment, states = part["experiment"].iloc[0], part["cache_state"].unique()
        rated = main(part)
        rated = rated[rated["phase"] == "read"]
        rate = rated["useful_bytes"] / rated["wall_s"]
        middle = rate.groupby([rated["case"], rated["cache_state"]]).median()
        for change, state in product(CHANGES, states):
            gained = ratio(part, state, change.after, change.before)
            if change.experiment != experiment or gained is None:
                continue
            found.append(
                {
                    "name": change.name,
                    "what": change.what,
                    "code": change.code,
                    "state": state,
                    "before": float(middle[change.before, state]),
                    "after": float(middle[change.after, state]),
                    "gain": gained,
                }
            )
    columns = ["name", "what", "code", "state", "before", "after", "gain"]
    return pd.DataFrame(found, columns=columns)


def gain(found: pd.DataFrame, name: str, state: str) -> Interval | None:
    """Return the gain of one change, None where it was not measured.

    Parameters
    ----------
    found : pandas.DataFrame
        From `gains`.
    name, state : str
        Of the change, and the cache state.
    """
    part = found[(found["name"] == name) & (found["state"] == state)]
    if part.empty:
        return None
    value = part["gain"].iloc[0]
    assert isinstance(value, Interval)
    return value
