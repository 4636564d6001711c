"""Sizes of files, default chunks and what a chunk cache fetches: predicted as the library does."""

import itertools
import math
import sys

import netCDF4
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperslab.io import Layout, write_array
from hyperslab.io.chunk_cache import RULES, ChunkCache, chunk_reads, promised_bytes, row_boxes
from hyperslab.io.chunk_shapes import (
    balanced_chunks,
    ceil_chunk,
    chunk_grid,
    default_chunks,
    floor_chunk,
    predicted_bytes,
)
from hyperslab.measure.counters import Counters


def written_bytes(path, shape, chunks):
    values = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    return write_array(path, values, Layout("netcdf4", chunks=chunks), overwrite=True)


@pytest.mark.parametrize(("side", "size"), [(790, 62_418_760), (791, 40_052_344)])
def test_documents_sizes_to_the_digit(tmp_path, side, size):
    assert written_bytes(tmp_path / "e.nc", (3162, 3162), (side, side)) == size
    assert predicted_bytes((3162, 3162), (side, side), 4) == size


@settings(max_examples=10)
@given(st.integers(300, 1200), st.integers(2, 12), st.booleans())
def test_any_square_is_predicted_within_a_percent(tmp_path_factory, side, parts, up):
    """The index of chunks may be up to half empty: an array of a few megabytes shows it most."""
    shape, length = (side, side), ceil_chunk(side, parts) if up else floor_chunk(side, parts)
    path = tmp_path_factory.getbasetemp() / "any.nc"
    size = written_bytes(path, shape, (length, length))
    assert predicted_bytes(shape, (length, length), 4) == pytest.approx(size, abs=8192, rel=0.01)


DTYPES = {1: "i1", 2: "i2", 4: "f4", 8: "f8"}
NAMES = itertools.count()
# One length spans tiny and huge, so that the roundings at both ends come up; HDF5 ends at 2**63.
LENGTHS = st.floats(0, 10).map(lambda x: max(1, int(2**x)))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    with netCDF4.Dataset(tmp_path_factory.mktemp("picked") / "picked.nc", "w") as opened:
        yield opened


def default_bytes(file):
    """The size the build was made for, to the byte: see the page on default chunks."""
    return picked(file, (2**60,), 1, set())[0] + 1


def picked(file, shape, itemsize, unlimited):
    number = next(NAMES)
    names = [f"d{number}_{axis}" for axis in range(len(shape))]
    for axis, name in enumerate(names):
        file.createDimension(name, None if axis in unlimited else shape[axis])
    variable = file.createVariable(f"v{number}", DTYPES[itemsize], names, zlib=True)
    return tuple(variable.chunking())


@settings(max_examples=150)
@given(
    shape=st.lists(LENGTHS, min_size=1, max_size=6),
    scale=st.integers(1, 2**30),
    itemsize=st.sampled_from(sorted(DTYPES)),
    seed=st.randoms(use_true_random=False),
)
def test_the_model_equals_the_library(file, shape, scale, itemsize, seed):
    shape[seed.randrange(len(shape))] *= min(scale, 2**62 // math.prod(shape))
    unlimited = {axis for axis in range(len(shape)) if seed.random() < seed.choice((0, 0.3, 1))}
    now = [0 if axis in unlimited else n for axis, n in enumerate(shape)]
    chunks = default_chunks(now, itemsize, unlimited, default_bytes(file))
    assert chunks == picked(file, shape, itemsize, unlimited)


@pytest.mark.parametrize(("asked", "chunk"), [(False, 1024), (True, 750)])
def test_asking_for_the_length_changes_what_is_picked(tmp_path, asked, chunk):
    with netCDF4.Dataset(tmp_path / "grown.nc", "w") as file:
        file.createDimension("t", None)
        file.createVariable("first", "f4", ("t",))[:1500] = 0
        length = len(file.dimensions["t"]) if asked else 0
        assert default_chunks((length,), 4, [0], default_bytes(file)) == (chunk,)
        assert file.createVariable("second", "f4", ("t",)).chunking() == [chunk]


@given(
    shape=st.lists(st.integers(1, 5000), min_size=1, max_size=4),
    itemsize=st.sampled_from(sorted(DTYPES)),
    most=st.integers(8, 2**24),
)
def test_balanced_chunks_make_as_many_parts_of_every_long_axis(shape, itemsize, most):
    chunks = balanced_chunks(shape, itemsize, most)
    assert math.prod(chunks) * itemsize <= most
    assert all(1 <= c <= n for c, n in zip(chunks, shape, strict=True))
    parts = max(-(-n // c) for n, c in zip(shape, chunks, strict=True))
    for n, c in zip(shape, chunks, strict=True):
        assert c == -(-n // parts) or c in (-(-n // k) for k in range(parts, 5001))


def test_what_has_no_chunks_is_refused_and_a_build_may_be_set_to_small_ones():
    with pytest.raises(ValueError, match=r"chunks \(4,\) do not fit an array of shape \(3, 3\)"):
        chunk_grid((3, 3), (4,))
    for shape in ((), (4, 0)):
        with pytest.raises(ValueError, match="axis"):
            default_chunks(shape, 4)
        with pytest.raises(ValueError, match="axis"):
            balanced_chunks(shape, 4, 1000)
    with pytest.raises(ValueError, match="one element"):
        balanced_chunks((4,), 8, 7)
    assert default_chunks((0, 0), 8, [0, 1], default_bytes=4) == (1, 1)
    assert default_chunks((100,), 1, default_bytes=4096) == (100,)


AMPLE = ChunkCache(2**30, 10007)


def read_calls(path, boxes, cache):
    with netCDF4.Dataset(path) as file:
        variable = file["v"]
        variable.set_auto_maskandscale(False)
        variable.set_var_chunk_cache(cache.nbytes, cache.slots, cache.preemption)
        counters = Counters()
        before = counters.start()
        for box in boxes:
            variable[tuple(slice(*ends) for ends in box)]
        return (counters.stop() - before).syscr


@pytest.mark.skipif(sys.platform != "linux", reason="counts read calls in /proc/self/io")
@settings(max_examples=30)
@given(data=st.data())
def test_as_many_chunks_are_fetched_as_predicted(data, tmp_path_factory):
    shape = tuple(data.draw(st.lists(st.integers(2, 24), min_size=2, max_size=3), "shape"))
    chunks = tuple(data.draw(st.integers(max(1, n // 6), n), "chunk") for n in shape)
    size = 4 * math.prod(chunks)
    cache = ChunkCache(
        data.draw(st.integers(size - 1, 12 * size), "bytes"),
        data.draw(st.sampled_from((7, 31, 1000)), "slots"),
        data.draw(st.sampled_from((0.0, 0.3, 0.75, 1.0)), "preemption"),
    )
    boxes = []
    for _ in range(data.draw(st.integers(1, 25), "reads")):
        ends = [sorted(data.draw(st.tuples(*2 * [st.integers(0, n - 1)]))) for n in shape]
        boxes.append(tuple((low, high + 1) for low, high in ends))
    path = tmp_path_factory.mktemp("cache") / "a.nc"
    values = np.arange(math.prod(shape), dtype="i4").reshape(shape)
    write_array(path, values, Layout("netcdf4", chunks, "deflate", 1), "v")
    # With room for all, each chunk is fetched once: what is left is the index and the header.
    other = read_calls(path, boxes, AMPLE) - chunk_reads(shape, chunks, 4, boxes, AMPLE)
    assert read_calls(path, boxes, cache) - other == chunk_reads(shape, chunks, 4, boxes, cache)


def test_a_row_of_more_chunks_than_slots_loses_those_that_collide():
    rows = row_boxes((4, 1200), 4)
    # Twice 200 chunks share a slot: those are fetched for each of the four rows.
    assert chunk_reads((4, 1200), (4, 1), 4, rows, ChunkCache(slots=1000)) == 800 + 400 * 4


def test_the_gap_is_found_to_the_byte():
    assert RULES["4.9.3"].short() is None
    assert RULES["4.6.2"].granted(2**23, own_bytes=2**20) == 2**20
    for rule in (RULES["4.6.2"], RULES["4.7.4"]):
        low, high = rule.short()
        for chunk in (low - 1, low, high, high + 1):
            short = rule.granted(chunk) < promised_bytes(chunk)
            assert short == (low <= chunk <= high)
