"""What a call, a byte and a page fault cost each reader: from two rows, or fitted to many."""
# Time is calls × a + bytes × b + faults × c. What a link adds overlaps with this work and is no
# sum: see `hyperslab.analysis.cost`.

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..measure.records import main
from ..measure.stats import median_interval
from ..text import Interval
from .compare import UNKNOWN
from .cost import solved

TERMS = ("calls", "kB", "faults")
LARGE_BYTES = 2**20
# Page faults for each 1,000 bytes, in large buffers, from which on they have a cost of their own.
# Memory that is new has one for each 4,096 bytes, or for 2 MiB where pages are huge. A reader with
# fewer reads into memory that it has: no fit could tell those few from its calls or its bytes.
FRESH_PER_KB = 5e-3
_RESAMPLES = 400
_FITTED = "sequential"  # the access whose times are fitted
_KEYS = ["reader", "access", "nbytes"]
_FEWEST = len(TERMS) + 2  # sizes of buffers, of which one can be left out


def extra(times: pd.DataFrame, of: Any, to: Any, calls: int) -> Interval:
    """Return what one row takes more than another in each of its calls, in seconds, by block."""
    if of not in times.index or to not in times.index:
        return UNKNOWN
    more = (times["blocks"][of] - times["blocks"][to]).dropna()
    return median_interval(more.to_numpy() / calls) if len(more) else UNKNOWN


def enough(rates: pd.DataFrame) -> "pd.Series[Any]":
    """Return how many bytes a call must move to reach half the rate of the largest call."""
    needed: dict[Any, Interval] = {}
    for name, group in rates["blocks"].groupby(level=0, sort=False, observed=True):
        keys: list[Any] = [key for key, blocks in group.items() if len(blocks)]
        if not keys:
            continue
        table = pd.concat({float(key[1]): group[key] for key in keys}, axis=1)
        table = table.sort_index(axis=1).dropna()
        sizes = [_halfway(row / row.iloc[-1]) for _, row in table.iterrows()]
        needed[name] = median_interval(sizes)
    return pd.Series(needed).rename_axis(str(rates.index.names[0]))


def _halfway(shares: "pd.Series[float]") -> float:
    """Return the size at which shares first come to a half: new memory is not a call's cost."""
    log_sizes, log_shares = np.log(shares.index.to_numpy("f8")), np.log(shares.to_numpy())
    at = int(np.flatnonzero(shares >= 0.5)[0])
    if not at:
        return float(shares.index[0])
    fraction = (np.log(0.5) - log_shares[at - 1]) / (log_shares[at] - log_shares[at - 1])
    return float(np.exp(log_sizes[at - 1] + fraction * (log_sizes[at] - log_sizes[at - 1])))


def samples(records: pd.DataFrame) -> pd.DataFrame:
    """Return calls, kB, faults and seconds of each useful byte of reads from memory, by sample."""
    # kB are 1,000 bytes that went through read calls of the system, or were asked for where that
    # is more, as in a file that is mapped into memory.
    rows = main(records)
    rows = rows[(rows["phase"] == "read") & (rows["cache_state"] == "warm")]
    useful = rows["useful_bytes"]
    return pd.DataFrame(
        {
            **{name: rows[name].astype(str).to_numpy() for name in ("reader", "access")},
            "nbytes": (useful / rows["stages"]).round().astype("i8").to_numpy(),
            "block": rows["block"].to_numpy(),
            "calls": (rows["stages"] / useful).to_numpy(),
            "kB": (np.fmax(rows["rchar"], useful) / useful / 1e3).to_numpy(),
            "faults": (rows["minflt"].clip(lower=0) / useful).to_numpy(),
            "seconds": (rows["wall_s"] / useful).to_numpy(),
        }
    )


def fit(taken: pd.DataFrame) -> pd.DataFrame:
    """Fit the costs of every reader with more buffers than costs, on its reads in file order."""
    # Squares of relative errors are least, so that a buffer that takes a microsecond weighs as
    # much as one that takes a second.
    chosen = taken[taken["access"] == _FITTED].groupby("reader", sort=False)
    rows = {
        str(reader): _costs(group)
        for reader, group in chosen
        if group["nbytes"].nunique() > len(TERMS)
    }
    return pd.DataFrame(rows, index=TERMS, dtype=object).T.rename_axis("reader")


def predicted(taken: pd.DataFrame, costs: pd.DataFrame) -> pd.DataFrame:
    """Return seconds of a byte, predicted ones, and their error, by reader, access and nbytes."""
    table = _medians(taken[taken["reader"].isin(costs.index)])
    estimates = costs.map(lambda cost: np.nan_to_num(cost.value)).astype("f8")
    row_costs = estimates.reindex(table["reader"]).to_numpy()
    return _compared(table, (table[list(TERMS)].to_numpy() * row_costs).sum(axis=1))


def left_out(taken: pd.DataFrame) -> pd.DataFrame:
    """Return times of each buffer as predicted from all other buffers; see `predicted`."""
    table = _medians(taken[taken["access"] == _FITTED])
    predictions = []
    for _, group in table.groupby("reader", sort=False):
        for row in range(len(group) if len(group) >= _FEWEST else 0):
            others, buffer = _counted(group.drop(index=group.index[row])), group.iloc[[row]]
            costs = np.nan_to_num(_solve(others[list(TERMS)], others["seconds"]))
            predictions.append(_compared(buffer, buffer[list(TERMS)].to_numpy(np.float64) @ costs))
    return pd.concat(predictions) if predictions else _compared(table[:0], np.empty(0))


def off(predictions: pd.DataFrame) -> "pd.Series[float]":
    """Return by reader the median of relative errors, whatever their signs."""
    return predictions["error"].abs().groupby(level="reader", sort=False).median()


def _costs(taken: pd.DataFrame) -> list[Interval]:
    taken = _counted(taken)
    tables = [
        taken.pivot_table(index="block", columns="nbytes", values=term)
        for term in (*TERMS, "seconds")
    ]
    cube = np.stack(tables, axis=-1)  # blocks, buffers, terms
    whole = cube[~np.isnan(cube[..., -1]).any(axis=1)]
    if len(whole) > 1:  # what is read in more blocks than the rest has no more to say of the rest
        cube = whole
    draws = np.random.default_rng(0).integers(0, len(cube), (_RESAMPLES, len(cube)))
    drawn = np.array([_solve_cube(cube[blocks]) for blocks in draws])
    return [
        _interval(value, column, len(cube))
        for value, column in zip(_solve_cube(cube), drawn.T, strict=True)
    ]


def _interval(value: float, drawn: NDArray[np.float64], n: int) -> Interval:
    finite = drawn[~np.isnan(drawn)]
    if np.isnan(value) or not finite.size:
        return UNKNOWN
    low, high = np.quantile(finite, [0.025, 0.975])
    return Interval(float(value), float(min(low, value)), float(max(high, value)), n)


def _counted(taken: pd.DataFrame) -> pd.DataFrame:
    """Return the samples of a reader, without page faults where it has none to speak of."""
    large = taken[taken["nbytes"] >= LARGE_BYTES]
    per_kb = large["faults"].groupby(large["nbytes"]).median() * 1e3
    return taken if (per_kb >= FRESH_PER_KB).any() else taken.assign(faults=0.0)


def _solve_cube(cube: NDArray[np.float64]) -> NDArray[np.float64]:
    seen = cube[:, ~np.isnan(cube[..., -1]).all(axis=0)]  # a slow buffer has fewer blocks
    table = np.nanmedian(seen, axis=0)
    return _solve(table[:, :-1], table[:, -1])


def _solve(terms: ArrayLike, seconds: ArrayLike) -> NDArray[np.float64]:
    measured = np.asarray(seconds, np.float64)
    return solved(np.asarray(terms, np.float64), measured, 1 / measured)


def _medians(taken: pd.DataFrame) -> pd.DataFrame:
    return taken.groupby(_KEYS, sort=False)[[*TERMS, "seconds"]].median().reset_index()


def _compared(table: pd.DataFrame, seconds: NDArray[np.float64]) -> pd.DataFrame:
    measured = table["seconds"].to_numpy(np.float64)
    # Costs that are all zero predict no time at all.
    ratio = np.divide(measured, seconds, out=np.full(len(table), np.inf), where=seconds > 0)
    predictions = table[[*_KEYS, "seconds"]].assign(predicted=seconds, error=ratio - 1)
    return predictions.set_index(_KEYS)
