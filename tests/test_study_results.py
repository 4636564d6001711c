"""Records of a machine are added whole, small and public, or refused with the reason."""

import json
import math
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from hyperslab import claims
from hyperslab.cli import FAILED, OK, USAGE, main
from hyperslab.measure import machine
from hyperslab.measure.records import about, load, machines, save
from hyperslab.study.results import add as adding
from hyperslab.study.results.facts import KNOWN
from hyperslab.study.results.problem import RefusedError

ROOT = Path(__file__).parents[1]
TIMED, OTHER = "lee_access", "chunking_defaults"
BLOCKS = 7


READ = cache(claims.read)


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """There, with few claims to judge."""
    monkeypatch.chdir(ROOT)
    content = READ(ROOT / claims.FILE)
    of_them = [claim for claim in content.claims if claim.notebook in (TIMED, OTHER)]
    few = replace(content, claims=tuple(of_them[:2]))
    monkeypatch.setattr(claims, "read", lambda path: few)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Few blocks of committed records, as if another profile's, and from a quiet machine."""
    folder = tmp_path_factory.mktemp("real")
    runs = set()
    for path in (ROOT / f"results/reference/{name}.parquet" for name in (TIMED, OTHER)):
        frame = load(path).assign(profile="quick", others_cpu=0.0)
        frame = frame[~(frame["block"] >= BLOCKS)].reset_index(drop=True)
        paired = frame["aa"].isin(("A", "B"))
        keys = ["experiment", "cache_state", "case", "block", "phase"]
        mean = frame[paired].groupby(keys)["wall_s"].transform("mean")
        frame.loc[paired, "wall_s"] = mean
        save(frame, folder / path.name, {"labels": about(path)["labels"]})
        runs |= set(frame["run_id"])
    known = machines(ROOT / "results/reference")
    facts = {run: {**known[run], "profile": "quick"} for run in runs}
    (folder / "machine.json").write_text(json.dumps(facts))
    return folder


@pytest.fixture
def given(real: Path, tmp_path: Path) -> Path:
    """A copy to doctor."""
    return Path(shutil.copytree(real, tmp_path / "given"))


@pytest.fixture
def into(tmp_path: Path) -> Path:
    return tmp_path / "results"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def add(folder: Path, into: Path, name: str = "here") -> adding.Added:
    return adding.add(folder, name, into=into, top=ROOT)


def table(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], None]:
    """A change of the timed table that ends in its file as it is, whatever its columns are."""

    def doctored(folder: Path) -> None:
        path = folder / f"{TIMED}.parquet"
        save(change(load(path)), path, {"labels": about(path)["labels"]})

    return doctored


def facts(change: Callable[[dict[str, dict[str, object]]], object]) -> Callable[[Path], None]:
    def doctored(folder: Path) -> None:
        known = machines(folder)
        change(known)
        (folder / "machine.json").write_text(json.dumps(known))

    return doctored


def cell(column: str, value: object) -> Callable[[Path], None]:
    """Another value in one row."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        frame.loc[3, column] = value
        return frame

    return table(change)


def timed(known: dict[str, dict[str, object]]) -> dict[str, object]:
    return next(each for each in known.values() if each["notebook"] == TIMED)


def slower(frame: pd.DataFrame) -> pd.DataFrame:
    frame.loc[frame["aa"] == "B", "wall_s"] *= 1.5
    return frame


def cut(folder: Path) -> None:
    path = folder / f"{TIMED}.parquet"
    path.write_bytes(path.read_bytes()[:-100])


def versions_of(run: dict[str, object]) -> dict[str, str]:
    found = run["versions"]
    assert isinstance(found, dict)
    return found


def versions(known: dict[str, dict[str, object]]) -> dict[str, str]:
    return versions_of(timed(known))


DOCTORED: dict[str, tuple[Callable[[Path], object], str]] = {
    "text for numbers": (
        table(lambda f: f.assign(block=f["block"].astype(str))),
        r"lee_access\.parquet, block: is of the type.*must be a double",
    ),
    "whole numbers for doubles": (
        table(lambda f: f.assign(order=f["order"].fillna(0).astype(int))),
        r"lee_access\.parquet, order: is of the type int64",
    ),
    "another schema": (
        table(lambda f: f.rename(columns={"wall_s": "wall_ms", "case": "label"})),
        "label: is no column of records.*wall_ms: is no column.*case: is missing",
    ),
    "missing text": (cell("pattern", None), "pattern: has values that are missing"),
    "a home folder": (
        cell("status", "no file /home/ann/data.nc"),
        r"lee_access\.parquet, status: has a folder of a machine, '/home/ann/data\.nc'",
    ),
    "this checkout": (cell("note", f"made in {ROOT}/build"), r"lee_access\.parquet, note: has"),
    "an address": (
        cell("link", "https://data.example.org/b"),
        r"link: has an address, 'https://data\.example\.org/b'",
    ),
    "a host": (
        cell("note", "at login01.hpc.example.edu"),
        r"note: has a host, 'login01\.hpc\.example\.edu'",
    ),
    "a credential": (cell("hints", "aws_secret_access_key=abc/def"), "hints: has a credential"),
    "A/A far apart": (
        table(slower),
        r"lee_access\.parquet, wall_s: A/A pairs beyond ±5 %.*0\.667 \[0\.667, 0\.667\]",
    ),
    "a busy machine": (
        table(lambda f: f.assign(others_cpu=0.9)),
        r"lee_access\.parquet, aa: void: .*other programs took 90 % of the CPU",
    ),
    "not verified": (
        cell("verified", False),
        r"lee_access\.parquet, verified: 1 samples were not compared with the truth",
    ),
    "nothing succeeded": (
        table(lambda f: f.assign(status="lost")),
        "status: has no sample that succeeded",
    ),
    "time backwards": (cell("wall_s", -1.0), "wall_s: 1 values are below zero"),
    "times divided by a thousand": (
        table(lambda f: f.assign(wall_s=f["wall_s"] / 1000)),
        r"lee_access\.parquet, wall_s: column-read took.*these times cannot both be true",
    ),
    "endless time": (cell("wall_s", float("inf")), "wall_s: 1 values are infinite"),
    "two runs": (cell("run_id", "another"), "run_id: must have one value"),
    "toy sizes": (
        table(lambda f: f.assign(profile="smoke")),
        "profile: is smoke.*measure with --profile quick or full",
    ),
    "a profile of none": (table(lambda f: f.assign(profile="x")), "profile: is 'x'; choose"),
    "no rows": (table(lambda f: f.iloc[:0]), r"lee_access\.parquet: has no rows"),
    "cut": (cut, r"lee_access\.parquet: is no whole Parquet file.*measure again with"),
    "another notebook's name": (
        lambda folder: (folder / f"{TIMED}.parquet").rename(folder / "lee_formats.parquet"),
        r"lee_formats\.parquet, notebook: is 'lee_access'",
    ),
    "a notebook's name for terminals": (
        table(lambda f: f.assign(notebook="a\x1b[31m\n# b")),
        r"name it a \[31m # b\.parquet",
    ),
    "no notebook's name": (
        lambda folder: (folder / f"{TIMED}.parquet").rename(folder / "mine.parquet"),
        r"mine\.parquet: is named after no notebook of the study",
    ),
    "no machine.json": (
        lambda folder: (folder / "machine.json").unlink(),
        r"machine\.json: is missing; copy it",
    ),
    "broken machine.json": (
        lambda folder: (folder / "machine.json").write_text("{"),
        r"machine\.json: is no JSON",
    ),
    "an unknown run": (
        lambda folder: (folder / "machine.json").write_text("{}"),
        r"lee_access\.parquet, run_id:.*is not in machine\.json",
    ),
    "a host name": (
        facts(lambda known: timed(known).update(hostname="x1")),
        "hostname: is no fact of a machine; take it out",
    ),
    "a build host": (
        facts(lambda known: timed(known).update(kernel="Linux 6.1-ann-laptop")),
        r"kernel: 'Linux 6\.1-ann-laptop' is more than",
    ),
    "no versions": (facts(lambda known: timed(known).pop("versions")), "versions: is missing"),
    "a library without its version": (
        facts(lambda known: versions(known).pop("netCDF4")),
        r"lee_access\.parquet, library: the version of netCDF4, which was measured",
    ),
    "a version that is none": (
        facts(lambda known: versions(known).update(zarr="mine")),
        "zarr: 'mine' is no version",
    ),
    "two sets of versions": (
        facts(lambda known: versions(known).update(zarr="3.0.0")),
        r"machine\.json: runs have several versions: zarr 3\.0\.0 and",
    ),
    "a version that its samples do not have": (
        facts(lambda known: [versions_of(each).update(netCDF4="1.0.0") for each in known.values()]),
        r"lee_access\.parquet, library_version: netCDF4 is.*and 1\.0\.0 in machine\.json",
    ),
    "another profile in machine.json": (
        facts(lambda known: timed(known).update(profile="full")),
        r"lee_access\.parquet, profile: is 'quick', and 'full' in machine\.json",
    ),
    "no times": (
        table(lambda f: f.assign(wall_s=float("nan"))),
        r"lee_access\.parquet, wall_s:.*have no time",
    ),
    "words for times": (
        table(lambda f: f.assign(wall_s="abc")),
        r"lee_access\.parquet, wall_s: is of the type",
    ),
    "rows twice": (table(lambda f: pd.concat([f, f])), "samples stand there twice"),
    "half blocks": (table(lambda f: f.assign(block=f["block"] / 2)), "no whole number"),
    "a run without facts": (
        lambda folder: (folder / "machine.json").write_text('{"x": 1}'),
        "no mapping of runs",
    ),
    "a machine of one word": (
        facts(lambda known: timed(known).update(identity="x")),
        "identity: must have",
    ),
    "cores that are no number": (
        facts(lambda known: timed(known)["identity"].update(cores=math.nan)),
        "NaN is no number",
    ),
    "cores that are none": (
        facts(lambda known: timed(known)["identity"].update(cores=0)),
        "cores: is 0, and no whole",
    ),
    "no UTF-8": (lambda folder: (folder / "machine.json").write_bytes(b"\xff{"), "is no JSON"),
    "no file": (
        lambda folder: (folder / f"{OTHER}.parquet").write_bytes(b""),
        r"chunking_defaults\.parquet: is no whole Parquet file",
    ),
}


@pytest.mark.parametrize("how", DOCTORED)
def test_what_is_wrong_is_refused_with_its_place(how: str, given: Path, into: Path) -> None:
    change, says = DOCTORED[how]
    change(given)
    with pytest.raises(RefusedError) as refused:
        add(given, into)
    assert re.search(says, str(refused.value), flags=re.DOTALL)
    assert all(problem.remedy for problem in refused.value.problems)
    assert all(str(problem).isprintable() for problem in refused.value.problems)
    assert not into.exists()


def test_records_are_added_without_a_value_lost(
    real: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "read", READ)
    added = add(real, into)
    assert (added.notebooks, added.changed) == ((OTHER, TIMED), True)
    for name in added.notebooks:
        small, whole = (folder / f"{name}.parquet" for folder in (added.folder, real))
        pd.testing.assert_frame_equal(load(small), load(whole), check_exact=True)
    assert machines(added.folder) == machines(real)
    judged = json.loads((added.folder / "claims.json").read_text())
    assert len(judged) == len(claims.load())
    assert {item["verdict"] for item in judged} > {"not measured"}
    assert [path.name for path in into.iterdir()] == ["here"]


def test_added_again_nothing_is_written(real: Path, into: Path) -> None:
    folder = add(real, into).folder
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert not add(real, into).changed
    assert not add(folder, into).changed, "from itself too"
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.parametrize("what", ["identity", "versions", "profile"])
def test_another_machines_folder_is_never_written(
    what: str, real: Path, given: Path, into: Path
) -> None:
    add(real, into)
    before = contents(into)

    def other(known: dict[str, dict[str, object]]) -> None:
        for each in known.values():
            changed = {"identity": {"cores": 99}, "versions": {"aiohttp": "2.0.0"}}.get(what)
            old = each[what]
            each[what] = {**old, **changed} if changed and isinstance(old, dict) else "full"

    facts(other)(given)
    if what == "profile":
        for path in given.glob("*.parquet"):
            save(load(path).assign(profile="full"), path)
    with pytest.raises(RefusedError, match=f"another {what}; choose another --name"):
        add(given, into)
    assert contents(into) == before
    assert add(given, into, "there").changed, "under its own name it stands beside it"
    assert {
        name: data for name, data in contents(into).items() if name.startswith("here")
    } == before


def test_a_copy_under_another_name_is_no_other_machine(real: Path, into: Path) -> None:
    add(real, into)
    with pytest.raises(RefusedError, match="has runs that here has: they are no other machine's"):
        add(real, into, "there")
    assert [path.name for path in into.iterdir()] == ["here"]


def test_a_notebook_is_added_to_the_same_machine(given: Path, real: Path, into: Path) -> None:
    (given / f"{TIMED}.parquet").unlink()
    first = add(given, into)
    assert first.notebooks == (OTHER,)
    assert {each["notebook"] for each in machines(first.folder).values()} == {OTHER}
    (given / f"{OTHER}.parquet").unlink()
    shutil.copy(real / f"{TIMED}.parquet", given)
    assert add(given, into).notebooks == (OTHER, TIMED)
    assert machines(into / "here") == machines(real)


def test_a_failure_half_way_leaves_what_was_there(
    real: Path, given: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(real, into)
    before = contents(into)
    path = given / f"{TIMED}.parquet"
    frame = load(path)
    save(frame.assign(others_cpu=0.01), path, {"labels": about(path)["labels"]})

    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if Path(target) == into / "here" and self.name == "here":
            raise OSError("the disk is full")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="disk is full"):
        add(given, into)
    assert contents(into) == before
    monkeypatch.undo()
    monkeypatch.chdir(ROOT)
    assert add(given, into).changed


@pytest.mark.parametrize("name", ["UPPER", "a b", "..", "a/b", "x", "a" * 41])
def test_a_name_that_cannot_be_one_is_a_usage_error(name: str, real: Path, into: Path) -> None:
    with pytest.raises(ValueError, match="give 2 to 40 of a to z"):
        add(real, into, name)
    assert not into.exists()


def test_the_command(
    real: Path, given: Path, into: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--into", str(into)]
    assert main(["results", "list", *place]) == OK
    assert "no machine yet" in capsys.readouterr().out
    assert main(["results", "add", str(into), *place]) == USAGE
    assert "no folder with records" in capsys.readouterr().err
    assert main(["results", "add", str(real), *place]) == OK
    [folder] = into.iterdir()
    assert folder.name == adding.name_of(machines(real))
    assert "added; 2 notebooks" in capsys.readouterr().out
    assert main(["results", "add", str(real), *place]) == OK
    assert "nothing changed" in capsys.readouterr().out
    cell("status", "in /home/ann")(given)
    assert main(["results", "add", str(given), "--name", "other", *place]) == FAILED
    assert "lee_access.parquet, status: has a folder of a machine" in capsys.readouterr().err
    assert [path.name for path in into.iterdir()] == [folder.name]
    assert main(["results", "list", *place]) == OK
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith(folder.name)
    assert "profile quick, notebooks 2" in line


def test_every_fact_that_runs_write_is_known() -> None:
    written = machine.facts(ROOT, profile="quick", seed=0, notebook=TIMED)
    assert set(written) <= KNOWN


def committed() -> Iterator[Path]:
    return (path.parent for path in (ROOT / "results").glob("*/machine.json"))


def test_what_is_committed_may_be_published_and_is_judged_by_today_s_rules() -> None:
    content = READ(ROOT / claims.FILE)
    for folder in committed():
        assert adding.problems(folder, ROOT) == []
        found = claims.evaluate(content.claims, folder)
        kept = json.loads((folder / "claims.json").read_text())
        again = f"judge again: hyperslab results add results/{folder.name} --name {folder.name}"
        assert [(j.claim.id, j.verdict) for j in found] == [
            (item["id"], item["verdict"]) for item in kept
        ], again


@pytest.mark.parametrize("kind", ["no times", "cut", "no machine.json"])
@pytest.mark.parametrize("command", ["claims", "run", "book"])
def test_damaged_records_are_neither_judged_nor_drawn(
    given: Path, tmp_path: Path, kind: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damage, said = DOCTORED[kind]
    damage(given)
    assert main([command, "--records", str(given), "--workdir", str(tmp_path / "work")]) == FAILED
    assert re.search(said, capsys.readouterr().err)


def test_fewer_blocks_do_not_replace_what_is_there(given: Path, into: Path) -> None:
    add(given, into)
    before = contents(into)
    table(lambda frame: frame[frame["block"] < BLOCKS - 1])(given)
    with pytest.raises(RefusedError, match=f"has {BLOCKS - 1} blocks, and {BLOCKS} in the records"):
        add(given, into)
    assert contents(into) == before
