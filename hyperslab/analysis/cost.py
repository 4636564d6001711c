"""What a read takes over a link: round trips, bytes and work, from what it moved over another."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..measure.records import labels_of, main
from ..network import Link
from ..network.link import seconds as seconds_over
from .cells import in_order

PHASES = ("open", "read")
WINDOW = 10 * 1460  # bytes that a new connection sends before the first answer (RFC 6928)
_USED = ["stages", "handshakes", "wire_bytes", "cpu_s", "idle_stages"]
_SAMPLE = ["run_id", "experiment", "case", "aa", "block", "order"]
_COUNTED = ["stages", "handshakes", "wire_bytes", "idle_stages", "requests", "connections"]


def moved(records: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return what reads moved and worked, opening included: medians over the blocks."""
    rows = in_order(main(records), by)
    rows = rows[rows["phase"].isin(PHASES)].astype(dict.fromkeys(by, str))
    samples = rows.assign(cpu_s=rows["user_s"] + rows["sys_s"]).groupby([*by, "block"], sort=False)
    per_block = samples.agg(cpu_s=("cpu_s", "sum"), **{name: (name, "max") for name in _COUNTED})
    return per_block.groupby(level=list(by), sort=False).median()


def seconds(moved: pd.DataFrame, link: Link, *, slow_start: bool = False) -> "pd.Series[float]":
    """Return what each read of `moved` would take over a link; `slow_start` as of TCP."""
    used = moved[_USED].astype(float).to_numpy()
    times = pd.Series([link.seconds(*row) for row in used], moved.index, dtype="f8")
    if slow_start:
        sizes = moved["wire_bytes"] / moved["connections"].clip(lower=1)
        times += [slow_start_s(link, size) for size in sizes]
    return times


def over(records: pd.DataFrame, link: Link) -> pd.DataFrame:
    """Return records, a row a sample, with the `wall_s` that it would have over a link."""
    rows = records[records["phase"].isin(PHASES)]
    keys = [*_SAMPLE, *labels_of(records)]
    rows = rows.assign(cpu_s=rows["user_s"] + rows["sys_s"])
    samples = rows.groupby(keys, observed=True, dropna=False)
    used = pd.DataFrame({name: samples[name].transform("max") for name in _USED})
    used["cpu_s"] = samples["cpu_s"].transform("sum")
    return rows.assign(wall_s=seconds(used, link)).drop_duplicates(keys)[records.columns]


def over_links(
    moved: pd.DataFrame, round_trips_s: NDArray[np.float64], rates: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what each read of `moved` would take over many links: (reads, rates, trips)."""
    links = rates[:, None], round_trips_s[None, :]
    used = moved[_USED].astype(float).to_numpy()
    return np.array([seconds_over(*links, *row) for row in used])


def rate(plain: pd.DataFrame, waited_s: float) -> float:
    """Return how many bytes a second a link carries that has no rate of its own."""
    # The bytes of a plain request over what took neither round trips nor the client's CPU time.
    rows = main(plain)
    rows = rows[rows["phase"] == "read"]
    left_s = float((rows["wall_s"] - rows["user_s"] - rows["sys_s"]).median()) - waited_s
    return float(rows["wire_bytes"].median()) / left_s if left_s > 0 else math.inf


def solved(
    counts: NDArray[np.float64], seconds: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what each count costs, none negative, by least squares; NaN where it never occurs."""
    from scipy.optimize import nnls

    weighted = counts * weight[:, None]
    scale = np.abs(weighted).max(axis=0)
    occur = scale > 0
    costs = np.full(len(scale), np.nan)
    solution, _ = nnls(weighted[:, occur] / scale[occur], seconds * weight, maxiter=50 * len(scale))
    costs[occur] = solution / scale[occur]
    return costs


def slow_start_s(link: Link, size: float) -> float:
    """Return how much longer a new connection of TCP takes for its bytes than an open one."""
    # A window doubles each round trip until the link is full or all is sent (RFC 5681). Against TCP
    # itself, through a link of 100 Mbit/s and 20 ms in the kernel, 50 kB took 40 ms longer on a new
    # connection than without slow start.
    waits = max(0, math.ceil(math.log2(size / WINDOW + 1)) - 1)
    sent_s = (WINDOW * 2**n / link.bytes_per_s for n in range(waits))
    return math.fsum(max(0.0, link.round_trip_s - seconds) for seconds in sent_s)
