"""Reads whose bytes, calls and page faults are counted, and not their times."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...measure.case import Case
from . import plan
from .files import Files
from .plan import cells

COUNTED = ("512B", "4KiB", "64KiB", "1MiB")
"""Sizes of buffers for which bytes and calls are counted."""
STRIDED = ("512B", "4KiB")
"""Sizes of buffers for which they are counted in strided reads."""
LARGE = "64MiB"
"""The buffer whose page faults are counted with and without huge pages."""
SMALL_PAGES = "+small-pages"
"""What follows a reader's name where numpy may not ask for huge pages."""
WHOLE = float("inf")
"""No limit of time: all the reads of a sample are made, so that their bytes compare."""


def cases(
    files: Files,
    sizes: tuple[str, ...],
    limit_s: float,
    readers: Sequence[str],
    strided: Sequence[str] = (),
) -> list[Case]:
    """Return the reads whose bytes and calls are counted, which come out the same every time.

    Parameters
    ----------
    files : Files
        That stay in memory.
    sizes : tuple of str
        Of buffers; those of `COUNTED` are read.
    limit_s : float
        Seconds after which a sample of a strided or large read stops.
    readers, strided : sequence of str
        Who reads at random, and who strided.

    Examples
    --------
    >>> from pathlib import Path
    >>> made = cases(Files(Path("warm"), 2**20), ("512B", "2KiB"), 0.1, ["c-pread"], ["c-pread"])
    >>> [case.name for case in made]
    ['c-pread/random/512B', 'c-pread/strided/512B']
    """
    wanted = cells(readers, ["random"], [size for size in COUNTED if size in sizes])
    found = plan.cases(wanted, {"warm": files}, WHOLE)
    few = [size for size in STRIDED if size in sizes]
    # Long enough for many reads, of which the last fetches more than is asked of it.
    found += [
        plan.case(cell, files, "warm", 10 * limit_s) for cell in cells(strided, ["strided"], few)
    ]
    if LARGE in sizes:
        for cell in cells(["numpy-fromfile", "netcdf4-python"], ["sequential"], [LARGE]):
            case = plan.case(cell, files, "warm", limit_s)
            name = replace(cell, reader=f"{cell.reader}{SMALL_PAGES}").name
            found += [case, replace(case, name=name, prepare=SmallPages())]
    return found


@dataclass(frozen=True)
class SmallPages:
    """Keep numpy from asking for huge pages, as NUMPY_MADVISE_HUGEPAGE=0 does before it starts."""

    def __call__(self) -> None:
        from numpy._core import multiarray

        multiarray._set_madvise_hugepage(False)  # type: ignore[attr-defined]
