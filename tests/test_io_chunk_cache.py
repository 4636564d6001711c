"""The chunk cache: what is fetched through it, against what the library asks of the system."""

import math
import sys

import netCDF4
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperslab.io import Layout, write_array
from hyperslab.io.chunk_cache import RULES, ChunkCache, chunk_reads, promised_bytes, row_boxes
from hyperslab.measure.counters import Counters

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
