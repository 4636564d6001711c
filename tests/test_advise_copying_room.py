"""Sharing memory: no piece, cache and filter together are more than there is."""

import re

import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.advise.copying.chunk_cost import call_bytes, touched
from hyperslab.advise.copying.room import (
    MARGIN_BYTES,
    MemoryLimitError,
    library_cache_bytes,
    share,
    zarr_at_once,
)
from hyperslab.advise.sources.base import SourceVariable
from hyperslab.io import Layout

MIB = 2**20
FORMATS = ["netcdf3", "cdf5", "netcdf4", "hdf5", "zarr2", "zarr3", "nczarr"]


def variable(shape, chunks=None, dtype="f4", **others):
    dims = tuple(f"d{axis}" for axis in range(len(shape)))
    return SourceVariable("sst", dims, tuple(shape), dtype, chunks=chunks, **others)


def one(source, layout, *, of="netcdf4", cache=None, memory=256 * MIB, taken=0):
    return share(
        [(source, layout)],
        source_format=of,
        cache_bytes=cache,
        memory_bytes=memory,
        taken_bytes=taken,
    )


@st.composite
def copies(draw):
    rank = draw(st.integers(1, 3))
    shape = tuple(draw(st.integers(1, 400)) for _ in range(rank))
    chunks = tuple(draw(st.integers(1, n)) for n in shape) if draw(st.booleans()) else None
    format = draw(st.sampled_from(FORMATS))
    target = None
    if format not in ("netcdf3", "cdf5"):
        target = tuple(draw(st.integers(1, n)) for n in shape)
    codec = draw(st.sampled_from([None, "deflate"])) if target else None
    source = variable(shape, chunks, codec="deflate 4" if chunks and draw(st.booleans()) else "")
    return source, Layout(format, target, codec)


@given(copies(), st.integers(22 * MIB, 400 * MIB), st.sampled_from(["netcdf4", "zarr3"]))
def test_what_is_shared_is_no_more_than_there_is(copied, memory, of):
    source, layout = copied
    try:
        rooms = one(source, layout, of=of, memory=memory)
    except MemoryLimitError as error:
        enough = int(re.search(r"allow at least ([\d,]+) MiB", str(error))[1].replace(",", ""))
        assert enough * MIB > memory
        one(source, layout, of=of, memory=enough * MIB)  # it is enough
        return
    room = rooms.each["sst"]
    cache = rooms.cache_bytes if rooms.cache_bytes is not None else 0
    assert room.slabs.elements * 4 + room.source_cache_bytes <= memory - MARGIN_BYTES
    assert cache <= memory
    assert 1 <= room.at_once <= 10


def test_what_is_taken_before_is_not_shared():
    source, layout = variable((1000, 1000, 30)), Layout("netcdf4", (10, 10, 30))
    free = one(source, layout, memory=200 * MIB)
    assert one(source, layout, memory=300 * MIB, taken=100 * MIB) == free
    with pytest.raises(MemoryLimitError, match="0 MiB of 300 MiB are left"):
        one(source, layout, memory=300 * MIB, taken=290 * MIB)


def test_a_cache_that_does_not_fit_is_cut_only_when_it_is_the_librarys():
    source, layout = variable((1000, 1000, 30)), Layout("netcdf4", (10, 10, 30))
    own = library_cache_bytes("netcdf4")
    assert own >= 4 * MIB
    rooms = one(source, layout, memory=MARGIN_BYTES + own)
    assert rooms.reduced
    assert rooms.cache_bytes < own
    assert not one(source, layout, memory=400 * MIB + own).reduced
    asked = one(source, layout, cache=5 * MIB)
    assert (asked.cache_bytes, asked.reduced) == (5 * MIB, False)
    with pytest.raises(MemoryLimitError):
        one(source, layout, cache=60 * MIB, memory=60 * MIB)


def test_more_memory_is_named_where_chunks_are_read_twice():
    source = variable((1024, 1024, 1024), (1, 1024, 1024))
    layout = Layout("netcdf4", (1024, 8, 8))
    room = one(source, layout, memory=128 * MIB).each["sst"]
    assert room.slabs.reads > 1
    assert room.enough_bytes > 1024**3 * 4
    enough = one(source, layout, memory=room.enough_bytes).each["sst"]
    assert (enough.slabs.reads, enough.enough_bytes) == (1, 0)


def test_shards_are_written_whole():
    layout = Layout("zarr3", (5, 10), "zstd", shards=(20, 20))
    room = one(variable((50, 60)), layout).each["sst"]
    assert room.slabs.lengths[0] % 20 == 0 or room.slabs.lengths[0] == 50
    with pytest.raises(MemoryLimitError, match="shards of 8000x8000"):
        one(variable((8000, 8000)), Layout("zarr3", (10, 10), shards=(8000, 8000)))


def test_zarr_works_on_no_more_chunks_than_fit():
    before = zarr.config.get("async.concurrency")
    rooms = one(
        variable((4000, 4000), (2000, 1000)), Layout("zarr3", (2000, 2000)), of="zarr3",
        memory=140 * MIB,
    )  # fmt: skip
    most = rooms.each["sst"].at_once
    assert most < 10
    with zarr_at_once(rooms):
        assert zarr.config.get("async.concurrency") == most
    assert zarr.config.get("async.concurrency") == before


@pytest.mark.parametrize("of", ["netcdf4", "netcdf3", "zarr3"])
@pytest.mark.parametrize("format", ["netcdf4", "hdf5", "zarr3", "netcdf3"])
def test_what_the_libraries_hold_for_chunks_is_shared_too(of, format):
    source = variable((2000, 2000), None if of == "netcdf3" else (4, 4))
    layout = Layout(format, None if format == "netcdf3" else (5, 5))
    room = one(source, layout, of=of, memory=96 * MIB).each["sst"]
    chunks = [
        call_bytes(name) * touched(room.slabs.lengths, lengths, source.shape, aligned=True)
        for name, lengths in ((of, source.chunks), (format, layout.chunks))
    ]
    assert room.slabs.elements * 4 + max(chunks) <= 96 * MIB - MARGIN_BYTES
    assert chunks == [0, 0] or room.slabs.elements * 4 < source.nbytes
