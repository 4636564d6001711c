"""The chunk cache that netCDF-C gives a variable: asked, and by the rule of the build."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ...storage.chunk_cache import (
    PROMISED_CHUNKS,
    RULES,
    CacheRule,
    ChunkCache,
    promised_bytes,
)

if TYPE_CHECKING:
    import pandas as pd

MB = 10**6
GRANTED_MB = (
    0.25, 0.4, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 17, 20, 25, 30, 40, 50, 60, 67, 68, 80,
    100,
)  # fmt: skip
OWN_MB, OWN_BYTES = (1, 17, 68), 16 * 2**20


def build_rule() -> CacheRule:
    """Return the rule of the installed build, told by the default that it reports."""
    default = library_cache("netcdf4").nbytes
    known = [rule for rule in RULES.values() if rule.default_bytes == default]
    return known[0] if known else CacheRule(default, 10, max(default, 64 * 2**20))


def library_cache(library: str) -> ChunkCache:
    """Return the chunk cache that a file gets by default.

    Parameters
    ----------
    library : str
        "netcdf4" or "h5py".
    """
    if library == "h5py":
        import h5py

        _, slots, nbytes, preemption = h5py.h5p.create(h5py.h5p.FILE_ACCESS).get_cache()
        return ChunkCache(nbytes, slots, preemption)
    import netCDF4

    return ChunkCache(*netCDF4.get_chunk_cache())


@contextmanager
def default_cache(nbytes: int | None) -> Iterator[None]:
    """Give files that are opened meanwhile another default cache in netCDF-C; None changes nothing.

    Parameters
    ----------
    nbytes : int, optional
        Its size, in bytes.
    """
    import netCDF4

    before = netCDF4.get_chunk_cache()
    if nbytes is not None:
        netCDF4.set_chunk_cache(nbytes, *before[1:])
    try:
        yield
    finally:
        netCDF4.set_chunk_cache(*before)


def granted(folder: Path, own_bytes: int | None = None) -> Iterator[dict[str, object]]:
    """Yield the cache a deflated variable gets when its file is opened, for each chunk size.

    ``predicted_bytes`` is what the document promises, or with a default of the program's own what
    the rule of the build says.

    Parameters
    ----------
    folder : Path
        For a file that is deleted again.
    own_bytes : int, optional
        A default that the program sets itself before it opens the file.
    """
    rule = build_rule()
    for mb in GRANTED_MB if own_bytes is None else OWN_MB:
        chunk = round(mb * MB)
        promised = promised_bytes(chunk)
        with default_cache(own_bytes):
            size = _granted(folder, chunk)
        yield {
            "case": f"{mb:g} MB",
            "phase": "open",
            "library": "netCDF4",
            "chunks": str(chunk),
            "useful_bytes": chunk,
            "cache_bytes": size,
            "predicted_bytes": promised if own_bytes is None else rule.granted(chunk, own_bytes),
        }


def modelled(rows: "pd.DataFrame") -> Iterator[dict[str, object]]:
    """Yield the same caches, with what the rule of the installed build says they are.

    Parameters
    ----------
    rows : pandas.DataFrame
        Records of the experiment "granted".
    """
    rule = build_rule()
    for row in rows.to_dict("records"):
        yield {
            **{name: row[name] for name in ("case", "phase", "library", "chunks")},
            "useful_bytes": row["useful_bytes"],
            "cache_bytes": row["cache_bytes"],
            "predicted_bytes": rule.granted(int(row["useful_bytes"])),
        }


def short_sizes(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the chunk sizes whose cache is smaller than the document promises."""
    return rows[rows["cache_bytes"] < rows["useful_bytes"].map(lambda n: promised_bytes(int(n)))]


def fewer_than_ten(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Return the chunk sizes of which the cache holds fewer than ten."""
    return rows[rows["cache_bytes"] < PROMISED_CHUNKS * rows["useful_bytes"]]


def _granted(folder: Path, chunk: int) -> int:
    """Define a variable with chunks of a size, open its file, and ask for its cache."""
    import netCDF4

    path = folder / "granted.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 10 * chunk)
        file.createVariable("v", "i1", ("x",), zlib=True, complevel=1, chunksizes=(chunk,))
    with netCDF4.Dataset(path) as file:
        size = int(file["v"].get_var_chunk_cache()[0])
    path.unlink()
    return size
