"""Whatever a file holds and however it is asked, the values are those h5py reads."""

import os
import tracemalloc
import zlib

import dask.array as da
import h5py
import numpy as np
import pytest
import subchunk_files as files
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperslab import subchunk
from hyperslab.subchunk import variable
from hyperslab.subchunk.deflate import inflate
from hyperslab.subchunk.deflate.windows import unpacked
from hyperslab.subchunk.engine import SubchunkEntrypoint
from hyperslab.subchunk.errors import MemoryLimitError
from hyperslab.subchunk.read import decode
from hyperslab.subchunk.read import values as reading
from hyperslab.subchunk.store import SubchunkStore

SLOW = settings(
    max_examples=int(os.environ.get("HYPERSLAB_EXAMPLES", "25")),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@SLOW
@given(data=st.data(), layout=files.layouts(), spacing=st.sampled_from([1024, 2000, 65536]))
def test_every_layout_and_selection(tmp_path, data, layout, spacing):
    path = tmp_path / "file.h5"
    truth = files.write(path, layout)
    subchunk.build(path, spacing=spacing, threads=1)
    with subchunk.open(path) as file:
        reader = file["data"]
        assert (reader.shape, reader.dtype) == (truth.shape, truth.dtype)
        assert not reader.plain
        for _ in range(5):
            key = data.draw(files.keys(truth.shape))
            found = reader[key]
            wanted = files.expected(truth, key)
            assert found.dtype == wanted.dtype and found.shape == wanted.shape
            assert np.array_equal(found, wanted)


LENGTH = 1_500_000


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "shuffled"])
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("decode") / "x.h5"
    walk = np.random.default_rng(5).integers(-3, 4, LENGTH).cumsum().astype("<i4")
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=walk, chunks=(LENGTH,), compression=4, shuffle=request.param)
    subchunk.build(path, budget=0.05)
    return path


@given(
    ends=st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)),
    step=st.sampled_from([1, 1, 7, 1000]),
    threads=st.integers(1, 5),
    taken=st.sampled_from([900, 2**18]),
    many=st.sampled_from([2, 64]),
)
@settings(max_examples=12)
def test_values_are_the_same_in_many_parts(path, ends, step, threads, taken, many):
    with pytest.MonkeyPatch.context() as patch, h5py.File(path) as truth:
        patch.setattr(reading, "_PART", 2**15)
        patch.setattr(decode, "_THREADED", 2**15)
        patch.setattr(inflate, "_OUTPUT", taken)
        patch.setattr(decode, "_MANY", many)
        with subchunk.open(path, threads=threads) as file:
            chosen = slice(min(ends), max(ends), step)
            assert np.array_equal(file["x"][chosen], truth["x"][chosen])


VALUES = np.arange(30_000.0).reshape(30, 1000)


@pytest.fixture(scope="module")
def variables(tmp_path_factory):
    path = tmp_path_factory.mktemp("variable") / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("v", data=VALUES, chunks=(10, 1000), compression=4)
        file["one"] = 4.5
    subchunk.build(path)
    with subchunk.open(path) as file:
        yield file


def test_it_is_an_array(variables):
    found = variables["v"]
    assert (found.ndim, found.size, found.nbytes, len(found)) == (2, 30_000, 240_000, 30)
    np.testing.assert_array_equal(np.asarray(found), VALUES)
    assert np.asarray(found, "f4").dtype == np.float32
    assert da.from_array(found, chunks=(7, 100))[3:9].sum().compute() == VALUES[3:9].sum()
    with pytest.raises(ValueError, match="the values of v are in a file"):
        np.asarray(found, copy=False)
    assert (variables["one"].ndim, variables["one"].size) == (0, 1)
    assert float(np.asarray(variables["one"])) == 4.5
    with pytest.raises(TypeError, match="one is a scalar"):
        len(variables["one"])


MIB = 2**20


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """12 chunks of 1 MiB, indexed, and the values."""
    path = tmp_path_factory.mktemp("memory") / "x.h5"
    rng = np.random.default_rng(1)
    values = rng.integers(0, 9, (12, 512, 512)).astype("f4")
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=(1, 512, 512), compression=1)
        file.create_dataset("plain", data=values[:2], chunks=(1, 512, 512), compression="lzf")
    subchunk.build(path, spacing=8192)
    return path, values


@pytest.mark.parametrize("key", [np.s_[...], np.s_[:, ::70, :], np.s_[:, 5]], ids=str)
def test_a_read_is_cut_into_pieces_that_fit(made, key):
    path, values = made
    with subchunk.open(path, memory_bytes=4 * MIB) as file:
        file["x"][0, 0]
        tracemalloc.start()
        try:
            found = file["x"][key]
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert np.array_equal(found, values[key])
    assert most - found.nbytes < 5 * MIB


def test_many_small_chunks_are_taken_a_few_at_a_time(tmp_path):
    values = np.arange(2000 * 64, dtype="i4").reshape(2000, 64)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(1, 64), compression=1)
    subchunk.build(tmp_path / "x.h5", spacing=65536)
    with subchunk.open(tmp_path / "x.h5", memory_bytes=MIB // 4) as file:
        file["x"][0, 0]
        tracemalloc.start()
        try:
            found = file["x"][:, 3]
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert np.array_equal(found, values[:, 3])
    assert most < MIB


def test_a_chunk_above_the_limit_is_refused_by_name(made):
    path, values = made
    for memory_bytes in (2**19, MIB):
        with subchunk.open(path, memory_bytes=memory_bytes) as file:
            with pytest.raises(MemoryLimitError, match=r"a chunk of x needs [\d,]+ bytes.*give"):
                file["x"][0]
            assert np.array_equal(file["x"][:, 3, 4], values[:, 3, 4]), "inside of chunks it fits"
    with (
        subchunk.open(path, memory_bytes=2**19) as file,
        pytest.raises(MemoryLimitError, match="a chunk of plain needs"),
    ):
        file["plain"][0, 0]


def test_the_limit_can_be_set_wherever_a_file_is_opened(made):
    path, _ = made
    with xr.open_dataset(path, engine=SubchunkEntrypoint, memory_bytes=2**19) as data:
        with pytest.raises(MemoryLimitError):
            data["x"][0].load()
        assert float(data["x"][0, 0, 0]) < 9
    with pytest.raises(MemoryLimitError):
        SubchunkStore(path, memory_bytes=2**19)._arrays["x"].read((0, 0, 0))
    with pytest.raises(ValueError, match="memory_bytes is 0: give a number of bytes"):
        subchunk.open(path, memory_bytes=0)


def test_plain_reads_pick_what_is_wanted_from_large_boxes(made, monkeypatch):
    path, values = made
    monkeypatch.setattr(variable, "_LARGE", 1000)
    with h5py.File(path) as truth, subchunk.open(path) as file:
        for key in (np.s_[:, ::100, 3], np.s_[:, 500:0:-90], np.s_[1, 5:300:2], np.s_[:, :0]):
            assert np.array_equal(file["plain"][key], truth["plain"][...][key])
        rows = [500, 3, 3, 77]
        assert np.array_equal(file["plain"][:, rows, 1:3], values[:2, rows, 1:3])
        both = file["plain"][:, [1, 400], [2, 500]]
        assert np.array_equal(both, values[:2, [1, 400]][:, :, [2, 500]])


def test_a_window_that_was_made_up_to_fill_the_memory_is_refused():
    bomb = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = bomb.compress(bytes(2**27)) + bomb.flush()
    with pytest.raises(subchunk.CorruptIndexError, match=r"damaged: it has \d+ bytes"):
        unpacked(packed)
