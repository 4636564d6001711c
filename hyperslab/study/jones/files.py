"""One long variable and its plain twins, streamed to disk; every value tells its own place."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...measure.harness import require_space

VARIABLE = "data"
ITEMSIZE = 8
KINDS = {"binary": "values.bin", "netcdf4": "values.nc", "zarr3": "values.zarr"}
"""What a variable is stored in, and under which name."""
CHUNK_BYTES = 2**20
"""Of the Zarr store; the size that the document recommends."""
BLOCK_BYTES = 8 * 2**20
"""What is made, and written, at once: all the memory that streaming takes, a few times over."""

_SPREAD = np.uint64(
    0x9E3779B97F4A7C15
)  # 2**64 over the golden ratio: neighbours differ in all bits
_ONE = np.uint64(0x3FF0000000000000)  # the exponent of numbers from 1 to 2

Values = NDArray[np.float64]


def truth(first: int, count: int) -> Values:
    """Return what the variable holds: a number from 1 to 2 that depends on its place alone.

    No two places near one another hold the same, and no compressor makes them shorter, so that a
    file system that compresses has nothing to gain.

    Parameters
    ----------
    first, count : int
        The first value and how many.

    Returns
    -------
    ndarray
        float64, of shape (count,).

    Examples
    --------
    >>> truth(10, 3) - 1
    array([0.18033989, 0.79837388, 0.41640786])
    >>> bool((truth(0, 8)[5:] == truth(5, 3)).all())
    True
    """
    bits = np.arange(first, first + count, dtype=np.uint64)
    bits *= _SPREAD
    bits >>= np.uint64(12)
    bits |= _ONE
    return bits.view(np.float64)


def holds(values: Values, first: int) -> bool:
    """Whether values are those that the variable holds from a place on.

    Compared piece by piece, so that the truth takes little memory beside them.

    Parameters
    ----------
    values : ndarray
        float64, of shape (count,).
    first : int

    Examples
    --------
    >>> holds(truth(5, 100), 5), holds(truth(5, 100), 6)
    (True, False)
    """
    step = BLOCK_BYTES // ITEMSIZE // 8
    pieces = ((at, values[at : at + step]) for at in range(0, len(values), step))
    return all(np.array_equal(piece, truth(first + at, len(piece))) for at, piece in pieces)


@dataclass(frozen=True)
class Files:
    """The variable and its twins in one folder.

    Parameters
    ----------
    folder : Path
    values : int
        How many values the variable has.

    Examples
    --------
    >>> files = Files(Path("warm"), 2**20)
    >>> files.path("netcdf4").as_posix(), files.nbytes
    ('warm/values.nc', 8388608)
    """

    folder: Path
    values: int

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return self.values * ITEMSIZE

    def path(self, kind: str) -> Path:
        """Return where the variable lies in one of `KINDS`."""
        return self.folder / KINDS[kind]


def make_files(files: Files, kinds: Sequence[str] = tuple(KINDS)) -> None:
    """Stream the variable to disk; what a killed run has written is kept, and gone on with.

    Plain and netCDF files hold the same bytes: the netCDF library makes the file and lays out
    the variable, and the values are written to their place in it.

    Parameters
    ----------
    files : Files
    kinds : sequence of str
        Of `KINDS`.

    Raises
    ------
    ValueError
        When a finished file has another size.
    OSError
        When the disk lacks room, before anything is written.

    Examples
    --------
    >>> import tempfile
    >>> files = Files(Path(tempfile.mkdtemp()), 1000)
    >>> make_files(files, ["binary"])
    >>> files.path("binary").stat().st_size
    8000
    """
    try:
        files.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(
            f"the folder {files.folder} cannot be made ({error.strerror}): give another directory"
        ) from error
    parts = {kind: files.path(kind).with_name(f".{KINDS[kind]}.part") for kind in kinds}
    for kind in kinds:
        if files.path(kind).exists():
            _check(files, kind)
            del parts[kind]
    there = sum(part.stat().st_blocks * 512 for part in parts.values() if part.is_file())
    require_space(files.folder, len(parts) * files.nbytes - there)
    for kind, part in parts.items():
        _MAKERS[kind](part, files.values)
        part.replace(files.path(kind))


def written(path: Path, values: int, offset: int = 0) -> int:
    """Return how many values a file holds already, by the last value of each block.

    Parameters
    ----------
    path : Path
    values : int
        How many there will be.
    offset : int
        Bytes before the first.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "part")
    >>> path.write_bytes(truth(0, 3 * 2**20 - 1).tobytes())
    25165816
    >>> written(path, 4 * 2**20) // 2**20
    2
    """
    block, done = BLOCK_BYTES // ITEMSIZE, 0
    with path.open("rb", buffering=0) as file:
        while done < values:
            count = min(block, values - done)
            file.seek(offset + (done + count - 1) * ITEMSIZE)
            if file.read(ITEMSIZE) != truth(done + count - 1, 1).tobytes():
                break
            done += count
    return done


def _stream(path: Path, values: int, offset: int = 0) -> None:
    path.touch()
    done, block = written(path, values, offset), BLOCK_BYTES // ITEMSIZE
    with path.open("r+b", buffering=0) as file:
        file.seek(offset + done * ITEMSIZE)
        for first in range(done, values, block):
            view = truth(first, min(block, values - first)).view(np.uint8).data
            while view:
                view = view[file.write(view) :]
        os.fsync(file.fileno())


def _netcdf(part: Path, values: int) -> None:
    import h5py
    import netCDF4

    if not part.exists():
        laid = part.with_suffix(".laid")
        with netCDF4.Dataset(laid, "w", format="NETCDF4") as file:
            file.createDimension("x", values)
            made = file.createVariable(VARIABLE, "f8", ("x",), contiguous=True, fill_value=False)
            made[:1] = truth(0, 1)  # with one value the library lays out room for all
        laid.replace(part)
    with h5py.File(part) as file:
        offset = file[VARIABLE].id.get_offset()
    _stream(part, values, offset)


def _zarr(part: Path, values: int) -> None:
    import zarr

    chunk = CHUNK_BYTES // ITEMSIZE
    array = zarr.create_array(
        part, shape=(values,), chunks=(min(chunk, values),), dtype="f8", compressors=None,
        overwrite=True,
    )  # fmt: skip
    block = BLOCK_BYTES // ITEMSIZE
    for first in range(0, values, block):
        made = truth(first, min(block, values - first))
        array[first : first + len(made)] = made


_MAKERS: dict[str, Callable[[Path, int], None]] = {
    "binary": _stream,
    "netcdf4": _netcdf,
    "zarr3": _zarr,
}


def _check(files: Files, kind: str) -> None:
    path = files.path(kind)
    found = path.stat().st_size if path.is_file() else files.nbytes
    extra = found - files.nbytes
    if extra < 0 or (kind == "binary" and extra) or extra > BLOCK_BYTES:
        raise ValueError(
            f"{path} has {found:,} bytes where the variable has {files.nbytes:,}: it was made for "
            "another size; remove it, or choose another directory"
        )
