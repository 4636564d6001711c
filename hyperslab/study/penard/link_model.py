"""What a read takes over a link: round trips, bytes and work, beside what was measured."""

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ...measure.records import main
from ...measure.stats import median_interval
from ...network import Link
from ...network.link import parts

PHASES = ("open", "read")
COUNTS = ("stages", "handshakes", "idle_stages", "wire_bytes", "requests")
TABLE_3 = {
    "cmems/series": {"chunkindex-off": 16.49, "h5py-off": 16.51, "chunkindex-on": 19.69},
    "gfs/series": {"chunkindex-off": 11.49, "chunkindex-on": 20.41, "h5py-on": 27.57},
    "cmems/frame": {"zarr": 2.08, "nczarr": 2.55, "chunkindex-on": 3.76},
    "gfs/frame": {"chunkindex-off": 3.65, "chunkindex-on": 5.06, "h5py-on": 5.63},
}
"""Seconds of the fastest three of each read over the document's link."""
_UNKNOWN = Link(math.inf, 0.0)
_USED = ["stages", "handshakes", "wire_bytes", "cpu_s", "idle_stages"]


def samples(*records: pd.DataFrame) -> pd.DataFrame:
    """Return one row a sample: what it took, opening included, and what it moved.

    Parameters
    ----------
    *records : pandas.DataFrame
        Of experiments over links.

    Returns
    -------
    pandas.DataFrame
        case, link, block, wall_s, cpu_s, stages, handshakes, idle_stages, wire_bytes, requests.
    """
    rows = main(pd.concat(records))
    rows = rows[rows["phase"].isin(PHASES)]
    found = rows.groupby(["case", "link", "block"], sort=False).agg(
        wall_s=("wall_s", "sum"),
        user_s=("user_s", "sum"),
        sys_s=("sys_s", "sum"),
        **{name: (name, "max") for name in COUNTS},
    )
    found["cpu_s"] = found.pop("user_s") + found.pop("sys_s")
    return found.reset_index()


def moved(*records: pd.DataFrame) -> pd.DataFrame:
    """Return the records of several experiments over one link as one."""
    return pd.concat(records, ignore_index=True)


def table(links: dict[str, Link], *records: pd.DataFrame) -> pd.DataFrame:
    """Return measured and predicted times of each case over each link.

    Parameters
    ----------
    links : mapping
        By name; what is known of no other is rate and delay alone.
    *records : pandas.DataFrame
        Of experiments over links.

    Returns
    -------
    pandas.DataFrame
        panel, way, case, link, seconds, low, high (measured, with a 95 % interval), predicted
        (seconds), error (predicted over measured, less 1), round_trip_s, n, and medians of the
        counts and of cpu_s.
    """
    rows = []
    for (case, link), part in samples(*records).groupby(["case", "link"], sort=False):
        middle = median_interval(part["wall_s"])
        counts = {name: float(part[name].median()) for name in (*COUNTS, "cpu_s")}
        over = links.get(str(link), _UNKNOWN)
        predicted = _seconds(over, counts)
        panel, way = place(str(case))
        rows.append(
            {
                "panel": panel,
                "way": way,
                "case": case,
                "link": link,
                "seconds": middle.value,
                "low": middle.low,
                "high": middle.high,
                "n": middle.n,
                "predicted": predicted,
                "error": predicted / middle.value - 1,
                "round_trip_s": over.round_trip_s,
                **counts,
            }
        )
    return pd.DataFrame(rows)


def predictions(records: pd.DataFrame, link: Link) -> pd.DataFrame:
    """Return what each case would take over another link than it was measured over.

    Parameters
    ----------
    records : pandas.DataFrame
        Of experiments over one link.
    link : Link

    Returns
    -------
    pandas.DataFrame
        panel, way, case, seconds.
    """
    columns = [*COUNTS, "cpu_s"]
    middle = samples(records).groupby("case", sort=False)[columns].median()
    return pd.DataFrame(
        [
            dict(zip(("panel", "way"), place(str(case)), strict=True))
            | {"case": case, "seconds": _seconds(link, {n: float(row[n]) for n in columns})}
            for case, row in middle.iterrows()
        ]
    )


def grid(
    found: pd.DataFrame, round_trips_s: NDArray[np.float64], rates: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what each case would take over each of many links, by the model.

    Parameters
    ----------
    found : pandas.DataFrame
        Rows of `table`, a case a row.
    round_trips_s, rates : numpy.ndarray
        float64 of shape (x,) in seconds and (y,) in bytes a second.

    Returns
    -------
    numpy.ndarray
        float64 of shape (cases, y, x), in seconds.

    Examples
    --------
    >>> both = {"handshakes": [1, 1], "wire_bytes": [1e6, 1e8], "cpu_s": [0, 0]}
    >>> cases = pd.DataFrame(both | {"stages": [50, 1], "idle_stages": [50, 1]})
    >>> grid(cases, np.array([1e-3, 0.3]), np.array([1e6, 1e8])).argmin(0).tolist()
    [[0, 0], [0, 1]]
    """
    trips_s, kept = round_trips_s[None, :], []
    for stages, handshakes, size, cpu_s, idle in found[_USED].astype(float).to_numpy():
        waits, turns, after_s = parts(stages, handshakes, cpu_s, idle)
        carried_s = size / rates[:, None]
        turns_s = trips_s * turns + carried_s / (turns + 1)
        longest = np.maximum(carried_s, np.maximum(turns_s, cpu_s - after_s))
        kept.append(trips_s * waits + longest + after_s)
    return np.array(kept)


def place(case: str) -> tuple[str, str]:
    """Return a case's panel and way.

    Examples
    --------
    >>> place("gfs/series-today/subchunk-off")
    ('gfs/series', 'subchunk-off')
    """
    kind, read, way = case.split("/")
    return f"{kind}/{read.removesuffix('-today')}", way


def _seconds(link: Link, counts: dict[str, float]) -> float:
    return link.seconds(*(counts[name] for name in _USED))
