"""Verdicts: every part of every claim, judged from the records."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..analysis.cells import AmbiguousError, MissingError
from ..analysis.quantities import QUANTITIES
from ..measure import records as tables
from ..text import (
    AWAY,
    CASES,
    ENOUGH,
    SHARE,
    TIMES,
    WORKS,
    amount,
    interval,
    listing,
    number,
    percent,
)
from .bands import CONTRARY, HOLDS, INCONCLUSIVE, NOT_MEASURED, UNDECIDED, WEAKER, label
from .claims_file import Claim, ClaimsError, Part
from .health import Health, health
from .measured import Measured
from .measures import KINDS
from .reasons import OUTCOMES, SENTENCES, WHOSE

_CELLS = ("cell", "top", "bottom", "winner", "rival", "expected", "ours", "examples")
"""Words of a reason that are names of cells."""
_SLIGHT = 1.05
# What a measured number is, as a reader sees it: a ratio, a share, how far away, or an amount.
_UNITS = {
    **dict.fromkeys(("ratio", "at_rate", "over_link", "means", "scatter"), TIMES),
    **dict.fromkeys(("count_ratio", "spread", "best", "document_quotient"), TIMES),
    **dict.fromkeys(("table", "error"), AWAY),
    **dict.fromkeys(("share", "wins", "order"), CASES),
    "break_even": "B/s",
    "ranking": "% of the names",
    "ability": WORKS,
    "document_spread": "% apart",
    "document_inside": "cases",
}
_QUANTITIES = {
    "cpu_share": "% of the time",
    "stages": "times",
    "stored_share": "× the data",
    "amplification": "B for each byte asked for",
    "disk_amplification": "B for each byte used",
}
OF_ONE = ("count", "level")
"""Kinds of measures of one configuration: their unit is that of what is measured."""
_TYPES = {"f": "float", "i": "int", "u": "uint"}
_TYPE = re.compile(r"\b([fiu])([1248])(?= [\d*]+x)")


@dataclass(frozen=True)
class PartVerdict:
    """The verdict on one part of a claim."""

    name: str
    headline: bool
    rule: str  # in words
    measured: float  # the estimate; NaN where nothing was measured
    low: float  # its interval
    high: float
    unit: str
    document: float  # the document's own number; NaN where it gives none
    verdict: str
    reason: str  # why, from the numbers
    run_id: str
    notebook: str
    marks: tuple[str, ...] = ()  # what a reader must know about the run
    role: str = ""  # its own, of `file.ROLES`
    noisy: bool = False  # whether some of the marks are on the noise of the run
    blocks: int = 0  # that it rests on
    timed: bool = False  # whether noise could have changed it

    @property
    def shown(self) -> str:
        """The measured number with its interval."""
        if math.isnan(self.measured):
            return "–"
        return interval(self.measured, self.low, self.high, self.unit)

    @classmethod
    def of_json(cls, facts: Mapping[str, Any]) -> "PartVerdict":
        given = {each.name: facts[each.name] for each in fields(cls)} | {
            name: math.nan if facts[name] is None else float(facts[name])
            for name in ("measured", "low", "high", "document")
        }
        return cls(**{**given, "marks": tuple(facts["marks"])})

    def as_json(self) -> dict[str, object]:
        """Return the part as it stands in claims.json: NaN is null there, and infinity a text."""
        facts = {**asdict(self), "shown": self.shown, "marks": list(self.marks)}
        odd = {
            name: x for name, x in facts.items() if isinstance(x, float) and not math.isfinite(x)
        }
        return facts | {name: None if math.isnan(x) else str(x) for name, x in odd.items()}


@dataclass(frozen=True)
class Judgement:
    """The verdicts on a claim; the headline's is the claim's."""

    claim: Claim
    parts: tuple[PartVerdict, ...]
    profile: str = ""

    @property
    def headline(self) -> PartVerdict:
        """The part whose verdict is the claim's."""
        return next(part for part in self.parts if part.headline)

    @property
    def verdict(self) -> str:
        return self.headline.verdict

    @property
    def contrary(self) -> tuple[PartVerdict, ...]:
        """The parts of the sentence that came out otherwise than the headline."""
        against = CONTRARY if self.verdict == HOLDS else (HOLDS,)
        if self.verdict in UNDECIDED:
            return ()
        return tuple(p for p in self.parts if not p.role and p.verdict in against)

    @property
    def label(self) -> str:
        """The verdict as every page shows it."""
        return label(self.verdict, in_part=bool(self.contrary), basis=self.claim.basis)

    def as_json(self) -> dict[str, object]:
        head = self.headline.as_json()
        shared = ("rule", "measured", "low", "high", "shown", "verdict")
        return {
            "id": self.claim.id,
            "document": self.claim.document,
            "statement": self.claim.statement,
            "quote": self.claim.quote,
            "at": self.claim.at,
            "rules": self.claim.rules,
            **{name: head[name] for name in shared},
            "in_part": bool(self.contrary),
            "basis": self.claim.basis,
            "noisy": head["noisy"],
            "reason": head["reason"],
            "run_id": head["run_id"],
            "notebook": self.claim.notebook,
            "parts": [part.as_json() for part in self.parts],
        }


class Folder:
    """A folder of results, its records read once, when first asked for."""

    def __init__(self, path: Path, differs: Mapping[str, str]) -> None:
        self.path, self.differs = path, differs
        self._read: dict[str, pd.DataFrame] = {}
        self._health: dict[tuple[object, ...], Health] = {}

    def records(self, notebook: str) -> pd.DataFrame:
        """Return the records of a notebook; `MissingError` says what to do where there are none."""
        if notebook not in self._read:
            path = self.path / f"{notebook}.parquet"
            if not path.exists():
                raise MissingError(SENTENCES["no records"].format(notebook=notebook))
            frame = tables.load(path)
            # As Python's own: of the small parts that are taken again and again, arrow's are slow.
            text = [name for name in frame if isinstance(frame[name].dtype, pd.StringDtype)]
            self._read[notebook] = frame.astype(dict.fromkeys(text, object))
        return self._read[notebook]

    def health(self, notebook: str, measured: Measured) -> Health:
        """Return how quiet the run was where a notebook measured something."""
        where = (measured.run_id, measured.experiments, measured.cache_states)
        if (notebook, where) not in self._health:
            self._health[notebook, where] = health(self.records(notebook), *where)
        return self._health[notebook, where]


def judge(claim: Claim, folder: Folder) -> Judgement:
    """Return the verdicts on a claim; of several headlines, that on the first that is measured."""
    profile = ""
    parts = []
    for part in claim.parts:
        try:
            records = folder.records(part.notebook) if KINDS[part.kind].records else pd.DataFrame()
            measured = KINDS[part.kind].compute(records, part.fields)
        except MissingError as missing:
            parts.append(_without(part, str(missing)))
        except (AmbiguousError, ValueError) as error:
            raise ClaimsError(f"{claim.id}, part {part.name!r}: measure: {error}") from error
        else:
            parts.append(_judged(part, measured, folder))
            if part.headline and len(records):
                profile = str(records["profile"].iloc[-1])
    headlines = [part for part in parts if part.headline]
    headline = next((part for part in headlines if part.verdict != NOT_MEASURED), headlines[0])
    verdicts = tuple(part for part in parts if not part.headline or part is headline)
    return _qualified(Judgement(claim, verdicts, profile))


def _qualified(judgement: Judgement) -> Judgement:
    """Say in the headline's reason which parts of the sentence came out otherwise."""
    if not judgement.contrary:
        return judgement
    outcome = OUTCOMES[judgement.verdict]
    unqualified = SENTENCES["outcome"].format(whose=WHOSE[True], outcome=outcome)
    names = listing([f"“{part.name}”" for part in judgement.contrary])
    kind = "in part" if judgement.verdict == HOLDS else "not in all"
    qualified = SENTENCES[kind].format(parts=names, outcome=outcome)
    parts = tuple(
        replace(part, reason=part.reason.replace(unqualified, qualified)) if part.headline else part
        for part in judgement.parts
    )
    return replace(judgement, parts=parts)


def _judged(part: Part, measured: Measured, folder: Folder) -> PartVerdict:
    state = folder.health(part.notebook, measured) if measured.timed else Health((), "")
    guard, void = state.guard, state.void
    if not part.rule.log_unit and unit_of(part, measured.unit) != TIMES:
        guard, void = 1.0, state.void or state.far
    verdict = part.rule.verdict(measured.low / guard, measured.high * guard)
    differs = folder.differs.get(part.notebook)
    marks = [SENTENCES["otherwise"].format(differs=differs)] if differs else []
    slight = verdict == WEAKER and abs(math.log(measured.value)) < math.log(_SLIGHT)
    why = SENTENCES["slight" if slight else "outcome"].format(
        whose=WHOSE[part.headline], outcome=OUTCOMES[verdict]
    )
    if measured.timed:
        marks += state.marks
        if guard > 1:
            marks.append(SENTENCES["guard"].format(share=percent(guard - 1)))
        if void:
            verdict, why = INCONCLUSIVE, SENTENCES["void"].format(why=void)
        elif measured.n < ENOUGH:
            verdict = INCONCLUSIVE
            why = SENTENCES["few"].format(blocks=measured.n, enough=ENOUGH)
    statement = part.reason.format(**_words(part, measured)).strip()
    marked = [SENTENCES["marked"].format(marks="; ".join(marks))] if marks else []
    reason = " ".join([statement, *_beside(part, measured), why, *marked]).strip()
    return _verdict(part, measured, verdict, reason, marks, bool(state.marks))


def _without(part: Part, why: str) -> PartVerdict:
    unit = str(part.fields.get("unit", ""))
    if part.kind in OF_ONE and not unit:
        unit = QUANTITIES[str(part.fields["value"])].unit
    nothing = Measured(math.nan, math.nan, math.nan, 0, unit)
    why = SENTENCES["not measured"].format(why=why)
    return _verdict(part, nothing, NOT_MEASURED, why, (), False)


def _verdict(
    part: Part, measured: Measured, verdict: str, reason: str, marks: Sequence[str], noisy: bool
) -> PartVerdict:
    return PartVerdict(
        part.name, part.headline, part.rule.describe(), measured.value, measured.low, measured.high,
        unit_of(part, measured.unit), part.rule.document, verdict, reason, measured.run_id,
        part.notebook, tuple(marks), part.role, noisy, measured.n, measured.timed,
    )  # fmt: skip


def _words(part: Part, measured: Measured) -> dict[str, str]:
    document = part.rule.document
    return {
        **measured.words,
        **{name: named(measured.words[name]) for name in _CELLS if name in measured.words},
        "value": amount(measured.value, measured.unit),
        "exact": f"{measured.value:,.0f} {measured.unit}".strip(),
        "interval": interval(measured.value, measured.low, measured.high, measured.unit),
        "document": "–" if math.isnan(document) else amount(document, measured.unit),
    }


def _beside(part: Part, measured: Measured) -> Iterator[str]:
    """Give our ratio, beside the document's, or a share's interval."""
    ours = interval(measured.value, measured.low, measured.high)
    unit = unit_of(part, measured.unit)
    if part.rule.kind in ("effect", "bound"):
        yield SENTENCES["against"].format(ours=ours, document=number(part.rule.document))
    elif measured.timed and measured.unit in ("", SHARE):
        if unit == TIMES:
            yield SENTENCES["ratio"].format(ours=ours)
        elif measured.low < measured.high and unit.startswith("%"):
            ends = {"low": percent(measured.low), "high": percent(measured.high)}
            yield SENTENCES["interval"].format(**ends)


def unit_of(part: Part, measured: str) -> str:
    if part.kind in OF_ONE and "unit" not in part.fields:
        return _QUANTITIES.get(str(part.fields["value"]), measured)
    return measured or _UNITS.get(part.kind, "")


def named(cells: str) -> str:
    """Return the names of cells with the types of variables spelled out."""
    return _TYPE.sub(lambda match: f"{_TYPES[match[1]]}{8 * int(match[2])}", cells)
