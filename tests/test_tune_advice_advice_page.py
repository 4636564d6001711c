"""An advice as a page, and advice judged by what was measured of every candidate."""

import html
import math
from dataclasses import replace

import pytest
from made_advice import advice, as_if_measured, maps

from hyperslab.experiments.advise_evaluation import evaluate, given, judged, pairs
from hyperslab.measure.records import frame_of
from hyperslab.tune.advice import advice_page as page
from hyperslab.tune.advice import trials
from hyperslab.tune.advice.advice_page import rows
from hyperslab.tune.advice.costs import ROUGH
from hyperslab.tune.advice.question import Question


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
    assert len(said[said["mode"] == "candidate"]) == 3


def test_a_choice_near_the_best_is_good_and_one_far_from_it_is_not(found):
    advised = as_if_measured(found, [9.0])
    near = frame(advised, as_if_measured(found, [3.9, 4.0]))
    assert near[near["mode"] == "advised"]["weight"].iloc[0] == pytest.approx(4 / 3.9)
    far = frame(advised, as_if_measured(found, [2.0, 4.0]))
    assert far[far["mode"] == "advised"]["weight"].iloc[0] == 2
    assert far[far["mode"] == "advised"]["rank"].iloc[0] == 2


def test_what_was_left_early_ranks_behind_whatever_its_gain_of_fewer_blocks(found):
    every = as_if_measured(found, [9.0, 3.0])
    rows = (replace(every.rows[0], left_early=True), *every.rows[1:])
    said = frame(as_if_measured(found, [9.0]), replace(every, rows=rows))
    first = said[said["mode"] == "advised"].iloc[0]
    assert (first["rank"], first["tried"]) == (2, 2)
    assert first["weight"] == trials.NEAR
    assert [row.left_early for row in sorted(rows[:2], key=lambda row: row.order)] == [False, True]


def test_what_was_not_measured_has_no_rank(found):
    said = frame(as_if_measured(found, [9.0]), found)
    assert said[said["mode"].isin(["advised"])]["rank"].isna().all()


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


def test_the_page_of_a_file_has_its_path_and_its_records_have_not(found, tmp_path):
    made = frame_of(rows(as_if_measured(found, [9.0])))
    address = found.subject.question.address
    assert address not in made["hints"].str.cat()
    text = html.unescape(page.page(made, "mine", address))
    assert f"hyperslab rechunk {address} " in text
    assert f"open_dataset('{address}'" in text
    assert "hyperslab rechunk maps.nc" in html.unescape(page.page(made, "mine"))


def test_commands_of_a_url_in_records_name_no_server(found):
    address = "https://me:secret@example.org/data/maps.nc?token=1"
    asked = replace(found.subject.question, address=address)
    far = replace(found, subject=replace(found.subject, question=asked))
    made = frame_of(rows(as_if_measured(far, [9.0])))
    said = made["hints"].str.cat()
    assert "example.org" not in said
    assert "hyperslab rechunk https://SERVER/maps.nc" in said
    text = html.unescape(page.page(made, "mine", address))
    assert "hyperslab rechunk https://example.org/data/maps.nc" in text
    assert "secret" not in text


def test_options_in_the_report_are_code_and_keep_both_dashes():
    words = {"mode": "said", "case": "notes", "hints": "- --budget any ranks them too."}
    assert page.myst(frame_of([words]), "notes") == "- `--budget any` ranks them too."
    assert page.myst(frame_of([words]), "table") == ""


def test_no_more_are_measured_than_asked_for_and_some_are_left_out_early(tmp_path):
    pair = pairs({"maps": maps(tmp_path / "maps.nc")}, {"maps": [{"time_series": 1.0}]})
    asked = Question(
        "", cache="warm", measured=1, repeats=3, screened=1, sample_bytes=2**18, workdir=tmp_path
    )
    said = frame_of(evaluate(pair, ROUGH, asked, 4))
    tried = said[said["mode"] == "candidate"]
    remedies = {"as it is", "h5py", "sub-chunk index"}
    layouts = [name for name in tried["hints"] if name not in remedies]
    assert len(layouts) == 4
    assert set(tried["hints"]) >= remedies
    assert len(tried) == said[said["mode"] == "advised"]["tried"].iloc[0]
    assert tried["gain"].notna().all()
    assert tried.set_index("hints")["tried"]["as it is"] == 3
    assert set(tried["tried"]) <= {1, 3}
    left = said[said["mode"] == "left"]
    assert len(left)
    assert left["gain"].isna().all()
