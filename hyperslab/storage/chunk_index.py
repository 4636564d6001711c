"""HDF5's index of chunks (its version 1 B-tree), followed node by node.

How full its nodes are depends on the order in which chunks reach the file, and that order on the
chunk cache: a chunk is written when another needs its slot. With both followed, the size of a file
comes out to the byte. The rules are those of the HDF5 library (H5B.c and H5Dchunk.c, 1.8 to 1.14).
"""

import bisect
import itertools
import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .chunk_cache import DEFAULT_CACHE, ChunkCache, preempted, slot

FANOUT = 64  # children of a full node: twice HDF5's default rank of 32
_SPLIT = {"left": 0.1, "middle": 0.5, "right": 0.9}  # what stays in a node that splits


def node_bytes(rank: int) -> int:
    """Return the size, in bytes, of one node of the index of an array of some rank.

    Examples
    --------
    >>> node_bytes(2)
    2616
    """
    key = 8 + 8 * (rank + 1)  # size and filter mask, then the offsets of a chunk
    return 24 + FANOUT * 8 + (FANOUT + 1) * key


def write_order(
    shape: Sequence[int], chunks: Sequence[int], itemsize: int, cache: ChunkCache = DEFAULT_CACHE
) -> Iterator[int]:
    """Yield chunks, numbered in C order, as they leave the cache for the file.

    It holds for one put of the whole array.

    Parameters
    ----------
    shape, chunks : sequence of int
        Lengths in elements.
    itemsize : int
        Bytes an element.
    cache : ChunkCache

    Examples
    --------
    >>> list(write_order((4, 4), (2, 2), 4))
    [0, 1, 2, 3]
    """
    grid = [-(-n // c) for n, c in zip(shape, chunks, strict=True)]
    size = math.prod(chunks) * itemsize
    if size > cache.nbytes:  # passes the cache by
        yield from range(math.prod(grid))
        return
    slots: dict[int, int] = {}
    held: OrderedDict[int, _Entry] = OrderedDict()  # least recently used first
    for number, place in enumerate(itertools.product(*map(range, grid))):
        at = slot(place, grid, cache.slots)
        if at in slots:
            yield _drop(slots[at], slots, held)
        if (len(held) + 1) * size > cache.nbytes:
            entries = [(n, entry.whole) for n, entry in held.items()]
            for victim in preempted(entries, size, cache):
                yield _drop(victim, slots, held)
        whole = all((p + 1) * c <= n for p, c, n in zip(place, chunks, shape, strict=True))
        slots[at] = number
        held[number] = _Entry(at, whole)
    yield from held


def index_nodes(order: Iterable[int]) -> int:
    """Return the number of nodes of the index after chunks were inserted in an order.

    Parameters
    ----------
    order : iterable of int
        Chunk numbers, each once.

    Examples
    --------
    >>> index_nodes(range(64)), index_nodes(range(65))
    (1, 3)
    """
    root = _Node()
    nodes = 1
    for key in order:
        new, made = _insert(root, key)
        nodes += made
        if new is not None:
            root = _Node([root.keys[0], new.keys[0]], [root, new])
            nodes += 1
    return nodes


@dataclass(frozen=True)
class _Entry:
    slot: int
    whole: bool  # every element written: gone first when the cache is full


@dataclass
class _Node:
    keys: list[int] = field(default_factory=list)
    children: list["_Node"] = field(default_factory=list)  # none in a leaf
    has_left: bool = False
    has_right: bool = False


def _drop(number: int, slots: dict[int, int], held: OrderedDict[int, _Entry]) -> int:
    del slots[held.pop(number).slot]
    return number


def _insert(node: _Node, key: int) -> tuple[_Node | None, int]:
    """Insert a chunk below a node; return the node split off it, if any, and how many were made."""
    made = 0
    if node.children:
        at = max(bisect.bisect_right(node.keys, key) - 1, 0)
        child, made = _insert(node.children[at], key)
        node.keys[at] = node.children[at].keys[0]
        if child is None:
            return None, made
        place, new = at + 1, child.keys[0]
    else:
        place, new, child = bisect.bisect_left(node.keys, key), key, None
        at = max(place - 1, 0)
    target, split = node, None
    if len(node.keys) == FANOUT:
        kept = _kept(node, at)
        split = _Node(node.keys[kept:], node.children[kept:], True, node.has_right)
        del node.keys[kept:], node.children[kept:]
        node.has_right = True
        made += 1
        if at >= kept:
            target, place = split, place - kept
    target.keys.insert(place, new)
    if child is not None:
        target.children.insert(place, child)
    return split, made


def _kept(node: _Node, at: int) -> int:
    side = "right" if not node.has_right else "left" if not node.has_left else "middle"
    kept = int(FANOUT * _SPLIT[side])
    if at < kept == FANOUT:
        return kept - 1
    return kept
