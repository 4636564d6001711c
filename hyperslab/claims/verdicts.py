"""Verdicts: every part of every claim, judged from the records."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from ..analysis.cells import AmbiguousError, MissingError
from ..analysis.quantities import QUANTITIES
from ..measure import records as tables
from ..text import ENOUGH, SHARE, TIMES, amount, interval, listing, number, percent
from .bands import HOLDS, INCONCLUSIVE, NOT_MEASURED, OBSOLETE, REFUTED, REVERSED, STRONGER, WEAKER
from .file import Claim, ClaimsError, Part
from .health import Health, health
from .measures import KINDS, Measured
from .rules import Effect
from .units import named, unit_of

_CELLS = ("cell", "top", "bottom", "winner", "rival", "expected", "ours", "examples")
"""Words of a reason that are names of cells."""
_OUTCOMES = {
    HOLDS: "holds",
    STRONGER: "is stronger than stated",
    WEAKER: "is weaker than stated",
    REVERSED: "is reversed",
    REFUTED: "is refuted",
    OBSOLETE: "is obsolete: the software that is installed does otherwise",
    INCONCLUSIVE: "stays open: the interval crosses a threshold of the rule",
}
_SLIGHT = 1.05
_HELD = f"The claim {_OUTCOMES[HOLDS]}."
_CONTRARY = (REVERSED, REFUTED, OBSOLETE)


@dataclass(frozen=True)
class PartVerdict:
    """The verdict on one part of a claim.

    Parameters
    ----------
    name : str
    headline : bool
    rule : str
        In words.
    measured, low, high : float
        The estimate and its interval; NaN where nothing was measured.
    unit : str
    document : float
        The document's own number; NaN where it gives none.
    verdict : str
    reason : str
        Why, from the numbers.
    run_id, notebook : str
    marks : tuple of str
        What a reader must know about the run.
    """

    name: str
    headline: bool
    rule: str
    measured: float
    low: float
    high: float
    unit: str
    document: float
    verdict: str
    reason: str
    run_id: str
    notebook: str
    marks: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The measured number with its interval."""
        if math.isnan(self.measured):
            return "–"
        return interval(self.measured, self.low, self.high, self.unit)


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
        """The verdict on the claim."""
        return self.headline.verdict

    @property
    def contrary(self) -> tuple[PartVerdict, ...]:
        """The parts that came out against a claim that holds: it does so in part."""
        if self.verdict != HOLDS:
            return ()
        return tuple(part for part in self.parts if part.verdict in _CONTRARY)

    def as_json(self) -> dict[str, object]:
        """Return the claim as it stands in claims.json."""
        head = self.headline
        return {
            "id": self.claim.id,
            "document": self.claim.document,
            "statement": self.claim.statement,
            "rule": head.rule,
            "measured": _finite(head.measured),
            "low": _finite(head.low),
            "high": _finite(head.high),
            "shown": head.shown,
            "verdict": head.verdict,
            "in_part": bool(self.contrary),
            "basis": self.claim.basis,
            "reason": head.reason,
            "run_id": head.run_id,
            "notebook": self.claim.notebook,
            "parts": [_part_json(part) for part in self.parts],
        }


class Folder:
    """A folder of results, its records read once, when first asked for."""

    def __init__(
        self,
        path: Path,
        ready: Collection[str],
        chapters: Mapping[str, str],
        differs: Mapping[str, str],
    ) -> None:
        self.path, self.ready, self.chapters, self.differs = path, ready, chapters, differs
        self._read: dict[str, pd.DataFrame] = {}
        self._health: dict[tuple[object, ...], Health] = {}

    def records(self, notebook: str) -> pd.DataFrame:
        """Return the records of a notebook; `MissingError` says what to do where there are none."""
        if notebook not in self._read:
            path = self.path / f"{notebook}.parquet"
            if path.exists():
                self._read[notebook] = tables.load(path)
            elif notebook in self.ready:
                raise MissingError(f"no records yet: `hyperslab run {notebook}` measures it")
            else:
                title = self.chapters.get(notebook, notebook)
                raise MissingError(f"comes with the chapter “{title}” ({notebook})")
        return self._read[notebook]

    def health(self, notebook: str, found: Measured) -> Health:
        """Return how quiet the run was where a notebook measured something."""
        key = (notebook, found.run_id, found.experiments, found.cache_states)
        if key not in self._health:
            self._health[key] = health(
                self.records(notebook), found.run_id, found.experiments, found.cache_states
            )
        return self._health[key]


def judge(claim: Claim, folder: Folder) -> Judgement:
    """Return the verdicts on a claim.

    Raises
    ------
    ClaimsError
        When a filter of the claim fits several configurations.
    """
    profile = ""
    parts = []
    for part in claim.parts:
        try:
            records = folder.records(part.notebook) if KINDS[part.kind].records else pd.DataFrame()
            found = KINDS[part.kind].compute(records, part.fields)
        except MissingError as missing:
            parts.append(_without(part, str(missing)))
        except (AmbiguousError, ValueError) as error:
            raise ClaimsError(f"{claim.id}, part {part.name!r}: measure: {error}") from error
        else:
            parts.append(_judged(part, found, folder))
            if part.headline and len(records):
                profile = str(records["profile"].iloc[-1])
    return _qualified(Judgement(claim, tuple(parts), profile))


def _qualified(judgement: Judgement) -> Judgement:
    """Say in the headline's reason which parts came out against it."""
    if not judgement.contrary:
        return judgement
    names = listing([f"“{part.name}”" for part in judgement.contrary])
    said = f"The claim holds in part: {names} came out otherwise."
    parts = tuple(
        replace(part, reason=part.reason.replace(_HELD, said)) if part.headline else part
        for part in judgement.parts
    )
    return replace(judgement, parts=parts)


def _judged(part: Part, found: Measured, folder: Folder) -> PartVerdict:
    verdict = part.rule.verdict(found.value, found.low, found.high)
    why = f"{'The claim' if part.headline else 'This part'} {_OUTCOMES[verdict]}."
    if verdict == WEAKER and abs(math.log(found.value)) < math.log(_SLIGHT):
        why = f"{why[:-1]}: hardly any difference is left."
    differs = folder.differs.get(part.notebook, "")
    marks: tuple[str, ...] = ()
    if differs:
        marks = (f"measured otherwise than it would be now: {differs}",)
    if found.timed:
        state = folder.health(part.notebook, found)
        marks += state.marks
        if state.void:
            verdict, why = INCONCLUSIVE, f"These times are void: {state.void}."
        elif found.n < ENOUGH:
            verdict = INCONCLUSIVE
            why = f"Too few blocks for an interval: {found.n}, at least {ENOUGH} are needed."
    sentences = [
        part.reason.format(**_words(part, found)).strip(),
        _beside(part, found),
        why,
        f"Marked: {'; '.join(marks)}." if marks else "",
    ]
    reason = " ".join(sentence for sentence in sentences if sentence)
    return _verdict(part, found, verdict, reason, marks)


def _without(part: Part, why: str) -> PartVerdict:
    unit = str(part.fields.get("unit", ""))
    if part.kind in ("count", "level") and not unit:
        unit = QUANTITIES[str(part.fields["value"])].unit
    nothing = Measured(math.nan, math.nan, math.nan, 0, unit)
    return _verdict(part, nothing, NOT_MEASURED, f"Not measured: {why}.", ())


def _verdict(
    part: Part, found: Measured, verdict: str, reason: str, marks: tuple[str, ...]
) -> PartVerdict:
    return PartVerdict(
        part.name, part.headline, part.rule.describe(), found.value, found.low, found.high,
        unit_of(part, found.unit), part.rule.document, verdict, reason, found.run_id,
        part.notebook, marks,
    )  # fmt: skip


def _words(part: Part, found: Measured) -> dict[str, str]:
    document = part.rule.document
    return {
        **found.words,
        **{name: named(found.words[name]) for name in _CELLS if name in found.words},
        "value": amount(found.value, found.unit),
        "exact": f"{found.value:,.0f} {found.unit}".strip(),
        "interval": interval(found.value, found.low, found.high, found.unit),
        "document": "–" if math.isnan(document) else amount(document, found.unit),
    }


def _beside(part: Part, found: Measured) -> str:
    """Put our ratio beside the document's."""
    ours = interval(found.value, found.low, found.high)
    if isinstance(part.rule, Effect):
        return f"The ratio is {ours}; the document's is {number(part.rule.document)}."
    if not found.timed or found.unit not in ("", SHARE):
        return ""
    unit = unit_of(part, found.unit)
    if unit == TIMES:
        return f"The ratio is {ours}."
    if found.low == found.high or not unit.startswith("%"):
        return ""
    return f"The interval is {percent(found.low)} to {percent(found.high)}."


def _part_json(part: PartVerdict) -> dict[str, object]:
    numbers = {
        name: _finite(getattr(part, name)) for name in ("measured", "low", "high", "document")
    }
    return {
        "name": part.name,
        "headline": part.headline,
        "rule": part.rule,
        **numbers,
        "unit": part.unit,
        "shown": part.shown,
        "verdict": part.verdict,
        "reason": part.reason,
        "run_id": part.run_id,
        "notebook": part.notebook,
        "marks": list(part.marks),
    }


def _finite(value: float) -> float | None:
    """JSON has neither NaN nor infinity."""
    return value if math.isfinite(value) else None
