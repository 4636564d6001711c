"""The claims, judged by the records of a run: how many came out how, and each on a line."""

import json
import math
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from .. import claims
from ..claims.bands import HOLDS, IN_PART, NOT_MEASURED, SIGNS, UNDECIDED, kind_of, sign
from ..measure import records as tables
from ..text import TIMES, amount
from . import provenance
from .profile import drawn_between, entries, root

_PARAMETERS = ("repeats", "seed")  # to a run, and right whatever they were
_DOCUMENT = "../book/documents/{document}.html#claim-{id}"
_PAGE = "{notebook}.html"


@dataclass(frozen=True)
class Board:
    """The claims of all documents with their verdicts."""

    results: Path  # where claims.json is
    content: claims.ClaimFile  # what was written down
    judgements: tuple[claims.Judgement, ...]
    notebook: str = "claims"  # its own name

    def count(self, *verdicts: str) -> int:
        return sum(judgement.verdict in verdicts for judgement in self.judgements)

    @property
    def judged(self) -> int:
        """How many claims were measured."""
        return len(self.judgements) - self.count(NOT_MEASURED)

    @property
    def otherwise(self) -> int:
        """How many claims were decided, and do not hold."""
        return sum(
            judgement.verdict not in (HOLDS, *UNDECIDED)
            and judgement.claim.basis != "another system"
            for judgement in self.judgements
        )

    @property
    def in_part(self) -> int:
        return sum(kind_of(judgement.label) == IN_PART for judgement in self.judgements)


def judged(*, profile: str = "quick", workdir: str = "build/adhoc", records: str = "") -> Board:
    """Judge all claims by the records of a run and write claims.json beside them."""
    top, (results, folder) = root(), drawn_between(profile, workdir, records)
    content = claims.read(top / claims.FILE)
    differs = _differs(folder, profile, top) if records else {}
    judgements = claims.evaluate(content.claims, folder, differs=differs)
    claims.write_json(judgements, results / "claims.json")
    return Board(results, content, tuple(judgements))


def tally(board: Board) -> pd.DataFrame:
    """Return how many claims have which verdict: a column for each paper, and their sum."""
    rows = [(item.claim.document, kind_of(item.label)) for item in board.judgements]
    table = pd.DataFrame(rows, columns=["paper", "Verdict"])
    counts = pd.crosstab(table["Verdict"], table["paper"])
    counts = counts.reindex(index=list(SIGNS), columns=list(board.content.documents), fill_value=0)
    counts = counts.rename(columns=claims.PAPERS).assign(All=counts.sum(axis=1))
    return counts.rename(index=lambda verdict: f"{SIGNS[verdict]} {verdict}")


def strengths(board: Board) -> pd.DataFrame:
    """Return the claims on an effect whose size the document gives, for `Forest`."""
    # The logarithm of the ratio over that of the document's: one is the same effect.
    return _ratios(board, ("effect", "bound"))


def directions(board: Board) -> pd.DataFrame:
    """Return the claims that a ratio is one, more or within limits, for `Forest`: ratios."""
    ratios = _ratios(board, ("direction above", "direction below", "equality", "count"))
    ends = ["value", "low", "high", "least", "most"]
    ratios[ends] = np.exp(ratios[ends])
    return ratios


def _ratios(board: Board, kinds: Collection[str]) -> pd.DataFrame:
    rows = []
    for item in board.judgements:
        head = item.headline
        rule = next(part.rule for part in item.claim.parts if part.name == head.name)
        if rule.kind not in kinds or head.unit != TIMES or not head.low > 0:
            continue
        unit = rule.log_unit or 1.0
        low, high = sorted(math.log(end) / unit for end in (head.low, head.high))
        ends = [edge for edge, _ in rule.edges]
        if not rule.log_unit:  # limits of the ratio itself
            ends = [math.log(end) if end > 0 else -math.inf for end in ends]
        edges = [-math.inf, *ends, math.inf]
        band = rule.verdicts.index(HOLDS)
        rows.append(
            {
                "claim": item.claim.title,
                "paper": claims.PAPERS.get(item.claim.document, item.claim.document),
                "value": math.log(head.measured) / unit, "low": low, "high": high,
                "least": edges[band], "most": edges[band + 1],
                "verdict": head.verdict, "noisy": head.noisy,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def listed(board: Board) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Return each claim on a line, and by column where its cells lead."""
    rows = []
    for item in board.judgements:
        head = item.headline
        rows.append(
            {
                **of_claim(board.content, item.claim, head),
                "Here": head.shown,
                "Verdict": signed(item),
                "Run": "marked" if head.marks else "",
                "Experiment": board.content.chapters[head.notebook],
            }
        )
    pages = [_PAGE.format(notebook=item.headline.notebook) for item in board.judgements]
    return pd.DataFrame(rows), {
        "Claim": addresses([item.claim for item in board.judgements]),
        "Experiment": pages,
    }


def of_claim(
    content: claims.ClaimFile, claim: claims.Claim, head: claims.PartVerdict
) -> dict[str, str]:
    """Return what a claim is: its name, its paper, and the paper's number where it gives one."""
    there = "–" if math.isnan(head.document) else amount(head.document, head.unit)
    paper = claims.PAPERS.get(claim.document, content.documents[claim.document])
    return {"Claim": claim.title, "Paper": paper, "Its number": there}


def addresses(chosen: list[claims.Claim]) -> list[str]:
    return [_DOCUMENT.format(document=claim.document, id=claim.id) for claim in chosen]


def signed(judgement: claims.Judgement) -> str:
    return f"{sign(judgement.label)} {judgement.label}"


def _differs(folder: Path, profile: str, top: Path) -> dict[str, str]:
    """Return in what given records were measured otherwise than now, by notebook."""
    differences = {}
    for item in entries(top):
        path = folder / f"{item.name}.parquet"
        if path.exists():
            source, settings = top / f"notebooks/{item.name}.ipynb", item.settings[profile]
            noted = tables.about(path).get("experiment", {})
            parameters = {name: json.loads(noted[name]) for name in _PARAMETERS if name in noted}
            now = provenance.experiment(source, settings, profile=profile, **parameters)
            differences[item.name] = provenance.differs(path, now)
    return differences
