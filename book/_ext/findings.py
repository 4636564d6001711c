"""What the runs found: the claims and the machines staged beside the pages."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.environment import BuildEnvironment

from hyperslab.claims import PAPERS
from hyperslab.claims.bands import NOT_MEASURED, UNDECIDED, label
from hyperslab.text import amount, number

MOST = 160  # characters of a document's numbers; longer ones stay in the document


def _lines(numbers: dict[str, Any]) -> list[str]:
    """Nested numbers as short phrases: `large: netcdf3 351, netcdf4 279`."""
    if not any(isinstance(value, dict) for value in numbers.values()):
        return [", ".join(f"{name} {_short(value)}" for name, value in numbers.items())]
    lines = []
    for name, value in numbers.items():
        inner = _lines(value) if isinstance(value, dict) else [_short(value)]
        lines += [f"{name}: {line}" for line in inner]
    return [line for line in lines if line]


def plain(text: str) -> list[nodes.Node]:
    """Text from records as nodes: it is data, whatever it holds, and code between backticks."""
    return [
        nodes.literal(part, part) if place % 2 else nodes.Text(part)
        for place, part in enumerate(text.split("`"))
        if part
    ]


def _short(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_short, value))
    return number(value) if isinstance(value, (int, float)) else str(value)


@dataclass(frozen=True)
class Claim:
    """A claim as written down before the run, with what a run found of it."""

    id: str
    document: str
    facts: dict[str, Any]

    @property
    def verdict(self) -> str:
        """That of its records; a part has one of its own."""
        return str(self.facts.get("verdict") or NOT_MEASURED)

    @property
    def label(self) -> str:
        """The verdict as readers see it: a claim may hold while parts of it do not."""
        return label(self.verdict, in_part=bool(self.facts.get("in_part")))

    @property
    def claims_verdict(self) -> str:
        """The verdict on the claim, also where this is a part of it."""
        return str(self.facts.get("claims_verdict") or self.verdict)

    @property
    def paper(self) -> str:
        """What its document is called in tables."""
        return PAPERS.get(self.document, self.document)

    @property
    def title(self) -> str:
        """What it is about, in a few words."""
        return self.text("title") or self.id

    def text(self, *names: str) -> str:
        """The first of these fields that says something."""
        return next((str(self.facts[name]) for name in names if self.facts.get(name)), "")

    def number(self, field: str) -> str:
        """A field as text: `measured` or `document`, or `interval` for what was found."""
        value = self.facts.get("shown" if field == "interval" else field)
        if value is None:
            return NOT_MEASURED
        return amount(value, self.unit) if isinstance(value, (int, float)) else str(value)

    @property
    def calibrated(self) -> bool:
        """Whether the data were made so that it holds."""
        return self.facts.get("basis") == "calibration"

    @property
    def noisy(self) -> bool:
        """Whether the run was noisy where it was measured, and the verdict decides all the same."""
        return bool(self.facts.get("noisy")) and self.verdict not in UNDECIDED

    @property
    def headline(self) -> "Claim":
        """The part that gives the claim its verdict."""
        return next((part for part in self.parts if part.facts.get("headline")), self)

    @property
    def unit(self) -> str:
        own = self.facts.get("unit")
        parts = self.facts.get("parts", [])
        return str(own or next((p.get("unit") for p in parts if p.get("headline")), "") or "")

    def said(self) -> str:
        """The document's numbers on one line, and where they stand in it."""
        numbers = self.facts.get("numbers")
        if not isinstance(numbers, dict):
            return str(numbers or "")
        own = {key: value for key, value in numbers.items() if key not in ("unit", "pure")}
        measured = "; ".join(filter(None, _lines(own))).replace("netcdf", "netCDF-")
        unit = str(numbers.get("unit") or "") if measured else ""
        pure = "; ".join(_lines(numbers.get("pure", {})))
        text = "; ".join(filter(None, (f"{measured} {unit}".strip(), pure)))
        return text if len(text) <= MOST else ""

    @property
    def parts(self) -> "list[Claim]":
        own = {key: self.facts.get(key) for key in ("basis", "title")}
        shared = {**own, "claims_verdict": self.verdict}
        return [
            Claim(f"{self.id}/{part['name']}", self.document, {**shared, **part})
            for part in self.facts.get("parts", [])
        ]


def _version(env: BuildEnvironment, name: str) -> tuple[Path, int]:
    """A file beside the pages, and when it changed; 0 where there is none."""
    path = Path(env.srcdir, "book", name)
    env.note_dependency(str(path))
    return path, path.stat().st_mtime_ns if path.is_file() else 0


@lru_cache  # every role asks, and YAML is slow to parse
def _parsed(path: Path, changed_ns: int) -> Any:
    if not changed_ns:
        return None
    text = path.read_text(encoding="utf-8")
    return yaml.safe_load(text) if path.suffix == ".yml" else json.loads(text)


def claims(env: BuildEnvironment) -> dict[str, Claim]:
    """All claims by id, in the order in which they were written down."""
    return _claims(_version(env, "claims.yml"), _version(env, "claims.json"))


@lru_cache
def _claims(written: tuple[Path, int], judged: tuple[Path, int]) -> dict[str, Claim]:
    given = _parsed(*written)
    return joined(given["claims"], given["chapters"], _parsed(*judged) or [])


def joined(
    written: list[dict[str, Any]], chapters: dict[str, str], judged: list[dict[str, Any]]
) -> dict[str, Claim]:
    """Claims as they were written down, with what a run found of them."""
    facts: dict[str, dict[str, Any]] = {}
    for row in written:
        # A reason in the file is a template; it becomes a sentence by a run.
        parts = [{"name": part["name"]} for part in row.get("parts") or []]
        why = f"Its chapter, “{chapters[row['notebook']]}”, is still to be run."
        facts[row["id"]] = {**row, "parts": parts, "reason": why}
    for row in judged:
        claim = facts.setdefault(row["id"], {})
        parts = {part["name"]: part for part in claim.get("parts", [])}
        for part in row.get("parts") or []:
            parts[part["name"]] = {**parts.get(part["name"], {}), **part}
        claim.update(row)
        claim["parts"] = list(parts.values())
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
    return dict(_parsed(*_version(env, "machine.json")) or {})
