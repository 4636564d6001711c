"""Records of a machine are added whole, small and public, or refused with the reason."""

import json
import re
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from hyperslab import claims
from hyperslab.cli import OK, USAGE, main
from hyperslab.measure import machine
from hyperslab.measure.records import about, load, machines, save
from hyperslab.study.results import add as adding
from hyperslab.study.results.checks import KNOWN, RefusedError

ROOT = Path(__file__).parents[1]
TIMED, OTHER = "lee_access", "chunking_defaults"
BLOCKS = 7
REFERENCE = ROOT / "results/reference"
FOLDERS = sorted((ROOT / "results").glob("*/"))
READ = cache(claims.read)


@pytest.fixture(autouse=True)
def _few_claims(monkeypatch):
    monkeypatch.chdir(ROOT)
    content = READ(ROOT / claims.FILE)
    of_them = [claim for claim in content.claims if claim.notebook in (TIMED, OTHER)]
    few = replace(content, claims=tuple(of_them[:2]))
    monkeypatch.setattr(claims, "read", lambda path: few)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Few blocks of committed records, as if another profile's, and from a quiet machine."""
    folder = tmp_path_factory.mktemp("real")
    runs = set()
    for path in (REFERENCE / f"{name}.parquet" for name in (TIMED, OTHER)):
        frame = load(path).assign(profile="quick", others_cpu=0.0)
        frame = frame[~(frame["block"] >= BLOCKS)].reset_index(drop=True)
        paired = frame["aa"].isin(("A", "B"))
        keys = ["experiment", "cache_state", "case", "block", "phase"]
        mean = frame[paired].groupby(keys)["wall_s"].transform("mean")
        frame.loc[paired, "wall_s"] = mean
        save(frame, folder / path.name, {"labels": about(path)["labels"]})
        runs |= set(frame["run_id"])
    known = machines(REFERENCE)
    facts = {run: {**known[run], "profile": "quick"} for run in runs}
    (folder / "machine.json").write_text(json.dumps(facts))
    return folder


@pytest.fixture
def given(real, tmp_path):
    """A copy to doctor."""
    return Path(shutil.copytree(real, tmp_path / "given"))


@pytest.fixture
def into(tmp_path):
    return tmp_path / "results"


def contents(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def add(folder, into, name="here"):
    return adding.add(folder, name, into=into, top=ROOT)


def table(change):
    """A change of the timed table in a folder."""

    def doctored(folder):
        path = folder / f"{TIMED}.parquet"
        save(change(load(path)), path, {"labels": about(path)["labels"]})

    return doctored


def facts(change):
    def doctored(folder):
        known = machines(folder)
        change(known)
        (folder / "machine.json").write_text(json.dumps(known))

    return doctored


def impossible(frame):
    frame.loc[3, ["run_id", "profile", "verified", "wall_s"]] = ["another", "x", False, -1.0]
    frame.loc[4, "wall_s"] = float("inf")
    good = frame["user_s"].notna() & frame["order"].notna() & (frame.index > 4)
    return pd.concat([frame, frame[good & (frame["status"] == "ok")].iloc[:1]])


def private(frame):
    frame.loc[3, ["status", "note"]] = ["no file /home/ann/data.nc", f"made in {ROOT}/build"]
    frame.loc[3, ["link", "hints"]] = ["https://data.example.org/b", "aws_secret_access_key=abc/d"]
    frame.loc[3, "pattern"] = "at login01.hpc.example.edu"
    return frame.assign(profile="smoke")


def restless(frame):
    frame.loc[frame["aa"] == "B", "wall_s"] *= 1.5
    return frame.assign(others_cpu=0.9)


def cut(folder):
    path = folder / f"{TIMED}.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    (folder / f"{OTHER}.parquet").write_bytes(b"")


def renamed(folder):
    (folder / f"{TIMED}.parquet").rename(folder / "lee_formats.parquet")
    (folder / f"{OTHER}.parquet").rename(folder / "mine.parquet")


def untold(known):
    (run,) = (each for each in known.values() if each["notebook"] == TIMED)
    run.update(hostname="x1", kernel="Linux 6.1-ann-laptop", git_revision="0d6523fb9331+")
    run["versions"].pop("netCDF4")


def shapeless(known):
    first, second = known.values()
    first.pop("versions")
    second.update(identity="x")


def instead(content):
    """Other content of machine.json."""
    return lambda folder: (folder / "machine.json").write_bytes(content) and None


DOCTORED = {
    "another table": (
        table(lambda f: f.rename(columns={"case": "label"})), [r"lee_access\.parquet: has no col"],
    ),
    "text for numbers": (table(lambda f: f.assign(wall_s="abc")), ["could not convert .*'abc'"]),
    "values that cannot be": (table(impossible), [
        "run_id: must", "profile: must have one", r"lee_access\.parquet, verified: 1 samples",
        "wall_s: 1 values are below", "wall_s: 1 values are inf",
        "wall_s: 1 samples stand there twice",
    ]),
    "times divided by a thousand": (
        table(lambda f: f.assign(wall_s=f["wall_s"] / 1000)), ["wall_s: column-read.* cannot both"],
    ),
    "no times": (table(lambda f: f.assign(wall_s=float("nan"))), ["wall_s:.*have no time"]),
    "what is private, and toys": (table(private), [
        r"lee_access\.parquet, status: has a folder of a machine, '/home/ann/data\.nc'",
        "note: has", "hints: has a credential", "link: has an address, 'https://data",
        "pattern: has a host, 'login01", "profile: is smoke.*--profile quick or full",
    ]),
    "a restless machine": (table(restless), [
        r"lee_access\.parquet, wall_s: an A/A pair beyond ±5 %.*0\.667 \[0\.667, 0\.667\]",
        r"lee_access\.parquet, aa: one of .*other programs took 90 % of the CPU",
    ]),
    "a notebook's name for terminals": (
        table(lambda f: f.assign(notebook="a\x1b[31m\n# b")), [r"name it a \[31m # b\.parquet"],
    ),
    "no rows": (table(lambda f: f.iloc[:0]), [r"run_id: must have one value, has \[\]"]),
    "cut": (cut, [f"{name}.parquet: is not a whole Parquet file" for name in (TIMED, OTHER)]),
    "other names": (renamed, [
        r"lee_formats\.parquet, notebook: is 'lee_access'",
        r"mine\.parquet: is named after no notebook of the study",
    ]),
    "no machine.json": (
        lambda folder: (folder / "machine.json").unlink(), [r"machine\.json: is missing; copy it"],
    ),
    "a broken machine.json": (instead(b"\xff{"), [r"machine\.json: is no JSON"]),
    "no number": (instead(b'{"x": NaN}'), ["NaN is no number"]),
    "no mapping": (instead(b'{"x": 1}'), ["no mapping of runs"]),
    "an unknown run": (instead(b"{}"), [r"lee_access\.parquet, run_id:.*is not in machine\.json"]),
    "facts of nobody": (facts(untold), [
        "hostname: is no fact of a machine", r"git_revision: is '0d6523fb9331\+'",
        r"kernel: 'Linux 6\.1-ann-laptop' is more than",
        r"library_version: netCDF4 is .* and None in machine\.json",
        r"versions or profiles: .*versions\.netCDF4 is .* and none",
    ]),
    "facts without shape": (facts(shapeless), ["versions: is missing", "identity: must have"]),
}  # fmt: skip


@pytest.mark.parametrize("how", DOCTORED)
def test_what_is_wrong_is_refused_with_its_place(how, given, into):
    change, says = DOCTORED[how]
    change(given)
    with pytest.raises(RefusedError) as refused:
        add(given, into)
    text = str(refused.value)
    assert [what for what in says if not re.search(what, text, flags=re.DOTALL)] == [], text
    for problem in refused.value.problems:
        assert problem.remedy and str(problem).isprintable()
    assert not into.exists()


def test_records_are_added_without_a_value_lost(real, into, monkeypatch):
    monkeypatch.setattr(claims, "read", READ)
    added = add(real, into)
    assert (added.notebooks, added.changed) == ((OTHER, TIMED), True)
    for name in added.notebooks:
        small, whole = (folder / f"{name}.parquet" for folder in (added.folder, real))
        pd.testing.assert_frame_equal(load(small), load(whole), check_exact=True)
    assert machines(added.folder) == machines(real)
    judged = json.loads((added.folder / "claims.json").read_text())
    assert len(judged) == len(claims.read(claims.FILE).claims)
    assert {item["verdict"] for item in judged} > {"not measured"}
    assert [path.name for path in into.iterdir()] == ["here"]


def test_added_again_nothing_is_written(real, given, into):
    folder = add(real, into).folder
    before = {path: path.stat().st_mtime_ns for path in into.rglob("*")}
    assert not add(real, into).changed
    assert not add(folder, into).changed, "from itself too"
    with pytest.raises(RefusedError, match="has runs that here has: they are no other machine's"):
        add(real, into, "there")
    table(lambda frame: frame[frame["block"] < BLOCKS - 1])(given)
    with pytest.raises(RefusedError, match=f"has {BLOCKS - 1} blocks, and {BLOCKS} in the records"):
        add(given, into)
    assert {path: path.stat().st_mtime_ns for path in into.rglob("*")} == before


def test_another_machines_folder_is_never_written(real, given, into):
    add(real, into)
    before = contents(into)
    for what, changed in (("identity", {"cores": 99}), ("versions", {"aiohttp": "2.0.0"})):
        known = machines(real)
        for each in known.values():
            each[what] |= changed
        (given / "machine.json").write_text(json.dumps(known))
        with pytest.raises(RefusedError, match=f"another {what}; choose another --name"):
            add(given, into)
    assert contents(into) == before
    assert add(given, into, "there").changed, "under its own name it stands beside it"
    there = contents(into)
    assert {name: data for name, data in there.items() if name.startswith("here")} == before


def test_a_notebook_is_added_to_the_same_machine(given, real, into):
    (given / f"{TIMED}.parquet").unlink()
    first = add(given, into)
    assert first.notebooks == (OTHER,)
    assert {each["notebook"] for each in machines(first.folder).values()} == {OTHER}
    (given / f"{OTHER}.parquet").unlink()
    shutil.copy(real / f"{TIMED}.parquet", given)
    assert add(given, into).notebooks == (OTHER, TIMED)
    assert machines(into / "here") == machines(real)


def another_run(folder):
    """Give all runs other names."""
    for path in folder.glob("*.parquet"):
        frame = load(path)
        save(frame.assign(run_id="b" + frame["run_id"]), path, {"labels": about(path)["labels"]})
    known = {f"b{run}": facts for run, facts in machines(folder).items()}
    (folder / "machine.json").write_text(json.dumps(known))


def test_another_run_of_the_machine_is_kept_beside_the_first(real, given, into):
    add(real, into)
    another_run(given)
    assert add(given, into).folder.name == "here-2"
    assert not add(given, into).changed
    assert machines(into / "here") == machines(real)
    another_run(given)
    replaced = adding.add(given, "here", into=into, top=ROOT, replace=True)
    assert (replaced.folder.name, machines(into / "here")) == ("here", machines(given))


def test_a_failure_half_way_leaves_what_was_there(real, given, into, monkeypatch):
    add(real, into)
    before = contents(into)
    table(lambda frame: frame.assign(others_cpu=0.01))(given)
    rename = Path.rename

    def failing(self, target):
        if Path(target) == into / "here" and self.name == "here":
            raise OSError("the disk is full")
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", failing)
        with pytest.raises(OSError, match="disk is full"):
            add(given, into)
    assert contents(into) == before
    assert add(given, into).changed


def test_the_command(real, given, into, capsys):
    def said(code, *words, place=str(into)):
        assert main(["results", *words, "--into", place]) == code
        return "".join(capsys.readouterr())

    assert "no folder with records" in said(USAGE, "add", str(into))
    for place in ("", ".", "README.md"):
        assert f"--into is '{place}': name a folder" in said(USAGE, "add", str(real), place=place)
    for name in ("UPPER", "..", "x", "a" * 41):
        assert "give 2 to 40 of a to z" in said(USAGE, "add", str(real), "--name", name)
    assert "added; 2 notebooks" in said(OK, "add", str(real))
    [folder] = into.iterdir()
    assert folder.name == "intel-xeon-processor-2-cores"
    assert "nothing changed" in said(OK, "add", str(real))
    table(private)(given)
    refused = said(USAGE, "add", str(given), "--name", "other")
    assert "lee_access.parquet, status: has a folder of a machine" in refused
    assert [path.name for path in into.iterdir()] == [folder.name]


def test_every_fact_that_runs_write_is_known():
    assert set(machine.facts(ROOT, profile="quick", seed=0, notebook=TIMED)) <= KNOWN


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_what_is_committed_is_judged_by_today_s_rules(folder):
    """By claims.json: tools/rules.py judges its records, and looks whether they may be public."""
    kept = json.loads((folder / "claims.json").read_text())
    again = f"judge again: hyperslab results add results/{folder.name} --name {folder.name}"
    known = [(one.id, one.rules) for one in READ(ROOT / claims.FILE).claims]
    assert known == [(item["id"], item["rules"]) for item in kept], again


@pytest.mark.parametrize(
    ("command", "kind"),
    [("claims", "no rows"), ("run", "cut"), ("book", "no machine.json"), ("claims", "no records")],
)
def test_damaged_records_are_neither_judged_nor_drawn(given, tmp_path, command, kind, capsys):
    damage, said = DOCTORED.get(kind, (shutil.rmtree, ["no folder with records"]))
    damage(given)
    assert main([command, "--records", str(given), "--workdir", str(tmp_path / "work")]) == USAGE
    assert re.search(said[0], capsys.readouterr().err)
