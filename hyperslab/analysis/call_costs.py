"""What a call, a byte and a page fault cost in each reader, fitted, and the rates they predict.

Time is calls × a + bytes × b + faults × c. What a link adds overlaps with this work and is no sum:
see `hyperslab.analysis.cost`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ..measure.records import main
from ..text import Interval

TERMS = ("calls", "kB", "faults")
RESAMPLES = 400
LARGE_BYTES = 2**20
FRESH_PER_KB = 5e-3
"""Page faults for each 1,000 bytes, in large buffers, from which on they have a cost of their own.

Memory that is new has a fault for each 4,096 bytes, or for 2 MiB where pages are huge. A reader
with fewer reads into memory that it has; those few belong to its start, go with its calls, or with
its bytes, and no fit could tell them apart.
"""
_KEYS = ["reader", "pattern", "size", "nbytes"]
_NS = 1e9


@dataclass(frozen=True)
class Costs:
    """What one reader needs, in nanoseconds, with 95 % intervals over blocks.

    Parameters
    ----------
    reader : str
    call, kb, fault : Interval
        For each read asked of it, each 1,000 bytes and each minor page fault; NaN where a reader
        has none to speak of.
    """

    reader: str
    call: Interval
    kb: Interval
    fault: Interval

    def seconds(self, calls: ArrayLike, kb: ArrayLike, faults: ArrayLike) -> NDArray[np.float64]:
        """Return the seconds of reads by these costs.

        Parameters
        ----------
        calls, kb, faults : array_like, shape (n,)
            Reads asked for, 1,000 bytes and minor page faults.

        Examples
        --------
        >>> fixed = [Interval(ns, ns, ns, 7) for ns in (500.0, 100.0, float("nan"))]
        >>> float(Costs("a", *fixed).seconds(2, 10, 3))
        2e-06
        """
        each = np.nan_to_num([self.call.value, self.kb.value, self.fault.value])
        parts = np.stack(np.broadcast_arrays(calls, kb, faults), axis=-1).astype(np.float64)
        return np.asarray(parts @ each / _NS, np.float64)


def samples(records: pd.DataFrame, state: str = "warm") -> pd.DataFrame:
    """Return one row for each sample of the reads, with what the costs count.

    Parameters
    ----------
    records : pandas.DataFrame
        Of reads in buffers, with the columns reader, pattern and size; stages are the reads.
    state : str
        Cache state.

    Returns
    -------
    pandas.DataFrame
        reader, pattern, size (of the buffer), nbytes, block, and for each useful byte: calls
        (reads asked for), kB (1,000 bytes that went through read calls of the system, or were
        asked for where that is more, as in a file that is mapped into memory), faults (minor page
        faults), seconds.
    """
    rows = main(records)
    rows = rows[(rows["phase"] == "read") & (rows["cache_state"] == state)]
    useful = rows["useful_bytes"]
    return pd.DataFrame(
        {
            **{name: rows[name].astype(str).to_numpy() for name in ("reader", "pattern", "size")},
            "nbytes": (useful / rows["stages"]).round().astype("i8").to_numpy(),
            "block": rows["block"].to_numpy(),
            "calls": (rows["stages"] / useful).to_numpy(),
            "kB": (np.fmax(rows["rchar"], useful) / useful / 1e3).to_numpy(),
            "faults": (rows["minflt"].clip(lower=0) / useful).to_numpy(),
            "seconds": (rows["wall_s"] / useful).to_numpy(),
        }
    )


def fit(taken: pd.DataFrame, *, pattern: str = "sequential", seed: int = 0) -> list[Costs]:
    """Fit the three costs of every reader.

    The seconds of a buffer are taken as a sum of its calls, bytes and page faults, each times a
    cost that is not negative; squares of relative errors are least, so that a buffer that takes a
    microsecond weighs as much as one that takes a second. Blocks are drawn anew for the intervals.

    Parameters
    ----------
    taken : pandas.DataFrame
        From `samples`.
    pattern : str
        Whose samples it is fitted on.
    seed : int
        Of the resampling.

    Returns
    -------
    list of Costs
        Of the readers with more buffers than there are costs.
    """
    chosen = taken[taken["pattern"] == pattern]
    return [
        _costs(str(reader), part, seed)
        for reader, part in chosen.groupby("reader", sort=False)
        if part["nbytes"].nunique() > len(TERMS)
    ]


def rates(taken: pd.DataFrame, costs: Sequence[Costs]) -> pd.DataFrame:
    """Return measured and predicted rates of every reader, pattern and buffer.

    Parameters
    ----------
    taken : pandas.DataFrame
        From `samples`.
    costs : sequence of Costs

    Returns
    -------
    pandas.DataFrame
        reader, pattern, size, nbytes, measured and predicted (bytes a second), error (predicted
        over measured, less 1).
    """
    table = medians(taken[taken["reader"].isin([each.reader for each in costs])])
    return _compared(table, software(table, costs))


def software(table: pd.DataFrame, costs: Sequence[Costs]) -> NDArray[np.float64]:
    """Return the seconds that each row of `medians` takes by the costs of its reader, shape (n,).

    Parameters
    ----------
    table : pandas.DataFrame
        Of readers that have costs.
    costs : sequence of Costs
    """
    known = {each.reader: each for each in costs}
    counted = table[list(TERMS)].to_numpy(np.float64)
    seconds = [
        float(known[str(reader)].seconds(*row))
        for reader, row in zip(table["reader"], counted, strict=True)
    ]
    return np.array(seconds, np.float64)


def left_out(taken: pd.DataFrame, *, pattern: str = "sequential") -> pd.DataFrame:
    """Return the rates of each buffer as predicted from all the other buffers.

    Parameters
    ----------
    taken : pandas.DataFrame
        From `samples`.
    pattern : str

    Returns
    -------
    pandas.DataFrame
        As of `rates`; a reader with fewer than five buffers is not in it.
    """
    table = medians(taken[taken["pattern"] == pattern])
    found = []
    for _, part in table.groupby("reader", sort=False):
        if len(part) < len(TERMS) + 2:
            continue
        for place in range(len(part)):
            others, one = _counted(part.drop(index=part.index[place])), part.iloc[[place]]
            costs = np.nan_to_num(_solve(others[list(TERMS)], others["seconds"]))
            found.append(_compared(one, one[list(TERMS)].to_numpy(np.float64) @ costs))
    return pd.concat(found, ignore_index=True) if found else _compared(table[:0], np.empty(0))


def off(found: pd.DataFrame) -> float:
    """Return the median of the relative errors, whatever their signs; NaN of none.

    Examples
    --------
    >>> off(pd.DataFrame({"error": [-0.1, 0.3, 0.2]}))
    0.2
    """
    return float(found["error"].abs().median())


def _costs(reader: str, part: pd.DataFrame, seed: int) -> Costs:
    part = _counted(part)
    tables = [
        part.pivot_table(index="block", columns="nbytes", values=term)
        for term in (*TERMS, "seconds")
    ]
    cube = np.stack(tables, axis=-1)  # blocks, buffers, terms
    whole = cube[~np.isnan(cube[..., -1]).any(axis=1)]
    if len(whole) > 1:  # what is read in more blocks than the rest has no more to say of the rest
        cube = whole
    draws = np.random.default_rng(seed).integers(0, len(cube), (RESAMPLES, len(cube)))
    drawn = _NS * np.array([_solve_cube(cube[rows]) for rows in draws])
    return Costs(
        reader,
        *(
            _interval(value, column, len(cube))
            for value, column in zip(_NS * _solve_cube(cube), drawn.T, strict=True)
        ),
    )


def _interval(value: float, drawn: NDArray[np.float64], n: int) -> Interval:
    kept = drawn[~np.isnan(drawn)]
    if np.isnan(value) or not kept.size:
        return Interval(float("nan"), float("nan"), float("nan"), n)
    low, high = np.quantile(kept, [0.025, 0.975])
    return Interval(float(value), float(min(low, value)), float(max(high, value)), n)


def _counted(part: pd.DataFrame) -> pd.DataFrame:
    """Return the samples of a reader, without page faults where it has none to speak of."""
    large = part[part["nbytes"] >= LARGE_BYTES]
    per_kb = large["faults"].groupby(large["nbytes"]).median() * 1e3
    return part if (per_kb >= FRESH_PER_KB).any() else part.assign(faults=0.0)


def _solve_cube(cube: NDArray[np.float64]) -> NDArray[np.float64]:
    seen = cube[:, ~np.isnan(cube[..., -1]).all(axis=0)]  # a slow buffer has fewer blocks
    table = np.nanmedian(seen, axis=0)
    return _solve(table[:, :-1], table[:, -1])


def _solve(terms: ArrayLike, seconds: ArrayLike) -> NDArray[np.float64]:
    """Return seconds for each of the terms; NaN for one that never occurs."""
    from scipy.optimize import nnls

    weighted = np.asarray(terms, np.float64) / np.asarray(seconds, np.float64)[:, None]
    scale = np.abs(weighted).max(axis=0)
    there = scale > 0
    found = np.full(len(scale), np.nan)
    solution, _ = nnls(weighted[:, there] / scale[there], np.ones(len(weighted)))
    found[there] = solution / scale[there]
    return found


def medians(taken: pd.DataFrame) -> pd.DataFrame:
    """Return the medians over the blocks of each reader, pattern and buffer.

    Parameters
    ----------
    taken : pandas.DataFrame
        From `samples`.
    """
    columns = [*TERMS, "seconds"]
    return taken.groupby(_KEYS, sort=False)[columns].median().reset_index()


def _compared(table: pd.DataFrame, seconds: NDArray[np.float64]) -> pd.DataFrame:
    measured = 1 / table["seconds"].to_numpy(np.float64)
    # Costs that are all zero predict no time at all.
    predicted = np.divide(1, seconds, out=np.full(len(table), np.inf), where=seconds > 0)
    return table[_KEYS].assign(
        measured=measured, predicted=predicted, error=predicted / measured - 1
    )
