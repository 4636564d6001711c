"""What an interrupted run leaves behind is taken over whole, or not at all."""

import json

import pytest

from hyperslab.measure.journal import Journal


def test_half_a_line_is_cut_off(tmp_path):
    path = tmp_path / "j"
    journal = Journal(path, {"v": 1}, "first")
    journal.add("e", "p", 0, [{"x": 1.0}])
    journal.add("e", "p", 1, [{"x": 2.0}])
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    journal = Journal(path, {"v": 1}, "second")
    assert journal.run_id == "first"
    assert journal.blocks("e", "p") == {0: [{"x": 1.0}]}
    journal.add("e", "p", 1, [{"x": 2.0}])
    assert path.read_bytes() == whole


@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_any_cut_leaves_a_usable_journal(tmp_path, cut):
    path = tmp_path / "j"
    journal = Journal(path, {"v": 1}, "first")
    for block in range(3):
        journal.add("e", "p", block, [{"x": float(block)}])
    path.write_bytes(path.read_bytes()[:cut])
    journal = Journal(path, {"v": 1}, "second")
    found = journal.blocks("e", "p")
    assert all(rows == [{"x": float(block)}] for block, rows in found.items())
    journal.add("e", "p", 7, [])
    assert [json.loads(line) for line in path.read_text().splitlines()]


def test_other_machine_or_version_starts_anew(tmp_path):
    path = tmp_path / "j"
    journal = Journal(path, {"cpu": "a"}, "first")
    journal.add("e", "p", 0, [{"x": 1.0}])
    journal = Journal(path, {"cpu": "b"}, "second")
    assert (journal.run_id, journal.resumed) == ("second", 0)


def test_missing_numbers_survive(tmp_path):
    path = tmp_path / "j"
    journal = Journal(path, {}, "r")
    journal.add("e", "p", 0, [{"x": float("nan")}])
    journal = Journal(path, {}, "r")
    value = journal.blocks("e", "p")[0][0]["x"]
    assert value != value
