"""What a user of netCDF4-python may change, and what each change gains."""

from dataclasses import dataclass
from itertools import product

import pandas as pd

from ...measure.noise import judge
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

    Examples
    --------
    >>> [change.name for change in CHANGES if not change.for_users]
    ['contiguous-h5py', 'threads-h5py', 'threads-pread']
    """

    name: str
    what: str
    code: str
    experiment: str
    before: str
    after: str

    @property
    def for_users(self) -> bool:
        """Whether it begins where a user of netCDF4-python stands, and not in another reader."""
        return self.before.startswith(f"{_USED}/")


_USED = "netcdf4-python"
_SLOW, _PLAIN, _H5PY = (
    f"{reader}/sequential" for reader in ("netcdf4-python", "netcdf4-python-plain", "h5py")
)
_OFF = "dataset.set_auto_maskandscale(False)"
_FILE = "h5py.File(path)[name][a:b]"
_PICK = "variable[a : a + 131072].reshape(-1, 4, 512)[:, 0]"
_SYSTEM = "os.pread(file, nbytes, offset + start)"
_POOL = f"ThreadPoolExecutor({THREADS})"


def _patterns(name: str, what: str, code: str, before: str, after: str) -> Change:
    return Change(name, what, code, "patterns", before, after)


def _quarter(name: str, what: str, code: str, before: str, after: str) -> Change:
    return Change(
        name, f"one of four: {what}", code, "quarter", f"{before}/pieces", f"{before}/{after}"
    )


def _instead(name: str, what: str, code: str, after: str) -> Change:
    return Change(name, f"one of four: {what}", code, "quarter", f"{_USED}/pieces", after)


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
    _quarter("contiguous", "read on, and pick", _PICK, _USED, "contiguous"),
    _quarter(
        "threads-netcdf4", f"{THREADS} threads and a lock", f"{_POOL}, with lock:", _USED, "threads"
    ),
    _instead("h5py-pieces", "h5py", _FILE, "h5py/pieces"),
    _instead("h5py-contiguous", "h5py, read on, and pick", _PICK, "h5py/contiguous"),
    _instead("h5py-threads", f"h5py, {THREADS} threads", _POOL, "h5py/threads"),
    _instead("pread-pieces", "os.pread", _SYSTEM, "pread/pieces"),
    _instead("pread-threads", f"os.pread, {THREADS} threads", _POOL, "pread/threads"),
    _quarter("contiguous-h5py", "from h5py on, read on, and pick", _PICK, "h5py", "contiguous"),
    _quarter("threads-h5py", f"from h5py on, {THREADS} threads", _POOL, "h5py", "threads"),
    _quarter("threads-pread", f"from os.pread on, {THREADS} threads", _POOL, "pread", "threads"),
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
        after over rate before, paired by block), noise (an Interval: of the A/A pair of that
        experiment and state, by `noises`; None without one). A pair that was not measured
        is not in it.
    """
    found = []
    for part in records:
        found_noise = noises(part)
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
                    "noise": found_noise.get(state),
                }
            )
    columns = ["name", "what", "code", "state", "before", "after", "gain", "noise"]
    return pd.DataFrame(found, columns=columns)


def noises(records: pd.DataFrame) -> dict[str, Interval]:
    """Return the ratio of the A/A pair by cache state, of the records of one experiment."""
    return {found.cache_state: found.ratio for found in judge(records)}


def within(gained: Interval, noise: Interval | None) -> bool:
    """Whether a gain lies where the same read, made twice, may lie as well.

    Examples
    --------
    >>> noise = Interval(1.02, 0.72, 1.2, 7)
    >>> [within(Interval(x, x, x, 7), noise) for x in (0.7, 0.74, 2.0)]
    [False, True, False]
    >>> within(Interval(0.9, 0.88, 0.92, 7), None)
    False
    """
    return noise is not None and noise.contains(gained.value)


def gain(found: pd.DataFrame, name: str, state: str) -> Interval | None:
    """Return the gain of one change, None where it was not measured.

    Parameters
    ----------
    found : pandas.DataFrame
        From `gains`.
    name, state : str
        Of the change, and the cache state.
    """
    return _one(found, name, state, "gain")


def noise(found: pd.DataFrame, name: str, state: str) -> Interval | None:
    """Return the noise of what one change was measured in, None where it is not known.

    Parameters
    ----------
    found : pandas.DataFrame
        From `gains`.
    name, state : str
        Of the change, and the cache state.
    """
    return _one(found, name, state, "noise")


def _one(found: pd.DataFrame, name: str, state: str, column: str) -> Interval | None:
    part = found[(found["name"] == name) & (found["state"] == state)]
    value = None if part.empty else part[column].iloc[0]
    assert value is None or isinstance(value, Interval)
    return value
