"""The chunk shapes that are tried by default fit the array and suit a read."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_bench import PLAIN, SST, Made, stored

from hyperslab.io import Layout
from hyperslab.io.chunk_shapes import chunk_grid
from hyperslab.tune.specs.auto import MIDDLE_BYTES, along, balanced, candidates, shapes

SHAPES = st.lists(st.integers(1, 4000), min_size=2, max_size=5).map(tuple)


@given(SHAPES, st.sampled_from([1, 2, 4, 8]), st.data())
def test_a_chunk_fits_the_array_and_the_limit(shape, itemsize, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    others = [other for other in range(len(shape)) if other != axis]
    for chunk in (
        along(shape, itemsize, [axis], MIDDLE_BYTES, MIDDLE_BYTES),
        along(shape, itemsize, others, MIDDLE_BYTES, 2**16),
        balanced(shape, itemsize, [axis], others[:2]),
    ):
        assert all(1 <= c <= n for c, n in zip(chunk, shape, strict=True))
        assert math.prod(chunk) * itemsize <= 2 * MIDDLE_BYTES


@given(st.integers(50, 5000), st.integers(50, 2000), st.integers(50, 2000))
def test_balanced_chunks_cost_both_reads_about_the_same(time, lat, lon):
    grid = chunk_grid((time, lat, lon), balanced((time, lat, lon), 4, [0], [1, 2]))
    assert 1 / 3 <= grid[0] / (grid[1] * grid[2]) <= 3


def test_a_series_and_a_map_each_get_chunks_of_their_own():
    found = shapes({"sst": SST}, [SST])
    assert found["map chunks"]["sst"] == (1, 72, 144)
    assert found["series chunks"]["sst"][0] == 100
    levels = Made("t", ("lev", "lat", "lon"), (37, 721, 1440))
    assert "profile chunks" in shapes({"t": levels}, [levels])


def test_small_maps_are_put_together():
    tiny = Made("t", ("time", "lat", "lon"), (10000, 10, 10))
    assert math.prod(shapes({"t": tiny}, [tiny])["map chunks"]["t"]) * 4 > 30000


def test_arrays_without_time_and_place():
    assert list(shapes({"a": PLAIN}, [PLAIN])) == ["row chunks", "column chunks", "balanced chunks"]
    line = Made("s", ("n",), (10**7,))
    assert shapes({"s": line}, [line]) == {"1 MiB chunks": {"s": (2**18,)}}
    assert shapes({}, [Made("crs", (), (), "i4"), Made("e", ("n",), (0,))]) == {}


@pytest.mark.parametrize(
    ("format", "variable", "codec"),
    [
        ("netcdf4", SST, "zstd"),
        ("netcdf4", PLAIN, "deflate"),
        ("zarr3", stored("z", ("y", "x"), (99, 99), Layout("zarr3", chunks=(9, 9))), "zstd"),
        ("netcdf3", stored("n", ("y", "x"), (99, 99), Layout("netcdf3")), "deflate"),
    ],
)
def test_candidates_are_different_and_one_has_another_codec(format, variable, codec):
    made = candidates(format, {variable.name: variable}, [variable])
    layouts = [target.layouts([variable])[variable.name] for target in made]
    assert len({(layout.chunks, layout.codec, layout.format) for layout in layouts}) == len(made)
    assert made[0].name == "copy"
    assert layouts[0].format == format
    assert layouts[-1].codec == codec
    assert len(made) <= 6


def test_a_compressed_hdf5_file_gets_no_codec_that_hdf5_has_not():
    packed = stored("h", ("y", "x"), (99, 99), Layout("hdf5", chunks=(9, 9), codec="deflate"))
    made = candidates("hdf5", {"h": packed}, [packed])
    assert {target.layouts([packed])["h"].codec for target in made} == {"deflate"}


def test_coordinates_beside_fields_keep_their_chunks():
    time = Made("time", ("time",), (100,), "f8")
    file = {"time": time, "sst": SST}
    assert all(set(each) == {"sst"} for each in shapes(file, [time, SST]).values())
    assert shapes(file, [time])["1 MiB chunks"] == {"time": (100,)}
