"""Whatever a file holds and however it is asked, the values are those h5py reads; all odd files."""

import multiprocessing
import os
import sys
import threading
import tracemalloc
import zlib
from pathlib import Path

import dask.array as da
import h5py
import numpy as np
import odd_files
import pytest
import subchunk_files as files
import xarray as xr
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperslab import subchunk
from hyperslab.subchunk import variable_reader
from hyperslab.subchunk.deflate import inflate
from hyperslab.subchunk.deflate.windows import unpacked
from hyperslab.subchunk.errors import MemoryLimitError
from hyperslab.subchunk.read import decode
from hyperslab.subchunk.read import values as reading
from hyperslab.subchunk.store import SubchunkStore

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import corpus


@files.MANY
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
            values = reader[key]
            expected = files.expected(truth, key)
            assert values.dtype == expected.dtype and values.shape == expected.shape
            assert np.array_equal(values, expected)
    # As a Zarr store, on any grid.
    grid = tuple(data.draw(st.integers(max(1, n // 4), n + 2)) for n in truth.shape)
    array = zarr.open_group(SubchunkStore(path, {"data": grid}), mode="r")["data"]
    assert array.chunks == tuple(min(c, n) for c, n in zip(grid, truth.shape, strict=True))
    assert np.array_equal(array[...], truth)
    key = tuple(slice(*sorted(data.draw(st.integers(0, n)) for _ in "ab")) for n in truth.shape)
    assert np.array_equal(array[key], truth[key])


LENGTH = 1_500_000


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "shuffled"])
def path(request, tmp_path_factory):
    walk = np.random.default_rng(5).integers(-3, 4, LENGTH).cumsum().astype("<i4")
    path = files.write_one(tmp_path_factory.mktemp("x") / "x.h5", walk, shuffle=request.param)
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
        patch.setattr(reading, "_PIECE", 2**15)
        patch.setattr(decode, "_THREADED", 2**15)
        patch.setattr(inflate, "_OUTPUT", taken)
        patch.setattr(decode, "_MANY", many)
        with subchunk.open(path, threads=threads) as file:
            chosen = slice(min(ends), max(ends), step)
            assert np.array_equal(file["x"][chosen], truth["x"][chosen])


MIB = 2**20


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """12 chunks of 1 MiB, indexed, and the values."""
    values = np.random.default_rng(1).integers(0, 9, (12, 512, 512)).astype("f4")
    path = tmp_path_factory.mktemp("memory") / "x.h5"
    files.write_one(path, values, chunks=(1, 512, 512), compression=1)
    with h5py.File(path, "a") as file:
        file.create_dataset("plain", data=values[:2], chunks=(1, 512, 512), compression="lzf")
        file["one"] = 4.5
    subchunk.build(path, spacing=8192)
    return path, values


def test_it_is_an_array(pair):
    path, values = pair
    with subchunk.open(path) as file:
        plain, scalar = file["plain"], file["one"]
        assert (plain.ndim, plain.size, plain.nbytes, len(plain)) == (3, 2**19, 2**21, 2)
        np.testing.assert_array_equal(np.asarray(plain), values[:2])
        assert np.asarray(plain, "i4").dtype == np.int32
        assert da.from_array(plain, chunks=(1, 99, 99))[1].sum().compute() == values[1].sum()
        with pytest.raises(ValueError, match="the values of plain are in a file"):
            np.asarray(plain, copy=False)
        assert (scalar.ndim, scalar.size, float(np.asarray(scalar))) == (0, 1, 4.5)
        with pytest.raises(TypeError, match="one is a scalar"):
            len(scalar)


def most_read(path, key, memory_bytes):
    """What a read gives, and the most memory that it takes."""
    with subchunk.open(path, memory_bytes=memory_bytes) as file:
        file["x"][0, 0]
        tracemalloc.start()
        try:
            return file["x"][key], tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("key", [np.s_[...], np.s_[:, ::70, :], np.s_[:, 5]], ids=str)
def test_a_read_is_cut_into_pieces_that_fit(pair, key):
    path, values = pair
    array, most = most_read(path, key, 4 * MIB)
    assert np.array_equal(array, values[key]) and most - array.nbytes < 5 * MIB


def test_many_small_chunks_are_taken_a_few_at_a_time(tmp_path):
    values = np.arange(2000 * 64, dtype="i4").reshape(2000, 64)
    path = files.write_one(tmp_path / "x.h5", values, chunks=(1, 64))
    subchunk.build(path, spacing=65536)
    array, most = most_read(path, np.s_[:, 3], MIB // 4)
    assert np.array_equal(array, values[:, 3]) and most < MIB


@pytest.mark.parametrize("memory_bytes", [2**19, MIB])
def test_a_chunk_above_the_limit_is_refused_by_name(pair, memory_bytes):
    path, values = pair
    limit = {"memory_bytes": memory_bytes}
    with subchunk.open(path, **limit) as file:
        names = ("x", "plain") if memory_bytes < MIB else ("x",)
        for name in names:
            with pytest.raises(
                MemoryLimitError, match=rf"chunk of {name} needs [\d,]+ bytes.*give"
            ):
                file[name][0]
        assert np.array_equal(file["x"][:, 3, 4], values[:, 3, 4]), "inside of chunks it fits"
    with xr.open_dataset(path, engine="subchunk", **limit) as data:
        with pytest.raises(MemoryLimitError):
            data["x"][0].load()
        assert float(data["x"][0, 0, 0]) < 9
    with pytest.raises(MemoryLimitError):
        zarr.open_group(SubchunkStore(path, **limit), mode="r")["x"][0]
    with pytest.raises(ValueError, match="memory_bytes is 0: give a number of bytes"):
        subchunk.open(path, memory_bytes=0)


def test_plain_reads_pick_what_is_wanted_from_large_boxes(pair, monkeypatch):
    path, values = pair
    monkeypatch.setattr(variable_reader, "_LARGE", 1000)
    rows, truth = [500, 3, 3, 77], values[:2]
    with subchunk.open(path) as file:
        plain = file["plain"]
        for key in (np.s_[:, ::100, 3], np.s_[:, 500:0:-90], np.s_[1, 5:300:2], np.s_[:, :0]):
            assert np.array_equal(plain[key], truth[key])
        assert np.array_equal(plain[:, rows, 1:3], truth[:, rows, 1:3])
        assert np.array_equal(plain[:, rows[:2], [2, 500]], truth[:, rows[:2]][:, :, [2, 500]])


def test_a_window_that_was_made_up_to_fill_the_memory_is_refused():
    bomb = zlib.compressobj(1, zlib.DEFLATED, -15)
    packed = bomb.compress(bytes(2**24)) + bomb.flush()
    with pytest.raises(subchunk.CorruptIndexError, match=r"damaged: it has \d+ bytes"):
        unpacked(packed)


SELECTIONS = int(os.environ.get("HYPERSLAB_SELECTIONS", "2"))  # random ones of each variable
LEFT_OUT = pytest.mark.filterwarnings("ignore:.*left out:UserWarning")


@pytest.fixture
def odd(tmp_path, request):
    return odd_files.odd_file(tmp_path, request.param)


def of(*names):
    """Files of some kinds."""
    return pytest.mark.parametrize("odd", names, indirect=True)


# Other libraries go round in a cycle until they fall over; it is read below.
@of(*sorted(set(odd_files.KINDS) - {"cycle_of_groups"}))
@pytest.mark.filterwarnings("ignore")
def test_all_that_is_read_is_what_h5py_reads(odd, tmp_path):
    """Without an index, with one, by xarray's engine (as by h5netcdf), and as a Zarr store."""
    notes = []
    corpus.examine(str(odd), tmp_path / "made.subchunk", 1, SELECTIONS, notes.append)
    assert [note[1] for note in notes if note[0] == "line"] == []


ODD = {
    "soft_links": {"loop": "too many links", "dangling": "cannot be followed"},
    "names_that_are_no_utf8": {"deg\\xe9": "no UTF-8", "gr\\xfc": "no UTF-8"},
    "types_that_numpy_lacks": dict.fromkeys(("quad", "time"), "numpy has no type"),
    "cycle_of_groups": {"a/b/back": "leads back to /a", "a/top": "leads back"},
}


STORED = {
    "unlimited_dimensions": "",
    "numbers_stored_in_another_way": "stored in another way",
    "unfiltered_edges": "may have left partial ones unfiltered",
}


@of(*STORED)
def test_what_is_stored_otherwise_than_hdf5_says_is_read_plainly(odd):
    subchunk.build(odd)
    with subchunk.open(odd) as file:
        for name in set(file) - {"good"}:
            why, plain = STORED[odd.stem], file[name].plain
            assert why in plain if why else not plain, name
        assert not file["good"].plain


@LEFT_OUT
@of(*ODD)
def test_what_is_odd_is_left_out_by_name(odd):
    for _ in range(2):
        with subchunk.open(odd) as file:
            for name, why in ODD[odd.stem].items():
                assert why in file.left_out[name]
                with pytest.raises(subchunk.UnreadableError, match="cannot be read"):
                    file[name]
        assert xr.open_dataset(odd, engine="subchunk").good[4] == 4
        assert zarr.open_group(SubchunkStore(odd), mode="r")["good"][4] == 4
        subchunk.build(odd)


@of("groups_of_two_names")
def test_groups_come_under_each_of_their_names(odd):
    for _ in range(2):
        assert {*xr.open_groups(odd, engine="subchunk")} == {*xr.open_groups(odd, engine="netcdf4")}
        with subchunk.open(odd) as file:
            assert file["soft/deep/y"][...].tolist() == [0, 1, 2, 3]
            assert file["again"].plain == file["good"].plain
        subchunk.build(odd)


@of("records_arrays_and_lists")
def test_what_zarr_has_no_type_for_is_left_out_of_a_store(odd):
    assert "Zarr has no type for" in SubchunkStore(odd).left_out["c"]


@of("missing_filter")
def test_a_missing_filter_is_named_with_what_installs_it(odd):
    for _ in range(2):
        with subchunk.open(odd) as file:
            assert file["bitshuffled"].shape == (10,)
            with pytest.raises(subchunk.UnreadableError, match=r"32008 \(bitshuffle\).*hdf5plugin"):
                file["bitshuffled"][...]
            with pytest.raises(subchunk.UnreadableError, match="filter 32100"):
                file["unknown"][...]
        with pytest.warns(UserWarning, match="bitshuffled is left out.*hdf5plugin"):
            assert set(xr.open_dataset(odd, engine="subchunk")) == {"good"}
        subchunk.build(odd)


@of("text_that_is_no_utf8")
def test_a_text_that_is_no_utf8_can_be_had(odd):
    with subchunk.open(odd) as file:
        assert file["text"][...].tolist() == [b"deg\xe9", b"ok"]
    texts = xr.open_dataset(odd, engine="subchunk").text.values
    assert [text.encode(errors="surrogateescape") for text in texts] == [b"deg\xe9", b"ok"]
    with pytest.raises(subchunk.UnreadableError, match="text has texts that are no UTF-8"):
        zarr.open_group(SubchunkStore(odd), mode="r")["text"][...]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # of forks with threads
def test_a_fork_reads_while_a_thread_of_the_parent_was_reading(tmp_path):
    values = np.random.default_rng(1).random(400_000)
    file = subchunk.open(files.write_one(tmp_path / "x.h5", values))
    stop, codes, fork = threading.Event(), [], multiprocessing.get_context("fork")

    def read():
        while not stop.is_set():
            _ = file["x"][5]

    def once():
        sys.exit(int(file["x"][7] != values[7]))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for _ in range(8):
            child = fork.Process(target=once, daemon=True)
            child.start()
            child.join(20)
            codes.append(child.exitcode)
    finally:
        stop.set()
        thread.join()
    assert codes == [0] * 8


@pytest.mark.parametrize("indexed", [False, True])
def test_a_coordinate_that_takes_too_much_memory_is_left_out(tmp_path, indexed):
    path = files.write_one(tmp_path / "x.h5", np.random.default_rng(0).random(400_000))
    with h5py.File(path, "a") as file:
        file["x"].make_scale("x")
        file["n"] = np.arange(5)
    if indexed:
        subchunk.build(path)
    with pytest.warns(UserWarning, match="x is left out"):
        data = xr.open_dataset(path, engine="subchunk", memory_bytes=2**20)
    assert data["n"].values.tolist() == [0, 1, 2, 3, 4]
