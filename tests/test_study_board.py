"""The tables of a run: each claim judged, on a line, and each case that was measured."""

import contextlib
import json
import re
from collections import Counter
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path

import pytest
from made_claims import load

from hyperslab.claims import VERDICTS
from hyperslab.measure import records
from hyperslab.study import board, explorer, profile, provenance
from hyperslab.study.book import listed
from hyperslab.study.long_table import markup

ROOT = Path(__file__).parents[1]
CLAIMS = load()


@pytest.fixture(autouse=True, scope="module")
def _in_the_repository():
    with contextlib.chdir(ROOT):
        yield


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """The board of a machine on which nothing was measured."""
    return board.judged(profile="quick", workdir=str(tmp_path_factory.mktemp("empty")))


def given(judgement, verdict, only=None):
    """Return a judgement of which all parts, or only one, came out so."""
    parts = tuple(
        replace(part, verdict=verdict, measured=2.0) if only in (None, part) else part
        for part in judgement.parts
    )
    return replace(judgement, parts=parts)


@pytest.fixture(scope="module")
def mixed(empty):
    """A board on which every verdict occurs."""
    pairs = zip(empty.judgements, cycle(VERDICTS))
    return replace(empty, judgements=tuple(given(*pair) for pair in pairs))


def test_a_board_without_records_shows_what_is_missing(empty):
    judged = [each.claim for each in empty.judgements if each.verdict != "not measured"]
    assert [claim.id for claim in judged] == ["lee-self"]  # of the document's own numbers
    assert all(part.reason and part.rule for each in empty.judgements for part in each.parts)
    assert (empty.judged, empty.otherwise) == (1, 0)
    assert len(json.loads((empty.results / "claims.json").read_text())) == len(CLAIMS)
    assert board.tally(empty)["All"].sum() == len(CLAIMS)


def test_verdicts_from_records_that_were_measured_otherwise_are_marked(tmp_path):
    frame = records.load(ROOT / "results/reference/lee_access.parquet")
    settings = profile.entry("lee_access", ROOT).settings["full"]
    source = ROOT / "notebooks/lee_access.ipynb"
    same = provenance.experiment(source, settings, profile="full", repeats=9, seed=0)
    for version, marked in ((provenance.now(["h5py"])["h5py"], False), ("0.1", True)):
        about = {"experiment": same, "tools": {"h5py": version}}
        records.save(frame, tmp_path / "given/lee_access.parquet", about)
        found = board.judged(profile="full", workdir=str(tmp_path), records=str(tmp_path / "given"))
        (judged,) = [item for item in found.judgements if item.claim.id == "lee-5"]
        assert any("h5py was 0.1" in mark for mark in judged.headline.marks) == marked
        table, _ = board.listed(found)
        assert (table["Run"] == "marked").any() == marked


@pytest.mark.parametrize(
    ("verdict", "other", "shown", "in_part"),
    [("holds", "refuted", "◐ holds in part", 1), ("refuted", "holds", "✗ refuted", 0)],
)
def test_what_came_out_so_in_part_is_told_apart(mixed, verdict, other, shown, in_part):
    assert mixed.in_part == 0
    before = board.tally(mixed)
    documents = Counter(claim.document for claim in CLAIMS)
    assert list(before.sum()) == [*documents.values(), len(CLAIMS)]
    one, part = next(
        (judgement, part)
        for judgement in mixed.judgements
        for part in judgement.parts
        if judgement.verdict == verdict and not part.headline and not part.role
    )
    split = given(one, other, part)
    found = replace(mixed, judgements=tuple(split if j is one else j for j in mixed.judgements))
    assert (found.in_part, found.count("holds")) == (in_part, mixed.count("holds"))
    tally = board.tally(found)["All"]
    assert (tally[shown], tally.sum()) == (before["All"][shown] + in_part, len(CLAIMS))
    table, _ = board.listed(found)
    assert table["Verdict"].str.startswith(f"{shown[0]} {verdict} in part").sum() == 1


def test_the_list_has_each_claim_once_and_leads_to_its_sections(mixed):
    table, links = board.listed(mixed)
    assert list(table["Claim"]) == [claim.title for claim in CLAIMS]
    topics = listed(ROOT)
    for claim, place in zip(CLAIMS, links["Claim"], strict=True):
        assert topics[claim.notebook]
        assert place == f"../book/documents/{claim.document}.html#claim-{claim.id}"
        assert "```{claims}" in (ROOT / f"book/documents/{claim.document}.md").read_text()
    assert {*links["Experiment"]} <= {f"{item.name}.html" for item in profile.entries(ROOT)}


def rows(*, blocks=6, **more):
    ways = product(("h5py", "zarr"), ("series", "map"), range(blocks), ("open", "read"))
    for way, shape, block, phase in ways:
        yield {
            "run_id": "r", "profile": "quick", "status": "ok", "notebook": "penard_local",
            "experiment": "reads", "case": f"{shape}, {way}", "block": block, "phase": phase,
            "wall_s": (2.0 if way == "zarr" else 1.0) / 2 + block / 1e3, "rchar": 3e6,
            "cache_state": "warm", "library": way,
        } | more  # fmt: skip


@pytest.fixture
def explored(tmp_path):
    records.save(records.frame_of(rows()), tmp_path / "penard_local.parquet")
    records.save(records.frame_of(rows(wall_s=float("nan"))), tmp_path / "penard_wire.parquet")
    return explorer.gathered(profile="quick", records=str(tmp_path))


def test_each_phase_of_each_case_is_a_row(explored):
    assert len(explored) == 8 and set(explored["blocks"]) == {6}
    row = explored.query("case == 'series, zarr' and phase == 'open'").iloc[0]
    assert row["time, ms"] == pytest.approx(1002.5) and row["from, ms"] == 1000
    assert row["MB read"] == 3
    assert explored["time, ms"].dtype == "f8"  # else the page sorts it as text


def test_what_was_lost_has_no_row_and_without_records_it_says_what_makes_them(tmp_path):
    assert explorer.summaries(records.frame_of(rows(status="the process ended")), "P").empty
    with pytest.raises(FileNotFoundError, match="hyperslab run --profile quick"):
        explorer.gathered(profile="quick", records=str(tmp_path))


def test_the_table_asks_no_other_host_and_what_is_in_it_breaks_out_of_nothing(explored):
    table = markup(explored, "samples")
    assert "series, zarr" in table and table == markup(explored, "samples")
    assert not re.search(r'(?:src|href)="?https?://(?!itables\.org|datatables\.net)', table)
    risky = explored.assign(case="<script>alert(1)</script>")
    table = markup(risky, "samples", links={"case": ['a.html#"><b>'] * len(risky)})
    assert "<script>alert(1)" not in table and '#"><b>' not in table and "a.html#" in table
