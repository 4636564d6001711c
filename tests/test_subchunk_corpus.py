"""All kinds of odd files, each held against h5py as tools/corpus.py does it for real ones."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import odd_files
import pytest
import xarray as xr
import zarr

from hyperslab import subchunk
from hyperslab.subchunk.store import SubchunkStore

READABLE = sorted(set(odd_files.KINDS) - odd_files.UNREADABLE)
# Other libraries go round in it until they fall over; test_subchunk_faults.py reads it.
EXAMINED = sorted(set(odd_files.KINDS) - {"cycle_of_groups"})


@pytest.fixture
def odd(tmp_path, request):
    return odd_files.odd_file(tmp_path, request.param)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What the script says of all kinds: its exit code and its lines."""
    folder = tmp_path_factory.mktemp("odd")
    for name in EXAMINED:
        (folder / name).mkdir()
        odd_files.odd_file(folder / name, name)
    script = Path(__file__).parents[1] / "tools/corpus.py"
    done = subprocess.run(
        [sys.executable, script, folder], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines()


def test_what_is_read_is_what_h5py_reads(report):
    code, lines = report
    assert [line for line in lines if ": ours: " in line or ": unnamed: " in line] == []
    assert [line for line in lines if ": death: " in line] == []
    assert lines[-1] == "0 files differ in what is ours to mend" and code == 0


def test_all_kinds_were_examined(report):
    counts = {
        name: int(number.replace(",", ""))
        for number, _, name in (line.strip().partition("  ") for line in report[1][:-1])
        if number.replace(",", "").isdecimal()
    }
    assert counts["files"] >= len(EXAMINED) >= 60
    assert counts["variables"] > 400 and counts["variables read by points"] > 60
    assert counts["selections"] > 2500 and counts["attributes"] > 400
    assert counts["store: arrays"] > 200 and counts["engine: opened"] > 120
    assert counts["left out: it is a link into another file"] == 2


@pytest.mark.parametrize("odd", READABLE, indirect=True)
@pytest.mark.parametrize("indexed", [False, True], ids=["plainly", "indexed"])
@pytest.mark.filterwarnings("ignore:.*left out:UserWarning", "ignore:Duplicate dimension")
def test_the_ordinary_variable_works(odd, indexed):
    if indexed:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of damaged chunks
            subchunk.build(odd)
    with subchunk.open(odd) as file:
        assert np.array_equal(file["good"][4990:5010], odd_files.GOOD[4990:5010])
        assert (file["good"].plain == "") == indexed
        assert repr(file["good"])
    with xr.open_dataset(odd, engine="subchunk", decode_cf=False) as data:
        assert np.array_equal(data["good"].values, odd_files.GOOD)
    store = SubchunkStore(odd)
    assert np.array_equal(zarr.open_group(store, mode="r")["good"][:], odd_files.GOOD)
    store.close()


@pytest.mark.parametrize("odd", sorted(odd_files.UNREADABLE), indirect=True)
def test_a_file_of_which_nothing_can_be_read_is_refused(odd):
    for act in (subchunk.build, lambda path: list(subchunk.open(path)), SubchunkStore):
        with pytest.raises(subchunk.SubchunkError, match=odd.name):
            act(odd)
