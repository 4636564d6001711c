"""What is asked of a file, what is tried, and on which part of it."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperslab.io import Layout, region
from hyperslab.io.source import SourceVariable
from hyperslab.tune.advice import candidates
from hyperslab.tune.advice.accesses import Access, letters_of, resolve, roles, weights
from hyperslab.tune.advice.candidates import chunk_shapes, even_lengths, layouts, now, remedies
from hyperslab.tune.advice.sample import box_of

PLAIN = SourceVariable("v", ("a", "b"), (10, 20), "f4")
SHORT = SourceVariable("sst", ("time", "lat", "lon"), (10, 20, 30), "f4")


def reads(shares, variable=SHORT, named=None, **options):
    letters = letters_of(variable, {variable.name: variable}, named or {})
    return resolve(shares, variable, letters, **options)


def test_shares_and_calls_are_as_given_and_a_time_series_and_a_map_where_nothing_is():
    assert weights(["map=30,whole=70"]) == {"map": 0.3, "whole": 0.7}
    assert weights(["map=0.333", "row=0.333", "whole=0.333"])["map"] == pytest.approx(1 / 3)
    accesses = reads({})
    assert [(a.name, a.weight) for a in accesses] == [("time_series", 0.5), ("map", 0.5)]
    assert [region(a.selections[0], SHORT.shape).size for a in accesses] == [10, 600]
    assert [a.name for a in reads({}, PLAIN)] == ["row", "column"]
    accesses = reads({"time_series": 0.5, "map": 0.5}, calls=3)
    assert [selection[2] for selection in accesses[0].selections] == [15, 16, 17]
    assert [selection[0] for selection in accesses[1].selections] == [5, 6, 7]
    many = reads({"map": 1.0}, calls=99, fewer=True)[0]
    assert [selection[0] for selection in many.selections] == list(range(10))
    assert len(reads({"whole": 1.0}, calls=9)[0].selections) == 1
    for shares in ({"time_series": 1.0}, {}):
        assert reads(shares, PLAIN, roles(["time=b"]))[0].selections == ((5, slice(0, 20, 1)),)


STORED = Layout("netcdf4", (1, 90, 180), "deflate", 4, shuffle=True)
FIELD = SourceVariable(
    "sst", ("time", "lat", "lon"), (100, 90, 180), "f4", chunks=(1, 90, 180), layout=STORED
)
READS = reads({}, FIELD)


def test_formats_codecs_and_levels_are_those_asked_for():
    def tried(**options):
        return layouts(now("netcdf4", FIELD, "netcdf4"), FIELD, READS, **options)

    hdf5 = {(c.layout.format, c.layout.codec) for c in tried(formats=["hdf5"])}
    assert hdf5 == {("hdf5", None), ("hdf5", "deflate")}
    assert {c.library for c in tried(formats=["zarr2"])} == {"zarr"}
    assert STORED not in [c.layout for c in tried()]
    for codecs, levels in (
        (["deflate:9"], {("deflate", 9)}),
        (["zstd", "bzip2"], {("zstd", 3), ("bzip2", 9)}),
        (["deflate", "none"], {("deflate", 1), ("deflate", 4), (None, None)}),
        (["same"], {("deflate", 4)}),
    ):
        chosen = [c.layout for c in tried(formats=("netcdf4",), codecs=codecs)]
        assert {(layout.codec, layout.effective_level) for layout in chosen} == levels


def test_remedies_by_what_the_file_is():
    def names(present, remote, calls):
        return [c.remedy for c in remedies(present, reads({}, FIELD, calls=calls), remote=remote)]

    present = now("netcdf4", FIELD, "netcdf4")
    assert names(present, remote=False, calls=1) == ["h5py", "index"]
    far = names(now("netcdf4", FIELD, "h5py"), remote=True, calls=3)
    assert far == ["index", "cache", "references"]
    classic = SourceVariable("v", ("x",), (9,), "f4", layout=Layout("netcdf3"))
    assert names(now("netcdf3", classic, "netcdf4"), remote=False, calls=1) == []


@given(
    st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 300)), min_size=1, max_size=4),
    st.sampled_from([1, 4, 8]),
)
def test_shards_hold_whole_chunks_and_no_more_than_they_may(pairs, itemsize):
    shape = [n for n, _ in pairs]
    chunks = [min(c, n) for n, c in pairs]
    shard = candidates.shard(shape, chunks, itemsize)
    assert all(s % c == 0 for s, c in zip(shard, chunks, strict=True))
    assert all(s < n + c for s, n, c in zip(shard, shape, chunks, strict=True))
    chunk_bytes = math.prod(chunks) * itemsize
    assert math.prod(shard) * itemsize <= max(64 * 2**20, chunk_bytes)


@given(st.integers(1, 5000), st.integers(3, 64))
def test_lengths_cover_an_axis_in_equal_parts(n, most):
    lengths = even_lengths(n, most)
    assert lengths == tuple(sorted(set(lengths), reverse=True))
    assert (lengths[0], lengths[-1]) == (n, 1) and len(lengths) <= most
    for length in lengths:
        count = -(-n // length)
        assert -(-n // count) == length or length == 1  # no shorter chunk needs as few
        assert count * length - n <= n / 16 or length == n


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=4),
    st.sampled_from([1, 2, 4, 8]),
    st.randoms(use_true_random=False),
)
def test_shapes_fit_the_array_and_the_bounds(shape, itemsize, random):
    whole = {random.randrange(len(shape)) for _ in range(2)}
    read = tuple(slice(0, n, 1) if axis in whole else n // 2 for axis, n in enumerate(shape))
    shapes = chunk_shapes(shape, itemsize, [Access("whole", 1.0, (read,))])
    assert shapes
    assert len(shapes) == len(set(shapes)) <= 10
    for chunks in shapes:
        assert all(1 <= c <= n for c, n in zip(chunks, shape, strict=True))
        assert all(c in even_lengths(n) for c, n in zip(chunks, shape, strict=True))
        size = math.prod(chunks) * itemsize
        least = min(candidates.LEAST_BYTES, math.prod(shape) * itemsize)
        assert least <= size <= candidates.MOST_BYTES
        count = math.prod(-(-n // c) for c, n in zip(chunks, shape, strict=True))
        assert count <= candidates.MOST_CHUNKS


@given(
    st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 3000)), min_size=1, max_size=4),
    st.sampled_from([2**12, 2**16, 2**20]),
    st.booleans(),
)
def test_a_box_lies_in_the_array_and_within_its_bytes(pairs, most, chunked):
    shape = tuple(n for n, _ in pairs)
    chunks = tuple(min(c, n) for n, c in pairs) if chunked else None
    variable = SourceVariable("v", tuple("abcd"[: len(shape)]), shape, "f4", chunks=chunks)
    first = (slice(0, shape[0], 1), *(n // 2 for n in shape[1:]))
    box = box_of(variable, [Access("row", 1.0, (first,))], most)
    assert all(0 <= s.start < s.stop <= n for s, n in zip(box, shape, strict=True))
    lengths = [s.stop - s.start for s in box]
    if math.prod(shape) * 4 <= most:
        assert tuple(lengths) == shape
    assert math.prod(lengths) * 4 <= most
