"""The verdict board: all claims, judged, as a picture, tables and sentences."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from .. import claims
from ..claims.bands import (
    HOLDS,
    INCONCLUSIVE,
    NOT_MEASURED,
    OBSOLETE,
    REFUTED,
    REVERSED,
    STRONGER,
    VERDICTS,
    WEAKER,
)
from ..measure import records as tables
from ..text import amount, unbroken
from . import provenance
from .profile import check_profile, entries, root

SYMBOLS: Mapping[str, str] = {
    HOLDS: "✓",
    STRONGER: "△",
    WEAKER: "▽",
    REVERSED: "⇄",
    REFUTED: "✗",
    OBSOLETE: "⊘",
    INCONCLUSIVE: "?",
    NOT_MEASURED: "–",
}
IN_PART, IN_PART_SYMBOL = "holds in part", "◐"
"""A claim that holds while another of its parts is reversed, refuted or obsolete."""
_GIVEN = ("repeats", "seed")  # to a run, and right whatever they were
SHORT: Mapping[str, str] = {
    "lee": "Lee 2008",
    "chunking": "netCDF-C 2018",
    "jones": "Jones 2016",
    "penard": "Penard 2025",
    "chilan": "Chilan 2006",
}


@dataclass(frozen=True)
class Board:
    """The claims of all documents with their verdicts.

    Parameters
    ----------
    profile : str
    results : Path
        Where claims.json and the figures go.
    documents : mapping
        Key of a document to its title.
    chapters : mapping
        Notebook to the title of its chapter.
    pages : frozenset of str
        Notebooks that are pages of the book.
    judgements : tuple of Judgement
    notebook : str
        Its own name.
    """

    profile: str
    results: Path
    documents: Mapping[str, str]
    chapters: Mapping[str, str]
    pages: frozenset[str]
    judgements: tuple[claims.Judgement, ...]
    notebook: str = "claims"


def judged(*, profile: str = "quick", workdir: str = "build/adhoc", records: str = "") -> Board:
    """Judge all claims by the records of a run and write claims.json beside them.

    Parameters
    ----------
    profile : str
        smoke, quick, full or paper.
    workdir : str
        Where data and results go; relative to the repository.
    records : str
        A folder of records to judge by; empty for the results of the profile.

    Raises
    ------
    ValueError
        For an unknown profile, or a folder that does not exist.
    """
    check_profile(profile)
    top = root()
    results = (top / workdir).resolve() / "results" / profile
    folder = (top / records).resolve() if records else results
    if records and not folder.is_dir():
        raise ValueError(f"records is {records!r}: no such folder of records")
    content = claims.read(top / claims.FILE)
    pages = frozenset(entry.name for entry in entries(top))
    differs = _differs(folder, profile, top) if records else {}
    found = claims.evaluate(content.claims, folder, differs=differs)
    claims.write_json(found, results / "claims.json")
    return Board(profile, results, content.documents, content.chapters, pages, tuple(found))


def tiles(board: Board) -> pd.DataFrame:
    """Return one row a claim: what the picture shows of it.

    Parameters
    ----------
    board : Board

    Returns
    -------
    pandas.DataFrame
        document, id, verdict, symbol.
    """
    rows = [
        {
            "document": judgement.claim.document,
            "id": judgement.claim.id,
            "verdict": judgement.verdict,
            "symbol": IN_PART_SYMBOL if judgement.contrary else SYMBOLS[judgement.verdict],
        }
        for judgement in board.judgements
    ]
    return pd.DataFrame(rows, columns=["document", "id", "verdict", "symbol"])


def labelled(judgement: claims.Judgement) -> str:
    """Return a claim's verdict with its symbol, and what a reader must know of it.

    Parameters
    ----------
    judgement : Judgement
    """
    if judgement.contrary:
        text = f"{IN_PART_SYMBOL} {IN_PART}"
    else:
        text = f"{SYMBOLS[judgement.verdict]} {judgement.verdict}"
    return f"{text} ({judgement.claim.basis})" if judgement.claim.basis else text


def tally(board: Board) -> pd.DataFrame:
    """Return how many claims of each document came out how; the last row is their sum.

    Parameters
    ----------
    board : Board

    Returns
    -------
    pandas.DataFrame
        A row a verdict; columns: Verdict, each document, All.
    """
    shown = tiles(board)
    counts = pd.crosstab(shown["verdict"], shown["document"])
    counts = counts.reindex(index=list(VERDICTS), columns=list(board.documents), fill_value=0)
    counts = counts.rename(columns=SHORT).assign(All=counts.sum(axis=1))
    counts.loc["claims"] = counts.sum()
    names = [f"{SYMBOLS[name]} {name}" if name in SYMBOLS else name for name in counts.index]
    counts.insert(0, "Verdict", names)
    return counts.reset_index(drop=True).rename_axis(columns=None)


def listing(board: Board, document: str) -> pd.DataFrame:
    """Return the claims of a document, as text for a page.

    Parameters
    ----------
    board : Board
    document : str
        Its key.

    Returns
    -------
    pandas.DataFrame
        A row a claim: Claim, The document says, There, Here, Verdict, Chapter.
    """
    rows = []
    for judgement in board.judgements:
        claim, head = judgement.claim, judgement.headline
        if claim.document != document:
            continue
        there = "–" if math.isnan(head.document) else amount(head.document, head.unit)
        rows.append(
            {
                "Claim": f"{claim.title} ({claim.id})",
                "The document says": _cell(f"{claim.statement} ({claim.section})"),
                "There": unbroken(there),
                "Here": unbroken(head.shown),
                "Verdict": labelled(judgement),
                "Chapter": _chapter(board, head.notebook),
            }
        )
    return pd.DataFrame(rows)


def reasons(board: Board, document: str) -> str:
    """Return the reasons of a document's measured claims as a list, every part with its own.

    Parameters
    ----------
    board : Board
    document : str
        Its key.
    """
    lines = []
    for judgement in board.judgements:
        measured = [part for part in judgement.parts if part.verdict != NOT_MEASURED]
        if judgement.claim.document != document or not measured:
            continue
        lines.append(f"- **{judgement.claim.title}** ({judgement.claim.id})")
        lines += [
            f"  - {SYMBOLS[part.verdict]} *{part.name}*, {part.verdict}: {_cell(part.reason)}"
            for part in measured
        ]
    return "\n".join(lines) or "None of these claims is judged yet."


def summary(board: Board) -> str:
    """Return what was found, in sentences: the counts, and what is missing, honestly.

    Parameters
    ----------
    board : Board
    """
    verdicts = [judgement.verdict for judgement in board.judgements]
    total, missing = len(verdicts), verdicts.count(NOT_MEASURED)
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in VERDICTS[:-1] if v in verdicts)
    sentences = [
        f"{total} claims in {len(board.documents)} documents: {total - missing} judged"
        f"{f' ({counts})' if counts else ''}, {missing} not measured."
    ]
    if partly := sum(bool(judgement.contrary) for judgement in board.judgements):
        sentences.append(
            f"Of those that hold, {partly} do so in part ({IN_PART_SYMBOL}): another part of the "
            "same claim is reversed, refuted or obsolete."
        )
    if based := _based(board):
        sentences.append(f"No measurement can confirm {based}.")
    if coming := _coming(board):
        sentences.append(f"Chapters that are still to come will measure {coming} of these.")
    if board.profile == "smoke":
        sentences.append(
            "The profile smoke uses toy sizes: its verdicts test the machinery and say nothing "
            "about the claims."
        )
    if marked := _marked(board):
        sentences.append(
            f"Verdicts with a mark, as from a run that was not quite quiet: {marked}; their "
            "reasons say why."
        )
    return " ".join(sentences)


def described(board: Board) -> str:
    """Return the picture in words, for who cannot see it.

    Parameters
    ----------
    board : Board
    """
    shown = tiles(board)
    parts = []
    for document, rows in shown.groupby("document", sort=False):
        counts = rows["verdict"].value_counts()
        found = ", ".join(f"{counts[v]} {v}" for v in VERDICTS if v in counts)
        parts.append(f"{board.documents[str(document)]}: {found}")
    return f"A tile for each claim, by document, with its verdict. {'; '.join(parts)}."


def _differs(folder: Path, profile: str, top: Path) -> dict[str, str]:
    """Return in what given records were measured otherwise than now, by notebook."""
    found = {}
    for item in entries(top):
        path = folder / f"{item.name}.parquet"
        if path.exists():
            source, settings = top / f"notebooks/{item.name}.ipynb", item.settings[profile]
            given = tables.about(path).get("experiment", {})
            parameters = {name: json.loads(given[name]) for name in _GIVEN if name in given}
            now = provenance.experiment(source, settings, profile=profile, **parameters)
            found[item.name] = provenance.differs(path, now)
    return found


def _coming(board: Board) -> int:
    return sum(
        judgement.verdict == NOT_MEASURED and judgement.headline.notebook not in board.pages
        for judgement in board.judgements
    )


def _marked(board: Board) -> int:
    return sum(bool(judgement.headline.marks) for judgement in board.judgements)


def _based(board: Board) -> str:
    """Say of how many judged claims the verdict is no finding, and why."""
    judged = [j.claim.basis for j in board.judgements if j.verdict != NOT_MEASURED]
    why = {
        "calibration": "whose data were made to show it",
        "arithmetic": "that follows from the document's printed numbers",
    }
    return " and ".join(f"{judged.count(b)} {why[b]} ({b})" for b in why if b in judged)


def _chapter(board: Board, notebook: str) -> str:
    title = board.chapters.get(notebook, notebook)
    return f"{{doc}}`{title} <{notebook}>`" if notebook in board.pages else f"{title} (to come)"


def _cell(text: str) -> str:
    """Return text that a Markdown table cell takes as it is."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
