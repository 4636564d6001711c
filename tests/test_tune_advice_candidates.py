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


def asked(shares, variable=SHORT, named=None, **options):
    letters = letters_of(variable, {variable.name: variable}, named or {})
    return resolve(shares, variable, letters, **options)


def test_shares_and_calls_are_as_given_and_a_time_series_and_a_map_where_nothing_is():
    assert weights(["map=30,whole=70"]) == {"map": 0.3, "whole": 0.7}
    assert weights(["map=0.333", "row=0.333", "whole=0.333"])["map"] == pytest.approx(1 / 3)
    found = asked({})
    assert [(a.name, a.weight) for a in found] == [("time_series", 0.5), ("map", 0.5)]
    assert [region(a.selections[0], SHORT.shape).size for a in found] == [10, 600]
    assert [a.name for a in asked({}, PLAIN)] == ["row", "column"]
    found = asked({"time_series": 0.5, "map": 0.5}, calls=3)
    assert [one[2] for one in found[0].selections] == [15, 16, 17]
    assert [one[0] for one in found[1].selections] == [5, 6, 7]
    many = asked({"map": 1.0}, calls=99, fewer=True)[0]
    assert [one[0] for one in many.selections] == list(range(10))
    assert len(asked({"whole": 1.0}, calls=9)[0].selections) == 1
    for shares in ({"time_series": 1.0}, {}):
        assert asked(shares, PLAIN, roles(["time=b"]))[0].selections == ((5, slice(0, 20, 1)),)


STORED = Layout("netcdf4", (1, 90, 180), "deflate", 4, shuffle=True)
FIELD = SourceVariable(
    "sst", ("time", "lat", "lon"), (100, 90, 180), "f4", chunks=(1, 90, 180), layout=STORED
)
READS = asked({}, FIELD)


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
        made = [one.layout for one in tried(formats=("netcdf4",), codecs=codecs)]
        assert {(layout.codec, layout.effective_level) for layout in made} == levels


def test_remedies_by_what_the_file_is():
    def names(present, remote, calls):
        return [c.remedy for c in remedies(present, asked({}, FIELD, calls=calls), remote=remote)]

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
    found = candidates.shard(shape, chunks, itemsize)
    assert all(s % c == 0 for s, c in zip(found, chunks, strict=True))
    assert all(s < n + c for s, n, c in zip(found, shape, chunks, strict=True))
    one = math.prod(chunks) * itemsize
    assert math.prod(found) * itemsize <= max(64 * 2**20, one)


@given(st.integers(1, 5000), st.integers(3, 64))
def test_lengths_cover_an_axis_in_equal_parts(n, most):
    found = even_lengths(n, most)
    assert found == tuple(sorted(set(found), reverse=True))
    assert (found[0], found[-1]) == (n, 1) and len(found) <= most
    for length in found:
        parts = -(-n // length)
        assert -(-n // parts) == length or length == 1  # no shorter chunk needs as few
        assert parts * length - n <= n / 16 or length == n


@settings(max_examples=40)
@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=4),
    st.sampled_from([1, 2, 4, 8]),
    st.randoms(use_true_random=False),
)
def test_shapes_fit_the_array_and_the_bounds(shape, itemsize, random):
    kept = {random.randrange(len(shape)) for _ in range(2)}
    read = tuple(slice(0, n, 1) if axis in kept else n // 2 for axis, n in enumerate(shape))
    found = chunk_shapes(shape, itemsize, [Access("whole", 1.0, (read,))])
    assert found
    assert len(found) == len(set(found)) <= 10
    for chunks in found:
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
