"""Machines beside each other: what they are, what they decide, and where they differ."""

import json
import math
from dataclasses import replace

import pytest
from made_claims import claim as made_claim
from made_claims import part, quiet, samples, written

from hyperslab import claims
from hyperslab.measure.records import frame_of, save
from hyperslab.study import machines, repeats


@pytest.fixture
def top(tmp_path, monkeypatch):
    """A study with one notebook and three claims on the same ratio, four in the document."""
    small = part(rule={"kind": "effect", "document": 1.5})
    absent = {"kind": "ratio", "value": "wall_s", "of": {"case": "a"}, "to": {"case": "z"}}
    items = [
        made_claim(each, id=name, title=f"A test ({name})")
        for name, each in (("lee-a", part()), ("lee-b", small), ("lee-c", part(measure=absent)))
    ]
    listed = [{"name": "trial", "title": "A trial", "profiles": {"quick": {}}}]
    for name in ("book", "notebooks", "results"):
        (tmp_path / name).mkdir()
    (tmp_path / "_config.yml").touch()
    written(tmp_path / "book", *items)
    (tmp_path / "notebooks/study.yml").write_text(json.dumps({"notebooks": listed}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def measured(folder, ratio, run, *, noise=0.0, pace_s=math.nan, **facts):
    """Records in which case a takes `ratio` times as long as case b."""
    slow = samples("a", ratio)
    for row in slow:
        row["wall_s"] = ratio * (1 + noise * (row["block"] - 3))
    rows = [*slow, *samples("b", 1.0), *quiet()]
    rows = [{**row, "run_id": run, "pace_s": pace_s} for row in rows]
    folder.mkdir(parents=True)
    save(frame_of(rows), folder / "trial.parquet")
    who = {"cpu": f"CPU of {folder.name}", "cores": 2, "memory_gib": 8, "system": "Linux"}
    known = {"identity": who, "versions": {"zarr": "3.1.6"}, "profile": "quick", **facts}
    (folder / "machine.json").write_text(json.dumps({run: known}))


def gathered(**more):
    return machines.gathered(**{"profile": "quick", "workdir": "build", **more})


def test_verdicts_that_are_there_are_taken_as_long_as_the_rules_are_theirs(top):
    measured(top / "results/other", 4.0, "1")
    known = claims.read("book/claims.yml").claims
    found = claims.evaluate(known, "results/other")
    claims.write_json(found, "results/other/claims.json")
    recalled = claims.recalled(known, top / "results/other")
    assert repr(recalled) == repr([replace(each, profile="") for each in found])
    path = top / "book/claims.yml"
    path.write_text(path.read_text().replace("document: 1.5", "document: 1.6"))
    assert claims.recalled(claims.read(path).claims, top / "results/other") == []


def test_one_machine_or_none_has_nothing_beside_it(top):
    found = gathered()
    assert (found.machines, found.shared, len(machines.listed(found)[0])) == ((), 0, 0)
    assert machines.facts(found).empty and machines.versions(found).empty
    measured(top / "build/results/quick", 4.0, "r1")
    found = gathered()
    assert [machine.name for machine in found.machines] == ["yours"]
    assert (found.shared, found.twin) == (0, "")
    assert set(machines.listed(found)[0]["Machines"]) == {"on one only"}
    assert machines.facts(found).loc["yours", "Processor"] == "CPU of quick, 2 cores"
    for name in ("records", "others"):
        with pytest.raises(ValueError, match=f"{name} is 'no/such': no such folder of records"):
            gathered(**{name: "no/such"})


def test_another_run_of_a_machine_is_no_other_machine_and_none_beside_a_verdict_is_open(top):
    same = {"identity": {"cpu": "C", "cores": 2}, "versions": {"zarr": "3.1.6"}}
    measured(top / "results/reference", 4.0, "r1", git_revision="a", **same)
    measured(top / "build/results/quick", 1.97, "r2", noise=0.1, git_revision="b", **same)
    found = gathered()
    assert found.twin == "reference" and machines.versions(found).empty
    heads = found.heads(found.content.claims[0])
    assert [head.verdict for head in heads] == ["holds", "inconclusive"]
    assert "lee-a" in [claim.id for claim in found.those("open on some")]
    assert found.those("differs") == []
    measured(top / "other/results/quick", 4.0, "r3", git_revision="b")
    assert gathered(workdir="other").twin == ""


def test_reference_comes_first_and_yours_last_and_what_was_added_stands_there_once(top):
    for run, place in enumerate(("results/aa", "results/reference", "build/results/quick")):
        measured(top / place, 4.0, f"r{run}")
    (top / "results/README.md").touch()
    (top / "results/.add-1").mkdir()
    assert list(machines.facts(gathered()).index) == ["reference", "aa", "yours"]
    measured(top / "results/mine", 4.0, "r2")
    for found in (gathered(), gathered(records="results/mine")):
        names = [machine.name for machine in found.machines]
        assert names == ["reference", "aa", "mine"]


def test_claims_that_machines_decide_differently_come_first(top):
    measured(top / "results/reference", 4.0, "r1", profile="full")
    versions = {"zarr": "2.18.0", "h5py": "3"}
    measured(top / "build/results/quick", 1.4, "r2", noise=0.01, versions=versions)
    found = gathered()
    assert [claim.id for claim in found.those("differs")] == ["lee-a", "lee-b"]
    listed, links = machines.listed(found)
    (first, *_) = row = list(listed.iloc[1])
    assert first == "A test (lee-a)" and row[2:4] == ["4 ×", "yours"]
    assert row[5:] == ["▽ weaker", "differs"]
    assert list(listed["Machines"])[-1] == "on one only"
    assert links["Claim"][1] == "../book/documents/lee.html#claim-lee-a"
    table, printed = machines.ratios(found)
    wide = table["value"][first, "yours"]
    assert wide.low < wide.value < wide.high
    assert table["value"][first, "reference"].value == printed[first] == 4
    seen = machines.versions(found)
    assert (list(seen["reference"]), list(seen["yours"])) == (["–", "3.1.6"], ["3", "2.18.0"])
    assert list(machines.facts(found)["Profile"]) == ["full", "quick"]


def test_runs_of_one_machine_are_compared_with_each_other(top):
    same = {"identity": {"cpu": "C", "cores": 2}}
    for n, ratio in enumerate((4.0, 4.1, 1.4)):
        measured(top / f"results/m{n}", ratio, f"r{n}", noise=0.02, **same)
    measured(top / "results/other", 4.0, "r9")
    (runs,) = repeats.groups(gathered())
    assert [run.name for run in runs] == ["m0", "m1", "m2"]
    seen = repeats.repeats(runs)
    # Two claims have parts with an interval, three pairs: m1 lies inside of m0, m2 of neither.
    assert (seen["estimates"], seen["inside"], seen["apart"]) == (6, pytest.approx(1 / 3), 2 / 3)
    assert seen["between"] > 5 * seen["expected"]
    assert (seen["decided"], seen["same"]) == (2, pytest.approx(1 / 3))
    assert seen["wrong"] == pytest.approx(2 / 3)
    row = repeats.table(gathered()).loc["m0"]
    assert (row["Runs"], row["Verdicts that repeat (%)"]) == (3, 0.333)  # the page makes percent
    alike = repeats.judged_alike(gathered())
    assert alike == {"pairs": 4, "without": 0, "different": 0, "same": 4}


def test_runs_at_another_pace_are_told_apart(top):
    for number, pace_s in enumerate((1e-4, 1.05e-4, 2e-4, 2.1e-4)):
        facts = {"identity": {"cpu": "C", "cores": 2}, "pace_s": pace_s, "noise": 0.02}
        measured(top / f"results/m{number}", (4.0, 4.1, 1.4, 1.4)[number], f"r{number}", **facts)
    table = repeats.table(gathered())
    assert list(table.index) == ["m0", "m0, at one pace", "m2, at one pace"]
    assert list(table["Runs"]) == [4, 2, 2]
    assert list(table["Verdicts that repeat (%)"]) == [0.333, 1.0, 1.0]
    assert list(machines.facts(gathered())["Known work"]) == [
        "100 µs",
        "105 µs",
        "200 µs",
        "210 µs",
    ]
