"""The file of claims: what it may hold, and the claims in it."""

import dataclasses
import datetime
import functools
import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from string import Formatter
from typing import Any, NoReturn

import yaml

from ..analysis.cells import FILTERS
from ..analysis.quantities import QUANTITIES
from ..measure.records import COLUMNS
from .bands import VERDICTS
from .claim_fields import mapping, real, texts
from .measures import COMMON_WORDS, KINDS
from .rules import RULES, Rule

PHASES = (
    "open", "read", "write", "sync", "close", "create", "size", "count", "metadata", "reread",
)  # fmt: skip
# Words of direction and verdict in a reason come from the numbers, never from this file.
TYPED_DIRECTIONS = re.compile(
    r"\b(faster|slower|fewer|no longer|reversed|refuted|obsolete|holds|confirmed|outperforms)\b"
)
# The same language, read in C where PyYAML was built with it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_FIELDS = ("id", "title", "document", "section", "statement", "notebook")
_PART_FIELDS = ("name", "measure", "rule", "reason")
_NUMBER_FIELDS = {
    "factor", "scale", "at_least", "at_most", "amount", "per", "rate", "round_trip_s",
}  # fmt: skip
APPLIED = "2026-11-29"
"""When the way in which all rules are applied last changed; book/methods.md says how."""
BASES = ("calibration", "arithmetic", "another system")
"""Why no measurement here can confirm a claim: data made to show it, the document's own numbers, or
a system that is not here."""
ROLES = ("", "why", "ours", "imitation")
"""What a part is: of the sentence itself, an explanation, of a condition that the document has not,
or a time under a delay or a rate of our choice."""


class ClaimsError(ValueError):
    """Something in the file of claims is not as it must be."""


@dataclass(frozen=True)
class Part:
    """One part of a claim: what is measured, how it is judged, what is said of it; its role."""

    name: str
    headline: bool
    kind: str
    fields: Mapping[str, object]
    notebook: str
    rule: Rule
    reason: str
    role: str = ""


@dataclass(frozen=True)
class Claim:
    """A claim of a document."""

    id: str
    title: str  # a few words that say what it is about
    document: str  # key of the document
    section: str  # section, tables and figures in the document
    statement: str  # what it claims, in our words
    numbers: Mapping[str, object]  # the document's own numbers
    notebook: str  # the experiment that measures it
    dated: datetime.date  # when its rule was written down
    parts: tuple[Part, ...]  # one is the headline, or the first of several that is measured
    changes: tuple[tuple[datetime.date, str], ...] = ()  # later changes of the rule, and why
    first: tuple[datetime.date, str] | None = None  # when it was first judged, and how
    figure: str = ""  # name of the figure that shows it; "" where a table does
    basis: str = ""  # one of `BASES` where no measurement can confirm it
    quote: str = ""  # the sentence as the document has it
    at: str = ""  # where it stands: section, page, figure or table

    @property
    def headline(self) -> Part:
        """The part whose verdict is the claim's, where it is measured."""
        return next(part for part in self.parts if part.headline)

    @property
    def rules(self) -> str:
        """A hash of what it is judged by: what is measured and by which rules, and no words."""
        judged: list[object] = [APPLIED] + [
            [part.headline, part.role, part.kind, part.notebook, part.fields, asdict(part.rule)]
            for part in self.parts
        ]
        return hashlib.sha256(json.dumps(judged, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class ClaimFile:
    """All that the file of claims holds."""

    documents: Mapping[str, str]  # titles, by key
    chapters: Mapping[str, str]  # titles, by notebook, also of those still to come
    claims: tuple[Claim, ...]
    renames: tuple[str, ...] = ()  # commits that gave filters other names and changed no rule

    @property
    def rules(self) -> str:
        """A hash of what all claims are judged by."""
        return hashlib.sha256("".join(claim.rules for claim in self.claims).encode()).hexdigest()


def read(path: Path | str) -> ClaimFile:
    """Read and check a file of claims."""
    return _read(Path(path).read_text(encoding="utf-8"), Path(path).name)


@functools.lru_cache(maxsize=4)
def _read(text: str, name: str) -> ClaimFile:
    try:
        content = yaml.load(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise ClaimsError(f"{name} is not YAML: {error}") from error
    content = _keys(
        "the file", "content", content, ("documents", "chapters", "claims"), ("renames",)
    )
    documents = {str(k): str(v) for k, v in content["documents"].items()}
    chapters = {str(k): str(v) for k, v in content["chapters"].items()}
    if not isinstance(content["claims"], list):
        _refuse("the file", "claims", content["claims"], "a list of claims")
    claims = tuple(_claim(item, documents, chapters) for item in content["claims"])
    ids = [claim.id for claim in claims]
    if repeated := sorted({name for name in ids if ids.count(name) > 1}):
        _refuse(repeated[0], "id", repeated[0], "an id that no other claim has")
    renames = [hash_ for item in content.get("renames", ()) for hash_ in _renamed(item)]
    return ClaimFile(documents, chapters, claims, tuple(renames))


def _claim(item: object, documents: Collection[str], chapters: Collection[str]) -> Claim:
    name = str(item.get("id", "a claim without an id") if isinstance(item, dict) else "a claim")
    fields = dataclasses.fields(Claim)
    optional = [f.name for f in fields if f.default is not dataclasses.MISSING]
    item = _keys(name, "claim", item, [f.name for f in fields if f.name not in optional], optional)
    _among(name, "document", item["document"], documents)
    _among(name, "notebook", item["notebook"], chapters)
    if "basis" in item:
        _among(name, "basis", item["basis"], BASES)
    if not isinstance(item["numbers"], dict):
        _refuse(name, "numbers", item["numbers"], "a mapping, {} where the document gives none")
    if not isinstance(item["parts"], list) or not item["parts"]:
        _refuse(name, "parts", item["parts"], "a list of at least one part")
    parts = tuple(_part(name, part, str(item["notebook"]), chapters) for part in item["parts"])
    names = [part.name for part in parts]
    if len(set(names)) < len(names):
        _refuse(name, "parts", names, "a different name for each part")
    headlines = [part for part in parts if part.headline]
    if not headlines or any("profile" not in mapping(p.fields, "where") for p in headlines[:-1]):
        allowed = "one part with headline: true, and before it such as take a profile of their own"
        _refuse(name, "headline", [part.name for part in headlines] or "none", allowed)
    changes = tuple(_dated(name, "changes", each, "reason") for each in item.get("changes", ()))
    first = _dated(name, "first", item["first"], "verdict") if "first" in item else None
    if first:
        _among(name, "first: verdict", first[1], VERDICTS)
    values: dict[str, Any] = {
        key: " ".join(str(item[key]).split()) for key in (*_TEXT_FIELDS, *optional) if key in item
    }
    dated = _date(name, "dated", item["dated"])
    values |= {"numbers": item["numbers"], "dated": dated, "parts": parts}
    return Claim(**{**values, "changes": changes, "first": first})


def _part(claim: str, item: object, notebook: str, chapters: Collection[str]) -> Part:
    where = f"{claim}, part {item.get('name', '?') if isinstance(item, dict) else '?'!r}"
    item = _keys(where, "parts", item, _PART_FIELDS, ("headline", "role"))
    role = str(item.get("role", ""))
    _among(where, "role", role, ROLES)
    headline = item.get("headline", False)
    if not isinstance(headline, bool):
        _refuse(where, "headline", headline, "true or false")
    kind, fields = _measure(where, item["measure"])
    notebook = str(fields.get("notebook", notebook))
    _among(where, "measure: notebook", notebook, chapters)
    return Part(
        str(item["name"]), headline, kind, fields, notebook, _rule(where, item["rule"]),
        _reason(where, item["reason"], kind), role,
    )  # fmt: skip


def _measure(where: str, item: object) -> tuple[str, dict[str, object]]:
    """Return a measure's kind and fields, checked."""
    if not isinstance(item, dict):
        _refuse(where, "measure", item, "a mapping with a kind")
    _among(where, "measure: kind", item.get("kind"), KINDS)
    kind = KINDS[str(item["kind"])]
    fields = {str(key): value for key, value in item.items() if key != "kind"}
    _keys(f"{where}, measure", "measure", fields, kind.required, kind.optional)
    if item["kind"] == "means":
        if not isinstance(fields["ratios"], list) or not fields["ratios"]:
            _refuse(where, "measure: ratios", fields["ratios"], "a list of the fields of ratios")
        for ratio in fields["ratios"]:
            _measure(f"{where}, ratios", {**ratio, "kind": "ratio"})
    if "against" in fields:
        sides = {name: mapping(fields, name) for name in ("of", "to")}
        divisor = {name: {**sides[name], **mapping(fields["against"], name)} for name in sides}
        _measure(f"{where}, against", {"kind": "ratio", "value": fields["value"], **divisor})
    for name in ("value", "truth"):
        if name in fields:
            timed = kind.timed
            allowed = [q for q in QUANTITIES.values() if timed is None or q.timed == timed]
            _among(where, f"measure: {name}", fields[name], [q.name for q in allowed])
    if "counting" in fields:
        exact = [q.name for q in QUANTITIES.values() if not q.timed]
        _among(where, "measure: counting", fields["counting"], exact)
    for name in {"of", "to", "cells", "where"} & set(fields):
        if not isinstance(fields[name], dict):
            _refuse(where, f"measure: {name}", fields[name], "a mapping of record columns")
        for column in mapping(fields, name):
            _filter(where, name, column)
    for phase in texts(fields.get("phases", ())):
        _among(where, "measure: phases", phase, PHASES)
    for column in texts(fields.get("over", ())):
        _filter(where, "over", column)
    if "select" in fields:
        _among(where, "measure: select", fields["select"], ("min", "max"))
    for name in _NUMBER_FIELDS & set(fields):
        _number(where, f"measure: {name}", fields[name])
    if item["kind"] == "table":
        for cell, value in mapping(fields, "expect").items():
            _number(where, f"measure: expect: {cell}", value)
    return str(item["kind"]), fields


def _filter(where: str, field: str, column: str) -> None:
    """Refuse a column that tells no configurations apart: what is no column is a label of cases."""
    if column in COLUMNS or not column.isidentifier():
        _among(where, f"measure: {field}", column, (*FILTERS, "a label of the cases"))


def _rule(where: str, item: object) -> Rule:
    if not isinstance(item, dict):
        _refuse(where, "rule", item, "a mapping with a kind")
    _among(where, "rule: kind", item.get("kind"), RULES)
    make, allowed = RULES[str(item["kind"])]
    fields = {str(key): value for key, value in item.items() if key != "kind"}
    _keys(f"{where}, rule", "rule", fields, (), allowed)
    if not isinstance(fields.get("above", True), bool):
        _refuse(where, "rule: above", fields["above"], "true or false")
    values = {
        name: value if name == "above" else _number(where, f"rule: {name}", value)
        for name, value in fields.items()
    }
    try:
        return make(**values)
    except (TypeError, ValueError) as error:
        raise ClaimsError(f"{where}: rule {item['kind']}: {error}") from error


def _reason(where: str, item: object, kind: str) -> str:
    text = " ".join(str(item).split())
    words = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    for word in words:
        _among(where, "reason", word, (*COMMON_WORDS, *KINDS[kind].words))
    if typed := TYPED_DIRECTIONS.search(text):
        _refuse(where, "reason", typed[0], "words of direction from {compared} alone")
    return text


def _dated(claim: str, field: str, item: object, key: str) -> tuple[datetime.date, str]:
    entry = _keys(f"{claim}, {field}", field, item, ("date", key))
    return _date(claim, f"{field}: date", entry["date"]), str(entry[key])


def _renamed(item: object) -> list[str]:
    item = _keys("renames", "renames", item, ("date", "commits", "reason"))
    _date("renames", "date", item["date"])
    hashes = str(item["commits"]).split()
    if wrong := [each for each in hashes if not re.fullmatch(r"[0-9a-f]{7,40}", each)]:
        _refuse("renames", "commits", wrong[0], "hashes of commits, of at least 7 digits")
    return hashes


def _date(claim: str, field: str, value: object) -> datetime.date:
    if not isinstance(value, datetime.date):
        _refuse(claim, field, value, "a date such as 2026-11-20")
    return value


def _number(where: str, field: str, value: object) -> float:
    try:
        return real(value)
    except ValueError as error:
        raise ClaimsError(f"{where}: {field}: {error}") from error


def _keys(
    where: str,
    field: str,
    item: object,
    required: Collection[str],
    optional: Collection[str] = (),
) -> dict[str, Any]:
    """Return a mapping with these fields, or refuse what is none, lacks one or has others."""
    allowed = (*required, *optional)
    if not isinstance(item, dict):
        _refuse(where, field, item, f"a mapping with the fields {', '.join(allowed)}")
    if missing := [name for name in required if name not in item]:
        raise ClaimsError(f"{where}: the field {missing[0]} is missing: add it")
    for name in item:
        if name not in allowed:
            _refuse(where, "fields", name, ", ".join(allowed))
    return item


def _among(where: str, field: str, value: object, allowed: Collection[str]) -> None:
    if value not in allowed:
        _refuse(where, field, value, "one of " + ", ".join(allowed))


def _refuse(where: str, field: str, given: object, allowed: str) -> NoReturn:
    raise ClaimsError(f"{where}: {field} is {given!r}: allowed is {allowed}")
