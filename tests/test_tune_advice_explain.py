"""Sentences and pictures follow from what was found, in either direction."""

import re
from dataclasses import replace

import matplotlib.pyplot as plt
import pytest
from made_advice import advice, as_if_measured, maps

from hyperslab.measure.records import frame_of
from hyperslab.network.link import Link
from hyperslab.tune.advice import advice_page, explain
from hyperslab.tune.advice.advice_page import rows
from hyperslab.tune.advice.question import FAR


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("text")
    return advice(maps(folder / "maps.nc"), folder, {"time_series": 0.7, "map": 0.3})


def test_the_first_row_is_advised_when_it_gains(found):
    said = " ".join(explain.verdict(as_if_measured(found, [7.0])))
    assert found.rows[0].candidate.name in said
    assert "7 times as fast, measured (6.93 to 7.07;" in said


def of(subject, address):
    return replace(subject, question=replace(subject.question, address=address))


@pytest.mark.parametrize("gain", [0.3, 1.005])
def test_nothing_is_advised_when_nothing_gains(found, gain):
    lost = as_if_measured(found, [gain] * len(found.rows))
    assert explain.verdict(lost)[0].startswith("Leave the file as it is")
    assert explain.how(lost) == []


def test_where_no_gain_is_known_that_is_said_and_not_that_there_is_none(found):
    lost = [replace(row, gain=float("nan"), sample_gain=float("nan")) for row in found.rows]
    why_not = replace(found.present, gain=float("nan"), status="a codec was not calibrated.")
    unknown = replace(found, rows=tuple(lost), present=why_not)
    assert explain.verdict(unknown) == ["Nothing is advised: a codec was not calibrated."]
    assert explain.how(unknown) == []
    assert " nan" not in explain.text(unknown)
    measured = explain.verdict(as_if_measured(unknown, [3.0]))[0]
    assert "3 times as fast, measured (2.97 to 3.03; not predicted)" in measured


@pytest.mark.parametrize("link", [FAR, Link(2e7, 0.08)])
def test_what_a_read_moves_over_a_network_explains_its_time(tmp_path, link):
    path = maps(tmp_path / "maps.nc")
    far = advice(path, tmp_path, {"map": 0.5, "time_series": 0.5}, link=link)
    series, frame = (explain.now(far)[n] for n in (1, 0))
    said = "; over the network, opening included, 2 requests, one after another, and 82"
    assert said in frame and said in series  # the file is smaller than what is fetched ahead
    assert "(h5py fetches 5.24 MB ahead, which serves the reads that follow)" in series
    least = link.seconds(2, 1, far.present.nbytes)
    assert far.present.seconds["map"] == pytest.approx(least, rel=0.2)
    large = replace(far, present=replace(far.present, nbytes=1e9))
    assert "3 requests, one after another, and " in explain.now(large)[0]
    assert ("30 ms away, which is assumed" in explain.head(far)) == (link is FAR)
    assert any("which is assumed" in note for note in far.notes) == (link is FAR)
    none = replace(far.present.candidate, library="kerchunk")
    several = replace(far, present=replace(far.present, candidate=none))
    assert "opening included, 49 requests, in 6 round trips" in explain.now(several)[1]
    assert "over the network" not in " ".join(explain.now(advice(path, tmp_path, {"map": 1.0})))


def test_a_remedy_may_come_first(found):
    n = next(n for n, row in enumerate(found.rows) if row.candidate.remedy == "index")
    rows = (found.rows[n], *found.rows[:n], *found.rows[n + 1 :])
    known = as_if_measured(found.__class__(**{**vars(found), "rows": rows}), [9.0])
    said = explain.verdict(known)
    assert said[0].startswith("Advice: build an index with hyperslab index")
    assert "the nearest point of an index" in said[0]
    assert said[1].startswith("Rewritten: rewrite it as netcdf4")
    assert any("hyperslab index" in line for line in explain.how(known))


def test_the_table_has_a_line_for_each_and_fits_a_terminal(found):
    whole = explain.table(as_if_measured(found, [3.0]), rows=5)
    assert len(whole.split("\n")) == 3 + 6
    assert "3.00x (2.97–3.03)" in whole
    narrow = explain.text(found, width=70)
    table = re.split(r"\n\n", narrow)[1]
    assert max(map(len, table.split("\n"))) <= 90


def test_a_picture_with_a_panel_for_each_access(found):
    frame = frame_of(rows(as_if_measured(found, [3.0])))
    drawn = advice_page.figure(frame)
    assert [axes.get_title() for axes in drawn.axes] == ["time_series", "map"]
    assert {t.get_text() for t in drawn.legends[0].get_texts()} == {
        "layout, predicted", "measured on the sample", "remedy, predicted", "as it is, predicted",
        "advice",
    }  # fmt: skip
    assert advice_page.picture(frame, ".svg").startswith(b"<?xml")
    plt.close("all")


def test_records_hold_what_is_said(found):
    frame = frame_of(rows(found))
    said = frame[frame["mode"] == "said"].set_index("case")["hints"]
    assert "/" not in said["file"].partition(":")[0]
    assert "touches 48 of 48 chunks" in said["now"]
    tried = frame[frame["mode"] != "said"]
    assert len(tried) == 2 * (1 + len(found.rows) + len(found.beyond))
    assert set(tried[tried["order"] == 0]["predicted_reads"]) == {48, 1}


def test_what_is_secret_in_an_address_is_not_shown(found):
    address = "https://me:secret@example.org/data/maps.nc?token=1"
    far = replace(found, subject=of(found.subject, address))
    assert explain.head(far).startswith("https://example.org/data/maps.nc: sst")
    assert explain.as_json(far)["file"] == "https://example.org/data/maps.nc"
    said = frame_of(rows(far))["hints"].str.cat()
    assert "maps.nc" in said
    assert "secret" not in said
    assert "token" not in said
