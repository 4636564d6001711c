"""What an interrupted run leaves behind is taken over whole, or not at all."""

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


def test_any_cut_leaves_a_usable_journal(tmp_path):
    path = tmp_path / "j"
    journal = Journal(path, {"v": 1}, "first")
    for block in range(3):
        journal.add("e", "p", block, [{"x": float(block)}])
    whole = path.read_bytes()
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]  # a line without its end
    for cut in (*range(0, len(whole), 29), *ends, *(end + 1 for end in ends)):
        path.write_bytes(whole[:cut])
        Journal(path, {"v": 1}, "second").add("e", "p", 7, [])
        found = Journal(path, {"v": 1}, "third").blocks("e", "p")
        assert found.pop(7) == []
        assert found == {block: [{"x": float(block)}] for block in range(len(found))}
        assert len(found) >= max(0, whole[:cut].count(b"\n") - 1)


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
