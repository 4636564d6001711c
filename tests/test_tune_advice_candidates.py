"""What is tried: layouts that every format can hold, remedies where they apply."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.io import Layout
from hyperslab.tune.advice.accesses import resolve
from hyperslab.tune.advice.candidates import layouts, name_of, now, remedies
from hyperslab.tune.advice.shapes import shard
from hyperslab.tune.sources.base import SourceVariable

STORED = Layout("netcdf4", (1, 90, 180), "deflate", 4, shuffle=True)
FIELD = SourceVariable(
    "sst", ("time", "lat", "lon"), (100, 90, 180), "f4", chunks=(1, 90, 180), layout=STORED
)
READS = resolve({}, FIELD, {"sst": FIELD}, {})


def found(variable=FIELD, format="netcdf4", library="netcdf4", **options):
    return layouts(now(format, variable, library), variable, READS, **options)


def test_every_layout_has_a_name_of_its_own():
    every = found()
    assert len({c.name for c in every}) == len(every) > 20
    assert all(candidate.rewrites for candidate in every)


def test_what_is_asked_for_bounds_what_is_tried():
    assert {c.layout.codec for c in found(codecs=["deflate"])} == {"deflate"}
    assert {c.layout.format for c in found(formats=["hdf5"])} == {"hdf5"}
    assert {c.layout.codec for c in found(formats=["hdf5"])} == {None, "deflate"}
    assert {c.library for c in found(formats=["zarr2"])} == {"zarr"}
    assert STORED not in [c.layout for c in found()]


def test_far_stores_get_pages_and_shards():
    every = found(remote=True, call_s=0.03)
    assert any(c.layout.page_bytes for c in every)
    assert any(c.layout.shards for c in every)
    assert {c.layout.format for c in every} == {"netcdf4", "hdf5", "zarr3"}


def test_remedies_by_what_the_file_is():
    names = [c.remedy for c in remedies(now("netcdf4", FIELD, "netcdf4"), remote=False, calls=1)]
    assert names == ["h5py", "index"]
    names = [c.remedy for c in remedies(now("netcdf4", FIELD, "h5py"), remote=True, calls=3)]
    assert names == ["index", "cache", "references"]
    classic = SourceVariable("v", ("x",), (9,), "f4", layout=Layout("netcdf3"))
    assert remedies(now("netcdf3", classic, "netcdf4"), remote=False, calls=1) == []


def test_a_classic_file_becomes_netcdf4():
    classic = SourceVariable(
        "sst", ("time", "lat", "lon"), (100, 90, 180), "f4", layout=Layout("netcdf3")
    )
    assert "netcdf4" in {c.layout.format for c in found(classic, "netcdf3")}


def test_what_cannot_be_said_as_a_layout_is_counted_without_codec():
    odd = SourceVariable("v", ("x",), (99,), "f4", chunks=(9,), codec="scaleoffset")
    stands = now("hdf5", odd, "h5py")
    assert (stands.layout, stands.described) == (Layout("hdf5", (9,)), False)
    assert remedies(stands, remote=True, calls=4) == []
    assert now("netcdf4", FIELD, "h5py").described


@pytest.mark.parametrize("format", ["netcdf4", "netcdf4-classic", "hdf5"])
def test_formats_that_look_alike_are_told_apart(format):
    every = found(formats=["netcdf4", "netcdf4-classic", "hdf5", "zarr2", "zarr3"], format=format)
    assert len({c.name for c in every}) == len({c.layout for c in every}) == len(every)
    assert {c.layout.format for c in every} >= {"netcdf4", "netcdf4-classic", "hdf5"}


@pytest.mark.parametrize(
    ("format", "codec", "other"), [("zarr3", "zstd", 3), ("zarr2", "blosc-zstd", 3)]
)
@pytest.mark.parametrize("level", [None, 1, 3])
def test_one_level_has_one_name_however_it_is_said(format, codec, other, level):
    own = Layout(format, (1, 90, 180), codec, level)
    stored = replace(FIELD, layout=own)
    every = found(stored, format, "zarr")
    assert len({c.name for c in every}) == len(every)
    assert name_of(own) not in {c.name for c in every}
    same = {c.layout.effective_level for c in every if c.layout.codec == codec}
    assert same == {other, own.effective_level}


@given(
    st.lists(st.tuples(st.integers(1, 3000), st.integers(1, 300)), min_size=1, max_size=4),
    st.sampled_from([1, 4, 8]),
)
def test_shards_hold_whole_chunks_and_no_more_than_they_may(pairs, itemsize):
    shape = [n for n, _ in pairs]
    chunks = [min(c, n) for n, c in pairs]
    found = shard(shape, chunks, itemsize)
    assert all(s % c == 0 for s, c in zip(found, chunks, strict=True))
    assert all(s < n + c for s, n, c in zip(found, shape, chunks, strict=True))
    one = math.prod(chunks) * itemsize
    assert math.prod(found) * itemsize <= max(64 * 2**20, one)


def test_codecs_are_tried_at_the_level_that_was_asked_for():
    accesses = resolve({"map": 1.0}, FIELD, {"sst": FIELD}, {})
    present = now("netcdf4", FIELD, "netcdf4")

    def levels(*codecs):
        made = layouts(present, FIELD, accesses, formats=("netcdf4",), codecs=codecs)
        return {(one.layout.codec, one.layout.effective_level) for one in made}

    assert levels("deflate:9") == {("deflate", 9)}
    assert levels("zstd") == {("zstd", 3)}
    assert levels("deflate", "none") == {("deflate", 1), ("deflate", 4), (None, None)}
    assert levels("same") == {("deflate", 4)}
    assert levels("bzip2") == {("bzip2", 9)}


def test_references_are_no_remedy_for_a_variable_in_a_group():
    present = now("netcdf4", FIELD, "h5py")
    found = [one.remedy for one in remedies(present, remote=True, calls=1, grouped=True)]
    assert found == ["index"]
