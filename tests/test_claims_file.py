"""The file of claims: what is refused, and what the book's own holds."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from made_claims import COUNT, RATIO, claim, part, samples, written

from hyperslab import claims
from hyperslab.claims.measures import KINDS
from hyperslab.measure.records import COLUMNS, frame_of, save

BOOK = Path(__file__).parents[1] / "book" / "claims.yml"
WRONG = [
    (claim(document="lea"), "lee-x: document is 'lea': allowed is one of lee"),
    (claim(notebook="trail"), "lee-x: notebook is 'trail': allowed is one of trial"),
    (claim(dated="today"), "lee-x: dated is 'today': allowed is a date"),
    (claim(numbers=4), "lee-x: numbers is 4: allowed is a mapping"),
    (claim(colour="red"), "lee-x: fields is 'colour': allowed is id, title, document"),
    (claim(part(headline=False)), "lee-x: headline is 'none': allowed is one part"),
    (claim(part(), part(name="b")), r"headline is \['time', 'b'\]"),
    (claim(part(), part(headline=False)), "a different name for each part"),
    (claim(part(measure={"kind": "guess"})), "part 'time': measure: kind is 'guess': .*count_rat"),
    (claim(part(measure={**RATIO, "value": "speed"})), "measure: value is 'speed': .*rate"),
    (claim(part(measure={**RATIO, "value": "rchar"})), "value is 'rchar': .*wall_s"),
    (claim(part(measure={**COUNT, "value": "wall_s"})), "value is 'wall_s': .*file_bytes"),
    (claim(part(measure={**RATIO, "of": {"wall_s": 1}})), "measure: of is 'wall_s': .*a label"),
    (claim(part(measure={**RATIO, "phases": ["red"]})), "measure: phases is 'red': .*read"),
    (claim(part(measure={"kind": "ratio", "value": "rate"})), "measure: the field of is missing"),
    (claim(part(measure={**COUNT, "factor": "a / b"})), "measure: factor: 'a / b' is no number"),
    (
        claim(part(measure={**COUNT, "kind": "table", "over": "case", "expect": {"a": "x"}})),
        "measure: expect: a: 'x' is no number",
    ),
    (claim(part(rule={"kind": "effects"})), "rule: kind is 'effects': .*equality"),
    (claim(part(rule={"kind": "effect"})), "rule effect: .*document"),
    (claim(part(rule={"kind": "effect", "document": 1})), "rule effect: document is 1.0"),
    (claim(part(rule={"kind": "equality", "margin": 15})), "rule equality: margin is 15"),
    (claim(part(rule={"kind": "count"})), "rule count: give at_least, at_most, or equals"),
    (claim(part(reason="{speed}")), "reason is 'speed': .*compared"),
    (claim(part(reason="It is faster.")), "reason is 'faster': .*compared"),
    (claim(basis="guess"), "lee-x: basis is 'guess': allowed is one of calibration, arithmetic"),
    (claim(changes=[{"date": "x", "reason": "y"}]), "changes: date is 'x'"),
]


@pytest.mark.parametrize(("item", "message"), WRONG)
def test_a_wrong_file_is_refused_by_name(
    tmp_path: Path, item: Mapping[str, object], message: str
) -> None:
    with pytest.raises(claims.ClaimsError, match=message):
        claims.load(written(tmp_path, item))


def test_a_figure_is_one_of_its_notebook() -> None:
    shown = [one for one in claims.load(BOOK) if one.figure]
    assert len(shown) > 60
    for one in shown:
        notebook = BOOK.parents[1] / "notebooks" / f"{one.notebook}.ipynb"
        assert f'\\"{one.figure}\\"' in notebook.read_text(encoding="utf-8"), one.id


def test_an_id_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(claims.ClaimsError, match="lee-x: id is 'lee-x'"):
        claims.load(written(tmp_path, claim(), claim()))


def test_a_file_that_is_no_yaml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "claims.yml"
    path.write_text("claims: [")
    with pytest.raises(claims.ClaimsError, match=r"claims.yml is not YAML"):
        claims.load(path)


def test_a_change_of_a_rule_keeps_its_date_and_reason(tmp_path: Path) -> None:
    change = {"date": date(2026, 12, 1), "reason": "The case was renamed."}
    [found] = claims.load(written(tmp_path, claim(changes=[change])))
    assert found.changes == ((date(2026, 12, 1), "The case was renamed."),)


# The book's own claims.

TOKENS = ("one", "two")
COUNTED = [
    "user_s", "sys_s", "rchar", "wchar", "read_bytes", "syscr", "minflt", "requests", "stages",
    "handshakes", "idle_stages", "wire_bytes", "useful_bytes", "file_bytes", "predicted_bytes",
    "cache_bytes",
]  # fmt: skip
MEASURED = [
    (whole, part) for whole in claims.load(BOOK) for part in whole.parts if KINDS[part.kind].records
]


def within(listed: Mapping[str, list[object]], row: Mapping[str, object]) -> dict[str, object]:
    """A row whose labels are among those that a filter lists."""
    return {k: v if v in listed.get(k, [v]) else listed[k][0] for k, v in row.items()}


def fitting(fields: Mapping[str, Any]) -> list[dict[str, object]]:
    """Made-up records that a measure's filters fit, with every count and time in them."""
    if "ratios" in fields:
        shared = {name: fields[name] for name in ("where", "phases") if name in fields}
        return [row for one in fields["ratios"] for row in fitting({**shared, **one})]
    if "against" in fields:
        first = {name: value for name, value in fields.items() if name != "against"}
        second = {n: {**fields[n], **fields["against"].get(n, {})} for n in ("of", "to")}
        return fitting(first) + fitting({**first, **second})
    expect = fields.get("expect", TOKENS)
    names = [expect, "other"] if isinstance(expect, str) else list(expect)
    readers = {name for few in expect.values() for name in few} if "groups" in fields else ()
    rows: list[dict[str, object]] = []
    for side in {"of", "to", "cells"} & set(fields):
        where = {**fields.get("where", {}), **fields[side]}
        listed = {name: value for name, value in where.items() if isinstance(value, list)}
        over = fields.get("over", "case")
        over = [over] if isinstance(over, str) else over
        if not isinstance(expect, dict) and not {*over} & {*COLUMNS}:  # of labels
            label, given = over[0], where.get(over[0], names)
            values = given if isinstance(given, list) and not isinstance(expect, str) else names
            more = {name: where.get(name, "some") for name in over}
            cuts = (
                len(over) - 1 if values is names else 0
            )  # the last labels are words without blanks
            for value in values:
                own = dict(zip([label, *over[1:]], str(value).rsplit(" ", cuts), strict=False))
                rows.append(within(listed, {**where, **more, **own, "case": value}))
            continue
        if isinstance(expect, dict) and over != ["case"]:  # of labels
            first = over[0]
            among = {fields["groups"]: names} if readers else {first: names}
            ((label, values),) = among.items()
            rows += [{**where, label: value, "case": value} for value in values]
            rows = [{**row, first: name} for row in rows for name in readers] or rows
            rows = [within(listed, row) for row in rows]
            continue
        pattern = where.get("case", "*" if "over" in fields or "expect" in fields else "some")
        for case in pattern if isinstance(pattern, list) else [pattern]:
            for name in names:
                whole = case.replace("*", str(name), 1)
                cases = [whole.replace("*", reader) for reader in readers] or [whole]
                over = fields.get("over", "case")
                label = {over: str(name)} if isinstance(over, str) else {}
                rows += [{**where, **label, "case": each} for each in cases]
    experiments = fields.get("where", {}).get("experiment")
    if isinstance(experiments, list):
        rows = [{**row, "experiment": name} for row in rows for name in experiments]
    rows = [{k: v[0] if isinstance(v, list) else v for k, v in row.items()} for row in rows]
    over = fields.get("over", ())
    if isinstance(over, str):  # one label, whose values are the made-up names
        rows = [{over: row["case"], **row} for row in rows]
    else:
        rows = [{**dict.fromkeys(over, ""), **row} for row in rows]
    seen = {repr(sorted(row.items(), key=str)): row for row in rows}
    counted: dict[str, object] = {**dict.fromkeys(COUNTED, 2.0), "file_bytes": 3.0}
    return [
        {"experiment": "e", "chunks": "3x4", **counted, **sample, **row, "phase": phase}
        for row in seen.values()
        for sample in samples("", 1.0)
        for phase in fields.get("phases", ["read"])
    ]


@pytest.mark.parametrize(
    ("whole", "part"), MEASURED, ids=[f"{whole.id}, {part.name}" for whole, part in MEASURED]
)
def test_every_measure_of_the_book_works_on_records_that_fit(
    whole: claims.Claim, part: claims.Part, tmp_path: Path
) -> None:
    rows = fitting(part.fields)
    labels = {name for row in rows for name in row if name not in COLUMNS}
    save(frame_of(rows, labels), tmp_path / f"{part.notebook}.parquet")
    others = () if part.headline else (whole.headline,)
    short = replace(whole, parts=(*others, part))
    [found] = claims.evaluate([short], tmp_path)
    [mine] = [each for each in found.parts if each.name == part.name]
    assert mine.verdict != "not measured", mine.reason
    assert "{" not in mine.reason


@pytest.fixture(scope="module")
def book() -> claims.ClaimFile:
    return claims.read(BOOK)


def test_the_claims_of_a_document_stand_together_under_titles_of_their_own(
    book: claims.ClaimFile,
) -> None:
    documents = [name for name, _ in groupby(claim.document for claim in book.claims)]
    assert documents == list(book.documents)
    assert len({claim.title for claim in book.claims}) == len(book.claims)


def test_each_claim_belongs_to_its_document(book: claims.ClaimFile) -> None:
    for each in book.claims:
        assert each.id.startswith(f"{each.document}-")
        assert any(part.headline for part in each.parts)


def test_statements_are_single_sentences_of_our_own(book: claims.ClaimFile) -> None:
    for each in book.claims:
        assert each.statement.endswith("."), each.id
        assert ". " not in each.statement, each.id


def test_without_records_every_claim_says_so(book: claims.ClaimFile, tmp_path: Path) -> None:
    found = claims.evaluate(book.claims, tmp_path)
    judged = {each.claim.id for each in found if each.verdict != "not measured"}
    arithmetic = {c.id for c in book.claims if not KINDS[c.headline.kind].records}
    assert judged == arithmetic == {"lee-self"}
    for each in found:
        for one in each.parts:
            assert one.reason
            assert one.rule
