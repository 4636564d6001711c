"""What an interrupted run leaves behind is taken over whole, or not at all."""

from hyperslab.measure.journal import Journal


def test_any_cut_and_a_damaged_line_leave_a_usable_journal(tmp_path):
    path = tmp_path / "j"
    journal = Journal(path, {"v": 1}, "first")
    for block in range(3):
        journal.add("e", "p", block, [{"x": float(block)}])
    whole = path.read_bytes()
    ends = [at for at, byte in enumerate(whole) if byte == ord("\n")]  # a line without its end
    cuts = [whole[:cut] for cut in (*range(0, len(whole), 29), *ends, *(end + 1 for end in ends))]
    lines = whole.splitlines(keepends=True)
    damaged = b"".join([*lines[:2], lines[2][:9] + lines[3], lines[3]])
    for left in (*cuts, damaged):
        path.write_bytes(left)
        Journal(path, {"v": 1}, "second").add("e", "p", 7, [])
        found = Journal(path, {"v": 1}, "third").blocks("e", "p")
        assert found.pop(7) == []
        assert found == {block: [{"x": float(block)}] for block in range(len(found))}
        assert len(found) >= (1 if left == damaged else max(0, left.count(b"\n") - 1))


def test_missing_numbers_survive_and_another_machine_starts_anew(tmp_path):
    path = tmp_path / "j"
    Journal(path, {"cpu": "a"}, "first").add("e", "p", 0, [{"x": float("nan")}])
    value = Journal(path, {"cpu": "a"}, "second").blocks("e", "p")[0][0]["x"]
    assert value != value
    journal = Journal(path, {"cpu": "b"}, "third")
    assert (journal.run_id, journal.resumed) == ("third", 0)
