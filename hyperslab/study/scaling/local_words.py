"""The sentences of the page on threads and processes, with their numbers from the records."""

from __future__ import annotations

import pandas as pd

from ...measure.stats import Interval
from ...text import comparison, spread
from .local import ALONE, PROCESSES, THREADS
from .local_results import NAMES, faster, in_use, one

LOCKED = ("netcdf4", "h5py")
"""Ways that take one call at a time: h5py by its own lock, netCDF4 by ours, as in xarray."""
_BUSY = 0.6  # of the cores that threads could use; below it they waited, or had too little to do


def summary(table: pd.DataFrame) -> str:
    """Return what was found, for as many workers as there are cores.

    Parameters
    ----------
    table : pandas.DataFrame
        From `local_results.speedups`.
    """
    several = _several(table)
    said = []
    for mode in (THREADS, PROCESSES):
        ways = "; ".join(
            f"{NAMES[way]}: {times(one(table, way, mode, several))}" for way in _ways(table)
        )
        said.append(f"With {several} {mode} instead of one reader – {ways}.")
    return f"**What we found.** {' '.join(said)}"


def times(found: Interval) -> str:
    """Return a speed-up in words, and that there is none where the interval says so.

    Examples
    --------
    >>> times(Interval(1.91, 1.85, 1.97, 7)), times(Interval(1.01, 0.97, 1.04, 7))
    ('1.91× faster', 'not told apart from one reader [0.97, 1.04]')
    >>> times(Interval(1.91, 1.91, 1.91, 1))
    '1.91 times the speed of one, measured once'
    """
    if found.n < 2:
        return f"{found.value:.2f} times the speed of one, measured once"
    if found.contains(1.0):
        return f"not told apart from one reader [{found.low:.2f}, {found.high:.2f}]"
    return comparison(found, "faster", "slower")


def caption(table: pd.DataFrame, frames: int) -> str:
    """Return the caption of the figure."""
    return (
        f"Time of one reader over that of several, for {frames} maps of the ocean, each a "
        "compressed chunk, read and summed once; warm, without the time of starting the workers. "
        f"Medians of paired ratios with {spread(table['n'].max())}. "
        "Dotted: as many times faster as there are workers."
    )


def why(table: pd.DataFrame) -> str:
    """Return what the counts say of who waits for whom."""
    several = _several(table)
    lines = []
    for way in _ways(table):
        used = in_use(table, way, THREADS, several)
        alone = in_use(table, way, ALONE, 1)
        lines.append(
            f"- {NAMES[way]}: {several} threads kept {used:.2f} cores busy, one reader "
            f"{alone:.2f}, {several} processes {in_use(table, way, PROCESSES, several):.2f}."
        )
    head = (
        "Who waits shows in the CPU time: divided by the time on the clock it is the number of "
        "cores in use."
    )
    parts = [head, "\n".join(lines)]
    if not _once(table):
        parts.append(_idle(table, several))
    return "\n\n".join(parts)


def _idle(table: pd.DataFrame, several: int) -> str:
    """Return what is known of those whose threads left cores idle."""
    few = [way for way in _ways(table) if in_use(table, way, THREADS, several) < _BUSY * several]
    locked = [NAMES[way] for way in few if way in LOCKED]
    others = [NAMES[way] for way in few if way not in LOCKED]
    said = []
    if locked:
        said.append(
            f"Threads of {' and '.join(locked)} take turns: one call is let in at a time, and "
            "decompressing is part of the call."
        )
    if others:
        said.append(
            f"Threads of {' and '.join(others)} kept fewer than {_BUSY:.0%} of the cores busy too; "
            "no lock of their libraries is known that would explain it, and what does was not "
            "looked for."
        )
    return " ".join(said) or "No library made its threads take turns in this run."


def rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table as text."""
    ratio = [
        "1" if mode == ALONE else f"{gain:.2f} [{low:.2f}, {high:.2f}]"
        for mode, gain, low, high in zip(
            table["mode"], table["gain"], table["low"], table["high"], strict=True
        )
    ]
    named = [
        "one reader" if mode == ALONE else f"{workers} {mode}"
        for mode, workers in zip(table["mode"], table["workers"], strict=True)
    ]
    return pd.DataFrame(
        {
            "library and format": [NAMES[way] for way in table["way"]],
            "workers": named,
            "times faster": ratio,
            "efficiency": [
                f"{gain / n:.0%}" for gain, n in zip(table["gain"], table["workers"], strict=True)
            ],
            "cores in use": [f"{cores:.2f}" for cores in table["cores"]],
            "CPU time over one reader's": [f"{cpu:.2f}" for cpu in table["cpu"]],
            "MB/s": [f"{rate / 1e6:,.0f}" for rate in table["rate"]],
            "ms to start": [f"{start:.0f}" for start in table["start_ms"]],
        }
    )


def advice(table: pd.DataFrame) -> str:
    """Return what to do today."""
    if _once(table):
        return (
            "## What to do today\n\nEach was measured once, which does not tell threads from "
            "processes: nothing is advised."
        )
    several = _several(table)
    by: dict[str, list[str]] = {THREADS: [], PROCESSES: [], "": []}
    for way in _ways(table):
        by[faster(table, way, several)].append(NAMES[way])
    lines = []
    if by[PROCESSES]:
        lines.append(
            f"- **Processes for {_listed(by[PROCESSES])}:** there they were faster than threads. "
            "Each opens the file itself, and is started once for many reads, since starting one "
            "and its imports costs more than a small read."
        )
    if by[THREADS]:
        lines.append(f"- **Threads for {_listed(by[THREADS])}:** faster than processes here.")
    if by[""]:
        lines.append(
            f"- **Either for {_listed(by[''])}:** the two were not told apart; threads share "
            "what they read, and processes have to send it."
        )
    return (
        "## What to do today\n\n"
        "```python\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "import xarray as xr\n\n"
        "def mean(step):\n"
        '    with xr.open_dataset("ocean.nc") as data:\n'
        '        return float(data["uo"][step].mean())\n\n'
        'if __name__ == "__main__":\n'
        "    with ProcessPoolExecutor() as pool:\n"
        "        means = list(pool.map(mean, range(24), chunksize=4))\n"
        "```\n\n" + "\n".join(lines)
    )


def _listed(names: list[str]) -> str:
    """Return names that hold commas, told apart."""
    return "; ".join(names)


def _ways(table: pd.DataFrame) -> list[str]:
    return [way for way in NAMES if way in set(table["way"])]


def _once(table: pd.DataFrame) -> bool:
    """Whether there are no blocks to compare."""
    return bool(table.loc[table["mode"] != ALONE, "n"].max() < 2)


def _several(table: pd.DataFrame) -> int:
    """Return the largest number of workers that there is a core for, or else the smallest."""
    several = table[table["workers"] > 1]
    within = several[~several["beyond"]]
    return int(within["workers"].max() if len(within) else several["workers"].min())
