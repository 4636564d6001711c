"""Blocks are shuffled and interleaved, samples fresh, checked, retaken, kept as they finish."""

import gc
import math
import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from samples import (
    Append,
    Call,
    Is,
    Log,
    Raise,
    ReadFile,
    ReadInTurns,
    Scatter,
    SlowWitness,
    Spin,
    die,
    on_fire,
)

from hyperslab.measure import witness, worker
from hyperslab.measure.case import Case
from hyperslab.measure.cold import can_evict
from hyperslab.measure.harness import MIN_SAMPLES, Plan, measure
from hyperslab.measure.journal import Journal
from hyperslab.measure.lock import BusyError, measuring
from hyperslab.measure.machine import require_space
from hyperslab.measure.noise import disturbed
from hyperslab.measure.processes import Processes
from hyperslab.measure.records import DISCARDED, frame_of, main
from hyperslab.measure.witness import Witness
from hyperslab.measure.worker import Job, perform
from hyperslab.network import HelperError

FULL = partial(Path("/dev/full").write_bytes, b"x")
linux = pytest.mark.skipif(sys.platform != "linux", reason="counted on Linux only")


@pytest.fixture(scope="module")
def processes():
    with Processes() as processes:
        yield processes


@pytest.fixture
def run(tmp_path, processes):
    """Measure cases into a journal, in processes that all tests share."""

    def measured(*cases, journal="journal", run_id="run", **plan):
        kept = Journal(tmp_path / journal, {"seed": 0}, run_id)
        plan = Plan(**{"blocks": 1, **plan})
        return measure("e", cases, plan, kept, processes)

    return measured


def letters(log, names):
    """Cases that leave a letter each, the first with an A/A pair."""
    return [Case(name, Append(log, name), aa=name == names[0]) for name in names]


def test_every_block_holds_every_case_and_the_pair_in_an_order_of_the_seed(tmp_path, run):
    def order(name, **plan):
        log = tmp_path / name
        rows = run(*letters(log, "abcd"), blocks=6, journal=f"{name}.jsonl", **plan)
        assert Counter(row["aa"] for row in rows) == {"": 18, "A": 6, "B": 6}
        return [log.read_text()[i : i + 5] for i in range(0, 30, 5)]

    blocks = order("one")
    assert all(sorted(block) == list("aabcd") for block in blocks)
    assert len(set(blocks)) > 1, "the order is the same in every block"
    assert order("again") == blocks != order("other", seed=2)


def test_a_fresh_block_has_processes_and_copies_of_its_own(tmp_path, run):
    path, store, log = (tmp_path / name for name in ("data", "store", "log"))
    path.write_bytes(b"abc")
    store.mkdir()
    (store / "0").write_bytes(b"abc")
    (tmp_path / "linked").symlink_to(store)
    for left in (".copy-store", ".old-store"):  # by a run that was killed
        (tmp_path / left).mkdir()
    files = (path, tmp_path / "linked")
    seen = Case("read", Log(log, [path, store / "0"], 0), files=files, aa=True)
    originals = ["", str(path.stat().st_ino), str((store / "0").stat().st_ino)]
    rows = run(seen, blocks=3, fresh=True)
    places = [line.split()[1:] for line in log.read_text().splitlines()]
    assert [row["draw"] for row in rows] == [0, 0, 1, 1, 2, 2]
    assert places[::2] == places[1::2]
    for earlier, later in pairwise([originals, *places[::2]]):  # server, file, that in the store
        assert all(a != b for a, b in zip(earlier, later, strict=True))
    assert path.read_bytes() == (store / "0").read_bytes() == b"abc"
    assert not list(tmp_path.glob(".*"))
    log.unlink()
    run(seen, blocks=3, journal="again.jsonl")
    assert len({line.partition(" ")[2] for line in log.read_text().splitlines()}) == 1


def test_a_fresh_block_copies_what_it_reads_alone(tmp_path, run):
    often, once, log = (tmp_path / name for name in ("often", "once", "log"))
    for path in (often, once):
        path.write_bytes(b"abc")
    reads = [
        Case("often", Log(tmp_path / "others", [often], 0), files=(often,), aa=True),
        Case("once", Log(log, [once], 0), files=(once,), most_blocks=1),
    ]
    run(*reads, blocks=2, fresh=True)
    assert log.read_text().split()[-1] == str(once.stat().st_ino)


@pytest.mark.skipif(not can_evict(), reason="cold reads need Linux")
@pytest.mark.parametrize(("blocks", "copies"), [(11, 11), (12, 6)])
def test_of_many_blocks_two_share_the_files_of_cold_reads(tmp_path, run, blocks, copies):
    cold, warm, log, other = (tmp_path / name for name in ("cold", "warm", "log", "other"))
    for path in (cold, warm):
        path.write_bytes(b"abc")
    states = (("cold", cold, log), ("warm", warm, other))
    reads = [
        Case(state, Log(lines, [path], 0), cache_state=state, files=(path,), aa=True)
        for state, path, lines in states
    ]
    run(*reads, blocks=blocks, fresh=True, sweeps=False)
    for lines, different in ((log, copies), (other, blocks)):
        seen = [line.split()[-1] for line in lines.read_text().splitlines()]
        assert len(list(groupby(seen))) == different


@pytest.mark.skipif(not can_evict(), reason="cold reads need Linux")
def test_a_resumed_run_copies_what_the_block_before_read_elsewhere(tmp_path, run):
    path, log = tmp_path / "cold", tmp_path / "log"
    path.write_bytes(b"abc")
    read = Case("cold", Log(log, [path], 0), cache_state="cold", files=(path,), aa=True)
    run(read, blocks=13, fresh=True, sweeps=False)
    before = path.stat().st_ino
    run(read, blocks=14, fresh=True, sweeps=False)  # the last is the second of two
    assert log.read_text().split()[-1] == str(path.stat().st_ino) != str(before)


@pytest.mark.parametrize(("scatter", "extra_s", "blocks"), [(0, 60, 6), (9, 60, 12), (9, 0.0, 6)])
def test_blocks_go_on_while_times_are_known_too_little(run, scatter, extra_s, blocks):
    """A resumed run has as many."""
    scattered = [Case(name, Scatter(scatter), aa=name == "a") for name in "ab"]
    plan = {"blocks": 6, "half_width": 0.3, "extra_s": extra_s}
    rows = run(*scattered, **plan)
    assert {row["block"] for row in rows} == set(range(blocks))
    assert len(run(*scattered, **plan)) == len(rows)


def test_cases_that_have_ended_ask_for_no_more_blocks(run):
    ended = [Case(name, Scatter(9), most_blocks=6) for name in "bcd"]
    rows = run(Case("a", Scatter(0), aa=True), *ended, blocks=6, half_width=0.3, extra_s=60)
    assert {row["block"] for row in rows} == set(range(6))


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_each_sample_has_a_process_of_its_own(tmp_path, monkeypatch, processes, system):
    monkeypatch.setattr(sys, "platform", system)  # the last cannot fork safely
    for _ in range(2):
        processes.run(Job(Case("a", Log(tmp_path / "pids", [], 0))))
    pids = [line.split()[0] for line in (tmp_path / "pids").read_text().splitlines()]
    assert len({*pids, str(os.getpid())}) == 3


def test_a_program_over_its_time_is_ended(tmp_path, processes):
    words = ("sh", "-c", f"echo $$ >'{tmp_path}/pid'; exec sleep 60")
    outcome = processes.run(Job(Case("slow", words), timeout_s=0.5))
    assert outcome.status != "ok"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_lost_sample_says_why_and_the_run_goes_on(run):
    told = {
        Call(on_fire): "OSError: the disk is on fire",
        Call(die): "signal SIGKILL",
        Call(partial(time.sleep, 60)): "the process was stopped after 0.5 s",
        Call(os.getpid): "differs from the truth",
    }
    bad = [Case(str(n), work, check=Is(0)) for n, work in enumerate(told)]
    rows = run(*bad, Case("good", Spin(0.0), check=Is(None), aa=True), timeout_s=0.5)
    status = {row["case"]: row["status"] for row in rows}
    assert all(words in status[str(n)] for n, words in enumerate(told.values()))
    assert [row["verified"] for row in rows if row["status"] == "ok"] == [True, True]
    assert len(rows) == 6 and not any(row["verified"] for row in rows if row["case"] != "good")


def test_a_case_stops_at_its_share_of_time_or_of_blocks(run):
    slow = Case("slow", Call(partial(time.sleep, 0.2)))  # not of the processor, which others take
    few = Case("few", Spin(0.0), most_blocks=2)
    rows = run(slow, few, Case("quick", Spin(0.0), aa=True), blocks=5, cell_s=0.5)
    taken = Counter(row["case"] + row["aa"] for row in rows)
    assert taken == {"slow": MIN_SAMPLES, "few": 2, "quickA": 5, "quickB": 5}


def test_finished_blocks_are_not_measured_again_and_what_was_changed_is(tmp_path, run):
    log = tmp_path / "log"
    run(*letters(log, "a"), blocks=2, run_id="first")
    rows = run(*letters(log, "a"), blocks=5, run_id="second")
    assert Journal(tmp_path / "journal", {"seed": 0}, "third").run_id == "first"
    assert log.read_text() == "a" * 10  # five blocks of a pair, none of them twice
    assert {row["block"] for row in rows} == set(range(5))
    for number, change in enumerate(({"seed": 1}, {"cell_s": 9.0}, {"retakes": 1})):
        run(*letters(log, "a"), **change)
        assert len(log.read_text()) >= 12 + 2 * number, change
    before = log.read_text()
    run(*letters(log, "a"))
    assert log.read_text() == before
    run(*letters(log, "b"))
    assert log.read_text() == f"{before}bb"


@linux
def test_counts_are_the_cases_own(tmp_path, run):
    path = tmp_path / "data"
    path.write_bytes(b"z" * 1_000_000)
    read = {"run": ReadFile(path), "check": Is(b"z" * 1_000_000), "files": [path], "aa": True}
    rows = run(*(Case(state, cache_state=state, **read) for state in ("cold", "warm")))
    reads = [row for row in rows if row["phase"] == "read"]
    # FileIO.read asks once more to see the end
    assert {row["rchar"] for row in reads} == {1_000_000}
    assert {row["syscr"] for row in reads} == {2}
    assert {row["resident_before"] for row in reads if row["case"] == "cold"} == {0}
    assert all(row["read_bytes"] >= 1_000_000 for row in reads if row["case"] == "cold")
    assert {row["resident_before"] for row in rows if row["case"] == "warm"} == {1}
    assert {row["read_bytes"] for row in rows if row["case"] == "warm"} == {0}
    assert all(0 < row["overhead_s"] < 1e-3 for row in rows)


@linux
def test_a_phase_in_pieces_is_one_row_and_counts_them_all(tmp_path, run):
    for name in "ab":
        (tmp_path / name).write_bytes(b"x" * 400)
    rows = run(Case("turns", ReadInTurns(tmp_path / "a", tmp_path / "b", 4), aa=True))[:3]
    assert [row["phase"] for row in rows] == ["first", "second", "whole"]
    assert [row["syscr"] for row in rows] == [4, 4, 0]
    assert [row["rchar"] for row in rows] == [4, 12, 0]
    assert rows[0]["useful_bytes"] == 4 and "useful_bytes" not in rows[1]
    assert rows[0]["overhead_s"] == rows[1]["overhead_s"] == 4 * rows[2]["overhead_s"] > 0


def test_nothing_is_collected_while_a_sample_runs():
    assert perform(Job(Case("a", Call(gc.isenabled), check=Is(False)))).status == "ok"
    assert gc.isenabled()


@linux
def test_other_programs_are_noticed(run):
    with ExitStack() as burning:
        for _ in range(4):
            burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            burning.enter_context(burner)
            burning.callback(burner.kill)
        rows = run(Case("a", Spin(0.2), aa=True))
    assert min(row["others_cpu"] for row in rows) > 0.3


def test_cases_that_tell_nothing_apart_and_a_disk_without_room_are_refused(
    tmp_path, run, processes
):
    with pytest.raises(ValueError, match=r"no A/A pair.*cold"):
        run(Case("a", Spin(0.0), cache_state="cold"))
    case = Case("a", Spin(0.0), aa=True)
    with pytest.raises(ValueError, match="named twice: a"):
        run(case, case)
    journal = Journal(tmp_path / "j", {}, "run")
    with pytest.raises(OSError, match=f"MiB are needed .*{tmp_path}"):
        measure("e", [case], Plan(), journal, processes, scratch=tmp_path, scratch_bytes=2**60)
    require_space(tmp_path, 1)


def test_a_block_in_which_no_sample_succeeded_is_measured_again(tmp_path, run):
    path = tmp_path / "missing"
    case = Case("a", ReadFile(path), aa=True)
    assert all("FileNotFoundError" in row["status"] for row in run(case, blocks=2))
    path.touch()
    assert {row["status"] for row in run(case, blocks=2)} == {"ok"}


@linux
@pytest.mark.parametrize(
    ("work", "error", "told"),
    [
        (Raise(HelperError("it is gone")), RuntimeError, "HelperError: it is gone"),
        (FULL, OSError, r"the disk is full: a: OSError.*finished blocks are kept"),
    ],
)
def test_where_none_can_succeed_no_further_sample_is_tried(tmp_path, run, work, error, told):
    """The block is not kept: the next run measures it again."""
    log = tmp_path / "log"
    other = Case("b", Append(log, "b"))
    with pytest.raises(error, match=told):
        run(Case("a", Call(work), aa=True), other, blocks=9)
    assert not log.exists() or log.read_text().count("b") <= 1
    assert {row["status"] for row in run(Case("a", Spin(0.0), aa=True), other)} == {"ok"}


def test_what_fails_on_a_full_disk_says_so_before_it_is_cleaned_up(tmp_path, monkeypatch):
    """HDF5 says of a full disk that there is an error."""
    written = tmp_path / "written"

    def fail(watch):
        written.touch()
        raise RuntimeError("NetCDF: HDF error")

    monkeypatch.setattr(worker, "is_full", lambda folder: folder == tmp_path and written.exists())
    case = Case("a", fail, cleanup=written.unlink)
    assert "No space left" in perform(Job(case, scratch=tmp_path)).status
    assert perform(Job(case)).status == "RuntimeError: NetCDF: HDF error"


HOLD = """
import sys, time, pathlib
from hyperslab.measure import lock
lock.PATH = pathlib.Path(sys.argv[1])
with lock.measuring():
    print("held", flush=True)
    time.sleep(30)
"""


def test_two_runs_refuse_each_other_and_a_lock_that_is_no_file_is_named(tmp_path, monkeypatch):
    lock = tmp_path / "lock"
    monkeypatch.setattr("hyperslab.measure.lock.PATH", lock)
    words = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout.readline() == "held\n"
            with pytest.raises(BusyError, match=f"process {other.pid} is measuring"):
                measuring().__enter__()
        finally:
            other.kill()
    with measuring():  # a killed holder holds nothing
        pass
    for make in (os.mkfifo, lambda path: path.symlink_to("nowhere")):
        lock.unlink()
        make(lock)
        told = r"lock of measuring runs, lock .* remove it"
        with pytest.raises(BusyError, match=told), measuring():
            pass


@pytest.fixture
def retaking(tmp_path, monkeypatch, processes):
    """Measure cases a to c in a block, the witness of `b` slow in so many of its tries."""
    # A real disturbance of the others would be retaken too.
    monkeypatch.setattr(witness, "SLOW", 100.0)
    monkeypatch.setattr(witness, "RECLAIMED_BYTES", math.inf)

    def measured(tries, retakes=2, run_b=None, slow_c=None, **columns):
        log = tmp_path / "log"
        slow = SlowWitness(tmp_path / "tries", tries)
        cases = [
            Case("a", Append(log, "a"), aa=True),
            Case("b", run_b or Append(log, "b"), prepare=slow, **columns),
            Case("c", Append(log, "c"), prepare=slow_c),
        ]
        journal = Journal(tmp_path / "journal.jsonl", {}, "run")
        plan = Plan(blocks=1, retakes=retakes)
        rows = measure("e", cases, plan, journal, processes)
        return frame_of(rows), log.read_text()

    return measured


def test_a_disturbed_sample_comes_again_at_the_end_of_its_block(retaking):
    frame, order = retaking(tries=1)
    assert sorted(order) == list("aabbc") and order.endswith("b")
    b = frame[frame["case"] == "b"].iloc[0]
    assert (b["retaken"], b["disturbed"]) == (1, False)
    assert (frame[frame["case"] != "b"]["retaken"] == 0).all()
    found = disturbed(frame)
    assert (found.samples, found.retaken, found.left) == (4, 1, 0)


@pytest.mark.parametrize("retakes", [0, 2])
def test_what_stays_disturbed_is_kept_and_said(retaking, retakes):
    frame, order = retaking(tries=9, retakes=retakes)
    assert order.count("b") == 1 + retakes and order[4:] == "b" * retakes
    b = frame[frame["case"] == "b"]
    assert b["aa"].tolist() == ["", *[DISCARDED] * retakes]
    assert b["status"].tolist() == ["ok", *[DISCARDED] * retakes]
    assert (b["retaken"] == retakes).all() and b["disturbed"].all() and len(main(b)) == 1
    assert frame["disturbed"].sum() == len(b) and disturbed(frame).left == 1


def test_of_a_block_that_was_disturbed_in_large_part_nothing_comes_again(retaking, tmp_path):
    frame, order = retaking(tries=9, slow_c=SlowWitness(tmp_path / "c", 9))
    assert sorted(order) == list("aabc") and (frame["retaken"] == 0).all()
    assert disturbed(frame).left == 2


def test_wrong_values_are_not_hidden_by_another_try(retaking, tmp_path):
    (tmp_path / "data").write_bytes(b"abc")
    frame, _ = retaking(tries=9, run_b=ReadFile(tmp_path / "data"), check=Is(b"abd"))
    b = frame[frame["case"] == "b"]
    assert (b["retaken"] == 0).all() and b["status"].str.contains("wrong values").all()


def test_what_takes_part_in_a_lost_try_is_not_lost(retaking, tmp_path):
    """The first try counts where the second one fails."""
    frame, _ = retaking(
        tries=1, retakes=1, run_b=Call(partial((tmp_path / "once").touch, exist_ok=False))
    )
    b = frame[frame["case"] == "b"]
    assert b["status"][b["aa"] == ""].tolist() == ["ok"] and b["disturbed"].all()
    assert "FileExistsError" in b["status"][b["aa"] == DISCARDED].iloc[0]


@pytest.mark.parametrize(
    ("said", "against"),
    [
        (Witness(1.31, 0.0, 0.1), True),
        (Witness(1.29, 0.0, 0.1), False),
        (Witness(1.0, 2.0**21, 0.1), True),
        (Witness(1.0, math.nan, 0.1), False),  # nobody counts it
        (Witness(9.0, 2.0**21, witness.BRIEF_S + 0.1), False),
        (Witness(), False),
    ],
)
def test_witnesses_speak_against_slow_or_robbed_brief_samples(said, against):
    assert said.against([1.0] * 9 + [9.0]) is against


@pytest.mark.parametrize(("alone", "pace_s"), [(True, 5.0), (False, 1.0)])
def test_threads_of_a_sample_do_not_speak_against_it(monkeypatch, alone, pace_s):
    monkeypatch.setattr(witness, "pace", iter([1.0, 9.0]).__next__)
    with witness.witnessed(alone=alone) as testimony:
        pass
    assert testimony().pace_s == pace_s
