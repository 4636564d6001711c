"""What a read touches, counted beside what a plain loop over elements finds."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.io import Layout
from hyperslab.tune.advice.counts import Read, counts_of

EVERY = slice(None)


@st.composite
def reads(draw):
    rank = draw(st.integers(1, 3))
    shape = tuple(draw(st.integers(1, 12)) for _ in range(rank))
    chunks = tuple(draw(st.integers(1, 14)) for _ in range(rank))
    chosen = []
    for n in shape:
        start = draw(st.integers(0, n - 1))
        chosen.append(slice(start, draw(st.integers(start + 1, n)), draw(st.integers(1, 3))))
    return shape, chunks, tuple(chosen)


@given(reads())
def test_chunks_and_bytes_are_those_of_a_plain_loop(drawn):
    shape, chunks, chosen = drawn
    found = counts_of(Read(shape, "i2", Layout("zarr2", chunks=chunks), (chosen,), "zarr"))
    wanted = itertools.product(
        *(range(*item.indices(n)) for item, n in zip(chosen, shape, strict=True))
    )
    elements = list(wanted)
    places = {tuple(i // c for i, c in zip(at, chunks, strict=True)) for at in elements}
    assert found.chunks == found.fetched == found.requests == len(places)
    assert found.useful_bytes == 2 * len(elements)
    assert found.decoded_bytes == found.stored_bytes == len(places) * 2 * math.prod(chunks)


@given(reads())
def test_runs_of_steps_of_one_are_contiguous_on_both_sides(drawn):
    shape, chunks, chosen = drawn
    chosen = tuple(slice(item.start, item.stop) for item in chosen)
    found = counts_of(Read(shape, "i2", Layout("zarr2", chunks=chunks), (chosen,), "zarr"))
    assert found.steps == 0
    # Where an element ends a run: the next one of the result is not the next of the same chunk.
    result = np.arange(math.prod(shape)).reshape(shape)[chosen].ravel()
    runs, before = 0, None
    for at in zip(*np.unravel_index(result, shape), strict=True):
        place = tuple(int(i) // c for i, c in zip(at, chunks, strict=True))
        inside = np.ravel_multi_index([int(i) % c for i, c in zip(at, chunks, strict=True)], chunks)
        if before != (place, inside - 1):
            runs += 1
        before = place, inside
    # Runs that go on over rows which happen to meet are counted one by one at most.
    assert runs <= found.runs <= result.size


@pytest.mark.parametrize(
    ("layout", "library", "counts"),
    [
        # (requests, stretches of the disk) of a column, a map and a series
        (Layout("netcdf3"), "netcdf4", [(2048, 1), (128, 1), (16, 16)]),
        (Layout("netcdf4"), "h5py", [(256, 1), (1, 1), (16, 16)]),
        (Layout("binary"), "plain", [(8192, 1), (1, 1), (16, 16)]),
        (Layout("netcdf4", chunks=(1, 512, 512)), "h5py", [(16, 1), (1, 1), (16, 1)]),
        (Layout("netcdf4", chunks=(16, 64, 64)), "netcdf4", [(8, 8), (64, 1), (1, 1)]),
        (Layout("zarr2", chunks=(1, 512, 512)), "zarr", [(16, 16), (1, 1), (16, 16)]),
    ],
)
def test_requests_are_those_that_were_counted_on_real_files(layout, library, counts):
    chosen = [(EVERY, EVERY, 100), (5, EVERY, EVERY), (EVERY, 300, 200)]
    found = [counts_of(Read((16, 512, 512), "f4", layout, (one,), library)) for one in chosen]
    assert [(one.requests, one.extents) for one in found] == counts


def test_the_chunk_cache_saves_fetching_again_from_one_call_to_the_next():
    layout = Layout("netcdf4", chunks=(4, 10), codec="deflate")
    rows = tuple((i, EVERY) for i in range(8))
    read = Read((8, 40), "f4", layout, rows, "h5py", 80)
    held, none = counts_of(read), counts_of(dataclasses.replace(read, cache_bytes=0))
    assert (held.chunks, held.fetched, none.fetched) == (32, 8, 32)
    assert held.stored_bytes == 8 * 80 and none.stored_bytes == 32 * 80


def test_chunks_that_no_cache_holds_are_read_piece_by_piece():
    layout = Layout("netcdf4", chunks=(64, 64))
    small = Read((64, 64), "f8", layout, ((EVERY, 3),), "netcdf4", cache_bytes=1024)
    assert counts_of(small).requests == 64
    assert counts_of(Read((64, 64), "f8", layout, ((EVERY, 3),), "netcdf4")).requests == 1


def test_the_index_inside_chunks_decodes_a_part():
    plain = Layout("netcdf4", chunks=(1, 1000, 1000), codec="deflate")
    one = Read((9, 1000, 1000), "f4", plain, ((EVERY, 5, 5),), "subchunk", 1e6)
    found = counts_of(one)
    assert found.decoded_bytes < 0.02 * 9 * 4e6
    shuffled = Layout("netcdf4", chunks=(1, 1000, 1000), codec="deflate", shuffle=True)
    more = counts_of(Read(one.shape, "f4", shuffled, one.selections, "subchunk", 1e6))
    assert more.decoded_bytes > found.decoded_bytes and more.requests == 4 * found.requests
    all_of_it = counts_of(Read(one.shape, "f4", plain, ((EVERY,) * 3,), "subchunk", 1e6))
    assert all_of_it.decoded_bytes == 9 * 4e6


def test_shards_take_a_request_for_their_index():
    layout = Layout("zarr3", chunks=(10, 10), shards=(40, 40))
    found = counts_of(Read((80, 80), "f4", layout, ((EVERY, 3),), "zarr"))
    assert (found.chunks, found.requests, found.extents) == (8, 10, 2)


def test_a_variable_larger_than_memory_is_counted_at_once():
    layout = Layout("netcdf4", chunks=(1, 100, 100), codec="deflate")
    shape = (100_000, 10_000, 10_000)
    found = counts_of(Read(shape, "f8", layout, ((EVERY,) * 3,), "h5py", 1e4))
    assert found.chunks == 10**9 and found.useful_bytes == 8 * math.prod(shape)


def test_reads_that_cannot_be_are_refused():
    layout = Layout("netcdf4", chunks=(4, 4), codec="deflate")
    with pytest.raises(ValueError, match="chunk_bytes"):
        Read((8, 8), "f4", layout, (...,), "h5py")
    with pytest.raises(ValueError, match="warm, cold"):
        Read((8, 8), "f4", Layout("netcdf4"), (...,), "h5py", cache="tepid")
    with pytest.raises(ValueError, match="at least one"):
        Read((8, 8), "f4", Layout("netcdf4"), (), "h5py")
    with pytest.raises(ValueError, match="do not fit"):
        Read((8,), "f4", layout, (...,), "h5py", 9.0)
    with pytest.raises(IndexError):
        counts_of(Read((8, 8), "f4", Layout("netcdf4"), ((9, 0),), "h5py"))


def test_contiguous_data_are_no_more_than_there_are():
    tiny = Read((12,), "f4", Layout("netcdf4"), ((slice(None),),), "h5py")
    assert counts_of(tiny).stored_bytes == 48
