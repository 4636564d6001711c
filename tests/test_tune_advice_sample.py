"""The part of a variable that stands for it: within its bytes, with its values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.io import Layout, write_array
from hyperslab.tune.advice.accesses import Access
from hyperslab.tune.advice.costs import ROUGH
from hyperslab.tune.advice.sample import Sample, box_of, pack, take
from hyperslab.tune.source import open_source
from hyperslab.tune.sources.base import SourceVariable


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


@pytest.mark.parametrize("chunks", [(1, 190, 643), (24, 19, 65), None])
@pytest.mark.parametrize("most", [2**19, 3 * 2**20])
def test_a_box_is_no_line_along_a_single_read(chunks, most):
    """What lies beside the read is what a chunk holds for nothing."""
    variable = SourceVariable("v", ("t", "y", "x"), (24, 190, 643), "f4", chunks=chunks)
    series = Access("time_series", 1.0, ((slice(0, 24, 1), 5, 5),))
    lengths = [s.stop - s.start for s in box_of(variable, [series], most)]
    assert lengths[0] == 24
    assert min(lengths[1:]) >= 16
    assert most // 3 <= math.prod(lengths) * 4 <= most
    frame = Access("map", 1.0, ((5, slice(0, 190, 1), slice(0, 643, 1)),))
    lengths = [s.stop - s.start for s in box_of(variable, [frame], 3 * 2**20)]
    assert lengths[0] == 8
    assert most // 3 <= math.prod(lengths) * 4 <= 3 * 2**20


def test_large_chunks_bound_what_is_read():
    variable = SourceVariable("v", ("t", "y"), (10_000, 10_000), "f4", chunks=(1, 10_000))
    series = Access("time_series", 1.0, ((slice(0, 10_000, 1), 5),))
    box = box_of(variable, [series], 2**20)
    rows = box[0].stop - box[0].start
    assert rows * 10_000 * 4 <= 24 * 2**20


def test_values_are_the_file_s(tmp_path):
    values = np.arange(60 * 50 * 40, dtype="i4").reshape(60, 50, 40)
    write_array(tmp_path / "a.nc", values, Layout("netcdf4", (1, 50, 40)))
    read = Access("whole", 1.0, (tuple(slice(0, n, 1) for n in values.shape),))
    with open_source(tmp_path / "a.nc") as source:
        variable = source.variables["data"]
        part = take(source, variable, [read], 2**16)
        everything = take(source, variable, [read])
    assert not part.whole
    np.testing.assert_array_equal(part.values, values[part.box])
    assert part.values.nbytes <= 2**16
    assert everything.whole
    np.testing.assert_array_equal(everything.values, values)


def test_layouts_are_cut_to_the_sample():
    values = np.zeros((20, 30), "f4")
    part = Sample(SourceVariable("v", ("y", "x"), (20, 30), "f4"), (), values, False)
    cut = part.clipped(Layout("zarr3", (50, 7), "zstd", 3, shards=(100, 70)))
    assert (cut.chunks, cut.shards) == ((20, 7), (20, 35))
    assert part.clipped(Layout("netcdf3")) == Layout("netcdf3")
    assert part.block((20, 7)).shape == (60, 7)  # the chunks that are whole, one after another


@pytest.mark.parametrize("format", ["netcdf4", "hdf5", "zarr3"])
def test_what_a_codec_leaves_of_values(tmp_path, format):
    zeros = np.zeros((64, 64, 64), "f4")
    noise = np.random.default_rng(0).random((64, 64, 64)).astype("f4")
    layout = Layout(format, (64, 64, 64), "deflate", 1)
    assert pack(zeros, layout, "h5py", ROUGH, tmp_path).value_bytes < 0.05
    assert 3 < pack(noise, layout, "h5py", ROUGH, tmp_path).value_bytes < 4.1
    assert list(tmp_path.iterdir()) == []


def test_what_netcdf_c_would_fail_on_is_not_written(tmp_path, capfd):
    noise = np.random.default_rng(0).random((64, 64)).astype("f4")
    with pytest.raises(OSError, match="cannot make smaller"):
        pack(noise, Layout("netcdf4", (32, 64), "blosc-lz4"), "h5py", ROUGH, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("land", [-9999.0, np.nan])
def test_a_block_with_more_land_weighs_more(land):
    values = np.random.default_rng(0).random((10, 100, 100))
    values[:, :50] = land
    part = Sample(SourceVariable("v", ("t", "y", "x"), values.shape, "f8"), (), values, True)
    assert part.weight(values[:, 25:75]) == pytest.approx(1.0)
    assert part.weight(values[:, 50:]) == pytest.approx(0.5)
    assert part.weight(values[:, 40:60]) == pytest.approx(1.0)
    assert part.weight(values[:, :50]) == 1.0  # nothing is known of it


def test_a_block_has_chunks_from_all_over():
    values = np.arange(40 * 400, dtype="i4").reshape(40, 400)
    part = Sample(SourceVariable("v", ("y", "x"), values.shape, "i4"), (), values, True)
    block = part.block((10, 10))
    assert block.shape[1] == 10
    assert len({tuple(np.unique(chunk // 400 // 10)) for chunk in block.reshape(-1, 100)}) == 4
    big = np.zeros((4, 2**24), "u1")
    assert Sample(part.variable, (), big, True).block((4, 2**24)).shape == (1, 2**24)
