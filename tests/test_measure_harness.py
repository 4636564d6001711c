"""Blocks are shuffled and interleaved, samples fresh, checked, and kept as they finish."""

import gc
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from samples import (
    Append,
    Below,
    Call,
    FailWhile,
    Is,
    LogProcess,
    ReadFile,
    ReadInTurns,
    Spin,
    WriteFile,
    die,
    gone,
    process_id,
    raise_error,
    resident_mib,
    sleep_long,
)

from hyperslab.measure.case import Case, Stopwatch
from hyperslab.measure.harness import MIN_SAMPLES, Plan, measure, require_space
from hyperslab.measure.journal import Journal
from hyperslab.measure.lock import BusyError, measuring
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job, perform

linux = pytest.mark.skipif(sys.platform != "linux", reason="counted on Linux only")


@pytest.fixture
def journal(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl", {"seed": 0}, "run")
    return journal


def test_every_block_holds_every_case_and_the_pair(tmp_path, journal):
    log = tmp_path / "log"
    cases = [Case(x, Append(log, x), aa=x == "a") for x in "abcd"]
    rows = measure("e", cases, Plan(blocks=6), journal)
    blocks = [log.read_text()[i : i + 5] for i in range(0, 30, 5)]
    assert all(sorted(block) == list("aabcd") for block in blocks)
    assert len(set(blocks)) > 1, "the order is the same in every block"
    assert Counter(row["aa"] for row in rows) == {"": 18, "A": 6, "B": 6}


def test_more_pairs_are_more_samples_of_the_same_case(tmp_path, journal):
    log = tmp_path / "log"
    cases = [Case(x, Append(log, x), aa=x == "a") for x in "ab"]
    rows = measure("e", cases, Plan(blocks=2, aa_pairs=3), journal)
    assert Counter(row["aa"] for row in rows) == dict.fromkeys(
        ("", "A", "B", "A2", "B2", "A3", "B3"), 2
    )


def test_a_case_may_be_left_out_of_later_blocks(tmp_path, journal):
    log = tmp_path / "log"
    cases = [Case("a", Append(log, "a"), aa=True), Case("b", Append(log, "b"), most_blocks=2)]
    rows = measure("e", cases, Plan(blocks=3), journal)
    assert [row["block"] for row in rows if row["case"] == "b"] == [0, 1]
    assert log.read_text().count("a") == 6 and log.read_text().count("b") == 2


def test_seed_decides_the_order(tmp_path):
    def order(seed, name):
        log = tmp_path / name
        cases = [Case(x, Append(log, x), aa=x == "a") for x in "abcdef"]
        journal = Journal(tmp_path / f"{name}.jsonl", {}, "run")
        measure("e", cases, Plan(blocks=2, seed=seed), journal)
        return log.read_text()

    assert order(1, "one") == order(1, "again") != order(2, "two")


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_each_sample_has_a_process_of_its_own(tmp_path, journal, start):
    log = tmp_path / "pids"
    case = Case("a", LogProcess(log), start=start, aa=True)
    measure("e", [case], Plan(blocks=2), journal)
    pids = log.read_text().split()
    assert len(pids) == len(set(pids)) == 4
    assert str(os.getpid()) not in pids


def test_a_program_over_its_time_is_ended(tmp_path, journal):
    code = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
    words = (sys.executable, "-c", code + "time.sleep(60)")
    case = Case("slow", words, start="command", aa=True)
    measure("e", [case], Plan(blocks=1, timeout_s=1.5), journal)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_wrong_values_spoil_a_sample(tmp_path, journal):
    path = tmp_path / "data"
    path.write_bytes(b"abc")
    cases = [
        Case("right", ReadFile(path), check=Is(b"abc"), aa=True),
        Case("wrong", ReadFile(path), check=Is(b"abd")),
    ]
    rows = measure("e", cases, Plan(blocks=2), journal)
    assert {(row["case"], row["verified"]) for row in rows} == {("right", True), ("wrong", False)}
    assert all("differs from the truth" in row["status"] for row in rows if row["case"] == "wrong")


@pytest.mark.parametrize(
    ("function", "said"),
    [(raise_error, "OSError: the disk is on fire"), (die, "signal SIGKILL")],
)
def test_lost_sample_says_why_and_the_run_goes_on(journal, function, said):
    cases = [Case("bad", Call(function)), Case("good", Call(process_id), aa=True)]
    rows = measure("e", cases, Plan(blocks=2), journal)
    assert [said in row["status"] for row in rows if row["case"] == "bad"] == [True, True]
    assert sum(row["status"] == "ok" for row in rows) == 4


def test_sample_over_its_time_is_ended(journal):
    case = Case("slow", Call(sleep_long), aa=True)
    rows = measure("e", [case], Plan(blocks=1, timeout_s=0.3), journal)
    assert {row["status"] for row in rows} == {"the process was stopped after 0.3 s"}


def test_slow_case_stops_at_its_share_of_time(journal):
    cases = [Case("slow", Spin(0.3)), Case("quick", Spin(0.0), aa=True)]
    rows = measure("e", cases, Plan(blocks=8, cell_s=0.8), journal)
    taken = Counter((row["case"], row["aa"]) for row in rows)
    assert taken == {("slow", ""): MIN_SAMPLES, ("quick", "A"): 8, ("quick", "B"): 8}


def test_finished_blocks_are_not_measured_again(tmp_path):
    log = tmp_path / "log"
    cases = [Case("a", Append(log, "a"), aa=True)]
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, {}, "first")
    measure("e", cases, Plan(blocks=2), journal)
    journal = Journal(path, {}, "second")
    rows = measure("e", cases, Plan(blocks=5), journal)
    assert journal.run_id == "first"
    assert log.read_text() == "a" * 10  # five blocks of a pair, none of them twice
    assert {row["block"] for row in rows} == set(range(5))


def test_other_cases_are_measured_anew(tmp_path):
    log = tmp_path / "log"
    path = tmp_path / "journal.jsonl"
    for letter in "ab":
        journal = Journal(path, {}, "run")
        measure("e", [Case(letter, Append(log, letter), aa=True)], Plan(blocks=1), journal)
    assert log.read_text() == "aabb"


def test_a_plan_that_was_changed_is_measured_anew(tmp_path, journal):
    log = tmp_path / "log"
    cases = [Case("a", Append(log, "a"), aa=True)]
    changes = ({}, {"seed": 1}, {"cell_s": 9.0}, {"drop_caches": True}, {"retakes": 1})
    with Processes() as processes:
        for number, change in enumerate(changes):
            measure("e", cases, Plan(blocks=1, **change), journal, processes=processes)
            assert len(log.read_text()) >= 2 * (number + 1), change
        before = log.read_text()
        measure("e", cases, Plan(blocks=1), journal, processes=processes)
    assert log.read_text() == before


@linux
def test_counts_are_the_cases_own(tmp_path, journal):
    path = tmp_path / "data"
    path.write_bytes(b"z" * 1_000_000)
    case = Case(
        "a", ReadFile(path), check=Is(b"z" * 1_000_000), files=[path], cache_state="cold", aa=True
    )
    rows = measure("e", [case], Plan(blocks=2), journal)
    reads = [row for row in rows if row["phase"] == "read"]
    # FileIO.read asks once more to see the end
    assert {row["rchar"] for row in reads} == {1_000_000}
    assert {row["syscr"] for row in reads} == {2}
    assert all(row["resident_before"] == 0 for row in reads)
    assert all(row["read_bytes"] >= 1_000_000 for row in reads)
    assert all(0 < row["overhead_s"] < 1e-3 for row in rows)


@linux
def test_a_phase_in_pieces_is_one_row_and_counts_them_all(tmp_path, journal):
    for name in "ab":
        (tmp_path / name).write_bytes(b"x" * 400)
    task = ReadInTurns(tmp_path / "a", tmp_path / "b", 4)
    rows = measure("e", [Case("turns", task, aa=True)], Plan(blocks=1), journal)[:2]
    assert [row["phase"] for row in rows] == ["first", "second"]
    assert [row["syscr"] for row in rows] == [4, 4]
    assert [row["rchar"] for row in rows] == [4, 12]
    assert rows[0]["useful_bytes"] == 4 and "useful_bytes" not in rows[1]


def test_a_phase_in_pieces_costs_the_clock_once_a_piece():
    watch = Stopwatch()
    for _ in range(3):
        with watch.lap("pieces"):
            pass
    with watch("whole"):
        pass
    pieces, whole = (float(row["overhead_s"]) for row in watch.rows())
    assert pieces == 3 * whole > 0


def test_nothing_is_collected_while_a_sample_runs():
    assert perform(Job(Case("a", Call(gc.isenabled), check=Is(False)))).status == "ok"
    assert gc.isenabled()


@linux
def test_only_warm_reads_pay_for_the_filler_of_the_cache(tmp_path, journal):
    """It is as large as the processor's last cache, and would count as a sample's memory."""
    (tmp_path / "a").write_bytes(b"x")
    cases = [
        Case("size", Call(resident_mib), check=Below(100), cache_state=state, aa=True)
        for state in ("", "cold")
    ]
    rows = measure("e", cases, Plan(blocks=1), journal)
    assert {row["status"] for row in rows} == {"ok"}


@linux
def test_warm_reads_fetch_nothing(tmp_path, journal):
    path = tmp_path / "data"
    path.write_bytes(b"z" * 1_000_000)
    case = Case("a", ReadFile(path), files=[path], cache_state="warm", aa=True)
    rows = measure("e", [case], Plan(blocks=2), journal)
    assert {row["read_bytes"] for row in rows} == {0}
    assert {row["resident_before"] for row in rows} == {1}


@linux
def test_other_programs_are_noticed(journal):
    busy = "import time\nend=time.time()+20\nwhile time.time()<end: pass"
    burners = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(4)]
    try:
        time.sleep(0.2)
        rows = measure("e", [Case("a", Spin(0.3), aa=True)], Plan(blocks=2), journal)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    assert min(row["others_cpu"] for row in rows) > 0.3


def test_columns_noted_by_the_case_are_kept(tmp_path, journal):
    case = Case("a", WriteFile(tmp_path / "out", b"123"), columns={"format": "binary"}, aa=True)
    row = measure("e", [case], Plan(blocks=1), journal)[0]
    assert (row["useful_bytes"], row["file_bytes"], row["format"]) == (3, 3, "binary")


def test_a_state_without_a_pair_is_refused(journal):
    with pytest.raises(ValueError, match=r"no A/A pair.*cold"):
        measure("e", [Case("a", Spin(0.0), cache_state="cold")], Plan(), journal)


def test_names_must_differ(journal):
    with pytest.raises(ValueError, match="named twice: a"):
        measure("e", [Case("a", Spin(0.0), aa=True)] * 2, Plan(), journal)


def test_room_on_the_disk_is_checked_first(tmp_path, journal):
    with pytest.raises(OSError, match="MiB are needed"):
        measure(
            "e",
            [Case("a", Spin(0.0), aa=True)],
            Plan(),
            journal,
            scratch=tmp_path,
            scratch_bytes=2**60,
        )
    require_space(tmp_path, 1)


def test_two_runs_refuse_each_other(tmp_path):
    lock = tmp_path / "lock"
    code = (
        "import sys, time, pathlib\n"
        "from hyperslab.measure.lock import measuring\n"
        "with measuring(pathlib.Path(sys.argv[1])):\n"
        "    print('held', flush=True); time.sleep(30)\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match=f"process {other.pid} is measuring"), measuring(lock):
            pass
    finally:
        other.kill()
        other.communicate()
    with measuring(lock):  # a killed holder holds nothing
        pass


def test_a_block_in_which_no_sample_succeeded_is_measured_again(tmp_path, journal):
    broken = tmp_path / "broken"
    broken.touch()
    case = Case("a", FailWhile(broken), aa=True)
    rows = measure("e", [case], Plan(blocks=2), journal)
    assert {row["status"] for row in rows} == {"OSError: it is broken"}
    broken.unlink()
    rows = measure("e", [case], Plan(blocks=2), Journal(journal.path, {"seed": 0}, "next"))
    assert {row["status"] for row in rows} == {"ok"}


def test_where_a_server_is_gone_no_further_sample_is_tried(tmp_path, journal):
    log = tmp_path / "log"
    cases = [Case("a", Append(log, "a"), aa=True, prepare=gone), Case("b", Append(log, "b"))]
    with pytest.raises(RuntimeError, match="HelperError: the process of a server is gone"):
        measure("e", cases, Plan(blocks=9), journal)
    assert not log.exists() or log.read_text().count("b") <= 1


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("nowhere")])
def test_a_lock_that_is_no_file_is_named(tmp_path, make):
    make(tmp_path / "lock")
    said = r"lock of measuring runs, lock .* remove it"
    with pytest.raises(BusyError, match=said), measuring(tmp_path / "lock"):
        pass


def test_a_lock_that_cannot_be_written_passes_what_its_holder_started(tmp_path, monkeypatch):
    """Of another user: it can be locked, and does not say by whom."""
    path = tmp_path / "lock"
    path.touch()
    words = (
        "from hyperslab.measure.lock import measuring\n"
        f"with measuring(__import__('pathlib').Path({str(path)!r})): print('in')"
    )
    monkeypatch.setattr("hyperslab.measure.lock._note", lambda fd, holder: None)
    with measuring(path):
        found = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True)
    assert found.stdout == "in\n"
