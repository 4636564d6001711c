"""What the runs found: the claims and the machines staged beside the pages."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from sphinx.environment import BuildEnvironment

VERDICTS = (
    "holds",
    "weaker",
    "stronger",
    "reversed",
    "refuted",
    "obsolete",
    "inconclusive",
    "not measured",
)
DOCUMENTS = {
    "lee": "Lee, Yang and Aydt 2008",
    "chunking": "netCDF-C 4.6.2 documentation",
    "jones": "Jones and others",
    "penard": "Penard and others 2025",
    "chilan": "Chilan and others",
}


@dataclass(frozen=True)
class Claim:
    """A claim as written down before the run, with what a run found of it."""

    id: str
    document: str
    facts: dict[str, Any]

    @property
    def verdict(self) -> str:
        return str(self.facts.get("verdict") or "not measured")

    def text(self, *names: str) -> str:
        """The first of these fields that says something."""
        return next((str(self.facts[name]) for name in names if self.facts.get(name)), "")

    def number(self, field: str, form: str) -> str:
        """A field as text: `measured`, `low`, `high`, or `interval` for all three."""
        if field == "interval":
            ends = [self.number(end, form) for end in ("measured", "low", "high")]
            if "not measured" in ends[1:] or ends[1] == ends[2]:
                return ends[0]
            return f"{ends[0]} ({ends[1]} to {ends[2]})"
        value = self.facts.get(field)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return "not measured"
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return format(value, form)
        return str(value)

    @property
    def parts(self) -> "list[Claim]":
        return [
            Claim(f"{self.id}/{_name(part)}", self.document, part)
            for part in self.facts.get("parts", [])
        ]


def _name(part: dict[str, Any]) -> str:
    return str(part.get("id") or part.get("name") or "")


def _read(env: BuildEnvironment, name: str) -> Any:
    path = Path(env.srcdir, "book", name)
    env.note_dependency(str(path))
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8")
    return yaml.safe_load(text) if path.suffix == ".yml" else json.loads(text)


def _merged_parts(written: Any, found: Any) -> list[dict[str, Any]]:
    parts: dict[str, dict[str, Any]] = {}
    for given in (written or [], found or []):
        rows = (
            [{"id": name, **part} for name, part in given.items() if isinstance(part, dict)]
            if isinstance(given, dict)
            else [part for part in given if isinstance(part, dict)]
        )
        for row in rows:
            parts.setdefault(_name(row), {}).update(row)
    return list(parts.values())


def claims(env: BuildEnvironment) -> dict[str, Claim]:
    """All claims by id, in the order in which they were written down."""
    written = _read(env, "claims.yml") or []
    if isinstance(written, dict):
        written = written.get("claims", [])
    facts: dict[str, dict[str, Any]] = {}
    for row in [*written, *(_read(env, "claims.json") or [])]:
        known = facts.setdefault(str(row["id"]), {})
        parts = _merged_parts(known.get("parts"), row.get("parts"))
        known.update(row)
        known["parts"] = parts
    return {
        key: Claim(key, str(row.get("document") or key.partition("-")[0]), row)
        for key, row in facts.items()
    }


def find(env: BuildEnvironment, key: str) -> Claim | None:
    """The claim, or for `claim/part` its part; None when no such claim is written down."""
    name, _, part = key.partition("/")
    claim = claims(env).get(name)
    if claim is None or not part:
        return claim
    return next((each for each in claim.parts if each.id == key), None)


def machines(env: BuildEnvironment) -> dict[str, dict[str, Any]]:
    """The machine facts by run id."""
    return dict(_read(env, "machine.json") or {})
