"""One dataset of an HDF5 file, read and written by loops in C straight on HDF5."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hyperslab.kernels.build import kernel
from hyperslab.kernels.hdf5_library import (
    ALLOCS,
    Id,
    closing,
    dataset_access,
    dataset_creation,
    file_access,
    functions,
    got,
    lengths_of,
    native,
    prepare,
    stored,
)
from hyperslab.kernels.library import LibraryError, function, variable
from hyperslab.kernels.loops import OpenedArray

_READ_ONLY, _READ_WRITE, _TRUNCATE = 0, 1, 2


class Hdf5File(OpenedArray):
    """One dataset of an open HDF5 file, made by `open` and `create`; HDF5 converts byte orders.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "a.h5")
    >>> with Hdf5File.create(path, "a", (3, 4), "i4") as file:
    ...     seconds = file.access("write", [[0, 0]], [3, 4], None, np.arange(12, dtype="i4"))
    >>> with Hdf5File.open(path, "a") as file:
    ...     out = np.empty(4, file.dtype)
    ...     seconds = file.access("read", [[1, 0]], [1, 4], None, out)
    >>> out.tolist()
    [4, 5, 6, 7]
    """

    def __init__(self, path: Path, file: int, dataset: int) -> None:
        super().__init__(path)
        self._file, self._dataset = file, dataset
        self.shape = lengths_of(dataset)
        self.dtype = stored(dataset)
        self._type = native(self.dtype)

    @classmethod
    def open(
        cls,
        path: str | Path,
        dataset: str,
        *,
        write: bool = False,
        cache_bytes: int | None = None,
        sieve_bytes: int | None = None,
    ) -> Hdf5File:
        """Open one dataset of a file.

        Parameters
        ----------
        path
        dataset
            Its name, with groups before it.
        write
            Whether it may be written.
        cache_bytes
            Size of its chunk cache; None keeps HDF5's own.
        sieve_bytes
            Size of the buffer through which small pieces of contiguous data pass; None keeps
            HDF5's own, 0 goes without.

        Raises
        ------
        LibraryError
            If HDF5 cannot open it.
        ValueError
            If it holds no numbers.
        """
        prepare()
        mode = _READ_WRITE if write else _READ_ONLY
        with file_access(sieve_bytes) as plan, dataset_access(cache_bytes) as options:
            file = got("H5Fopen", os.fsencode(path), ctypes.c_uint(mode), plan, said=str(path))
            return cls._made(
                Path(path),
                file,
                lambda: got("H5Dopen2", Id(file), dataset.encode(), options, said=dataset),
            )

    @classmethod
    def create(
        cls,
        path: str | Path,
        dataset: str,
        shape: Sequence[int],
        dtype: str,
        *,
        chunks: Sequence[int] | None = None,
        deflate: int | None = None,
        shuffle: bool = False,
        cache_bytes: int | None = None,
        fill: bool = True,
        alloc: str = "default",
    ) -> Hdf5File:
        """Create a file with one dataset.

        Parameters
        ----------
        path
            What lies there is written over.
        dataset, shape, dtype
            Its name, lengths, and type such as "i4".
        chunks
            Lengths of a chunk; None is contiguous.
        deflate, shuffle
            Level of the filter, and whether bytes are shuffled before it.
        cache_bytes
            Size of its chunk cache; None keeps HDF5's own.
        fill
            Whether storage is filled before it is written.
        alloc
            When storage is allocated: one of `ALLOCS`.

        Raises
        ------
        LibraryError
            If HDF5 refuses.
        ValueError
            For an unknown type or time of allocation.
        """
        if alloc not in ALLOCS:
            raise ValueError(f"alloc={alloc!r}: give one of {', '.join(ALLOCS)}")
        prepare()
        kind = native(np.dtype(dtype))
        sizes = (ctypes.c_uint64 * max(len(shape), 1))(*shape)
        with (
            dataset_creation(chunks, deflate, shuffle, fill, alloc) as plan,
            dataset_access(cache_bytes) as options,
            closing("H5Sclose", got("H5Screate_simple", len(shape), sizes, None)) as space,
        ):
            named = os.fsencode(path)
            file = got("H5Fcreate", named, ctypes.c_uint(_TRUNCATE), Id(0), Id(0), said=str(path))
            return cls._made(
                Path(path),
                file,
                lambda: got(
                    "H5Dcreate2", Id(file), dataset.encode(), Id(kind), space, Id(0), plan,
                    options, said=dataset,
                ),
            )  # fmt: skip

    @classmethod
    def _made(cls, path: Path, file: int, dataset: Callable[[], int]) -> Hdf5File:
        """Take a file and get the dataset in it; close both where it cannot be used."""
        with ExitStack() as undo:
            undo.callback(function("H5Fclose"), Id(file))
            found = dataset()
            undo.callback(function("H5Dclose"), Id(found))
            made = cls(path, file, found)
            undo.pop_all()
        return made

    def access(
        self,
        action: str,
        starts: ArrayLike,
        counts: ArrayLike,
        strides: ArrayLike | None,
        buffer: NDArray[Any],
        *,
        keep_spaces: bool = True,
        keep_list: bool = True,
        reuse: bool = False,
        each: NDArray[np.float64] | None = None,
    ) -> float:
        """Read or write hyperslabs, one H5Dread or H5Dwrite for each, in a loop in C.

        It is given what `NetcdfFile.prepared` is, and returns the seconds of the loop. With
        `keep_spaces` the dataspaces are got once for all calls (memory's again for another shape),
        with `keep_list` the default list of transfer properties is used; without, both are made
        and closed in every call, as netCDF-C does.

        Raises
        ------
        LibraryError
            If a call fails, with its number.
        IndexError, TypeError, ValueError
            Before anything is read or written, for what does not fit the dataset.
        """
        loop = self._loop(action, starts, counts, strides, buffer, reuse, each)
        kind = 0 if keep_list else variable("H5P_CLS_DATASET_XFER_ID_g")
        status = kernel().hs_hdf5(
            ctypes.byref(functions(action)), Id(self._dataset), Id(self._type), int(keep_spaces),
            Id(kind), len(self.shape), *loop.arguments,
        )  # fmt: skip
        if status:
            raise LibraryError(f"HDF5 cannot {action}, call {loop.failed} of {len(loop)}")
        return loop.seconds

    def chunk_cache_bytes(self) -> int:
        """Return the size of the chunk cache that the dataset has (H5Pget_chunk_cache)."""
        self._check()
        slots, size, preemption = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_double()
        with closing("H5Pclose", got("H5Dget_access_plist", Id(self._dataset))) as plan:
            got(
                "H5Pget_chunk_cache", plan, ctypes.byref(slots), ctypes.byref(size),
                ctypes.byref(preemption), kind=ctypes.c_int,
            )  # fmt: skip
        return size.value

    def sync(self) -> float:
        """Flush HDF5's buffers, and the system's to the device; return the seconds."""
        self._check()
        seconds = ctypes.c_double()
        table, path = ctypes.byref(functions("write")), os.fsencode(self._path)
        if kernel().hs_hdf5_sync(table, Id(self._file), path, ctypes.byref(seconds)):
            raise LibraryError(f"HDF5 cannot flush {self._path}")
        return seconds.value

    def _close(self) -> float:
        seconds = ctypes.c_double()
        status = kernel().hs_hdf5_close(
            ctypes.byref(functions("read")), Id(self._file), Id(self._dataset),
            ctypes.byref(seconds),
        )  # fmt: skip
        if status:
            raise LibraryError(f"HDF5 cannot close {self._path}")
        return seconds.value
