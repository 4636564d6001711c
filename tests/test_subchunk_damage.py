"""Damaged indexes and data give an error by name, or right values; never wrong ones."""

import os

import pytest
import subchunk_fuzz as fuzz

from hyperslab import subchunk

MUTATIONS = int(os.environ.get("HYPERSLAB_MUTATIONS", "100"))
NAMED = {"right", "CorruptIndexError", "UnknownVersionError", "MemoryLimitError"}


@pytest.fixture(scope="module", params=fuzz.LAYOUTS, ids=str)
def pair(request, tmp_path_factory):
    """A file of two indexed chunks, and its values."""
    path, values = fuzz.make(tmp_path_factory.mktemp("damage"), **request.param)
    assert fuzz.outcome(path, None, values) == "right"
    return path, values


def test_damaged_index(pair, tmp_path):
    found = fuzz.fuzz_index(tmp_path, *pair, MUTATIONS, seed=1)
    assert set(found) <= NAMED and found["CorruptIndexError"] > MUTATIONS / 10


def test_damaged_chunks(pair, tmp_path):
    found = fuzz.fuzz_data(tmp_path, *pair, MUTATIONS, seed=2)
    assert set(found) <= {"right", "CorruptDataError"} and found["CorruptDataError"]


def test_bytes_added_to_an_index_are_noticed(pair, tmp_path):
    path, values = pair
    good = path.with_name(path.name + ".subchunk").read_bytes()
    (tmp_path / "index").write_bytes(good + b"more")
    assert fuzz.outcome(path, tmp_path / "index", values) == "CorruptIndexError"
    with pytest.raises(subchunk.CorruptIndexError, match=r"index: the index has \d+ bytes"):
        subchunk.open(path, tmp_path / "index")
