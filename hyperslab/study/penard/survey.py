"""Write the synthetic datasets in every layout of both tables, and note the sizes."""

import os
import time
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import data_gen

from ...storage.layout import Layout
from ...storage.write import stored_bytes
from .datasets import DRAWN, FRAMES, TABLE_1, TABLE_5

if TYPE_CHECKING:
    from data_gen.datasets import Part

ZIP_LEVEL = 6


@dataclass(frozen=True)
class Plan:
    """How much of each dataset is written; sizes are scaled to the whole.

    Parameters
    ----------
    cmems, gfs : int
        Frames.
    levels : tuple of int
        Levels of deflate for the radar tiles, 1 among them.
    shrink : int
        What the sides of the grids of GFS and radar are divided by: 1, but for a trial run.
    seed : int
        Of the synthetic fields.
    """

    cmems: int
    gfs: int
    levels: tuple[int, ...]
    shrink: int = 1
    seed: int = 0

    def parameters(self, name: str) -> dict[str, object]:
        """Return what a dataset is drawn with: "cmems", "gfs" or a tile."""
        found: dict[str, object] = {"seed": self.seed}
        if name == "cmems":
            return found | {"steps": self.cmems}
        if name == "gfs":
            side = {"nlat": 721 // self.shrink, "nlon": 1440 // self.shrink}
            return found | {"steps": self.gfs} | (side if self.shrink > 1 else {})
        side = {"nlat": 1501 // self.shrink, "nlon": 2001 // self.shrink}
        return found | {"tile": name} | (side if self.shrink > 1 else {})

    def source(self, name: str) -> "data_gen.Dataset":
        """Return a dataset as far as it is written."""
        return data_gen.dataset(DRAWN[name], **self.parameters(name))

    def whole_bytes(self, name: str) -> int:
        """Return the bytes of all values of a dataset as the document has it."""
        return data_gen.dataset(DRAWN[name]).nbytes


def plan(profile: str, ocean_frames: int, gfs_frames: int, *, seed: int = 0) -> Plan:
    """Return how much a profile writes.

    Parameters
    ----------
    profile : str
    ocean_frames, gfs_frames : int
        Frames to write of each, at most those of the document's files.
    seed : int
        Of the synthetic fields.

    Raises
    ------
    ValueError
        When the document's files have no such number of frames.

    Examples
    --------
    >>> plan("full", 72, 13)
    Plan(cmems=72, gfs=13, levels=(1, 2, 3, 4, 5, 6, 7, 8, 9), shrink=1, seed=0)
    """
    for name, given, most in (
        ("ocean_frames", ocean_frames, FRAMES["cmems"]),
        ("gfs_frames", gfs_frames, FRAMES["gfs"]),
    ):
        if not 1 <= given <= most:
            raise ValueError(f"{name} is {given}: the document's file has frames 1 to {most}")
    levels = {"smoke": (1, 9), "quick": (1, 3, 6, 9)}.get(profile, tuple(range(1, 10)))
    shrink = 4 if profile == "smoke" else 1
    return Plan(ocean_frames, gfs_frames, levels, shrink, seed)


@dataclass(frozen=True)
class Job:
    """One process's share: some layouts of one dataset, its frames drawn once.

    Parameters
    ----------
    name : str
        "cmems", "gfs" or a tile.
    layouts : mapping
        Layouts by the case they are for; "…-zip" is also zipped, and only the zip counts.
    plan : Plan
    scratch : Path
        Where the files lie for a while.
    """

    name: str
    layouts: Mapping[str, Layout]
    plan: Plan
    scratch: Path

    def __call__(self) -> "Done":
        """Write the files, note their sizes, and remove them."""
        from data_gen.writing import remove

        source = self.plan.source(self.name)
        paths = {
            case: self.scratch / f"{case.replace('/', '-')}{layout.suffix}"
            for case, layout in self.layouts.items()
        }
        source.draw(0)  # what all frames share is made once
        timed = _Timed(source.draw)
        start = time.process_time()
        try:
            data_gen.write(
                replace(source, draw=timed),
                {path: self.layouts[case] for case, path in paths.items()},
                sync=False,
            )
            both = time.process_time() - start
            sizes = {case: _size(case, path) for case, path in paths.items()}
        finally:
            for path in paths.values():
                remove(path)
        return Done(self, sizes, timed.cpu_s, max(both - timed.cpu_s, 0.0))


@dataclass(frozen=True)
class Done:
    """What a job found.

    Parameters
    ----------
    job : Job
    sizes : mapping
        Bytes by case.
    draw_s, write_s : float
        CPU seconds, of all frames and all layouts.
    """

    job: Job
    sizes: Mapping[str, int]
    draw_s: float
    write_s: float


class _Timed:
    """A draw function that counts its CPU seconds."""

    def __init__(self, draw: "Callable[[int], Part]") -> None:
        self.draw, self.cpu_s = draw, 0.0

    def __call__(self, part: int) -> "Part":
        start = time.process_time()
        drawn = self.draw(part)
        self.cpu_s += time.process_time() - start
        return drawn


def _size(case: str, path: Path) -> int:
    if not case.endswith("-zip"):
        return stored_bytes(path)
    packed = path.with_suffix(".zip")
    try:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=ZIP_LEVEL) as out:
            for file in sorted(path.rglob("*")):
                if file.is_file():
                    out.write(file, file.relative_to(path).as_posix())
        return packed.stat().st_size
    finally:
        packed.unlink(missing_ok=True)


class Survey:
    """All files of both tables, written once, by two processes, when the first row is wanted.

    Parameters
    ----------
    plan : Plan
    scratch : Path
        Where the files lie for a while.
    """

    def __init__(self, plan: Plan, scratch: Path) -> None:
        self.plan, self.scratch = plan, scratch

    def jobs(self) -> list[Job]:
        """Return the shares, the longest first."""
        shares = (("nczarr", "nczarr-zip"), ("off",), ("on", "zarr"))
        found = [
            Job(name, {f"{name}/{kind}": self.layouts(name)[kind] for kind in share}, *self._where)
            for name in TABLE_1
            for share in shares
        ]
        for tile in TABLE_5:
            levels = self.levels(tile)
            first = {f"{tile}/deflate-1": levels.pop(1)}
            rest = {f"{tile}/deflate-{level}": layout for level, layout in levels.items()}
            found += [Job(tile, rest, *self._where), Job(tile, first, *self._where)]
        heavy = ("gfs", *TABLE_5, "cmems")
        return sorted(found, key=lambda job: heavy.index(job.name))

    @property
    def _where(self) -> tuple[Plan, Path]:
        return self.plan, self.scratch

    def layouts(self, name: str) -> dict[str, Layout]:
        """Return the layouts of Table 1 for one of its two files.

        Examples
        --------
        >>> found = Survey(plan("quick", 26, 6), Path(".")).layouts("gfs")
        >>> found["on"].record()["chunks"]
        '1x13x721x1440'
        """
        chunks = self.plan.source(name).frame
        plain = Layout("nczarr", chunks=chunks)
        deflate = Layout("netcdf4", chunks=chunks, codec="deflate", level=4)
        return {
            "off": deflate,
            "on": replace(deflate, shuffle=True),
            "zarr": Layout("zarr2", chunks=chunks, codec="blosc-lz4", level=5, shuffle=True),
            "nczarr-zip": plain,
            "nczarr": plain,
        }

    def levels(self, tile: str) -> dict[int, Layout]:
        """Return the layouts of a tile by level."""
        chunks = self.plan.source(tile).frame
        return {
            level: Layout("netcdf4", chunks=chunks, codec="deflate", level=level)
            for level in self.plan.levels
        }

    @cached_property
    def done(self) -> tuple[Done, ...]:
        """What all jobs found."""
        processes = min(2, os.cpu_count() or 1)
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            waiting = [pool.submit(job) for job in self.jobs()]
            return tuple(future.result() for future in waiting)

    def _rows(self, names: Collection[str]) -> Iterator[dict[str, object]]:
        for done in self.done:
            name = done.job.name
            if name not in names:
                continue
            whole = self.plan.whole_bytes(name)
            scale = whole / self.plan.source(name).nbytes
            for case, size in done.sizes.items():
                yield {
                    "case": case,
                    "phase": "size",
                    **done.job.layouts[case].record(),
                    "file_bytes": round(size * scale),
                    "useful_bytes": whole,
                    "stages": self.plan.source(name).parts,
                }

    def table_1(self) -> Iterator[dict[str, object]]:
        """Yield a row for each file of Table 1; ``stages`` is the number of frames written.

        Source
        ------
        Penard et al. (2025), Table 1.
        """
        order = [f"{name}/{kind}" for name, kinds in TABLE_1.items() for kind in kinds]
        rows = {row["case"]: row for row in self._rows(TABLE_1)}
        return (rows[case] for case in order)

    def table_5(self) -> Iterator[dict[str, object]]:
        """Yield a row for each tile at level 1.

        Source
        ------
        Lee et al. (2008), Table 5.
        """
        return (row for row in self._rows(TABLE_5) if str(row["case"]).endswith("deflate-1"))

    def all_levels(self) -> Iterator[dict[str, object]]:
        """Yield a row for each tile at each level."""
        return self._rows(TABLE_5)

    def cost(self) -> Iterator[dict[str, object]]:
        """Yield the CPU seconds of drawing a dataset and of writing it, where that was one file."""
        for done in self.done:
            if len(done.sizes) != 1:
                continue
            [(case, layout)] = done.job.layouts.items()
            source = self.plan.source(done.job.name)
            common = {"case": case, "useful_bytes": source.nbytes, "stages": source.parts}
            yield {**common, "phase": "draw", "user_s": done.draw_s}
            yield {**common, **layout.record(), "phase": "write", "user_s": done.write_s}
