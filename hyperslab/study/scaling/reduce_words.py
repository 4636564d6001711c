"""The sentences of the page on dask, with their numbers from the records."""

from __future__ import annotations

import pandas as pd

from ...measure.stats import Interval
from ...text import amount, comparison, spread
from .reduce import ALIGNED, BANDS, CACHED, INDEXED, MAPS, MISALIGNED, TASKS
from .reduce_results import NAMES, one, ratio, task_us


def summary(records: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return what was found, for all workers.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "reduce".
    table : pandas.DataFrame
        From `reduce_results.times`.
    """
    most = int(table["workers"].max())
    across = comparison(ratio(records, MISALIGNED, ALIGNED, most), "slower", "faster")
    cached = comparison(ratio(records, CACHED, ALIGNED, most), "slower", "faster")
    indexed = comparison(ratio(records, INDEXED, ALIGNED, most), "slower", "faster")
    gain = _gain(table, ALIGNED, most)
    faster = (
        f"not told apart from one worker's [{gain.low:.2f}, {gain.high:.2f}]"
        if gain.contains(1.0)
        else f"{comparison(gain, 'faster', 'slower')} than by one"
    )
    return (
        f"**What we found.** With {MAPS} whole maps, so as many of the files' chunks, in each of "
        f"dask's, the mean by {most} workers was {faster}, an efficiency of "
        f"{gain.value / most:.0%}. Against these whole maps, read through h5netcdf by the same "
        f"workers, chunks that cut each of the files' into {BANDS} bands were {across}; such bands "
        f"through netCDF4, whose chunk cache is larger, {cached}; such bands with an index beside "
        f"the files, {indexed}. A task of nothing took {task_us(table, most):,.0f} µs."
    )


def caption(table: pd.DataFrame, files: int, maps: int) -> str:
    """Return the caption of the figure."""
    return (
        f"The mean over time of {maps} maps in {files} files, each map a compressed chunk, by "
        "xarray and dask.distributed: time on the clock without making the graph, and how many "
        "times faster more workers are, paired by block. Each worker is a process of one thread. "
        f"Medians with {spread(table['n'].max())}; warm."
    )


def why(table: pd.DataFrame) -> str:
    """Return what the counts say."""
    most = int(table["workers"].max())
    whole, bands, cached, indexed = (one(table, mode, most) for mode in NAMES)
    return (
        "A task that wants a band of a map has the whole chunk decompressed, and the next band's "
        f"again, unless the chunk is still in the library's cache: bands ask for "
        f"{int(bands['touched'])} chunks instead of {int(whole['touched'])}. The workers read "
        f"{amount(bands['bytes'], 'B')} for bands and {amount(whole['bytes'], 'B')} for maps "
        f"through h5netcdf, in {amount(bands['cpu_ms'] / 1e3, 's')} and "
        f"{amount(whole['cpu_ms'] / 1e3, 's')} of CPU time; {amount(cached['bytes'], 'B')} for "
        "bands through netCDF4, whose cache holds more of these chunks than h5py's, but not all "
        f"of a long file; {amount(indexed['bytes'], 'B')}, in "
        f"{amount(indexed['cpu_ms'] / 1e3, 's')}, with an index, since a band is decompressed from "
        "the point before it.\n\n"
        f"CPU time over the time on the clock, for each worker, was {whole['busy']:.0%} with whole "
        f"maps and {bands['busy']:.0%} with bands; above 100% threads of the libraries worked "
        "beside it. What is idle waits for the scheduler, "
        f"{task_us(table, most):,.0f} µs for each of the {int(whole['tasks'])} and "
        f"{int(bands['tasks'])} tasks that the graphs have before they are fused, or for the last "
        "worker."
    )


def rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table as text."""
    kept = table[table["mode"] != TASKS]
    kept = kept.sort_values("mode", key=lambda modes: modes.map(list(NAMES).index), kind="stable")
    return pd.DataFrame(
        {
            "dask's chunks": [NAMES[mode] for mode in kept["mode"]],
            "workers": kept["workers"].astype(str),
            "ms": [
                f"{ms:,.0f} [{low:,.0f}, {high:,.0f}]"
                for ms, low, high in zip(kept["ms"], kept["low"], kept["high"], strict=True)
            ],
            "times faster": [f"{gain:.2f}" for gain in kept["gain"]],
            "efficiency": [
                f"{gain / n:.0%}" for gain, n in zip(kept["gain"], kept["workers"], strict=True)
            ],
            "CPU time over wall time": [f"{busy:.0%}" for busy in kept["busy"]],
            "CPU ms": [f"{cpu:,.0f}" for cpu in kept["cpu_ms"]],
            "MB read": [f"{size / 1e6:,.1f}" for size in kept["bytes"]],
            "chunks asked for": [f"{touched:.0f}" for touched in kept["touched"]],
            "ms to make the graph": [f"{ms:,.0f}" for ms in kept["open_ms"]],
        }
    )


def advice(records: pd.DataFrame, table: pd.DataFrame) -> str:
    """Return what to do today."""
    most = int(table["workers"].max())
    across = ratio(records, MISALIGNED, ALIGNED, most)
    indexed = ratio(records, MISALIGNED, INDEXED, most)
    code = (
        "## What to do today\n\n"
        "```python\n"
        "import xarray as xr\n"
        'data = xr.open_mfdataset("ocean-*.nc", chunks={"time": 6}, engine="h5netcdf")\n'
        'data["uo"].mean("time").compute()\n'
        "```\n\n"
    )
    lines = []
    if across.low > 1:
        lines.append(
            "- **Give dask the files' chunks, or whole multiples of them,** such as six maps of "
            "files that have one map a chunk. Bands through h5netcdf were "
            f"{comparison(across, 'slower', 'faster')} here; xarray warns of them."
        )
    else:
        lines.append(
            "- **Chunks that cut the files' were no slower here** "
            f"[{across.low:.2f}, {across.high:.2f}]: the libraries' caches held what was shared."
        )
    if indexed.low > 1:
        lines.append(
            "- **Where the cut cannot be helped, index the files:** bands were read "
            f"{comparison(indexed, 'faster', 'slower')} than by h5netcdf "
            '(`hyperslab index ocean-*.nc`, then `engine="subchunk"`).'
        )
    lines.append(
        f"- **Make tasks long beside {task_us(table, most):,.0f} µs,** which is what the scheduler "
        "takes for one: chunks of some megabytes, or several to a task."
    )
    return code + "\n".join(lines)


def _gain(table: pd.DataFrame, mode: str, workers: int) -> Interval:
    row = one(table, mode, workers)
    return Interval(row["gain"], row["gain_low"], row["gain_high"], int(row["n"]))
