"""Slabs across each axis of a variable, read from default chunks and from balanced ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd

from data_gen import arrays

from ...io.work import NAME, Equals, Read
from ...measure.case import Case
from ...measure.records import main
from ...measure.stats import Interval, median_interval, paired_ratio
from ...storage.default_chunks import balanced_chunks, default_chunks
from ...storage.geometry import chunk_grid
from ...storage.layout import Layout
from ...storage.variable import Variable
from ...storage.write import create

AXES = ("time", "y", "x")
STORED = ("default", "unlimited", "balanced")
STORED_NAMES = {
    "default": "default, fixed dimensions",
    "unlimited": "default, time unlimited",
    "balanced": "balanced by hand, time unlimited",
}
ITEMSIZE = 4
MODULES = ("netCDF4", "hyperslab.io.work", "hyperslab.access.netcdf4", "data_gen.arrays")


@dataclass(frozen=True)
class Slabs:
    """The variable of the experiment, in its three chunk shapes.

    Parameters
    ----------
    shape : tuple of int
        Lengths along time, y and x.
    chunks : dict
        The chunk shape by name of the layout, as in `STORED`.
    """

    shape: tuple[int, ...]
    chunks: dict[str, tuple[int, ...]]

    def touched(self, name: str, axis: int) -> int:
        """Return how many chunks a slab across an axis touches."""
        grid = chunk_grid(self.shape, self.chunks[name])
        return math.prod(n for at, n in enumerate(grid) if at != axis)


def stored(shape: Sequence[int], default_bytes: float) -> Slabs:
    """Return the three chunk shapes of a variable: the library's two, and one balanced by hand.

    Parameters
    ----------
    shape : sequence of int
        Lengths along time, y and x.
    default_bytes : float
        What a chunk is meant to take in the installed build.

    Examples
    --------
    >>> list(stored((100, 400, 800), 2**24).chunks.values())
    [(50, 200, 400), (1, 400, 800), (20, 80, 160)]
    """
    size = int(default_bytes)
    fixed = default_chunks(shape, ITEMSIZE, (), size)
    unlimited = default_chunks((0, *shape[1:]), ITEMSIZE, (0,), size)
    hand = balanced_chunks(shape, ITEMSIZE, math.prod(unlimited) * ITEMSIZE)
    return Slabs(tuple(shape), {"default": fixed, "unlimited": unlimited, "balanced": hand})


def folders(scratch: Path, cold: int) -> dict[str, Path]:
    """Return where the files lie, by cache state; a cold read has files of its own, or none."""
    states = ("warm", "cold") if cold else ("warm",)
    return {state: scratch / state for state in states}


def path_of(name: str, folder: Path) -> Path:
    """Return where the file of a chunk shape lies."""
    return folder / f"{name}.nc"


def make_files(slabs: Slabs, *folders: Path) -> None:
    """Write the array in the three chunk shapes, where `path_of` says.

    Parameters
    ----------
    slabs : Slabs
    folders : Path
        Made when missing; files there are written again.
    """
    array = arrays.values(slabs.shape)
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        for name, chunks in slabs.chunks.items():
            grows = () if name == "default" else AXES[:1]
            variable = Variable(NAME, AXES, slabs.shape, "i4", unlimited=grows)
            layout = Layout("netcdf4", chunks=chunks)
            with create(path_of(name, folder), [variable], layout, overwrite=True) as writer:
                writer.write(NAME, ..., array)
                writer.sync()


def selection(shape: Sequence[int], axis: int) -> tuple[int | slice, ...]:
    """Select the slab across an axis a quarter of the way along it.

    Examples
    --------
    >>> selection((100, 400, 800), 1)
    (slice(0, 100, None), 100, slice(0, 800, None))
    """
    return tuple(n // 4 if at == axis else slice(0, n) for at, n in enumerate(shape))


def cases(slabs: Slabs, folders: dict[str, Path]) -> list[Case]:
    """Return one read of a slab across each axis from each layout.

    Parameters
    ----------
    slabs : Slabs
    folders : dict
        Where the files lie, by cache state.
    """
    return [
        Case(
            f"{name}/{across}",
            Read(path_of(name, folder), "netcdf4", chosen, chill=True),
            check=Equals(partial(arrays.values, slabs.shape, chosen)),
            columns={
                "library": "netCDF4",
                "pattern": f"slab across {across}",
                "predicted_reads": slabs.touched(name, axis),
                **Layout("netcdf4", chunks=slabs.chunks[name]).record(),
            },
            files=(path_of(name, folder),),
            cache_state=state,
            aa=name == "balanced" and axis == 1,
        )
        for state, folder in folders.items()
        for name in STORED
        for axis, across in enumerate(AXES)
        for chosen in [selection(slabs.shape, axis)]
    ]


def times(records: pd.DataFrame) -> pd.DataFrame:
    """Return time and counts of each layout and axis.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "slabs".

    Returns
    -------
    pandas.DataFrame
        stored, axis, cache_state, chunks (text), ms, low, high (median of the read and its 95 %
        interval, milliseconds), asked (bytes passed through read calls), fetched (bytes that came
        from the device), touched (chunks that the slab touches), useful (bytes of the slab), n.
    """
    part = main(records)
    part = part[part["phase"] == "read"]
    rows = []
    for (case, state), group in part.groupby(["case", "cache_state"], sort=False):
        name, axis = str(case).split("/")
        median = median_interval(1e3 * group["wall_s"].to_numpy())
        rows.append(
            {
                "stored": name,
                "axis": axis,
                "cache_state": state,
                "chunks": group["chunks"].iloc[0],
                "ms": median.value,
                "low": median.low,
                "high": median.high,
                "asked": group["rchar"].median(),
                "fetched": group["read_bytes"].median(),
                "touched": group["predicted_reads"].median(),
                "useful": group["useful_bytes"].median(),
                "n": median.n,
            }
        )
    table = pd.DataFrame(rows)
    order = {name: place for place, name in enumerate((*STORED, *AXES))}
    return table.sort_values(
        ["cache_state", "stored", "axis"],
        key=lambda column: column.map(order).fillna(0) if column.name != "cache_state" else column,
        ignore_index=True,
    )


def spread(records: pd.DataFrame, name: str, state: str = "warm") -> Interval:
    """Return the time of the slowest axis over that of the quickest, paired by block.

    Parameters
    ----------
    records : pandas.DataFrame
        Of the experiment "slabs".
    name : str
        One of `STORED`.
    state : str
        "warm" or "cold".
    """
    part = main(records)
    part = part[(part["phase"] == "read") & (part["cache_state"] == state)]
    part = part[part["case"].str.startswith(f"{name}/")]
    table = part.pivot_table(index="block", columns="case", values="wall_s").dropna()
    middle = table.median()
    return paired_ratio(table[middle.idxmax()].to_numpy(), table[middle.idxmin()].to_numpy())
