"""The directive `claims`: a section for each claim of a document; the role `shown`.

What it states and in which numbers, what was found here and by which rule, the figure that shows
it, and how to run it again.
"""

from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from findings import Claim, claims, machines, plain
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import make_refnode
from verdicts import badge, mark, table

from hyperslab.claims.bands import NOT_MEASURED

FIGURE = "claim-figure"
ROLES = {
    "why": "An explanation. ",
    "ours": "A condition that the document has not. ",
    "imitation": "An imitation: the delay or the rate is of our choice. ",
}


class Claims(SphinxDirective):
    """The claims of one document, a section each."""

    option_spec: ClassVar = {"document": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        document = self.options["document"]
        chosen = [claim for claim in claims(self.env).values() if claim.document == document]
        return [self.section(claim) for claim in chosen]

    def section(self, claim: Claim) -> nodes.Node:
        """All about a claim; `claim-<id>` is its anchor."""
        target = f"claim-{claim.id}"
        title = nodes.title("", "", nodes.Text(f"{claim.title} "), badge(claim.label))
        if basis := claim.text("basis"):
            title += [nodes.Text(" "), badge(basis)]
        if claim.headline.facts.get("marks"):
            title += [nodes.Text(" "), badge("marked run")]
        section = nodes.section("", title, ids=[target], names=[target], classes=["claim"])
        domain = self.env.get_domain("std")
        domain.anonlabels[target] = (self.env.docname, target)  # type: ignore[attr-defined]
        section += self.prose(claim.text("statement"))
        section += self.quoted(claim)
        head = [nodes.paragraph("", "The document"), nodes.paragraph("", "Here")]
        there = [*self.prose(claim.said()), *self.small(claim.text("section"))]
        section += table(
            ["Part and rule", *([cell] for cell in head)],
            [[self.rule(claim.headline), there, self.judged(claim)], *self.rest(claim)],
            [30, 25, 45],
            "claims",
        )
        section += self.changes(claim)
        section += self.again(claim)
        return section

    def quoted(self, claim: Claim) -> list[nodes.Node]:
        """The document's own sentence, and where it stands."""
        said = f"“{claim.text('quote')}” ({claim.text('at')})"
        found = nodes.block_quote("", nodes.paragraph(said, said))
        return [found] if claim.text("quote") else []

    def rest(self, claim: Claim) -> list[list[Any]]:
        """A row for each further part that was judged."""
        if len(claim.parts) < 2 or all(part.verdict == NOT_MEASURED for part in claim.parts):
            return []
        return [
            [self.rule(part), "", self.judged(part)]
            for part in claim.parts
            if not part.facts.get("headline")
        ]

    def rule(self, part: Claim) -> list[nodes.Node]:
        """The name of a part, and the rule that was written down before it was measured."""
        name = part.id.partition("/")[2] or "headline"
        said = ROLES.get(part.text("role"), "")
        return [nodes.paragraph("", name), *self.small(said + part.text("rule"))]

    def judged(self, claim: Claim) -> list[nodes.Node]:
        own = claim.claims_verdict != NOT_MEASURED
        shown = badge(claim.verdict) if own else mark(claim)
        return [*self.found(claim), nodes.paragraph("", "", shown)]

    def found(self, claim: Claim) -> list[nodes.Node]:
        number = claim.facts.get("measured") is not None
        shown = self.prose(claim.number("interval")) if number else []
        return [*shown, *self.small(claim.text("reason"))]

    def changes(self, claim: Claim) -> list[nodes.Node]:
        """Its first verdict, and when and why the rule or its parts changed."""
        first, later = claim.facts.get("first"), claim.facts.get("changes") or []
        lines = [f"First judged on {first['date']}: {first['verdict']}."] if first else []
        lines += [f"Changed on {each['date']}. {each['reason']}" for each in later]
        return [node for line in lines for node in self.small(line)]

    def again(self, claim: Claim) -> list[nodes.Node]:
        """Where its figure is, what runs it again, and its records."""
        chapter = claim.text("notebook")
        if not chapter:
            return []
        name = nodes.literal("", claim.id)
        where = nodes.paragraph("", "", name, nodes.Text(": shown in "), classes=["again"])
        where += self.link(claim, chapter)
        records = f"/records/{chapter}.parquet"
        if Path(self.env.srcdir, records.lstrip("/")).is_file():
            name = Path(records).name
            saved = addnodes.download_reference(
                "", "", nodes.literal("", name), reftarget=records, refdoc=self.env.docname
            )
            where += [nodes.Text("; records: "), saved]
        run = claim.text("run_id")
        where += nodes.Text(f"; run {run}. Run it again:" if run else ". Run it again:")
        profile = machines(self.env).get(run, {}).get("profile", "quick")
        command = f"papermill notebooks/{chapter}.ipynb {chapter}.ipynb -p profile {profile}"
        return [where, nodes.literal_block(command, command, language="shell")]

    def link(self, claim: Claim, chapter: str) -> nodes.Node:
        """A link to the claim's figure, or to the chapter where that has none."""
        return shown(self.env.docname, chapter, "fig-" + claim.text("figure"))

    def prose(self, text: str) -> list[nodes.Node]:
        return self.parse_text_to_nodes(text) if text else []

    def small(self, text: str) -> list[nodes.Node]:
        said = nodes.paragraph("", "", *plain(text))
        return [nodes.container("", said, classes=["reason"])] if text else []


def shown(docname: str, chapter: str, label: str) -> nodes.Node:
    """A link to a figure or table of a notebook, or to the notebook where a run left it out."""
    return addnodes.pending_xref(
        "",
        nodes.inline(chapter, chapter),
        refdoc=docname,
        reftype=FIGURE,
        reftarget=label,
        chapter=f"notebooks/{chapter}",
    )


class Shown(SphinxRole):
    """`` {shown}`lee_access/fig-lee-column` ``: the chapter and the number of what it shows."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        chapter, _, label = self.text.partition("/")
        return [shown(self.env.docname, chapter, label)], []


def resolve(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Node | None:
    """Resolve what `shown` gives, which a run may have left out, or else its chapter."""
    if node["reftype"] != FIGURE:
        return None
    labels = env.get_domain("std").anonlabels  # type: ignore[attr-defined]
    page, target = labels.get(node["reftarget"], (node["chapter"], ""))
    if page not in env.titles:
        return content
    title = env.titles[page].astext()
    kind = "table" if node["reftarget"].startswith("tab-") else "figure"
    number = env.toc_fignumbers.get(page, {}).get(kind, {}).get(target)
    text = f"{title}, {kind} {'.'.join(map(str, number))}" if number else title
    return make_refnode(app.builder, node["refdoc"], page, target, nodes.inline(text, text))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("missing-reference", resolve)
    app.add_directive("claims", Claims)
    app.add_role("shown", Shown())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
