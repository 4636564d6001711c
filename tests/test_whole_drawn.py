"""Pages drawn again from the records of a whole run: they say the same, and measure nothing."""

import json

import pytest

from hyperslab.cli import OK, main
from hyperslab.study.options import executed_folder

# One that times, one that sums up others, one that advises, one that judges; a book draws all.
DRAWN = ("lee_access", "penard_summary", "advise_evaluation", "claims")


@pytest.fixture(scope="module")
def drawn(whole, tmp_path_factory):
    """Some of them, drawn from those records in another place."""
    folder = tmp_path_factory.mktemp("drawn")
    source = str(whole / "results/smoke")
    words = ["run", *DRAWN, "--profile", "smoke", "--workdir", str(folder), "--records", source]
    assert main(words) == OK
    assert not (folder / "results").exists(), "what was drawn is kept apart"
    return folder / "drawn"


def prose(folder, name):
    """Return what a notebook says, apart from pictures."""
    path = executed_folder(folder, "smoke") / f"{name}.ipynb"
    cells = json.loads(path.read_text())["cells"]
    outputs = (output.get("data", {}) for cell in cells for output in cell.get("outputs", []))
    return ["".join(data["text/x-myst"]) for data in outputs if "text/x-myst" in data]


@pytest.mark.parametrize("name", DRAWN)
def test_drawing_says_the_same(whole, drawn, name):
    said = prose(whole, name)
    assert said == prose(drawn, name)
    assert any(len(text) > 80 for text in said)


def test_drawing_measured_nothing_and_shows_the_machine_of_the_records(whole, drawn):
    assert not list(drawn.rglob("*.parquet"))
    assert not (drawn / "scratch").exists()
    place = "results/smoke/machine.json"
    assert json.loads((drawn / place).read_text()) == json.loads((whole / place).read_text())
