"""The file of claims, and its verdicts on made-up records."""

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperslab.measure.records import frame_of, save
from hyperslab.study import claims
from hyperslab.study.claims.health import health
from hyperslab.study.claims.measures import KINDS

BOOK = Path(__file__).parents[1] / "book" / "claims.yml"
BLOCKS = 7
IDS = [
    "lee-1-write", "lee-1-read", "lee-2-write", "lee-2-read", "lee-3-write", "lee-3-read",
    "lee-4", "lee-alloc", "lee-cache", "lee-endian", "lee-contig", "lee-5", "lee-5-write",
    "lee-6-ratio", "lee-6-level", "lee-6-time", "lee-7-small", "lee-7-size", "lee-7-e790",
    "lee-7-e790-rate", "lee-7-one", "lee-7-ceil", "lee-8", "lee-8-hdf5", "lee-self", "lee-8-fix",
    "chunking-default", "chunking-1d", "chunking-unlim", "chunking-balance", "chunking-cache",
    "chunking-cache-auto", "chunking-parallel", "chunking-bm", "jones-order", "jones-small",
    "jones-lang", "jones-c", "jones-slow", "jones-cpu", "jones-peak", "jones-64k",
    "jones-64k-why", "jones-h5", "jones-stride", "jones-ahead", "jones-numpy", "jones-1mib",
    "jones-mask", "penard-t1", "penard-shuffle", "penard-8a", "penard-8b", "penard-8b-why",
    "penard-8c", "penard-9", "penard-9a", "penard-9b", "penard-9d", "penard-10", "penard-nc4",
    "penard-nczarr", "penard-index", "penard-scatter", "penard-xarray", "penard-partial",
    "penard-t3", "chilan-1", "chilan-2", "chilan-3", "chilan-4", "chilan-flash", "chilan-types",
    "chilan-same", "chilan-hints",
]  # fmt: skip

RATIO = {"kind": "ratio", "value": "wall_s", "of": {"case": "a"}, "to": {"case": "b"}}
COUNT = {"kind": "count", "value": "file_bytes", "cells": {"case": "a"}}


def part(**changes: object) -> dict[str, Any]:
    return {
        "name": "time",
        "headline": True,
        "measure": RATIO,
        "rule": {"kind": "effect", "document": 4},
        "reason": "A against B: {compared}, {of} against {to}.",
        **changes,
    }


def claim(*parts: Mapping[str, object], **changes: object) -> dict[str, Any]:
    return {
        "id": "lee-x",
        "document": "lee",
        "section": "1",
        "statement": "A takes four times as long as B.",
        "numbers": {"ratio": 4},
        "notebook": "trial",
        "dated": date(2026, 11, 20),
        "parts": list(parts) or [part()],
        **changes,
    }


def written(folder: Path, *items: Mapping[str, object]) -> Path:
    path = folder / "claims.yml"
    content = {"documents": {"lee": "L"}, "chapters": {"trial": "A trial"}, "claims": list(items)}
    path.write_text(yaml.safe_dump(content))
    return path


def samples(case: str, wall_s: float, **columns: object) -> list[dict[str, object]]:
    fixed = {"run_id": "run-1", "profile": "quick", "experiment": "e", "phase": "read", "order": 0}
    return [
        {
            **fixed,
            "case": case,
            "block": block,
            "wall_s": wall_s,
            "status": "ok",
            "others_cpu": 0.02,
            **columns,
        }
        for block in range(BLOCKS)
    ]


def quiet(drift: float = 1.0, **columns: object) -> list[dict[str, object]]:
    """An A/A pair whose two labels differ by a factor."""
    return samples("aa", drift, aa="A", **columns) + samples("aa", 1.0, aa="B", **columns)


def judge(
    folder: Path, item: Mapping[str, object], rows: list[dict[str, object]]
) -> claims.Judgement:
    """Judge one claim by made-up records of the notebook `trial`."""
    if rows:
        save(frame_of(rows), folder / "trial.parquet")
    loaded = claims.load(written(folder, item))
    [found] = claims.evaluate(loaded, folder, ready={"trial"}, chapters={"trial": "A trial"})
    return found


VERDICTS = [
    ({"kind": "effect", "document": 4}, RATIO, 4.0, "holds"),
    ({"kind": "effect", "document": 4}, RATIO, 1.5, "weaker"),
    ({"kind": "effect", "document": 4}, RATIO, 40.0, "stronger"),
    ({"kind": "effect", "document": 4}, RATIO, 0.5, "reversed"),
    ({"kind": "effect", "document": "1 / 4"}, RATIO, 0.25, "holds"),
    ({"kind": "direction", "above": True}, RATIO, 1.5, "holds"),
    ({"kind": "direction", "above": True}, RATIO, 0.5, "reversed"),
    ({"kind": "direction", "above": False}, RATIO, 0.99, "weaker"),
    ({"kind": "equality", "margin": 0.15}, RATIO, 1.05, "holds"),
    ({"kind": "equality", "margin": 0.15}, RATIO, 2.0, "refuted"),
    ({"kind": "count", "equals": 512, "tolerance": 0.1}, COUNT, 500.0, "holds"),
    ({"kind": "count", "at_most": 100}, COUNT, 500.0, "refuted"),
    ({"kind": "calibration", "tolerance": 0.03}, COUNT, 0.02, "holds"),
    ({"kind": "calibration", "tolerance": 0.03}, COUNT, 0.2, "refuted"),
    ({"kind": "obsolete", "equals": 1281}, COUNT, 1281.0, "holds"),
    ({"kind": "obsolete", "equals": 1281}, COUNT, 8760.0, "obsolete"),
]


@pytest.mark.parametrize(("rule", "measure", "found", "verdict"), VERDICTS)
def test_every_rule_gives_its_verdicts_on_records(
    tmp_path: Path,
    rule: Mapping[str, object],
    measure: Mapping[str, object],
    found: float,
    verdict: str,
) -> None:
    rows = [*samples("a", found, file_bytes=found), *samples("b", 1.0), *quiet()]
    reason = "{value}" if measure is COUNT else "{compared}"
    judged = judge(tmp_path, claim(part(rule=rule, measure=measure, reason=reason)), rows)
    assert (judged.verdict, judged.headline.measured) == (verdict, pytest.approx(found))
    assert "run-1" in judged.headline.reason


@pytest.mark.parametrize("status", ["ok", "no ROS3 driver in this build"])
def test_what_was_impossible_is_obsolete_once_it_works(tmp_path: Path, status: str) -> None:
    measure = {"kind": "ability", "cells": {"case": "http"}}
    trial = part(measure=measure, rule={"kind": "obsolete", "equals": 0}, reason="{outcome}")
    judged = judge(tmp_path, claim(trial), samples("http", 1.0, status=status))
    assert judged.verdict == ("obsolete" if status == "ok" else "holds")


def test_an_interval_across_a_threshold_is_inconclusive(tmp_path: Path) -> None:
    rows = [*samples("a", 1.0), *samples("b", 1.0), *quiet()]
    for row in rows[:BLOCKS]:
        row["wall_s"] = 0.5 + 0.25 * int(str(row["block"]))
    judged = judge(tmp_path, claim(), rows)
    assert judged.verdict == "inconclusive"
    assert "crosses a threshold" in judged.headline.reason


@pytest.mark.parametrize(
    ("state", "drift", "verdict", "word"),
    [
        ("warm", 1.01, "holds", ""),
        ("warm", 0.98, "holds", "Marked: the A/A pair of e warm is −2 % apart"),
        ("cold", 1.02, "holds", ""),
        ("cold", 1.04, "holds", "Marked"),
        ("warm", 1.06, "inconclusive", "void: the A/A pair of e warm is +6 % apart"),
        ("cold", 0.9, "inconclusive", "void"),
    ],
)
def test_the_aa_pair_of_the_run_marks_or_voids_times(
    tmp_path: Path, state: str, drift: float, verdict: str, word: str
) -> None:
    rows = [
        *samples("a", 4.0, cache_state=state),
        *samples("b", 1.0, cache_state=state),
        *quiet(drift, cache_state=state),
    ]
    found = judge(tmp_path, claim(), rows).headline
    assert found.verdict == verdict
    assert word in found.reason
    assert bool(found.marks) == ("Marked" in word)


def test_the_aa_pair_of_another_experiment_or_cache_state_says_nothing(tmp_path: Path) -> None:
    rows = [
        *samples("a", 4.0, cache_state="warm"),
        *samples("b", 1.0, cache_state="warm"),
        *quiet(cache_state="warm"),
        *quiet(1.5, cache_state="cold"),
        *quiet(1.5, cache_state="warm", experiment="other"),
    ]
    found = judge(tmp_path, claim(), rows).headline
    assert (found.verdict, found.marks) == ("holds", ())


@pytest.mark.parametrize(
    ("others", "verdict", "marked"),
    [(0.05, "holds", False), (0.2, "holds", True), (0.4, "inconclusive", False)],
)
def test_other_programs_mark_or_void_times(
    tmp_path: Path, others: float, verdict: str, marked: bool
) -> None:
    rows = [*samples("a", 4.0), *samples("b", 1.0), *quiet()]
    for row in rows:
        row["others_cpu"] = others
    found = judge(tmp_path, claim(), rows).headline
    assert (found.verdict, bool(found.marks)) == (verdict, marked)


def test_exact_counts_stand_in_a_void_run(tmp_path: Path) -> None:
    rows = [*samples("a", 1.0, file_bytes=10.0), *quiet(2.0)]
    counted = part(measure=COUNT, rule={"kind": "count", "equals": 10}, reason="{count}")
    found = judge(tmp_path, claim(counted), rows).headline
    assert (found.verdict, found.marks) == ("holds", ())


def test_a_run_without_an_aa_pair_decides_nothing(tmp_path: Path) -> None:
    found = judge(tmp_path, claim(), samples("a", 4.0) + samples("b", 1.0)).headline
    assert found.verdict == "inconclusive"
    assert "e has no A/A pair" in found.reason


def test_two_blocks_are_too_few_for_a_verdict_on_times(tmp_path: Path) -> None:
    rows = [r for r in [*samples("a", 4.0), *samples("b", 1.0), *quiet()] if r["block"] in (0, 1)]
    found = judge(tmp_path, claim(), rows).headline
    assert found.verdict == "inconclusive"
    assert "Too few blocks" in found.reason


def test_the_aa_ratio_takes_the_phases_that_move_data() -> None:
    rows = quiet() + quiet(5.0, phase="create")
    assert health(frame_of(rows), "run-1", ["e"], [""]).quiet


@pytest.mark.parametrize(
    ("ready", "words"),
    [({"trial"}, "`hyperslab run trial` measures it"), (set(), "comes with the chapter “A trial”")],
)
def test_without_records_a_claim_says_what_will_measure_it(
    tmp_path: Path, ready: set[str], words: str
) -> None:
    loaded = claims.load(written(tmp_path, claim()))
    [found] = claims.evaluate(loaded, tmp_path, ready=ready, chapters={"trial": "A trial"})
    assert found.verdict == "not measured"
    assert words in found.headline.reason
    assert found.as_json()["measured"] is None


def test_what_is_missing_here_is_passed_on_with_its_command(tmp_path: Path) -> None:
    rows = samples("a", 1.0, status="missing: no mpicc; apt-get install libopenmpi-dev")
    found = judge(tmp_path, claim(), rows + samples("b", 1.0)).headline
    assert found.verdict == "not measured"
    assert "apt-get install libopenmpi-dev" in found.reason


def test_the_headline_gives_the_verdict_and_the_other_parts_keep_theirs(tmp_path: Path) -> None:
    other = part(name="same", headline=False, rule={"kind": "equality", "margin": 0.1})
    rows = [*samples("a", 4.0), *samples("b", 1.0), *quiet()]
    found = judge(tmp_path, claim(other, part()), rows)
    assert [p.verdict for p in found.parts] == ["refuted", "holds"]
    assert found.verdict == "holds"
    assert "2× slower" not in found.headline.reason
    assert "4× slower, 4 s against 1 s" in found.headline.reason


def test_an_ambiguous_filter_names_claim_and_part(tmp_path: Path) -> None:
    rows = samples("a", 1.0, cache_state="warm") + samples("a", 1.0, cache_state="cold")
    with pytest.raises(claims.ClaimsError, match=r"lee-x, part 'time': measure: .*cache_state"):
        judge(tmp_path, claim(), rows + samples("b", 1.0))


def test_claims_json_has_the_agreed_fields(tmp_path: Path) -> None:
    found = judge(tmp_path, claim(), [*samples("a", 4.0), *samples("b", 1.0), *quiet()])
    claims.write_json([found], tmp_path / "out" / "claims.json")
    [row] = json.loads((tmp_path / "out" / "claims.json").read_text())
    assert list(row) == [
        "id", "document", "statement", "rule", "measured", "low", "high", "verdict", "reason",
        "run_id", "notebook", "parts",
    ]  # fmt: skip
    assert (row["id"], row["verdict"], row["run_id"]) == ("lee-x", "holds", "run-1")
    assert row["low"] <= row["measured"] <= row["high"]
    assert row["parts"][0]["document"] == 4


def test_the_summary_counts_and_says_when_sizes_are_toys(tmp_path: Path) -> None:
    rows = [*samples("a", 4.0), *samples("b", 1.0), *quiet()]
    text = claims.summary_table([judge(tmp_path, claim(), rows)])
    assert "lee-x" in text
    assert text.endswith("1 claims: 1 holds")
    toys = [{**row, "profile": "smoke"} for row in rows]
    assert "toy sizes" in claims.summary_table([judge(tmp_path, claim(), toys)])


WRONG = [
    (claim(document="lea"), "lee-x: document is 'lea': allowed is one of lee"),
    (claim(notebook="trail"), "lee-x: notebook is 'trail': allowed is one of trial"),
    (claim(dated="today"), "lee-x: dated is 'today': allowed is a date"),
    (claim(numbers=4), "lee-x: numbers is 4: allowed is a mapping"),
    (claim(colour="red"), "lee-x: fields is 'colour': allowed is id, document"),
    (claim(part(headline=False)), "lee-x: headline is 'none': allowed is exactly one part"),
    (claim(part(), part(name="b")), r"headline is \['time', 'b'\]"),
    (claim(part(), part(headline=False)), "a different name for each part"),
    (claim(part(measure={"kind": "guess"})), "part 'time': measure: kind is 'guess': .*count_rat"),
    (claim(part(measure={**RATIO, "value": "speed"})), "measure: value is 'speed': .*rate"),
    (claim(part(measure={**RATIO, "value": "rchar"})), "value is 'rchar': .*wall_s"),
    (claim(part(measure={**COUNT, "value": "wall_s"})), "value is 'wall_s': .*file_bytes"),
    (claim(part(measure={**RATIO, "of": {"cas": "a"}})), "measure: of is 'cas': .*experiment"),
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
    (claim(changes=[{"date": "x", "reason": "y"}]), "changes: date is 'x'"),
]


@pytest.mark.parametrize(("item", "message"), WRONG)
def test_a_wrong_file_is_refused_by_name(
    tmp_path: Path, item: Mapping[str, object], message: str
) -> None:
    with pytest.raises(claims.ClaimsError, match=message):
        claims.load(written(tmp_path, item))


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
    "user_s", "sys_s", "rchar", "read_bytes", "syscr", "minflt", "requests", "wire_bytes",
    "useful_bytes", "file_bytes", "predicted_bytes", "cache_bytes",
]  # fmt: skip
MEASURED = [
    (whole, part) for whole in claims.load(BOOK) for part in whole.parts if KINDS[part.kind].records
]


def fitting(fields: Mapping[str, Any]) -> list[dict[str, object]]:
    """Made-up records that a measure's filters fit, with every count and time in them."""
    expect = fields.get("expect", TOKENS)
    names = [expect, "other"] if isinstance(expect, str) else list(expect)
    readers = {name for few in expect.values() for name in few} if "groups" in fields else ()
    rows: list[dict[str, object]] = []
    for side in {"of", "to", "cells"} & set(fields):
        where = {**fields.get("where", {}), **fields[side]}
        pattern = where.get("case", "*" if "over" in fields or "expect" in fields else "some")
        for case in pattern if isinstance(pattern, list) else [pattern]:
            for name in names:
                whole = case.replace("*", str(name), 1)
                cases = [whole.replace("*", reader) for reader in readers] or [whole]
                rows += [{**where, "case": each} for each in cases]
    experiments = fields.get("where", {}).get("experiment")
    if isinstance(experiments, list):
        rows = [{**row, "experiment": name} for row in rows for name in experiments]
    seen = {repr(sorted(row.items(), key=str)): row for row in rows}
    counted: dict[str, object] = dict.fromkeys(COUNTED, 2.0)
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
    save(frame_of(fitting(part.fields)), tmp_path / f"{part.notebook}.parquet")
    [found] = claims.evaluate([whole], tmp_path, ready=set(), chapters={})
    [mine] = [each for each in found.parts if each.name == part.name]
    assert mine.verdict != "not measured", mine.reason
    assert "{" not in mine.reason


@pytest.fixture(scope="module")
def book() -> claims.ClaimFile:
    return claims.read(BOOK)


def test_all_claims_are_written_down_in_order(book: claims.ClaimFile) -> None:
    assert len(IDS) == 75
    assert [claim.id for claim in book.claims] == IDS


def test_each_claim_belongs_to_its_document(book: claims.ClaimFile) -> None:
    for each in book.claims:
        assert each.id.startswith(f"{each.document}-")
        assert sum(part.headline for part in each.parts) == 1


def test_statements_are_single_sentences_of_our_own(book: claims.ClaimFile) -> None:
    for each in book.claims:
        assert each.statement.endswith("."), each.id
        assert ". " not in each.statement, each.id


def test_without_records_every_claim_says_so(book: claims.ClaimFile, tmp_path: Path) -> None:
    found = claims.evaluate(book.claims, tmp_path, ready=set(), chapters=book.chapters)
    judged = {each.claim.id for each in found if each.verdict != "not measured"}
    arithmetic = {c.id for c in book.claims if not KINDS[c.headline.kind].records}
    assert judged == arithmetic == {"lee-self"}
    for each in found:
        for one in each.parts:
            assert one.reason
            assert one.rule
