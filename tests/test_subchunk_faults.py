"""All kinds of odd files, as h5py reads them; and what once went wrong with one thing in a file."""

import os
import pickle
import signal
import sys
import threading
from pathlib import Path

import h5py
import numpy as np
import odd_files
import pytest
import xarray as xr
import zarr
from odd_files import odd_file

from hyperslab import subchunk
from hyperslab.subchunk.store import SubchunkStore

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import corpus

SELECTIONS = int(os.environ.get("HYPERSLAB_SELECTIONS", "2"))  # random ones of each variable


@pytest.fixture
def odd(tmp_path, request):
    return odd_file(tmp_path, request.param)


def of(*names):
    """Files of some kinds."""
    return pytest.mark.parametrize("odd", names, indirect=True)


# Other libraries go round in a cycle until they fall over; it is read below.
@of(*sorted(set(odd_files.KINDS) - {"cycle_of_groups"}))
@pytest.mark.filterwarnings("ignore")
def test_all_that_is_read_is_what_h5py_reads(odd, tmp_path):
    """Without an index, with one, by xarray's engine, and as a Zarr store."""
    notes = []
    corpus.examine(str(odd), tmp_path / "made.subchunk", 1, SELECTIONS, notes.append)
    lines = [note[1] for note in notes if note[0] == "line"]
    assert [line for line in lines if line.startswith(corpus.OURS)] == []


@of("unlimited_dimensions", "numbers_stored_in_another_way", "unfiltered_edges")
def test_what_is_stored_otherwise_than_hdf5_says_is_read_plainly(odd):
    why = {
        "unlimited_dimensions": "",
        "numbers_stored_in_another_way": "stored in another way",
        "unfiltered_edges": "may have left partial ones unfiltered",
    }[odd.stem]
    subchunk.build(odd)
    with subchunk.open(odd) as file:
        for name in set(file) - {"good"}:
            assert why in file[name].plain if why else not file[name].plain, name
        assert not file["good"].plain


@pytest.mark.parametrize("odd", sorted(odd_files.UNREADABLE), indirect=True)
def test_a_file_of_which_nothing_can_be_read_is_refused(odd):
    for act in (subchunk.build, lambda path: list(subchunk.open(path)), SubchunkStore):
        with pytest.raises(subchunk.SubchunkError, match=odd.name):
            act(odd)


LEFT_OUT = pytest.mark.filterwarnings("ignore:.*left out:UserWarning")


def zarr_group(path):
    return zarr.open_group(SubchunkStore(path), mode="r")


def test_a_fork_reads_while_a_thread_of_the_parent_was_reading(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as made:
        values = np.random.default_rng(1).random(400_000)
        made.create_dataset("a", data=values, chunks=(400_000,), compression=4)
    file, stop, codes = subchunk.open(tmp_path / "x.h5"), threading.Event(), []

    def read():
        while not stop.is_set():
            _ = file["a"][5]

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for _ in range(8):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("warnings.warn", lambda *_, **__: None)  # of forks with threads
                child = os.fork()
            if not child:
                signal.alarm(20)
                try:
                    os._exit(int(file["a"][7] != values[7]))
                finally:
                    os._exit(1)
            codes.append(os.waitpid(child, 0)[1])
    finally:
        stop.set()
        thread.join()
    assert codes == [0] * 8


@LEFT_OUT
@of("soft_links", "names_that_are_no_utf8", "types_that_numpy_lacks")
def test_one_odd_link_name_or_type_is_left_out_by_name(odd):
    why = {
        "soft_links": {"loop": "too many links", "dangling": "cannot be followed"},
        "names_that_are_no_utf8": {"deg\\xe9": "no UTF-8", "gr\\xfc": "no UTF-8"},
        "types_that_numpy_lacks": dict.fromkeys(("quad", "time"), "numpy has no type"),
    }[odd.stem]
    for _ in range(2):
        with subchunk.open(odd) as file:
            assert all(part in file.left_out[name] for name, part in why.items())
            assert file["good"][4] == 4
            for name in why:
                with pytest.raises(subchunk.UnreadableError, match="cannot be read"):
                    file[name]
        assert xr.open_dataset(odd, engine="subchunk").good[4] == 4
        assert zarr_group(odd)["good"][4] == 4
        subchunk.build(odd)


@pytest.mark.parametrize("indexed", [False, True])
def test_values_of_two_files_are_never_mixed(tmp_path, indexed):
    def write(value):
        with h5py.File(tmp_path / "new.h5", "w") as file:
            file["plain"] = np.full(20_000, value)
            file.create_dataset("z", data=np.full(20_000, value), chunks=(5000,), compression=4)
        (tmp_path / "new.h5").replace(tmp_path / "x.h5")

    write(1.0)
    if indexed:
        subchunk.build(tmp_path / "x.h5")
    with subchunk.open(tmp_path / "x.h5") as file:
        assert file["z"][0] == 1.0
        write(2.0)
        for name in ("plain", "z"):
            with pytest.raises(subchunk.StaleIndexError, match="replaced"):
                file[name][1]
    if indexed:
        with pytest.raises(subchunk.StaleIndexError):
            subchunk.open(tmp_path / "x.h5")


def test_a_pickle_knows_which_file_was_open(tmp_path):
    for value in (1.0, 2.0):
        with h5py.File(tmp_path / "x.h5", "w") as made:
            made["plain"] = np.full(2000 + int(value), value)
        if value == 1:
            with subchunk.open(tmp_path / "x.h5") as file:
                kept = pickle.dumps(file)
            with pickle.loads(kept) as again:
                assert again["plain"][5] == 1
    with pytest.raises(subchunk.StaleIndexError, match="not the file that was open"):
        pickle.loads(kept)


@pytest.mark.parametrize("indexed", [False, True])
def test_a_coordinate_that_takes_too_much_memory_is_left_out(tmp_path, indexed):
    with h5py.File(tmp_path / "x.h5", "w") as made:
        values = np.random.default_rng(0).random(400_000)
        made.create_dataset("t", data=values, chunks=(400_000,), compression=4)
        made["t"].make_scale("t")
        made["n"] = np.arange(5)
    if indexed:
        subchunk.build(tmp_path / "x.h5")
    with pytest.warns(UserWarning, match="t is left out"):
        data = xr.open_dataset(tmp_path / "x.h5", engine="subchunk", memory_bytes=2**20)
    assert data["n"].values.tolist() == [0, 1, 2, 3, 4]


@of("groups_of_two_names")
def test_groups_come_under_each_of_their_names(odd):
    for _ in range(2):
        groups = xr.open_groups(odd, engine="subchunk")
        assert set(groups) == set(xr.open_groups(odd, engine="netcdf4"))
        assert {"/g", "/hard", "/soft", "/soft/deep"} < set(groups)
        with subchunk.open(odd) as file:
            assert file["soft/deep/y"][...].tolist() == [0, 1, 2, 3]
        subchunk.build(odd)


@LEFT_OUT
@of("cycle_of_groups")
def test_a_cycle_of_groups_ends(odd):
    with subchunk.open(odd) as file:
        assert "leads back to /a" in file.left_out["a/b/back"]
        assert "leads back" in file.left_out["a/top"]
        assert file["a/b/x"].shape == (3,)


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
        zarr_group(odd)["text"][...]
