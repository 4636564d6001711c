"""HDF5's chunk cache: how large netCDF-C makes it, and which chunks a read fetches through it."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .chunk_shapes import chunk_grid, cut

Box = Sequence[tuple[int, int]]
GridIndex = tuple[int, ...]


@dataclass(frozen=True)
class ChunkCache:
    nbytes: int = 64 * 2**20
    slots: int = 1000  # length of its hash table
    preemption: float = 0.75  # share of it in which chunks that are done with are looked for first


DEFAULT_CACHE = ChunkCache()  # what netCDF-C 4.9.3 gives a variable


@dataclass(frozen=True)
class CacheRule:
    """How a build of netCDF-C sizes the chunk cache of a variable nobody set one for."""

    default_bytes: int  # what a variable gets to begin with (CHUNK_CACHE_SIZE)
    chunks: int  # that an enlarged cache holds (DEFAULT_CHUNKS_IN_CACHE)
    most_bytes: int  # unless that takes more (MAX_DEFAULT_CACHE_SIZE)

    def granted(self, chunk_bytes: int, own_bytes: int | None = None) -> int:
        """Return the cache, in bytes, of chunks of a size: larger than the default if none fits."""
        # A default of the program's own is kept whatever the chunks are, unless it is the build's.
        start = self.default_bytes if own_bytes is None else own_bytes
        if start != self.default_bytes or chunk_bytes <= start:
            return start
        return min(self.chunks * chunk_bytes, self.most_bytes)

    def short(self) -> tuple[int, int] | None:
        """Return the smallest and the largest chunk that gets less than the document promises."""
        # None is too large for the default, but ten are.
        low = self.default_bytes // PROMISED_CHUNKS + 1
        return None if promised_bytes(low) <= self.granted(low) else (low, self.default_bytes)


PROMISED_CHUNKS, PROMISED_BYTES = 10, 64 * 2**20

RULES = {
    "4.6.2": CacheRule(4 * 2**20, 10, 64 * 2**20),
    "4.7.4": CacheRule(16 * 2**20, 10, 64 * 2**20),
    "4.9.3": CacheRule(64 * 2**20, 1000, 64 * 2**20),
}
"""The rule as releases set it, from the one named on; a build may set other sizes."""


def promised_bytes(chunk_bytes: int) -> int:
    """Return the cache that the document promises: ten chunks, or 64 MiB if that is less."""
    # netCDF-C 4.6.2, "Improving Performance with Chunking", The Chunk Cache.
    return min(PROMISED_CHUNKS * chunk_bytes, PROMISED_BYTES)


def chunk_reads(
    shape: Sequence[int],
    chunks: Sequence[int],
    itemsize: int,
    boxes: Iterable[Box],
    cache: ChunkCache = DEFAULT_CACHE,
) -> int:
    """Return how many chunks are fetched, and decompressed, to read boxes one after another.

    It holds for chunks that pass a filter, such as deflate: those are always fetched whole.

    Parameters
    ----------
    shape, chunks
        Lengths of the array and of a chunk, in elements.
    itemsize
        Bytes an element.
    boxes
        For each read the first element and the one after the last, along each axis.

    Examples
    --------
    >>> rows = [((i, i + 1), (0, 40)) for i in range(8)]
    >>> caches = DEFAULT_CACHE, ChunkCache(nbytes=960)
    >>> [chunk_reads((8, 40), (8, 10), 4, rows, cache) for cache in caches]
    [4, 32]
    """
    grid = chunk_grid(shape, chunks)
    held, numbers = _HeldChunks(math.prod(chunks) * itemsize, grid, cache), dict[GridIndex, int]()
    fetched = 0
    for box in boxes:
        for piece in cut([slice(*ends) for ends in box], chunks):
            position = tuple(s.start // c for s, c in zip(piece, chunks, strict=True))
            nbytes = math.prod(s.stop - s.start for s in piece) * itemsize
            fetched += held.touch(numbers.setdefault(position, len(numbers)), position, nbytes)
    return fetched


def row_boxes(shape: Sequence[int], rows: int) -> list[Box]:
    return [((i, i + 1), *((0, n) for n in shape[1:])) for i in range(rows)]


def slot(position: Sequence[int], grid: Sequence[int], slots: int) -> int:
    """Return the place in the cache's hash table of a chunk, of which only one may be there."""
    value = position[0]
    for coordinate, n in zip(position[1:], grid[1:], strict=True):
        value = (value << (n - 1).bit_length()) ^ coordinate
    return value % slots


def preempted(entries: Sequence[tuple[int, bool]], size: int, cache: ChunkCache) -> list[int]:
    """Return which chunks leave a full cache for another: those done with first, then any."""
    wait = int(len(entries) * cache.preemption)
    room = cache.nbytes - (len(entries) + 1) * size
    victims: list[int] = []
    for step in range(len(entries) + wait + 1):
        later = step - wait
        picked = [step] if step < len(entries) and entries[step][1] else []
        # The second search begins while the first is under way, or not at all.
        picked += [later] if wait < len(entries) and 0 <= later < len(entries) else []
        for at in picked:
            if room < 0 and entries[at][0] not in victims:
                victims.append(entries[at][0])
                room += size
        if room >= 0:
            break
    return victims


class _HeldChunks:
    def __init__(self, size: int, grid: Sequence[int], cache: ChunkCache) -> None:
        self._size, self._grid, self._cache = size, grid, cache
        self._order: list[int] = []  # head first
        self._slots: dict[int, int] = {}
        self._slot_of: dict[int, int] = {}
        self._unread: dict[int, int] = {}  # bytes

    def touch(self, number: int, position: GridIndex, nbytes: int) -> bool:
        """Read from a chunk; return whether it had to be fetched."""
        size, cache, order = self._size, self._cache, self._order
        fetch = number not in self._unread
        if not fetch:
            at = order.index(number)
            order[at : at + 2] = order[at : at + 2][::-1]  # a hit moves one place back, no further
        elif size <= cache.nbytes and cache.slots:
            at = slot(position, self._grid, cache.slots)
            if at in self._slots:
                self._drop(self._slots[at])
            if (len(order) + 1) * size > cache.nbytes:
                entries = [(other, not self._unread[other]) for other in order]
                for victim in preempted(entries, size, cache):
                    self._drop(victim)
            self._slots[at], self._slot_of[number] = number, at
            self._unread[number] = size
            order.append(number)
        if number in self._unread:
            self._unread[number] = max(self._unread[number] - nbytes, 0)
        return fetch

    def _drop(self, number: int) -> None:
        self._order.remove(number)
        del self._unread[number], self._slots[self._slot_of[number]]
