"""What witnesses speak against is measured again, and nothing else is."""

import math
from functools import partial

import pytest
from samples import Append, Call, Is, ReadFile, SlowWitness, running

from hyperslab.measure import witness
from hyperslab.measure.case import Case
from hyperslab.measure.harness import Plan, measure
from hyperslab.measure.journal import Journal
from hyperslab.measure.noise import disturbed
from hyperslab.measure.records import DISCARDED, frame_of, main
from hyperslab.measure.witness import Witness

processes = pytest.fixture(scope="module")(running)


@pytest.fixture
def run(tmp_path, monkeypatch, processes):
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


def test_a_disturbed_sample_comes_again_at_the_end_of_its_block(run):
    frame, order = run(tries=1)
    assert sorted(order) == list("aabbc") and order.endswith("b")
    b = frame[frame["case"] == "b"].iloc[0]
    assert (b["retaken"], b["disturbed"]) == (1, False)
    assert (frame[frame["case"] != "b"]["retaken"] == 0).all()
    found = disturbed(frame)
    assert (found.samples, found.retaken, found.left) == (4, 1, 0)


@pytest.mark.parametrize("retakes", [0, 2])
def test_what_stays_disturbed_is_kept_and_said(run, retakes):
    frame, order = run(tries=9, retakes=retakes)
    assert order.count("b") == 1 + retakes and order[4:] == "b" * retakes
    b = frame[frame["case"] == "b"]
    assert b["aa"].tolist() == ["", *[DISCARDED] * retakes]
    assert b["status"].tolist() == ["ok", *[DISCARDED] * retakes]
    assert (b["retaken"] == retakes).all() and b["disturbed"].all() and len(main(b)) == 1
    assert frame["disturbed"].sum() == len(b) and disturbed(frame).left == 1


def test_of_a_block_that_was_disturbed_in_large_part_nothing_comes_again(run, tmp_path):
    frame, order = run(tries=9, slow_c=SlowWitness(tmp_path / "c", 9))
    assert sorted(order) == list("aabc") and (frame["retaken"] == 0).all()
    assert disturbed(frame).left == 2


def test_wrong_values_are_not_hidden_by_another_try(run, tmp_path):
    (tmp_path / "data").write_bytes(b"abc")
    frame, _ = run(tries=9, run_b=ReadFile(tmp_path / "data"), check=Is(b"abd"))
    b = frame[frame["case"] == "b"]
    assert (b["retaken"] == 0).all() and b["status"].str.contains("wrong values").all()


def test_what_takes_part_in_a_lost_try_is_not_lost(run, tmp_path):
    """The first try counts where the second one fails."""
    frame, _ = run(
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
