"""Both reads of both files from a local disk, through every library (Penard 2025, Figure 8)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ...access import reader, readers
from ...io.work import Read
from ...measure.case import Case, Stopwatch
from ...storage.region import Selection
from .datasets import TABLE_1
from .local_files import LocalFiles
from .subchunk import Kept
from .subchunk_files import DEFAULT, DOCUMENT, SHUFFLES

READS = ("series", "frame")
CACHES = {"16MB": 16 * 2**20, "256MB": 256 * 2**20}
"""Chunk caches: netCDF-C's own size, and one that holds four of the large chunks."""
MODULES = (
    "netCDF4", "h5py", "hyperslab.study.penard.local", "hyperslab.access.netcdf4",
    "hyperslab.access.h5py", "hyperslab.access.h5netcdf", "hyperslab.access.xarray",
    "hyperslab.access.zarr", "hyperslab.access.nczarr", "hyperslab.access.subchunk",
    "hyperslab.access.chunkindex_layout", "hyperslab.access.c_kernel",
    # What xarray puts off to its first open and its first read.
    "h5netcdf.legacyapi", "dask", "dask.array",
)  # fmt: skip
BARE = ("h5py", "h5netcdf", "xarray", "hyperslab.study.penard.local", "data_gen.datasets",
        "hyperslab.access.h5py", "hyperslab.access.xarray")  # fmt: skip
"""Modules of the experiment "first", in which xarray imports the rest itself."""


@dataclass(frozen=True)
class Way:
    """One way to read: a library, and how the data are stored.

    Parameters
    ----------
    name : str
        As the claims have it, without the shuffle.
    library : str
        Name of a reader.
    stores : tuple of str
        "off" and "on" for netCDF-4 without and with shuffle, or one of `local_files.STORES`.
    today : bool
        Whether the document had nothing of the kind; it stands apart from its ranking.
    """

    name: str
    library: str
    stores: tuple[str, ...] = SHUFFLES
    today: bool = False

    def case(self, kind: str, read: str, store: str) -> str:
        """Return the name of a case.

        Examples
        --------
        >>> Way("h5py", "h5py").case("gfs", "frame", "on")
        'gfs/frame/h5py-on'
        >>> Way("zarr", "zarr", ("zarr",)).case("gfs", "series", "zarr")
        'gfs/series/zarr'
        """
        shuffle = f"-{store}" if store in SHUFFLES else ""
        return f"{kind}/{read}{'-today' if self.today else ''}/{self.name}{shuffle}"


WAYS = (
    Way("netcdf4", "netcdf4"),
    Way("h5py", "h5py"),
    Way("xarray-netcdf4", "xarray-netcdf4"),
    Way("xarray", "xarray-h5netcdf"),
    Way("chunkindex", "chunkindex_layout"),
    Way("subchunk", "subchunk", today=True),
    Way("zarr", "zarr", ("zarr",)),
    Way("zarr-deflate", "zarr", ("zarr-deflate",)),
    Way("nczarr", "nczarr", ("nczarr",)),
)
"""What the verdicts compare, in the blocks of one experiment."""
OTHERS = (
    Way("h5netcdf", "h5netcdf"),
    Way("hidefix", "hidefix"),
    Way("h5py-paged", "h5py-paged", ("paged",)),
    Way("netcdf-c", "netcdf-c"),
    Way("xarray-zarr", "xarray-zarr", ("zarr",)),
    Way("nczarr-deflate", "nczarr", ("nczarr-deflate",)),
    Way("zarr3-shards", "zarr", ("zarr3-shards",)),
)
"""What stands beside them, in fewer blocks."""
_OFF = (("netcdf4", "off"), ("xarray-netcdf4", "off"), ("xarray", "off"))
_OURS = (("subchunk", "off"), ("subchunk", "on"))
BESIDE = {
    ("cmems", "series"): _OURS,
    ("cmems", "frame"): _OURS,
    ("gfs", "series"): _OFF,
    ("gfs", "frame"): (*_OFF, *_OURS, ("h5py", "off"), ("zarr-deflate", "zarr-deflate")),
}
"""Reads that no verdict and no sentence compares: they go with the others, to save minutes."""


@dataclass(frozen=True)
class ReadCached:
    """Read a selection with a chunk cache of a given size: phases open, read and close."""

    path: Path
    library: str
    selection: Selection
    variable: str
    cache_bytes: int

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        chosen = reader(self.library)
        with watch("open"):
            opened = chosen.open(self.path, self.variable, chunk_cache_bytes=self.cache_bytes)
        with watch("read"):
            values = opened.read(self.selection)
        watch.note(useful_bytes=values.nbytes)
        with watch("close"):
            opened.close()
        return values


def modules() -> tuple[str, ...]:
    """Return what is imported before samples are forked: all libraries that are here."""
    more = ("hyperslab.access.hidefix",) if "hidefix" in readers() else ()
    return (*MODULES, *more)


def read_cases(files: LocalFiles) -> list[Case]:
    """Return what the verdicts compare, warm."""
    return [
        case(files, kind, read, way, store, aa=(kind, read, way.name, store) == AA)
        for kind, read, way, store in every(WAYS)
        if not _beside(kind, read, way, store)
    ]


def other_cases(files: LocalFiles) -> list[Case]:
    """Return the other readers, warm, where they are installed."""
    here = readers()
    left = [cell for cell in every(WAYS) if _beside(*cell)]
    more = every(tuple(way for way in OTHERS if way.library in here))
    return [
        case(files, kind, read, way, store, aa=(kind, read, way.name, store) == AA_OTHERS)
        for kind, read, way, store in (*left, *more)
        if _wanted(files, kind, read)
    ]


def cold_cases(files: LocalFiles) -> list[Case]:
    """Return one read in each way with nothing in memory.

    The profile quick leaves out the files without shuffle and the readers that stand beside what
    the verdicts compare, and the smallest all but one read of one file.

    Parameters
    ----------
    files : LocalFiles
        Copies, which nothing else reads.
    """
    cells = [cell for cell in every(WAYS) if not _beside(*cell)]
    if files.profile in ("full", "paper"):
        here = readers()
        cells += [cell for cell in every(WAYS) if _beside(*cell)]
        cells += every(tuple(way for way in OTHERS if way.library in here))
    return [
        case(files, kind, read, way, store, "cold", aa=(kind, read, way.name, store) == AA)
        for kind, read, way, store in cells
        if _wanted(files, kind, read) and (store != "off" or files.profile != "quick")
    ]


def cache_cases(files: LocalFiles) -> list[Case]:
    """Return series read by netCDF4 with a small and a large chunk cache, warm."""
    found = []
    for kind in TABLE_1:
        path, chosen = files.path(f"{kind}-on"), files.pixels(f"{kind}-on")[0]
        for size, cache_bytes in CACHES.items():
            variable = files.variable(f"{kind}-on")
            found.append(
                Case(
                    f"{kind}/series/netcdf4-{size}",
                    ReadCached(path, "netcdf4", chosen, variable, cache_bytes),
                    check=Kept(files.truth_path(f"{kind}-on", "series")),
                    columns={
                        **columns(files, kind, "series", "on", "netcdf4"),
                        "cache_bytes": cache_bytes,
                    },
                    files=(path,),
                    cache_state="warm",
                    aa=(kind, size) == ("cmems", "16MB"),
                )
            )
    return found


def first_cases(files: LocalFiles) -> list[Case]:
    """Return xarray's first open and read in a process, which imports dask, and h5py's; warm."""
    ways = [way for way in WAYS if way.name in ("h5py", "xarray")]
    return [case(files, "cmems", "frame", way, "on", aa=way.name == "h5py") for way in ways]


AA = ("cmems", "frame", "h5py", "on")
AA_OTHERS = ("cmems", "frame", "h5netcdf", "on")


def case(
    files: LocalFiles, kind: str, read: str, way: Way, store: str, state: str = "warm", *, aa: bool
) -> Case:
    """Return one read of one file in one way.

    Parameters
    ----------
    files : LocalFiles
    kind, read : str
        "cmems" or "gfs", "series" or "frame".
    way : Way
    store : str
        One of the way's.
    state : str
        "warm" or "cold".
    aa : bool
        Whether it is the A/A pair of its state.
    """
    name = f"{kind}-{store if store in SHUFFLES else 'on'}"
    path = files.store(kind, store)
    chosen = files.pixels(name)[0] if read == "series" else files.frame(name)
    indexes = {"subchunk": DEFAULT, "chunkindex_layout": DOCUMENT}
    beside = [files.index_path(name, indexes[way.library])] if way.library in indexes else []
    return Case(
        way.case(kind, read, store),
        Read(path, way.library, chosen, files.variable(name)),
        check=Kept(files.truth_path(name, read)),
        columns=columns(files, kind, read, store, way.library),
        files=(path, *beside),
        cache_state=state,
        # Zarr too is forked: it starts its event loop with the first read, in the sample itself.
        start="fork",
        aa=aa,
    )


def every(ways: tuple[Way, ...]) -> Iterator[tuple[str, str, Way, str]]:
    """Yield each file, read, way and store.

    Examples
    --------
    >>> [read for _, read, _, _ in every((Way("zarr", "zarr", ("zarr",)),))]
    ['series', 'frame', 'series', 'frame']
    """
    for kind in TABLE_1:
        for read in READS:
            for way in ways:
                for store in way.stores:
                    yield kind, read, way, store


def _wanted(files: LocalFiles, kind: str, read: str) -> bool:
    """Whether a profile reads this beside what verdicts need: the smallest takes one of four."""
    return files.profile != "smoke" or (kind, read) == AA[:2]


def _beside(kind: str, read: str, way: Way, store: str) -> bool:
    return (way.name, store) in BESIDE[kind, read]


def columns(files: LocalFiles, kind: str, read: str, store: str, library: str) -> dict[str, object]:
    """Return the record columns of a read."""
    frames = files.shapes[f"{kind}-off"][0]
    return {
        **files.stored(kind)[store].record(),
        "library": reader(library).library,
        "pattern": read,
        "stages": frames,
        "predicted_reads": frames if read == "series" else 1,
    }
