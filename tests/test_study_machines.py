"""Machines beside each other: what they are, what they decide, and where they differ."""

import json
from collections.abc import Mapping
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest
import yaml
from made_claims import claim as made_claim
from made_claims import part, quiet, samples

from hyperslab import claims
from hyperslab.measure.records import frame_of, save
from hyperslab.study import machines, machines_figures, machines_words
from hyperslab.study.style import STYLES, styled

ROOT = Path(__file__).parents[1]
CONTENT = claims.read(ROOT / claims.FILE)


@pytest.fixture(autouse=True)
def _without_a_screen() -> None:
    matplotlib.use("agg")


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study with one notebook and three claims on the same ratio, four in the document."""
    names = ("lee-a", "lee-b", "lee-c")
    small = part(rule={"kind": "effect", "document": 1.5})
    without = part(
        measure={"kind": "ratio", "value": "wall_s", "of": {"case": "a"}, "to": {"case": "z"}}
    )
    items = [
        made_claim(each, id=name)
        for name, each in zip(names, (part(), small, without), strict=True)
    ]
    book, notebooks = tmp_path / "book", tmp_path / "notebooks"
    book.mkdir()
    notebooks.mkdir()
    (tmp_path / "_config.yml").touch()
    text = {"documents": {"lee": "L"}, "chapters": {"trial": "A trial"}, "claims": items}
    (book / "claims.yml").write_text(yaml.safe_dump(text))
    listed = [{"name": "trial", "title": "A trial", "profiles": {"quick": {}}}]
    (notebooks / "study.yml").write_text(yaml.safe_dump({"notebooks": listed}))
    (tmp_path / "results").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def measured(folder: Path, ratio: float, run: str, *, noise: float = 0.0, **facts: object) -> None:
    """Records in which case a takes `ratio` times as long as case b."""
    slow = samples("a", ratio)
    for row in slow:
        row["wall_s"] = ratio * (1 + noise * (float(str(row["block"])) - 3))
    rows = [{**row, "run_id": run} for row in (*slow, *samples("b", 1.0), *quiet())]
    folder.mkdir(parents=True)
    save(frame_of(rows), folder / "trial.parquet")
    who = {"cpu": f"CPU of {folder.name}", "cores": 2, "memory_gib": 8, "system": "Linux"}
    known = {"identity": who, "versions": {"zarr": "3.1.6"}, "profile": "quick", **facts}
    (folder / "machine.json").write_text(json.dumps({run: known}))


def gathered(**more: str) -> machines.Machines:
    return machines.gathered(**{"profile": "quick", "workdir": "build", **more})


def test_nothing_measured_is_said(top: Path) -> None:
    found = gathered()
    assert found.machines == ()
    assert "Nothing was measured yet" in machines_words.summary(found)
    assert machines_figures.caption(found) == ""


def test_one_machine_is_said_in_one_line_with_how_to_add_another(top: Path) -> None:
    measured(top / "build/results/quick", 4.0, "r1")
    found = gathered()
    text = machines_words.summary(found)
    assert "one machine so far, *yours* (CPU of quick, 2 cores, 8 GiB; profile quick)" in text
    assert "hyperslab results add FOLDER --name NAME" in text
    assert "\n" not in text
    assert machines_words.document(found, "lee").empty
    assert machines_words.differing(found, found.opposed).empty
    assert machines_figures.caption(found) == ""
    assert machines_words.every(found) == ""


def test_reference_comes_first_and_yours_last(top: Path) -> None:
    for place, run in (
        ("results/aa", "r2"),
        ("results/reference", "r3"),
        ("build/results/quick", "r4"),
    ):
        measured(top / place, 4.0, run)
    (top / "results/README.md").touch()
    (top / "results/.add-1").mkdir()
    found = gathered()
    assert [machine.name for machine in found.machines] == ["reference", "aa", "yours"]
    assert list(machines_words.facts(found).columns) == ["", "Reference", "aa", "Yours"]


def test_a_run_that_was_added_stands_there_once(top: Path) -> None:
    measured(top / "results/mine", 4.0, "r1")
    measured(top / "build/results/quick", 4.0, "r1")
    assert [machine.name for machine in gathered().machines] == ["mine"]
    drawn = gathered(records="results/mine")
    assert [machine.name for machine in drawn.machines] == ["mine"]
    for found in (gathered(), drawn):
        assert "made from the records of *mine* itself: nothing stands" in (
            machines_words.summary(found)
        )


def test_another_run_of_a_machine_is_no_other_machine(top: Path) -> None:
    same = {"identity": {"cpu": "C", "cores": 2}, "versions": {"zarr": "3.1.6"}}
    measured(top / "results/reference", 4.0, "r1", git_revision="a", **same)
    measured(top / "build/results/quick", 4.0, "r2", git_revision="b", **same)
    found = gathered()
    assert "*yours* has the hardware and the versions of *reference*: take it for another run" in (
        machines_words.summary(found)
    )
    assert list(machines_words.versions(found).columns) == ["Package", "On all"]
    measured(top / "other/results/quick", 4.0, "r3", git_revision="b")
    assert "take it for" not in machines_words.summary(gathered(workdir="other"))


def test_claims_that_machines_decide_differently_come_first(top: Path) -> None:
    measured(top / "results/reference", 4.0, "r1")
    measured(top / "build/results/quick", 1.4, "r2")
    found = gathered()
    assert [claim.id for claim in found.shared] == ["lee-a", "lee-b"]
    assert [claim.id for claim in found.opposed] == ["lee-a", "lee-b"]
    shown = machines_words.differing(found, found.opposed)
    assert list(shown.columns) == [
        "Claim", "The document says", "Its number", "Reference", "Yours", "Chapter",
    ]  # fmt: skip
    assert list(shown.iloc[0]) == [
        "**A test** (lee-a)", "A takes four times as long as B. (1)", "4\u00a0×",
        "4\u00a0× **✓ holds**",
        "1.4\u00a0× **▽ weaker**", "{doc}`A trial <trial>`",
    ]  # fmt: skip
    listed = machines_words.document(found, "lee")
    assert list(listed["Claim"]) == [
        "**A test** (lee-a)", "**A test** (lee-b)", "A test (lee-c)",
    ]  # fmt: skip
    assert list(listed["Yours"])[-1] == "– not measured"
    assert (
        "2 claims of 3 were judged on at least two of them: 0 with one verdict on all, 2 with"
        in (machines_words.summary(found))
    )


def test_a_verdict_beside_none_is_open_and_not_opposed(top: Path) -> None:
    measured(top / "results/reference", 4.0, "r1")
    measured(top / "build/results/quick", 1.97, "r2", noise=0.1)
    found = gathered()
    first, second = (head.verdict for head in found.heads(found.claims[0]))
    assert (first, second) == ("holds", "inconclusive")
    assert "lee-a" not in [claim.id for claim in found.opposed]
    assert "lee-a" in [claim.id for claim in found.open]
    assert "A test (lee-a)" in list(machines_words.differing(found, found.open)["Claim"])


def test_other_profiles_and_versions_are_told(top: Path) -> None:
    measured(top / "results/reference", 4.0, "r1", profile="full")
    measured(top / "build/results/quick", 4.0, "r2", versions={"zarr": "2.18.0", "h5py": "3"})
    found = gathered()
    assert "They ran different profiles" in machines_words.summary(found)
    versions = machines_words.versions(found)
    assert versions.to_numpy().tolist() == [["**h5py**", "–", "3"], ["**zarr**", "3.1.6", "2.18.0"]]
    facts = machines_words.facts(found).set_index("")
    assert facts.loc["Profile"].tolist() == ["full", "quick"]
    assert facts.loc["Kernel"].tolist() == ["–", "–"]


@pytest.mark.parametrize("style", STYLES)
def test_the_figure_shows_every_ratio_and_names_those_that_differ(top: Path, style: str) -> None:
    measured(top / "results/reference", 4.0, "r1")
    measured(top / "build/results/quick", 1.4, "r2")
    found = gathered()
    assert [
        (p.claim, p.machine, p.first[0], p.other[0]) for p in machines_figures.pairs(found)
    ] == [
        ("lee-a", "yours", 4.0, 1.4),
        ("lee-b", "yours", 4.0, 1.4),
    ]
    assert "2 whose verdicts differ are named" in machines_figures.caption(found)
    with styled(style):
        figure = machines_figures.draw(found)
    [axes] = figure.axes
    named = [text.get_text() for text in axes.texts]
    axes_names = (axes.get_xlabel(), axes.get_ylabel())
    plt.close(figure)
    assert named == ["lee-a", "lee-b"]
    assert axes_names == ("Ratio on reference", "Ratio on the other machine")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"profile": "fast"}, "no profile 'fast'"),
        ({"records": "no/such"}, "records is 'no/such': no such folder"),
        ({"others": "nowhere"}, "others is 'nowhere': no such folder"),
    ],
)
def test_a_wrong_parameter_is_refused(top: Path, given: Mapping[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gathered(**given)


def test_the_notebook_shows_each_document_and_holds_no_numbers() -> None:
    notebook = json.loads((ROOT / "notebooks" / "machines.ipynb").read_text())
    source = "".join("".join(cell["source"]) for cell in notebook["cells"])
    for document in CONTENT.documents:
        assert f'machines_words.document(found, "{document}")' in source
