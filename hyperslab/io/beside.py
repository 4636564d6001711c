"""What lies beside a file for who reads only part of it, and the chunks of a shard."""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec

from .. import subchunk
from ..access import chunkindex_format, references
from ..access.chunkindex_layout import SUFFIX
from .experiment import File

PIECES = 10  # about how many chunks lie in a shard along each side of a map


def index(files: Iterable[File]) -> None:
    """Write what readers look for beside netCDF files: both indexes, and kerchunk's references."""
    for file in files:
        subchunk.build(file.path, variables=[file.array.variable])
        index_as_document(file)
        if find_spec("kerchunk"):
            references.write(file.path)


def index_as_document(file: File) -> None:
    """Write the index in chunkindex's layout beside a netCDF file."""
    beside = file.path.with_name(file.path.name + SUFFIX)
    chunkindex_format.write(file.path, beside, variables=[file.array.variable])


def inner(shard: Sequence[int]) -> tuple[int, ...]:
    """Return chunks that fill a shard: one of all but the last two axes, parts of a map.

    Examples
    --------
    >>> inner((1, 13, 721, 1440)), inner((1, 380, 1287))
    ((1, 1, 103, 144), (1, 38, 143))
    """
    *rest, rows, columns = shard
    return (*(1 for _ in rest), _part(rows), _part(columns))


def _part(length: int) -> int:
    """Return the divisor of a length that cuts it into nearly `PIECES`."""
    counts = (count for count in range(1, length + 1) if length % count == 0)
    return length // min(counts, key=lambda count: abs(count - PIECES))
