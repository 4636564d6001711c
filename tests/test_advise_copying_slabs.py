"""Pieces of a copy: they cover the array once, fit into memory, and hold whole chunks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.advise.copying.slabs import plan, runs


@st.composite
def grids(draw, most=20):
    """A shape, chunks of the source and of the target or none, and a limit."""
    rank = draw(st.integers(0, 4))
    shape = tuple(draw(st.integers(1, most)) for _ in range(rank))
    source, target = (
        tuple(draw(st.integers(1, most)) for _ in shape) if draw(st.booleans()) else None
        for _ in range(2)
    )
    unit = math.prod(min(c, n) for c, n in zip(target or (1,) * rank, shape, strict=True))
    size = draw(st.sampled_from([1, 2, 4, 8]))
    return shape, size, source, target, draw(st.integers(unit, unit + 3000)) * size


def brute_reads(shape, chunks, pieces):
    """How many pairs of a chunk and a piece overlap, over the number of chunks."""
    number = np.zeros(shape, int)
    counts = [-(-n // c) for n, c in zip(shape, chunks, strict=True)]
    for axis, (n, c) in enumerate(zip(shape, chunks, strict=True)):
        along = np.arange(n) // c * math.prod(counts[axis + 1 :])
        number += along.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    return sum(len(np.unique(number[piece])) for piece in pieces) / math.prod(counts)


@given(grids())
def test_every_element_is_in_one_piece_that_fits(grid):
    shape, size, source, target, limit = grid
    slabs = plan(shape, size, source, target, limit)
    seen = np.zeros(shape, int)
    pieces = list(slabs)
    for piece in pieces:
        seen[piece] += 1
        assert seen[piece].size * size <= limit
        assert seen[piece].size <= max(slabs.elements, 1)
    assert (seen == 1).all()
    assert len(slabs) == len(pieces)


@given(grids())
def test_a_piece_holds_whole_chunks_of_the_target(grid):
    shape, size, source, target, limit = grid
    if target is None:
        return
    slabs = plan(shape, size, source, target, limit)
    assert slabs.writes == 1
    for piece in slabs:
        for part, n, chunk in zip(piece, shape, target, strict=True):
            assert part.start % min(chunk, n) == 0
            assert part.stop % min(chunk, n) == 0 or part.stop == n


@given(grids(most=9))
def test_reads_are_counted_right(grid):
    shape, size, source, target, limit = grid
    if source is None or not shape:
        return
    slabs = plan(shape, size, source, target, limit)
    assert slabs.reads == pytest.approx(brute_reads(shape, source, list(slabs)))


def test_with_room_for_all_there_is_one_piece():
    slabs = plan((30, 40), 4, (7, 7), (11, 3), 30 * 40 * 4)
    assert (len(slabs), slabs.reads) == (1, 1.0)


@pytest.mark.parametrize(
    ("shape", "source", "target", "limit"),
    [
        ((1024, 1024, 1024), (1, 1024, 1024), (64, 64, 64), 256 * 2**20),
        ((365, 721, 1440), (1, 721, 1440), (365, 10, 10), 365 * 721 * 1440 * 4),
        ((3000, 3000), (128, 128), (256, 256), 256 * 3000 * 4),
        ((3000, 3000), None, (100, 3000), 100 * 3000 * 4),
    ],
)
def test_nothing_is_read_twice_where_pieces_can_hold_whole_chunks(shape, source, target, limit):
    slabs = plan(shape, 4, source, target, limit)
    assert slabs.reads == slabs.writes == 1


def test_contiguous_data_are_cut_into_long_runs():
    slabs = plan((4, 2**22), 8, None, None, 2**25)
    assert slabs.lengths == (1, 2**22)
    assert runs((5,), 4) == (5,)


def test_empty_arrays_and_scalars():
    assert list(plan((), 8, None, None, 8)) == [()]
    assert len(plan((3, 0), 8, None, (1, 1), 8)) == 0


def test_a_chunk_that_does_not_fit_is_named():
    with pytest.raises(ValueError, match=r"one chunk of 10x10 takes 400 bytes.*may have 399"):
        plan((10, 10), 4, None, (16, 10), 399)
