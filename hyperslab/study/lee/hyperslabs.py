"""One call against one call a row (Lee et al. 2008, section 5.2)."""

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

from ...access import library_version
from ...io.work import NAME, Equals, Remove, Values
from ...kernels import KernelError, kernel
from ...measure.case import Case
from ...storage.layout import Layout
from ...storage.variable import Variable
from ...storage.write import create
from .hyperslabs_blocks import Blocks, HoldsNumbered, Lasts, Numbered
from .hyperslabs_samples import ITEMSIZE, Access, Fill, Sweep
from .hyperslabs_ways import DIMS, WAYS, Way

SIDE = 3162
LAYOUTS = ("contiguous", "chunked")
MODES = ("one", "rows")
TABLED = ("c", "hdf5-c", "python", "h5py")
"""The ways of Tables 7 and 8; the others explain them."""

# Tables 7 and 8, MB/s (10^6 bytes): one hyperslab, 3162, and 3162 after the modification.
DOCUMENT = MappingProxyType(
    {
        ("contiguous", "write"): (288.59, 111.85, 131.26),
        ("contiguous", "read"): (412.78, 268.05, 504.17),
        ("chunked", "write"): (133.88, 82.27, 104.97),
        ("chunked", "read"): (421.43, 232.16, 421.81),
    }
)
# What explains the tables, with contiguous storage: way and mode.
_EXPLAIN_READS = (
    ("hdf5-c-made", "rows"),
    ("hdf5-c-nosieve", "rows"),
    ("python-plain", "one"),
    ("python-plain", "rows"),
)
_EXPLAIN_WRITES = (("c-nofill", "rows"),)
SWEPT = ("c", "hdf5-c", "python-plain", "python", "h5py")
MOST_CALLS, MOST_BYTES = 64, 10_000_000


def missing() -> str:
    """Return why the ways in C cannot be measured here; empty where they can."""
    try:
        kernel()
    except KernelError as error:
        return str(error)
    return ""


def chunks_of(layout: str, side: int) -> tuple[int, int] | None:
    """Return the chunk of a layout: none, or one for the whole array.

    Examples
    --------
    >>> chunks_of("contiguous", 3162), chunks_of("chunked", 3162)
    (None, (3162, 3162))
    """
    return (side, side) if layout == "chunked" else None


def make_files(side: int, values: Values, folder: Path) -> None:
    """Write the array in both layouts, as ``contiguous.nc`` and ``chunked.nc``."""
    folder.mkdir(parents=True, exist_ok=True)
    for layout in LAYOUTS:
        stored = Layout("netcdf4", chunks=chunks_of(layout, side))
        variable = Variable(NAME, DIMS, (side, side), "i4")
        with create(folder / f"{layout}.nc", [variable], stored, overwrite=True) as writer:
            writer.write(NAME, ..., values())
            writer.sync()


def read_cases(side: int, folder: Path, *, python_chunked: bool = True) -> list[Case]:
    """Return one read of the array for each way, layout and mode, warm.

    Parameters
    ----------
    side : int
        Rows and columns of the array.
    folder : Path
        Where `make_files` wrote it.
    python_chunked : bool
        Whether the chunked array is read from Python too; from C it always is, where it can be.
    """
    return [
        Case(
            f"{way}/{layout}/{mode}",
            Access(folder / f"{layout}.nc", way, _blocks(side, mode)),
            check=Numbered((side, side)),
            columns=columns_of(WAYS[way], layout, side) | {"pattern": mode},
            files=(folder / f"{layout}.nc",),
            cache_state="warm",
            aa=(way, layout, mode) == (_marked(), "contiguous", "rows"),
        )
        for way, layout, mode in _chosen(_EXPLAIN_READS, python_chunked)
    ]


def write_cases(
    side: int, values: Values, scratch: Path, *, python_chunked: bool = True
) -> list[Case]:
    """Return one write of the array to a new file for each way, layout and mode.

    Parameters
    ----------
    side : int
        Rows and columns of the array.
    values : callable
        Returns it.
    scratch : Path
    python_chunked : bool
        As for `read_cases`.
    """
    found = []
    for way, layout, mode in _chosen(_EXPLAIN_WRITES, python_chunked):
        path = scratch / f"{way}-{layout}-{mode}.nc"
        chunks = chunks_of(layout, side)
        found.append(
            Case(
                f"{way}/{layout}/{mode}",
                Fill(path, way, _blocks(side, mode), values, chunks),
                check=HoldsNumbered(path, "netcdf4" if way == "h5py" else "h5py", (side, side)),
                columns=columns_of(WAYS[way], layout, side) | {"pattern": mode},
                prepare=Remove(path),
                cleanup=Remove(path),
                aa=(way, layout, mode) == (_marked(), "contiguous", "rows"),
            )
        )
    return found


def sweep_cases(side: int, folder: Path) -> list[Case]:
    """Return one sweep over the bytes of a call for each way, on the contiguous file."""
    sizes = swept(side)
    return [
        Case(
            f"calls/{way}",
            Sweep(folder / "contiguous.nc", way, sizes),
            check=Equals(Lasts(sizes)),
            columns=columns_of(WAYS[way], "contiguous", side),
            files=(folder / "contiguous.nc",),
            cache_state="warm",
        )
        for way in SWEPT
        if possible(way)
    ]


def swept(side: int) -> tuple[Blocks, ...]:
    """Return the blocks of a sweep: parts of a row, rows, and everything.

    Examples
    --------
    >>> [blocks.count for blocks in swept(3162)][::3]
    [(1, 49), (1, 3162), (64, 3162)]
    """
    found = []
    for high, wide in (
        *((1, max(side // parts, 1)) for parts in (64, 16, 4, 1)),
        *((rows, side) for rows in (4, 16, 64, 256) if rows < side),
    ):
        most = max(1, min(MOST_CALLS, MOST_BYTES // (high * wide * ITEMSIZE)))
        found.append(Blocks((side, side), (high, wide), most))
    return (*found, Blocks((side, side), (side, side)))


def _chosen(
    explaining: Sequence[tuple[str, str]], python_chunked: bool
) -> list[tuple[str, str, str]]:
    """Give way, layout and mode of the tables' cases and of those that explain them."""
    tabled = [
        (way, layout, mode)
        for way in TABLED
        for layout in LAYOUTS
        for mode in MODES
        if layout == "contiguous" or WAYS[way].in_c or python_chunked or not possible("c")
    ]
    plain = [(way, "contiguous", mode) for way, mode in explaining]
    return [found for found in (*tabled, *plain) if possible(found[0])]


def possible(way: str) -> bool:
    """Return whether a way can be measured here."""
    return not (WAYS[way].in_c and missing())


def _marked() -> str:
    """Give the way that the A/A pair is made of."""
    return "c" if possible("c") else "h5py"


def _blocks(side: int, mode: str) -> Blocks:
    return Blocks((side, side), (side, side) if mode == "one" else (1, side))


def columns_of(way: Way, layout: str, side: int) -> dict[str, object]:
    """Return the record columns of a way and a layout."""
    columns = {"library": way.library, **Layout("netcdf4", chunks_of(layout, side)).record()}
    if way.in_c:
        columns["library_version"] = library_version("netcdf-c")
    return columns
