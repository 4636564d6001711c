"""Where a file keeps the chunks of a variable."""

import hashlib
import math
import zlib
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from h5py import h5z
from numpy.typing import NDArray

from .errors import CorruptDataError, UnreadableError

# Filters that hdf5plugin brings.
FILTERS = {
    307: "bzip2", 32001: "blosc", 32004: "lz4", 32008: "bitshuffle", 32013: "zfp", 32015: "zstd",
    32017: "sz", 32018: "fcidecomp", 32024: "sz3", 32026: "blosc2", 32028: "sperr",
}  # fmt: skip


CHUNK_TYPES = {"number": np.int64, "offset": np.uint64, "size": np.uint64, "mask": np.uint32}


@dataclass(frozen=True)
class Chunks:
    """Where the chunks of one variable lie, in the order of the grid."""

    # Place in the grid of chunks, counted in C order; ascending, without those never written.
    number: NDArray[np.int64]
    offset: NDArray[np.uint64]  # first byte in the file
    size: NDArray[np.uint64]  # compressed bytes
    mask: NDArray[np.uint32]  # a bit for each filter that the chunk skips

    def __len__(self) -> int:
        return len(self.number)

    def digest(self) -> str:
        """Return a hash of the table: it changes when chunks are added, moved or resized."""
        hasher = hashlib.sha256()
        for name in CHUNK_TYPES:
            hasher.update(getattr(self, name).tobytes())
        return hasher.hexdigest()[:32]


def chunk_table(dataset: h5py.Dataset) -> Chunks:
    """Return where the written chunks of a dataset lie."""
    grid = tuple(-(-n // c) for n, c in zip(dataset.shape, dataset.chunks, strict=True))
    steps = np.cumprod((1, *grid[:0:-1]), dtype=np.int64)[::-1]
    infos = _chunk_infos(dataset)
    corners = np.array([info.chunk_offset for info in infos], np.int64).reshape(-1, len(grid))
    coords = corners // np.array(dataset.chunks, np.int64)
    _check_coords(dataset, coords)
    number = (coords * steps).sum(axis=1, dtype=np.int64)
    order = np.argsort(number, kind="stable")
    if (np.diff(number[order]) <= 0).any() or (coords < 0).any() or (coords >= grid).any():
        raise CorruptDataError("chunks lie on or outside of others: the file is damaged")
    table = Chunks(
        number[order],
        np.array([info.byte_offset for info in infos], np.uint64)[order],
        np.array([info.size for info in infos], np.uint64)[order],
        np.array([info.filter_mask for info in infos], np.uint32)[order],
    )
    if dataset.id.get_create_plist().get_nfilters():
        _check_filtered(dataset, table, coords[order])
    return table


def missing_filter(dataset: h5py.Dataset) -> str:
    """Say which filter, not skipped by all chunks, is not here, and what installs it."""
    created = dataset.id.get_create_plist()
    for position in range(created.get_nfilters()):
        number, _, _, name = created.get_filter(position)
        available = h5z.filter_avail(number)
        if available or all(info.filter_mask >> position & 1 for info in _chunk_infos(dataset)):
            continue
        shown = name.decode(errors="replace").partition(";")[0] or "no name"
        install = "install its plugin, and set HDF5_PLUGIN_PATH to the plugin's folder"
        if number in FILTERS:
            shown, install = FILTERS[number], "pip install hdf5plugin, and import it before"
        return f"it is compressed with filter {number} ({shown}), which is not here: {install}"
    return ""


def _chunk_infos(dataset: h5py.Dataset) -> list[Any]:
    infos: list[Any] = []
    dataset.id.chunk_iter(infos.append)
    return [info for info in infos if info.byte_offset is not None]


def _check_coords(dataset: h5py.Dataset, coords: NDArray[np.int64]) -> None:
    """Refuse what HDF5 (1.10 to 1.14) lists at other places than it reads from."""
    # New files number chunks with a single unlimited dimension as the slowest, but HDF5 lists them
    # in the dimensions' own order: all before the unlimited one is 0 in such a list.
    unlimited = [axis for axis, n in enumerate(dataset.maxshape) if n is None]
    if len(unlimited) == 1 and len(coords) and not coords[:, : unlimited[0]].any():
        before = zip(dataset.maxshape[: unlimited[0]], dataset.chunks, strict=False)
        if any(n > c for n, c in before):
            raise UnreadableError("HDF5 may list them at wrong places")


def _check_filtered(dataset: h5py.Dataset, chunks: Chunks, coords: NDArray[np.int64]) -> None:
    """Refuse partial chunks that HDF5 may have left unfiltered (``H5Pset_chunk_opts``)."""
    # Their mask is 0 all the same; they are as long as a chunk, and no zlib stream but by a
    # miracle.
    whole = math.prod(dataset.chunks) * dataset.id.get_type().get_size()
    corners = coords * np.array(dataset.chunks)
    partial = (corners + np.array(dataset.chunks) > np.array(dataset.shape)).any(axis=1)
    for corner in corners[partial & (chunks.size == whole) & (chunks.mask == 0)].tolist():
        unpacker = zlib.decompressobj()
        with suppress(zlib.error):
            unpacker.decompress(dataset.id.read_direct_chunk(tuple(corner))[1], whole + 1)
        if not unpacker.eof:
            raise UnreadableError("HDF5 may have left partial ones unfiltered")
