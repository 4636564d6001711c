"""All claims by topic: `verdict-board`, a line each; board.js filters them."""

from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from findings import Claim, claims
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from verdicts import badge, linked, table

from hyperslab.claims.bands import NOT_MEASURED, sign
from hyperslab.study.book import listed

HEAD = ["Claim", "Document", "Its number", "Here", "Verdict"]


class VerdictBoard(SphinxDirective):
    """A table for each topic: what the document says, what was found here, and the verdict."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency("_toc.yml")
        by_notebook: dict[str, list[Claim]] = {}
        for claim in claims(self.env).values():
            by_notebook.setdefault(claim.text("notebook"), []).append(claim)
        board = nodes.container(classes=["board"])
        for topic, notebooks in groupby(
            listed(Path(self.env.srcdir)).items(), lambda item: item[1]
        ):
            found = [claim for name, _ in notebooks for claim in by_notebook.get(name, [])]
            if found:
                title = nodes.paragraph("", topic, classes=["board-title"])
                lines = table(HEAD, [self.line(claim) for claim in found], [1] * 5, "board-lines")
                board += nodes.container("", title, lines, classes=["board-topic"])
        return [board]

    def line(self, claim: Claim) -> list[Any]:
        name = linked(
            nodes.inline("", claim.title), claim, self.env.docname, claim.text("statement")
        )
        verdict = badge(claim.label, f"{sign(claim.label)} {claim.label}", noisy=claim.noisy)
        part, here = claim.headline, claim.number("interval")
        named = isinstance(part.facts.get("document"), str)  # a claim's is its paper, not a number
        there = NOT_MEASURED if named else part.number("document")
        cells = [claim.paper, *("–" if one == NOT_MEASURED else one for one in (there, here))]
        return [[nodes.paragraph("", "", name)], *cells, [nodes.paragraph("", "", verdict)]]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("verdict-board", VerdictBoard)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
