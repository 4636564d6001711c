"""The claims of five documents: written down with their rules, judged from the records."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..text import printable
from .bands import NOT_MEASURED
from .bands import VERDICTS as VERDICTS
from .claims_file import Claim as Claim
from .claims_file import ClaimFile as ClaimFile
from .claims_file import ClaimsError as ClaimsError
from .claims_file import Part as Part
from .claims_file import read as read
from .verdicts import Folder, judge
from .verdicts import Judgement as Judgement
from .verdicts import PartVerdict as PartVerdict

FILE = Path("book/claims.yml")
PAPERS: Mapping[str, str] = {
    "lee": "Lee 2008", "chunking": "netCDF-C 2018", "jones": "Jones 2016", "penard": "Penard 2026",
    "chilan": "Chilan 2006",
}  # fmt: skip
"""What the documents are called in tables."""
TOYS = "These are toy sizes (profile smoke): they test the machinery, not the claims."


def evaluate(
    claims: Sequence[Claim], results: Path | str, *, differs: Mapping[str, str] | None = None
) -> list[Judgement]:
    """Judge claims by the records in a folder; `differs` says what was measured otherwise there."""
    folder = Folder(Path(results), differs or {})
    return [judge(claim, folder) for claim in claims]


def recalled(claims: Sequence[Claim], results: Path) -> list[Judgement]:
    """Return how records were judged by these rules, from claims.json; empty where rules differ."""
    path = results / "claims.json"
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    entries = {entry["id"]: entry for entry in content}
    if any(entries.get(claim.id, {}).get("rules") != claim.rules for claim in claims):
        return []
    return [
        Judgement(claim, tuple(PartVerdict.of_json(part) for part in entries[claim.id]["parts"]))
        for claim in claims
    ]


def write_json(judgements: Sequence[Judgement], path: Path | str) -> None:
    """Write claims.json; the file appears whole or not at all."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")
    content = json.dumps([j.as_json() for j in judgements], indent=1, ensure_ascii=False)
    unfinished.write_text(content + "\n", encoding="utf-8")
    unfinished.replace(path)


def totals(verdicts: Sequence[str]) -> str:
    """Return how many claims came out how, on one line."""
    counts = Counter(verdicts)
    tally = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    return f"{len(verdicts)} claims: {tally}"


def summary_table(judgements: Sequence[Judgement]) -> str:
    """Return the verdicts as plain text for a terminal: one line a claim, and the totals."""
    lines = []
    for judgement in judgements:
        head = judgement.headline
        shown = head.shown if head.verdict != NOT_MEASURED else head.reason.partition(": ")[2]
        lines.append(f"{judgement.claim.id:<20} {head.verdict:<13} {printable(shown)}".rstrip())
    lines += ["", totals([judgement.verdict for judgement in judgements])]
    if any(judgement.profile == "smoke" for judgement in judgements):
        lines.append(TOYS)
    return "\n".join(lines)
