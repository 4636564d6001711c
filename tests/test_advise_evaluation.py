"""Advice judged by what was measured of every candidate."""

import math

import pytest
from made_advice import advice, as_if_measured, maps

from hyperslab.advise.advisor import page
from hyperslab.advise.advisor.rows import rows
from hyperslab.advise.evaluation.evaluate import given, good, judged, pairs
from hyperslab.measure.records import frame_of


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    return advice(maps(folder / "maps.nc"), folder, codecs=("deflate",))


def frame(advised, every):
    return frame_of(judged("pair", advised, every))


def test_the_best_is_first(found):
    said = frame(as_if_measured(found, [9.0]), as_if_measured(found, [9.0, 3.0, 4.0]))
    first = said[said["mode"] == "advised"].iloc[0]
    assert (first["rank"], first["tried"], first["weight"]) == (1, 3, 1)
    assert first["hints"] == found.rows[0].candidate.name
    assert good(said) == (1, 1)
    assert len(said[said["mode"] == "candidate"]) == 3


def test_a_choice_near_the_best_is_good_and_one_far_from_it_is_not(found):
    advised = as_if_measured(found, [9.0])
    assert good(frame(advised, as_if_measured(found, [3.9, 4.0]))) == (1, 1)
    far = frame(advised, as_if_measured(found, [2.0, 4.0]))
    assert good(far) == (0, 1)
    assert far[far["mode"] == "advised"]["weight"].iloc[0] == 2
    assert far[far["mode"] == "advised"]["rank"].iloc[0] == 2


def test_what_was_not_measured_has_no_rank(found):
    said = frame(as_if_measured(found, [9.0]), found)
    assert said[said["mode"].isin(["advised"])]["rank"].isna().all()
    assert good(said) == (0, 0)


def test_pairs_of_a_folder(tmp_path):
    maps(tmp_path / "a.nc")
    (tmp_path / "notes.txt").write_text("no data")
    assert [one.name for one in given(tmp_path)][:2] == ["a.nc, usual", "a.nc, time_series"]
    assert len(given(tmp_path)) == 4
    assert math.isclose(sum(given(tmp_path)[3].shares.values()), 1)
    assert pairs({"a": "a.nc"}, {"a": [{"map": 1.0}]})[0].path == "a.nc"


def test_a_page_holds_everything(found, tmp_path):
    made = frame_of(rows(as_if_measured(found, [9.0])))
    path = page.write(made, tmp_path / "new" / "report.html", "<my> file")
    text = path.read_text()
    assert "&lt;my&gt; file" in text
    assert "<svg" in text
    assert "nccopy" in text
    assert "What reads cost now" in text
    assert page.myst(made, "table").startswith("```text\n")
    assert page.said(made, "nothing") == ""


def test_options_in_the_report_are_code_and_keep_both_dashes():
    words = {"mode": "said", "case": "notes", "hints": "- --budget any ranks them too."}
    assert page.myst(frame_of([words]), "notes") == "- `--budget any` ranks them too."
    assert page.myst(frame_of([words]), "table") == ""
