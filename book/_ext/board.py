"""All claims by document: `verdict-board`, a tile each, and `verdict-tally`, a table."""

from itertools import groupby
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from findings import IN_PART, SHORT, Claim, claims
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from verdicts import badge, linked, table

# As on the picture of the board: each verdict has a sign of its own, so colour only helps.
SIGNS = {
    "holds": "✓",
    IN_PART: "◐",
    "weaker": "▽",
    "stronger": "△",
    "reversed": "⇄",
    "refuted": "✗",
    "obsolete": "⊘",
    "inconclusive": "?",
    "not measured": "–",
}


class VerdictBoard(SphinxDirective):
    """A tile for each claim: its sign, with a line that says what those mean; or its name."""

    option_spec: ClassVar = {"names": directives.flag}

    def run(self) -> list[nodes.Node]:
        found = list(claims(self.env).values())
        named = "names" in self.options
        board = nodes.container(classes=["board", "board-named" if named else "board-signs"])
        for document, rows in groupby(found, lambda claim: claim.document):
            board += nodes.paragraph("", SHORT.get(document, document), classes=["board-title"])
            tiles = nodes.bullet_list(classes=["board-tiles"])
            tiles.extend(nodes.list_item("", self.tile(claim, named)) for claim in rows)
            board += tiles
        if named:
            return [board]
        labels = [claim.label for claim in found]
        legend = nodes.paragraph("", "", classes=["board-legend"])
        for kind in SIGNS:
            if kind in labels:
                text = f"{SIGNS[kind]} {kind} {labels.count(kind)}"
                legend += [badge(kind, text), nodes.Text(" ")]
        return [board, legend]

    def tile(self, claim: Claim, named: bool) -> nodes.Node:
        kind = claim.label
        label = badge(kind, f"{SIGNS[kind]} {claim.title}" if named else SIGNS[kind])
        spoken = f", {kind}" if named else f" {claim.title}, {kind}"
        label += nodes.inline("", spoken, classes=["board-spoken"])
        tip = "" if named else f"{claim.title}: {kind}"
        return nodes.paragraph("", "", linked(label, claim, self.env.docname, tip))


class VerdictTally(SphinxDirective):
    """How many claims of each document came out how."""

    def run(self) -> list[nodes.Node]:
        found = list(claims(self.env).values())
        kinds = [kind for kind in SIGNS if any(claim.label == kind for claim in found)]
        rows = []
        for document, group in groupby(found, lambda claim: claim.document):
            labels = [claim.label for claim in group]
            name = SHORT.get(document, document)
            link = self.parse_text_to_nodes(f"[{name}](documents/{document}.md)")
            rows.append([link, *self.counts(labels, kinds)])
        every = [claim.label for claim in found]
        rows.append(["All", *self.counts(every, kinds)])
        head = ["Document", "claims", *([nodes.paragraph("", "", badge(kind))] for kind in kinds)]
        return [table(head, rows, [20, *[10] * (len(kinds) + 1)], "tally")]

    def counts(self, labels: list[str], kinds: list[str]) -> list[str]:
        return [str(len(labels)), *(str(labels.count(kind) or "–") for kind in kinds)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("verdict-board", VerdictBoard)
    app.add_directive("verdict-tally", VerdictTally)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
