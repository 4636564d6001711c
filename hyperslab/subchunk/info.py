"""What an index holds, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .index.format import VERSION
from .index.index import Entry, Index

_TITLES = ("variable", "shape", "chunks", "of", "spacing", "points", "bytes", "share")
_LEFT = 1  # columns that are not numbers


@dataclass(frozen=True)
class VariableInfo:
    """What an index holds of one variable.

    Parameters
    ----------
    name : str
    shape, chunk : tuple of int
        Of the variable, and of a chunk.
    chunks : int
        Chunks that are there.
    spacing_bytes : int
        Decompressed bytes between points; 0 where there are none.
    points : int
        Where decompression can start.
    index_bytes, data_bytes : int
        What the index has of it, and its compressed chunks.
    plain : str
        Why it is read plainly; empty where it is not.
    """

    name: str
    shape: tuple[int, ...]
    chunk: tuple[int, ...]
    chunks: int
    spacing_bytes: int
    points: int
    index_bytes: int
    data_bytes: int
    plain: str


def info(index: Index) -> list[VariableInfo]:
    """Return what an index holds of each variable.

    Parameters
    ----------
    index : Index

    Raises
    ------
    CorruptIndexError
        When it is damaged.

    Examples
    --------
    >>> import h5py, tempfile
    >>> from hyperslab import subchunk
    >>> path = f"{tempfile.mkdtemp()}/x.h5"
    >>> with h5py.File(path, "w") as file:
    ...     _ = file.create_dataset("x", data=range(90_000), chunks=(30_000,), compression=4)
    >>> found = info(subchunk.Index(subchunk.build(path, spacing=65_536)))[0]
    >>> found.chunks, found.points, found.spacing_bytes
    (3, 13, 65536)
    """
    return [_one(index, name, entry) for name, entry in index.entries.items()]


def _one(index: Index, name: str, entry: Entry) -> VariableInfo:
    variable = entry.variable
    if not entry.spacing:
        kept = len(entry.values or b"")
        plain = variable.plain or "it was not indexed"
        if kept:
            plain = f"its {kept:,} bytes are in the index"
        return VariableInfo(name, variable.shape, variable.chunks, 0, 0, 0, kept, 0, plain)
    chunks, points = index.points(entry)
    front = f"{entry.place}/"
    tables = sum(table.size for key, table in index.head.tables.items() if key.startswith(front))
    return VariableInfo(
        name,
        variable.shape,
        variable.chunks,
        len(chunks),
        entry.spacing,
        len(points),
        tables + int(points.kept_bytes.sum()),
        int(chunks.size.sum()),
        "",
    )


def lines(index: Index) -> Iterator[str]:
    """Give lines that say what an index holds: a table, then what is read plainly and why."""
    found = info(index)
    size = index.data.get("size")
    known = f"{size:,}" if isinstance(size, int) else "unknown"
    yield f"format {VERSION}, {index.head.size:,} bytes, for a file of {known} bytes"
    rows = [_row(item) for item in found if item.spacing_bytes]
    if rows:
        widths = [max(map(len, column)) for column in zip(_TITLES, *rows, strict=True)]
        for row in (_TITLES, *rows):
            words = [
                word.ljust(width) if place < _LEFT else word.rjust(width)
                for place, (word, width) in enumerate(zip(row, widths, strict=True))
            ]
            yield "  ".join(words).rstrip()
    for item in found:
        if item.plain:
            yield f"{item.name} {_shape(item.shape)} is read plainly: {item.plain}"
    for name, why in {**index.listing.left_out, **index.listing.left_out_attrs}.items():
        yield f"{name} is left out: {why}"


def _row(item: VariableInfo) -> Sequence[str]:
    return (
        item.name,
        _shape(item.shape),
        f"{item.chunks:,}",
        _shape(item.chunk),
        f"{item.spacing_bytes / 1024:,.0f} KiB",
        f"{item.points:,}",
        f"{item.index_bytes:,}",
        f"{100 * item.index_bytes / item.data_bytes:.2f} %" if item.data_bytes else "",
    )


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "scalar"
