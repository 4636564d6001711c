"""Row sweeps over deflated chunks, through chunk caches of different sizes."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...io.work import Equals
from ...measure.case import Case, Stopwatch
from ...storage.chunk_cache import RULES, ChunkCache
from .cache import build_rule, library_cache
from .remedies import LIBRARIES, REMEDIES, REOPENING, Remedy, opener
from .wide import Arrays, Wide, stored_chunk_bytes

MODULES = ("netCDF4", "h5py", "hyperslab.access.netcdf4", "hyperslab.study.chunking.sweeps")
ALL_MODULES = (
    *MODULES, "h5netcdf", "xarray", "hyperslab.access.h5py", "hyperslab.access.h5netcdf",
    "hyperslab.access.xarray",
)  # fmt: skip
MIB = 2**20
SWEPT_MIB = (1, 2, 4, 8, 64)


@dataclass(frozen=True)
class Sweep:
    """Read rows one by one: phases open, read and close.

    Parameters
    ----------
    path : Path
    rows : int
        How many, from the first.
    library : str
        Name of a reader.
    cache_bytes : int, optional
        Size of the chunk cache; None keeps the library's own.
    remedy : str
        How it is set, as in `remedies.REMEDIES`; by default as the reader does it.
    """

    path: Path
    rows: int
    library: str = "netcdf4"
    cache_bytes: int | None = None
    remedy: str = ""

    def __call__(self, watch: Stopwatch) -> NDArray[Any]:
        with opener(self.path, self.library, self.cache_bytes, self.remedy) as open_it:
            with watch("open"):
                opened = open_it()
            values = np.empty((self.rows, opened.shape[1]), opened.dtype)
            with watch("read"):
                for i in range(self.rows):
                    values[i] = opened.read((i, slice(0, opened.shape[1])))
            watch.note(useful_bytes=values.nbytes, chunk_bytes=stored_chunk_bytes(self.path))
            with watch("close"):
                opened.close()
        return values


def case(
    name: str,
    array: Wide,
    path: Path,
    rows: int,
    cache: ChunkCache,
    *,
    own: bool,
    library: str = "netcdf4",
    remedy: Remedy | None = None,
    aa: bool = False,
) -> Case:
    """Return one sweep, warm, with the chunks it should fetch.

    Parameters
    ----------
    name : str
    array : Wide
    path : Path
        Where the array lies.
    rows : int
        How many are read.
    cache : ChunkCache
        What the sweep reads through.
    own : bool
        Whether it is set; else it is what the library gives by default.
    library : str
        Name of a reader.
    remedy : Remedy, optional
    aa : bool
        As in `Case`.
    """
    kept = library not in REOPENING if remedy is None else remedy.kept
    return Case(
        name,
        Sweep(path, rows, library, cache.nbytes if own else None, remedy.name if remedy else ""),
        check=Equals(partial(array.values, rows)),
        columns={
            "library": LIBRARIES[library],
            "pattern": f"{rows} rows",
            "cache_bytes": cache.nbytes,
            "predicted_reads": array.fetched(rows, cache, kept),
            **array.layout.record(),
        },
        files=(path,),
        cache_state="warm",
        aa=aa,
    )


def row_sweep(arrays: Arrays, rows: int) -> list[Case]:
    """Return sweeps over small chunks through caches of several sizes.

    Parameters
    ----------
    arrays : Arrays
    rows : int
    """
    array, slots = arrays.small, library_cache("netcdf4").slots
    return [
        case(f"{mib:g}MB", array, arrays.path(array), rows, ChunkCache(int(mib * MIB), slots),
             own=True, aa=mib * MIB >= array.row_bytes)
        for mib in SWEPT_MIB
    ]  # fmt: skip


def fitting_pairs(arrays: Arrays, rows: int) -> list[Case]:
    """Return for each size of chunks a sweep with the library's cache, and one with a fitting one.

    Parameters
    ----------
    arrays : Arrays
    rows : int
    """
    found = []
    for array in arrays.sizes:
        size, given = f"{array.chunk_kib / 1024:g} MiB", _given(array)
        fitting = ChunkCache(array.row_bytes, given.slots)
        one = partial(case, array=array, path=arrays.path(array), rows=rows)
        found += [
            one(f"default/{size}", cache=given, own=False),
            one(f"fitting/{size}", cache=fitting, own=True, aa=array == arrays.sizes[0]),
        ]
    return found


def gap(arrays: Arrays, rows: int) -> list[Case]:
    """Return sweeps over chunks that the default cache is not enlarged for.

    Case "default" reads chunks larger than any cache that the installed build gives, "fitting"
    the same through a cache of one chunk. The others read chunks in the gap of netCDF-C 4.7.4 to
    4.9.2 (its issue 1757), through the caches that the rules of three releases give them.

    Parameters
    ----------
    arrays : Arrays
    rows : int
    """
    beyond = arrays.beyond
    given = _given(beyond)
    large = partial(case, array=beyond, path=arrays.path(beyond), rows=rows)
    fitting = ChunkCache(beyond.row_bytes, given.slots)
    found = [
        large("default", cache=given, own=False),
        large("fitting", cache=fitting, own=True, aa=True),
    ]
    within = arrays.within
    for release, rule in RULES.items():
        granted = ChunkCache(rule.granted(within.chunk_kib * 1024), given.slots)
        fits = granted.nbytes >= within.row_bytes
        path = arrays.path(within)
        found.append(case(f"as {release}", within, path, rows, granted, own=True, aa=fits))
    return found


def remedied(arrays: Arrays, rows: int) -> list[Case]:
    """Return sweeps with every library, as it is and with each remedy.

    Parameters
    ----------
    arrays : Arrays
    rows : int
    """
    beyond, small = arrays.beyond, arrays.sizes[0]
    found = []
    for library in LIBRARIES:
        is_netcdf = "netcdf4" in library
        given = _given(beyond) if is_netcdf else library_cache("h5py")
        plain = partial(case, rows=rows, cache=given, own=False, library=library)
        found += [
            plain(f"small/{library}", small, arrays.path(small)),
            plain(f"{library}/default", beyond, arrays.path(beyond)),
        ]
        ample = ChunkCache(2 * beyond.row_bytes, given.slots)
        found += [
            case(f"{library}/{remedy.name}", beyond, arrays.path(beyond), rows, ample, own=True,
                 library=library, remedy=remedy, aa=remedy is REMEDIES[0])
            for remedy in REMEDIES
            if remedy.library == library
        ]  # fmt: skip
    return found


def _given(array: Wide) -> ChunkCache:
    """Return the cache that the installed netCDF-C gives by itself."""
    default = library_cache("netcdf4")
    return ChunkCache(
        build_rule().granted(array.chunk_kib * 1024), default.slots, default.preemption
    )
