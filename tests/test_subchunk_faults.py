"""All kinds of odd files, as h5py reads them; and what once went wrong with one thing in a file."""

import multiprocessing
import os
import sys
import threading
from pathlib import Path

import h5py
import numpy as np
import odd_files
import pytest
import subchunk_files as files
import xarray as xr
import zarr

from hyperslab import subchunk
from hyperslab.subchunk.store import SubchunkStore

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import corpus

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
    with h5py.File(path, "a") as made:
        made["x"].make_scale("x")
        made["n"] = np.arange(5)
    if indexed:
        subchunk.build(path)
    with pytest.warns(UserWarning, match="x is left out"):
        data = xr.open_dataset(path, engine="subchunk", memory_bytes=2**20)
    assert data["n"].values.tolist() == [0, 1, 2, 3, 4]
