"""A notebook measures once, draws from records, and refuses what would mislead."""

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from samples import Append

from hyperslab.measure import records
from hyperslab.measure.case import Case
from hyperslab.study import begin


@pytest.fixture
def workdir(tmp_path):
    return str(tmp_path / "work")


def measured(workdir, log, **more):
    run = begin("lee_access", profile="smoke", workdir=workdir, **more)
    frame = run.measure("e", [Case("a", Append(log, "a"), aa=True)])
    sizes = run.observe("sizes", lambda: [{"case": "x", "phase": "size", "file_bytes": 7}])
    assert sizes["file_bytes"].tolist() == [7]
    return run, frame


def test_records_and_machine_are_written_together_and_drawn_from_without_measuring(
    tmp_path, workdir
):
    log = tmp_path / "log"
    run, frame = measured(workdir, log)
    run.finish()
    kept = records.load(run.results / "lee_access.parquet")
    assert len(kept) == len(frame) + 1
    for name, value in (("run_id", run.run_id), ("profile", "smoke"), ("notebook", "lee_access")):
        assert set(kept[name]) == {value}
    facts = json.loads((run.results / "machine.json").read_text())
    assert list(facts) == [run.run_id]
    assert {"identity", "versions", "kernel", "file_system", "seed"} <= set(facts[run.run_id])
    before = log.read_text()
    drawn, again = measured(workdir, log, records=str(run.results))
    assert drawn.drawing and log.read_text() == before
    assert again["wall_s"].tolist() == frame["wall_s"].tolist()
    with pytest.raises(ValueError, match="hold no experiment 'other'"):
        drawn.observe("other", list)


def test_an_interrupted_notebook_goes_on_and_a_finished_one_measures_anew(tmp_path, workdir):
    log = tmp_path / "log"
    first, _ = measured(workdir, log, repeats=2)  # never finishes
    second, frame = measured(workdir, log, repeats=2)
    second.finish()
    assert second.run_id == first.run_id
    assert len(log.read_text()) == 2 * 2 and frame["block"].max() == 1
    third, _ = measured(workdir, log, repeats=2)
    third.finish()
    assert third.run_id != second.run_id
    facts = json.loads((third.results / "machine.json").read_text())
    assert list(facts) == [third.run_id], "facts of a run without records are kept"


def test_another_machines_results_are_refused(tmp_path, workdir):
    run, _ = measured(workdir, tmp_path / "log")
    run.finish()
    path = run.results / "machine.json"
    facts = json.loads(path.read_text())
    facts[run.run_id]["identity"]["cpu"] = "another processor"
    path.write_text(json.dumps(facts))
    with pytest.raises(ValueError, match=r"of another machine \(another processor.*choose another"):
        begin("lee_access", profile="smoke", workdir=workdir)


def test_what_a_killed_run_left_is_removed_and_a_living_ones_stays(workdir):
    dead = subprocess.Popen(["true"])
    dead.wait()
    run = begin("lee_access", profile="smoke", workdir=workdir)
    left = run.scratch.with_name(f"lee_formats-{dead.pid}")
    other = run.scratch.with_name(f"lee_access-{os.getppid()}")
    for folder in (left, other):
        folder.mkdir(parents=True)
    begin("lee_access", profile="smoke", workdir=workdir)
    assert not left.exists() and other.exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"profile": "fast"}, "no profile 'fast': choose from smoke, quick, full, paper"),
        ({"notebook": "nope"}, "no notebook 'nope' in the study: choose from"),
        ({"repeats": "abc"}, "repeats is 'abc': give a whole number from 0, 0 for the profile's"),
        ({"seed": True}, "seed is True: give a whole number from 0"),
        ({"workdir": "README.md/work"}, "README.md/work' cannot be written"),
        ({"records": "no/such/folder"}, "no such folder of records"),
        ({"workdir": "."}, "the work directory is '.': name a folder"),
        ({"workdir": "results/mine"}, "the work directory is 'results/mine': name a folder"),
        ({"file_mib": -1}, "file_mib is -1: give a whole number from 0"),
    ],
)
def test_a_bad_parameter_is_named_with_what_is_allowed(workdir, given, said):
    words = {"notebook": "lee_access", "profile": "smoke", "workdir": workdir} | given
    with pytest.raises(ValueError, match=re.escape(said)):
        begin(words.pop("notebook"), **words)


def test_a_full_disk_is_named_and_nothing_is_left_there(workdir):
    run = begin("lee_access", profile="smoke", workdir=workdir)

    def fill():
        (run.scratch / "half").write_bytes(b"x")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"the disk of the work directory is full, .* MiB are free"):
        run.make(fill)
    assert not run.scratch.exists()


def test_what_a_notebook_that_failed_had_in_scratch_is_removed(workdir):
    code = f"""from hyperslab.study import begin
run = begin('lee_access', profile='smoke', workdir={workdir!r})
run.make(lambda: (run.scratch / 'file').touch())
raise SystemExit(1)"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 1
    assert not list(Path(workdir, "scratch").glob("lee_access-*"))
