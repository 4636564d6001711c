"""The verdict board: counts, tables, picture, and the notebook that shows them."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pytest

from hyperslab.claims import VERDICTS, Judgement, load
from hyperslab.measure import records
from hyperslab.study import board, board_figures, profile, provenance
from hyperslab.study.style import STYLES, styled

ROOT = Path(__file__).parents[1]
CLAIMS = load(ROOT / "book" / "claims.yml")


@pytest.fixture(autouse=True)
def _without_a_screen() -> None:
    matplotlib.use("agg")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> board.Board:
    """The board of a machine on which nothing was measured."""
    monkeypatch.chdir(ROOT)
    return board.judged(profile="quick", workdir=str(tmp_path))


@pytest.fixture
def mixed(empty: board.Board) -> board.Board:
    """A board on which every verdict occurs."""

    def given(judgement: Judgement, verdict: str) -> Judgement:
        parts = tuple(
            replace(part, verdict=verdict, reason=f"{part.name} a|b *c*.", measured=2.0)
            for part in judgement.parts
        )
        return replace(judgement, parts=parts)

    found = [
        given(judgement, VERDICTS[place % len(VERDICTS)])
        for place, judgement in enumerate(empty.judgements)
    ]
    return replace(empty, judgements=tuple(found))


def test_a_board_without_records_shows_the_distance_honestly(empty: board.Board) -> None:
    text = board.summary(empty)
    assert "75 claims in 5 documents: 1 judged (1 holds), 74 not measured." in text
    assert "still to come" not in text
    without = replace(empty, pages=frozenset(empty.pages) - {"lee_access"})
    assert re.search(r"still to come will measure \d+ of these", board.summary(without))
    assert len(json.loads((empty.results / "claims.json").read_text())) == 75


def test_verdicts_from_records_that_were_measured_otherwise_are_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
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
        assert ("measured otherwise" in judged.headline.reason) == marked


def test_the_tally_adds_up(mixed: board.Board) -> None:
    tally = board.tally(mixed)
    assert list(tally.iloc[-1]) == ["claims", 26, 8, 15, 18, 8, 75]
    counts = tally.drop(columns="Verdict")
    assert (counts.drop(columns="All").sum(axis=1) == counts["All"]).all()
    assert (counts.iloc[:-1].sum() == counts.iloc[-1]).all()


def test_every_verdict_has_a_symbol_and_a_colour_of_its_own() -> None:
    for looks in (board.SYMBOLS, board_figures.COLOURS):
        assert set(looks) == set(VERDICTS)
        assert len(set(looks.values())) == len(VERDICTS)


def test_what_holds_in_part_is_told_apart(mixed: board.Board) -> None:
    shown = board.tiles(mixed)
    assert "◐" not in set(shown["symbol"])
    assert "in part" not in board.summary(mixed)
    held = [j for j in mixed.judgements if j.verdict == "holds" and len(j.parts) > 1]
    first, other = held[0].parts[:2]
    assert first.headline
    split = replace(held[0], parts=(first, replace(other, verdict="refuted"), *held[0].parts[2:]))
    found = replace(mixed, judgements=tuple(split if j is held[0] else j for j in mixed.judgements))
    shown = board.tiles(found).set_index("id")
    assert (shown["symbol"] == "◐").sum() == 1
    assert tuple(shown.loc[split.claim.id, ["verdict", "symbol"]]) == ("holds", "◐")
    assert "1 do so in part (◐)" in board.summary(found)
    listed = board.listing(found, split.claim.document)
    assert listed["Verdict"].str.startswith("◐ holds in part").sum() == 1
    board_figures.draw(found)
    texts = [text.get_text() for text in plt.gca().texts]
    assert texts.count("◐") == 2  # the tile's, and the legend's
    plt.close("all")


def test_claims_that_no_measurement_confirms_are_counted(mixed: board.Board) -> None:
    based = [c for c in CLAIMS if c.basis]
    assert {c.id for c in based if c.basis == "arithmetic"} == {"lee-self"}
    calibrated = {c.id for c in CLAIMS for p in c.parts if type(p.rule).__name__ == "Calibration"}
    assert calibrated <= {c.id for c in based if c.basis == "calibration"}
    assert re.search(r"can confirm \d whose data were made to show it \(cal", board.summary(mixed))
    verdicts = "".join(board.listing(mixed, "lee")["Verdict"])
    assert "(calibration)" in verdicts and "(arithmetic)" in verdicts


def test_tables_list_every_claim_once(mixed: board.Board) -> None:
    listed = [board.listing(mixed, document) for document in mixed.documents]
    assert [name for table in listed for name in table["Claim"]] == [
        f"{c.title} ({c.id})" for c in CLAIMS
    ]
    for table in listed:
        assert not table.map(lambda text: re.search(r"(?<!\\)\|", str(text))).any(axis=None)


def test_a_claim_links_to_its_chapter_only_where_there_is_one(empty: board.Board) -> None:
    chapters = board.listing(empty, "lee").set_index("Claim")["Chapter"]
    assert (
        chapters["A column from matching chunks (lee-5)"] == "{doc}`Reading a column <lee_access>`"
    )
    future = replace(empty, pages=frozenset())
    assert board.listing(future, "lee")["Chapter"].str.endswith("(to come)").all()


def test_reasons_stand_for_judged_parts_only(empty: board.Board, mixed: board.Board) -> None:
    assert board.reasons(empty, "chilan") == "None of these claims is judged yet."
    text = board.reasons(mixed, "chilan")
    judged = [j for j in mixed.judgements if j.claim.document == "chilan"]
    expected = sum(len(j.parts) for j in judged if j.verdict != "not measured")
    assert text.count("\n  - ") == expected
    assert "a\\|b \\*c\\*" in text


@pytest.mark.parametrize("style", STYLES)
def test_the_picture_shows_every_claim_with_its_symbol(mixed: board.Board, style: str) -> None:
    with styled(style):
        figure = board_figures.draw(mixed)
    drawn = [text.get_text() for text in figure.axes[0].texts]
    plt.close(figure)
    assert {claim.id for claim in CLAIMS} <= set(drawn)
    for verdict, symbol in board.SYMBOLS.items():
        among = sum(judgement.verdict == verdict for judgement in mixed.judgements)
        assert drawn.count(symbol) == among + 1  # and once in the legend
        assert f"{verdict} ({among})" in drawn


def test_the_picture_in_words_names_documents_and_counts(empty: board.Board) -> None:
    text = board.described(empty)
    assert "Lee, Yang and Aydt 2008): 1 holds, 25 not measured" in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"profile": "fast"}, "no profile 'fast'"),
        ({"records": "no/such/folder"}, "records is 'no/such/folder'"),
    ],
)
def test_a_wrong_parameter_is_refused(
    parameters: Mapping[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(ValueError, match=message):
        board.judged(**{"workdir": str(tmp_path), **parameters})


def test_the_notebook_shows_each_document() -> None:
    notebook = json.loads((ROOT / "notebooks" / "claims.ipynb").read_text())
    source = "".join("".join(cell["source"]) for cell in notebook["cells"])
    for document in {claim.document for claim in CLAIMS}:
        assert f'board.listing(found, "{document}")' in source
    assert "def " not in source
