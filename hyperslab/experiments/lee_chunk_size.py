"""Square chunks of a square array: their lengths, and how large files in them are."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..io.chunk_shapes import ceil_chunk, floor_chunk, predicted_bytes
from ..io.creation import write_array
from ..io.experiment import Array
from ..io.layout import Layout

SIDE = 3162  # of the document's array
_SMALL = 128  # chunks up to this length stay as they are


def scaled(lengths: Sequence[int], side: int) -> tuple[int, ...]:
    """Return chunk lengths of the document's array for a smaller one, about each part."""
    if side == SIDE:
        return tuple(lengths)
    parts = {ceil_chunk(SIDE, length) for length in lengths if length > _SMALL}
    small = {length for length in lengths if length <= _SMALL and length < side // 2}
    ends = {end(side, n) for n in parts for end in (ceil_chunk, floor_chunk)}
    return tuple(sorted(small | ends))


def sizes(array: Array, lengths: Iterable[int], folder: Path) -> Iterator[dict[str, object]]:
    values = array[...]
    for length in lengths:
        yield {"side": str(length), **_size(values, length, array.variable, folder)}


def divided(array: Array, smallest: int, folder: Path) -> Iterator[dict[str, object]]:
    """Yield the sizes for chunks of d/N, rounded up and down, for all N down to a chunk length."""
    values, side = array[...], array.shape[0]
    by_length: dict[int, dict[str, object]] = {}
    for parts in range(2, side // smallest + 1):
        for rounded, end in (("ceil", ceil_chunk), ("floor", floor_chunk)):
            length = end(side, parts)
            if length not in by_length:
                by_length[length] = _size(values, length, array.variable, folder)
            yield {"rounded": rounded, "parts": str(parts), **by_length[length]}


def _size(values: NDArray[Any], length: int, name: str, folder: Path) -> dict[str, object]:
    """Write the array in one put, as the timed write does, and return how large the file is."""
    chunks = (length, length)
    layout, path = Layout("netcdf4", chunks=chunks), folder / f"size-{length}.nc"
    options: dict[str, Any] = {"dims": ("y", "x"), "block_bytes": values.nbytes, "overwrite": True}
    size = write_array(path, values, layout, name, **options)
    path.unlink()
    return {
        "phase": "size",
        "library": "netCDF4",
        "file_bytes": size,
        "predicted_bytes": predicted_bytes(values.shape, chunks, values.itemsize),
        "useful_bytes": values.nbytes,
        **layout.record(),
    }
