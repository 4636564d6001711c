"""The file of claims: what is refused, and what the book's own holds."""

from datetime import date
from itertools import groupby
from pathlib import Path

import pytest
from made_claims import COUNT, RATIO, claim, part, written

from hyperslab import claims

BOOK = Path(__file__).parents[1] / "book" / "claims.yml"
WRONG = [
    (claim(document="lea"), "lee-x: document is 'lea': allowed is one of lee"),
    (claim(dated="today"), "lee-x: dated is 'today': allowed is a date"),
    (claim(colour="red"), "lee-x: fields is 'colour': allowed is id, title, document"),
    (claim(part(headline=False)), "lee-x: headline is 'none': allowed is one part"),
    (claim(part(), part(headline=False)), "a different name for each part"),
    (claim(part(measure={"kind": "guess"})), "part 'time': measure: kind is 'guess': .*count_rat"),
    (claim(part(measure={**RATIO, "value": "speed"})), "measure: value is 'speed': .*rate"),
    (claim(part(measure={**COUNT, "value": "wall_s"})), "value is 'wall_s': .*file_bytes"),
    (claim(part(measure={**RATIO, "of": {"wall_s": 1}})), "measure: of is 'wall_s': .*a label"),
    (claim(part(measure={**RATIO, "phases": ["red"]})), "measure: phases is 'red': .*read"),
    (claim(part(measure={"kind": "ratio", "value": "rate"})), "measure: the field of is missing"),
    (claim(part(measure={**COUNT, "factor": "a / b"})), "measure: factor: 'a / b' is no number"),
    (claim(part(rule={"kind": "effect"})), "rule effect: .*document"),
    (claim(part(rule={"kind": "effect", "document": 1})), "rule effect: document is 1.0"),
    (claim(part(rule={"kind": "equality", "margin": 15})), "rule equality: margin is 15"),
    (claim(part(rule={"kind": "calibration", "tolerance": 0})), "tolerance is 0.*above 0, up to 1"),
    (claim(part(rule={"kind": "count", "at_least": 2, "at_most": 1})), "2.0 is above at_most 1.0"),
    (claim(part(rule={"kind": "count"})), "rule count: give at_least, at_most, or equals"),
    (claim(part(reason="{speed}")), "reason is 'speed': .*compared"),
    (claim(part(reason="It is faster.")), "reason is 'faster': .*compared"),
    (claim(basis="guess"), "lee-x: basis is 'guess': allowed is one of calibration, arithmetic"),
    (claim(changes=[{"date": "x", "reason": "y"}]), "changes: date is 'x'"),
    (claim(first={"date": date(2026, 12, 1), "verdict": "true"}), "first: verdict is 'true'"),
]


@pytest.mark.parametrize(("item", "message"), WRONG)
def test_a_wrong_file_is_refused_by_name(tmp_path, item, message):
    with pytest.raises(claims.ClaimsError, match=message):
        claims.read(written(tmp_path, item))


def test_a_figure_is_one_of_its_notebook():
    shown = [one for one in claims.read(BOOK).claims if one.figure]
    assert len(shown) > 60
    for one in shown:
        notebook = BOOK.parents[1] / "notebooks" / f"{one.notebook}.ipynb"
        assert f'\\"{one.figure}\\"' in notebook.read_text(encoding="utf-8"), one.id


def test_an_id_given_twice_what_is_no_yaml_and_renames_of_no_commits_are_refused(tmp_path):
    with pytest.raises(claims.ClaimsError, match="lee-x: id is 'lee-x'"):
        claims.read(written(tmp_path, claim(), claim()))
    renames = [{"date": date(2026, 11, 24), "commits": "main", "reason": "r"}]
    with pytest.raises(claims.ClaimsError, match="commits is 'main'"):
        claims.read(written(tmp_path, claim(), renames=renames))
    (tmp_path / "claims.yml").write_text("claims: [")
    with pytest.raises(claims.ClaimsError, match=r"claims.yml is not YAML"):
        claims.read(tmp_path / "claims.yml")


# The book's own claims.


@pytest.fixture(scope="module")
def book():
    return claims.read(BOOK)


def test_claims_are_sentences_that_stand_by_document_under_titles_of_their_own(book):
    documents = [name for name, _ in groupby(claim.document for claim in book.claims)]
    assert documents == list(book.documents)
    assert len({claim.title for claim in book.claims}) == len(book.claims)
    assert [each.id for each in book.claims if not each.id.startswith(f"{each.document}-")] == []
    assert [each.id for each in book.claims if ". " in each.statement] == []
