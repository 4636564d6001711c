"""The whole path at toy size: every notebook through papermill, the claims, the strict book."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from hyperslab import claims
from hyperslab.cli import OK, main
from hyperslab.measure import records

ROOT = Path(__file__).parents[1]
STUDY = yaml.safe_load((ROOT / "notebooks/study.yml").read_text())["notebooks"]
NAMES = [item["name"] for item in STUDY]
# Rows that sum up or predict what samples gave, which have pairs of their own.
SUMMARIES = ("calibration", "predictions", "advice")
MEASURING = [item["name"] for item in STUDY if not item["profiles"]["smoke"].get("draws")]


def test_the_book_is_rendered_strictly_and_tells_nothing_of_folders_or_environment(book, canary):
    pages = {str(path.relative_to(book)): path.read_text() for path in book.rglob("*.html")}
    assert len(pages) > 50
    for place, page in pages.items():
        for private in (canary, str(ROOT), os.environ["PATH"]):
            assert private not in page, place
    for name in NAMES:
        page = pages[f"notebooks/{name}.html"]
        assert "Traceback" not in page and "was not run" not in page and "/tmp/" not in page


def test_the_board_has_each_claim_under_a_topic(book):
    board = (book / "book/index.html").read_text().partition('class="board ')[2]
    topics = board.split('class="board-title"')[1:]
    assert len(topics) > 5 and "Tiny chunks" in topics[0]
    assert board.count("<tr") == len(claims.read(ROOT / claims.FILE).claims) + len(topics)


@pytest.mark.parametrize("name", MEASURING)
def test_every_sample_was_verified_and_every_timed_experiment_has_its_pair(whole, name):
    frame = records.load(whole / f"results/smoke/{name}.parquet")
    frame = frame[frame["status"] != "discarded"]  # what was disturbed, and measured again
    known = frame[frame["experiment"] != "tries"]  # of what may not work, and is told then
    known = known[~known["status"].str.startswith("missing")]
    known = known[known["case"] != "temperature series, netCDF-4, kerchunk, parts of chunks"]
    assert set(known["status"]) == {"ok"}
    assert known["verified"].all()
    assert known["run_id"].nunique() == 1
    timed = frame[frame["wall_s"].notna() & ~frame["experiment"].isin(SUMMARIES)]
    for _, part in timed.groupby(["experiment", "cache_state"]):
        assert {"A", "B"} <= set(part["aa"])
        blocks = part.groupby("block")["case"].nunique()
        assert blocks.nunique() == 1 or part["status"].ne("ok").any()


def test_every_claim_is_judged_or_says_why_not(whole):
    judged = json.loads((whole / "results/smoke/claims.json").read_text())
    known = claims.read(ROOT / claims.FILE).claims
    assert [item["id"] for item in judged] == [claim.id for claim in known]
    for item in judged:
        assert item["reason"]
        assert item["run_id"] or item["verdict"] == "not measured" or item["id"] == "lee-self"


def test_nothing_private_is_kept(whole):
    """No path of this machine in records, figures, machine facts or executed notebooks."""
    for path in (*(whole / "results").rglob("*"), *(whole / "executed").rglob("*")):
        data = path.read_bytes() if path.is_file() else b""
        for private in (str(whole), str(ROOT), f"{Path.home()}/"):
            assert private.encode() not in data, path.name


def test_again_unchanged_runs_nothing(whole, capsys):
    assert main(["run", "--profile", "smoke", "--workdir", str(whole)]) == OK
    assert capsys.readouterr().out.count("current") == len(NAMES)


def test_papermill_alone_from_the_notebooks_folder(tmp_path):
    """One notebook, nothing run before it, as Run All in JupyterLab starts it."""
    out = tmp_path / "out.ipynb"
    words = [sys.executable, "-m", "papermill", "--no-progress-bar"]
    words += ["chunking_defaults.ipynb", str(out), "-p", "profile", "smoke"]
    words += ["-p", "workdir", str(tmp_path), "-p", "repeats", "1"]
    subprocess.run(words, cwd=ROOT / "notebooks", check=True, capture_output=True)
    frame = records.load(tmp_path / "results/smoke/chunking_defaults.parquet")
    assert frame["block"].max() == 0
