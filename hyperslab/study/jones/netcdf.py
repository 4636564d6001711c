"""Reads of a netCDF file through every layer, and of files in chunks of many sizes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from ...measure.case import Case
from . import chunked, counts, plan
from .baseline import files_of
from .chunked import ChunkedFiles
from .files import ITEMSIZE, Files, make_files
from .plan import cells

NAMES = {
    "c-fread": "C fread",
    "c-pread": "C pread",
    "netcdf-c": "netCDF-C",
    "python-read": "Python read",
    "python-readinto": "Python readinto",
    "numpy-fromfile": "numpy.fromfile",
    "numpy-memmap": "numpy.memmap",
    "netcdf4-python": "netCDF4-python",
    "netcdf4-python-plain": "netCDF4-python without masking",
    "h5py": "h5py",
    "h5netcdf": "h5netcdf",
    "xarray": "xarray",
    "zarr": "Zarr",
}
"""The readers as the page calls them, in the order of its tables."""
LAYERS = (
    "c-fread",
    "netcdf-c",
    "python-read",
    "netcdf4-python",
    "netcdf4-python-plain",
    "h5py",
)
"""Read sequentially, cold and warm: Figures 6 to 8."""
OTHERS = (
    "c-pread", "python-readinto", "numpy-fromfile", "numpy-memmap", "h5netcdf", "xarray", "zarr",
)  # fmt: skip
"""Read sequentially from memory, for what they cost."""
JUDGED_COLD = ("c-fread", "netcdf-c", "netcdf4-python")
JUDGED_WARM = ("netcdf-c", "netcdf4-python", "netcdf4-python-plain")
"""Whose sequential reads the claims compare; the others can do with fewer blocks."""
BALANCED = ("h5py", "h5netcdf")
"""Of whose cold reads a claim takes the share of CPU time over all sizes, with an interval."""
NETCDF = ("netcdf-c", "netcdf4-python")
"""Read in all patterns: Figure 6."""
FEWER = ("4KiB", "64KiB", "1MiB", "8MiB", "64MiB")
"""Sizes of buffers of the reads that no claim needs, where a profile has few sizes."""
JUMPS = ("4KiB", "64KiB", "1MiB", "64MiB")
"""Sizes of buffers of strided and random cold reads, where a profile has few sizes."""
FIGURE_8 = ("64KiB", "1MiB", "8MiB")
"""Sizes of buffers that h5netcdf, Zarr and, where there is time, xarray read cold: Figure 8."""
JUMPERS = ("netcdf4-python-plain", "h5py", "h5netcdf", "xarray", "zarr")
JUMPED = ("4KiB", "64KiB", "1MiB")
JUMP_BLOCKS = 3
"""Who else reads strided and at random, cold, in which buffers and how often: no claim needs it."""
PAIRED = "netcdf4-python/sequential/1MiB"
"""The case that most claims rest on; its A/A pair shows the noise."""
SMALL = ("512B", "4KiB")
"""Random reads from memory that claims compare."""
WARM_MIB = 2048
"""The file that stays in memory is no larger."""
FIGURE_6 = {"slow below": "64KiB", "fastest at": "1MiB", "slower from": "8MiB"}
"""What the document says of netCDF4-python's rate; its Figure 6 gives no numbers."""


def pattern_cases(
    files: Mapping[str, Files],
    sizes: tuple[str, ...],
    limit_s: float,
    *,
    others: tuple[str, ...] = OTHERS,
    other_blocks: int = 0,
) -> list[Case]:
    """Return the reads of the experiment "patterns".

    Parameters
    ----------
    files : mapping
        From "cold" and "warm" to files; what is missing is left out.
    sizes : tuple of str
        Of buffers.
    limit_s : float
        Seconds after which a sample stops.
    others : tuple of str
        Readers beside `LAYERS`.
    other_blocks : int
        Blocks of what no claim compares; 0 is all.
    """
    many = len(sizes) > 2 * len(FEWER)
    fewer = [size for size in sizes if size in FEWER or many]
    both = [size for size in sizes if size in ("512B", *fewer)]
    jumps = [size for size in sizes if size in JUMPS or many]
    finer = [size for size in sizes if size not in both]
    zarr = ["zarr"] if all(map(_for_zarr, files.values())) else []
    layers = [
        *cells(LAYERS, ["sequential"], both),
        *cells(["netcdf4-python"], ["sequential"], finer),
    ]
    wide = [name for name in JUMPERS if name in (*LAYERS, *others) and many]
    if not zarr:
        wide = [name for name in wide if name != "zarr"]
    jumped = [size for size in JUMPED if size in sizes]
    eight = ("h5netcdf", *zarr, *(["xarray"] if many else []))
    wanted = {
        "cold": [
            *layers,
            *cells(NETCDF, ["strided", "random"], jumps),
            *cells(
                [name for name in eight if name in others],
                ["sequential"],
                [size for size in FIGURE_8 if size in sizes],
            ),
            *cells(wide, ["strided", "random"], jumped),
        ],
        "warm": [*layers, *cells(others, ["sequential"], fewer)],
    }
    judged = cells(NETCDF, ["random"], [size for size in SMALL if size in sizes])
    made = [
        case
        for state, found in files.items()
        for case in [
            *plan.cases(wanted[state], {state: found}, limit_s),
            # All the reads of a sample, so that their bytes compare.
            *(plan.case(cell, found, state, counts.WHOLE) for cell in judged if state == "warm"),
        ]
    ]
    return [_as_often(case, other_blocks) for case in _paired(made)]


def _as_often(case: Case, other_blocks: int) -> Case:
    """Return a case with the blocks that it is read in."""
    cell = plan.Cell.named(case.name)
    if case.cache_state == "cold" and cell.reader in JUMPERS and cell.pattern != "sequential":
        return replace(case, most_blocks=JUMP_BLOCKS)
    if case.cache_state == "cold" and cell.reader in BALANCED and other_blocks:
        other_blocks = max(other_blocks, plan.WARM_BLOCKS)
    return plan.fewer(case, other_blocks, _claimed(case))


def _for_zarr(files: Files) -> bool:
    """Whether there is a Zarr store: it has a file for each MiB, too many of a large variable."""
    return files.nbytes <= WARM_MIB * 2**20


def _claimed(case: Case) -> bool:
    """Whether a claim compares the times of a case."""
    cell = plan.Cell.named(case.name)
    if cell.pattern != "sequential":
        return cell.reader in NETCDF and cell.size in SMALL and case.cache_state == "warm"
    if case.cache_state == "cold" and cell.reader in ("h5py", "h5netcdf"):
        return cell.size == "1MiB"
    return cell.reader in (JUDGED_COLD if case.cache_state == "cold" else JUDGED_WARM)


def _paired(made: list[Case]) -> list[Case]:
    """Return the cases with that one paired in each state which most claims rest on."""
    if PAIRED not in {case.name for case in made}:
        return made
    return [replace(case, aa=case.name == PAIRED) for case in made]


@dataclass(frozen=True)
class Inputs:
    """What the page reads, by its settings.

    Parameters
    ----------
    files : mapping
        From "cold" and "warm" to files.
    chunks : ChunkedFiles
    sizes : tuple of str
        Of buffers.
    limit_s : float
        Seconds after which a sample stops.
    others : tuple of str
        Readers beside `LAYERS`.
    other_blocks : int
        Blocks of what no claim compares.
    """

    files: Mapping[str, Files]
    chunks: ChunkedFiles
    sizes: tuple[str, ...]
    limit_s: float
    others: tuple[str, ...]
    other_blocks: int

    @classmethod
    def of(
        cls, scratch: Path, profile: str, setting: Callable[[str], int], directory: str = ""
    ) -> "Inputs":
        """Return what a profile reads.

        Parameters
        ----------
        scratch : Path
            Where the files lie.
        profile : str
        setting : callable
            From a name in notebooks/study.yml to its number: file_mib (0 for over twice the
            memory), chunk_mib, read_ms; others (0 for none, 1 for those of `OTHERS`),
            other_blocks.
        directory : str
            Where the cold files are kept instead; "" for `scratch`.
        """
        mib = setting("file_mib")
        cold = files_of(scratch, directory, mib, warm=False)["cold"]
        warm = Files(scratch / "warm", min(cold.values, WARM_MIB * 2**20 // ITEMSIZE))
        return cls(
            {"cold": cold, "warm": warm},
            ChunkedFiles(scratch / "chunked", setting("chunk_mib") * 2**20 // ITEMSIZE),
            plan.buffers(profile, warm.nbytes),
            setting("read_ms") / 1e3,
            OTHERS if setting("others") else (),
            setting("other_blocks"),
        )

    @cached_property
    def modules(self) -> list[str]:
        """What is imported before samples are forked."""
        return [*plan.modules([*LAYERS, *self.others]), "hyperslab.study.jones.quarter"]

    def make(self) -> None:
        """Write the files."""
        for files in self.files.values():
            more = ["zarr3"] if "zarr" in self.others and _for_zarr(files) else []
            make_files(files, ["binary", "netcdf4", *more])
        self.chunks.make()

    def pattern_cases(self) -> list[Case]:
        """Return the cases of the experiment "patterns"."""
        return pattern_cases(
            self.files,
            self.sizes,
            self.limit_s,
            others=self.others,
            other_blocks=self.other_blocks,
        )

    def count_cases(self) -> list[Case]:
        """Return the cases of the experiment "counts"."""
        readers, strided = (*LAYERS, *self.others), LAYERS if self.others else ()
        return counts.cases(self.files["warm"], self.sizes, self.limit_s, readers, strided)

    def chunk_cases(self) -> list[Case]:
        """Return the cases of the experiment "chunk-sizes"."""
        return chunked.cases({"cold": self.chunks})


def all_counts(*records: pd.DataFrame) -> pd.DataFrame:
    """Return the records of several experiments as one."""
    return pd.concat(records, ignore_index=True)
