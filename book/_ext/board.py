"""All claims by document: `verdict-board`, a tile each."""

from itertools import groupby

from docutils import nodes
from findings import Claim, claims
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from verdicts import badge, linked

from hyperslab.claims.bands import SIGNS, kind_of, sign


class VerdictBoard(SphinxDirective):
    """A tile for each claim with its sign, and a line that says what these mean."""

    def run(self) -> list[nodes.Node]:
        found = list(claims(self.env).values())
        board = nodes.container(classes=["board", "board-signs"])
        for paper, rows in groupby(found, lambda claim: claim.paper):
            board += nodes.paragraph("", paper, classes=["board-title"])
            tiles = nodes.bullet_list(classes=["board-tiles"])
            tiles.extend(nodes.list_item("", self.tile(claim)) for claim in rows)
            board += tiles
        labels = [claim.label for claim in found]
        legend = nodes.paragraph("", "", classes=["board-legend"])
        for kind in SIGNS:
            if number := sum(kind_of(label) == kind for label in labels):
                text = f"{SIGNS[kind]} {kind} {number}"
                legend += [badge(kind, text), nodes.Text(" ")]
        if any(claim.noisy for claim in found):
            legend += nodes.Text("≈ after a sign: decided in spite of noise, by a wider interval.")
        return [board, legend]

    def tile(self, claim: Claim) -> nodes.Node:
        label = badge(claim.label, sign(claim.label), noisy=claim.noisy)
        noisy = "noisy run" * claim.noisy
        said = ", ".join(filter(None, (claim.label, claim.text("basis"), noisy)))
        label += nodes.inline("", f" {claim.title}, {said}", classes=["board-spoken"])
        tip = f"{claim.title}: {said}"
        return nodes.paragraph("", "", linked(label, claim, self.env.docname, tip))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("verdict-board", VerdictBoard)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
