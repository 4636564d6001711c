"""Long stretches are cut at points, and threads share the parts."""

from itertools import pairwise

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperslab import subchunk
from hyperslab.subchunk.deflate import inflate
from hyperslab.subchunk.read import decode
from hyperslab.subchunk.read import values as reading
from hyperslab.subchunk.read.stretch import divided, stretches

LENGTH = 3_000_000


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "shuffled"])
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("decode") / "x.h5"
    walk = np.random.default_rng(5).integers(-3, 4, LENGTH).cumsum().astype("<i4")
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=walk, chunks=(LENGTH,), compression=4, shuffle=request.param)
    subchunk.build(path, budget=0.05)
    return path


@given(
    ends=st.tuples(st.integers(0, 4 * LENGTH - 1), st.integers(1, 4 * LENGTH)),
    count=st.integers(1, 9),
)
def test_parts_follow_each_other_and_are_the_whole(path, ends, count):
    index = subchunk.Index(f"{path}.subchunk")
    chunks, points = index.points(index.entries["x"])
    start, stop = min(ends), max(max(ends), min(ends) + 1)
    one = np.array([start]), np.array([stop])
    ((whole,),) = stretches(points, np.array([0]), chunks.size[:1].astype(np.int64), *one)
    parts = divided(whole, points, count)
    assert 1 <= len(parts) <= count
    assert parts[0].out == whole.out and sum(part.length for part in parts) == whole.length
    assert parts[0].point == whole.point and parts[-1].last == whole.last
    assert parts[0].start == whole.start and parts[-1].stop == whole.stop
    for before, after in pairwise(parts):
        assert before.out + before.length == after.out and before.last == after.mark
        assert 0 <= before.stop - after.start <= 1  # a byte that both have bits of
    assert all(points.mark[part.point] == part.mark for part in parts)


@given(
    ends=st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)),
    step=st.sampled_from([1, 1, 7, 1000]),
    threads=st.integers(1, 5),
    taken=st.sampled_from([900, 2**18]),
    many=st.sampled_from([2, 64]),
    short=st.sampled_from([0, 2**16, 2**18]),
)
@settings(max_examples=40)
def test_values_are_the_same_in_many_parts(path, ends, step, threads, taken, many, short):
    with pytest.MonkeyPatch.context() as patch, h5py.File(path) as truth:
        patch.setattr(reading, "_PART", 2**15)
        patch.setattr(decode, "_THREADED", 2**15)
        patch.setattr(decode, "_BRIEF", short)
        patch.setattr(inflate, "_OUTPUT", taken)
        patch.setattr(decode, "_MANY", many)
        with subchunk.open(path, threads=threads) as file:
            chosen = slice(min(ends), max(ends), step)
            assert np.array_equal(file["x"][chosen], truth["x"][chosen])
