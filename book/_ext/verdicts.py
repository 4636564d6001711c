"""Roles and directives that put numbers and verdicts of the last run into prose.

Roles: `verdict` (the badge), `found` (estimate, interval, badge), `reason` (the sentence, badge),
`record` (one number) and `count` (how many claims). Directives: `verdict-kinds` and
`advice`.
"""

from typing import Any

import yaml
from docutils import nodes
from findings import Claim, claims, find, plain
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import make_refnode

from hyperslab.claims.bands import (
    HOLDS,
    IN_PART,
    INCONCLUSIVE,
    NOT_MEASURED,
    UNDECIDED,
    VERDICTS,
    kind_of,
)

LOG = logging.getLogger(__name__)
CLAIM, NAME, WHY = "claim", "claim-name", "claim-why"
NO_ADVICE = {
    NOT_MEASURED: "This was not measured here.",
    INCONCLUSIVE: "This stayed open here.",
}

KINDS = {
    "holds": "An effect: the document's sign, and a size between half and twice the document's on "
    "a log scale, within a factor of 4 of it; where it says *more than*, no effect is too large; "
    "where it gives no number, the sign and a difference of 5 %. An equality: the whole interval "
    "inside the margin. A count or an explanation: as stated.",
    IN_PART: "The claim's headline holds; another part of the sentence is reversed, refuted or "
    "obsolete. It counts among those that hold. Each other verdict that decides is *in part* "
    "where another part of the sentence holds. Explanations, imitations, and conditions that the "
    "document has not, do not count.",
    "weaker": "The effect has the document's sign and is smaller than that, or there is none: up "
    "to 5 % on the other side.",
    "stronger": "The effect has the document's sign and is larger than that.",
    "reversed": "The effect has the other sign, by 5 % or more.",
    "refuted": "The document says that two things are equal and here they differ; or a count or an "
    "explanation is wrong here.",
    "obsolete": "The software has changed: it can do what the document says it cannot, or a "
    "default that the document states is another now.",
    "inconclusive": "The interval crosses a threshold of the rule, or the times are void.",
    "not measured": "What it needs is missing here; the reason says what.",
}


def badge(verdict: str, text: str = "", *, noisy: bool = False) -> nodes.inline:
    """A verdict as a small label: the word carries it, the colour only helps.

    That of a noisy run has a wave after it.
    """
    slug = kind_of(verdict).replace(" ", "-")
    said = (text or verdict) + " ≈" * noisy
    return nodes.inline(said, said, classes=["verdict", f"verdict-{slug}"])


def mark(claim: Claim) -> nodes.inline:
    """The badge of a claim, or of a part, which says that it is one's.

    It is the claim's own: where the claim was not measured, a part of it that was says so. What
    the data were made to show says that.
    """
    if claim.claims_verdict == NOT_MEASURED != claim.verdict:
        return badge(NOT_MEASURED, f"{NOT_MEASURED} (this part: {claim.label})")
    kind = "by construction" if claim.calibrated else "one part" if "/" in claim.id else ""
    return badge(claim.label, f"{kind}: {claim.label}" if kind else "", noisy=claim.noisy)


def advised(claim: Claim | None, said: dict[str, str]) -> str:
    """The sentence for a claim's verdict; an undecided claim never has that of another verdict."""
    verdict = NOT_MEASURED if claim is None else claim.verdict
    if claim and claim.claims_verdict == NOT_MEASURED:
        verdict = NOT_MEASURED
    if verdict in said:
        return said[verdict]
    if verdict in UNDECIDED:
        return said.get("undecided", NO_ADVICE[verdict])
    return said.get("otherwise", "No advice yet.")


def linked(child: nodes.Node, claim: Claim, docname: str, tip: str = "") -> nodes.Node:
    """The node as a link to the claim's row on its document's page; `tip` is shown beside it."""
    name = claim.id.partition("/")[0]
    return addnodes.pending_xref("", child, refdoc=docname, reftype=CLAIM, reftarget=name, tip=tip)


def resolve(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, content: nodes.Element
) -> nodes.Node | None:
    """Resolve `linked`: unlike a plain reference, the label keeps its look."""
    if node["reftype"] != CLAIM:
        return None
    label = f"claim-{node['reftarget']}"
    page, target = env.get_domain("std").anonlabels.get(label, ("", ""))  # type: ignore[attr-defined]
    if not page:
        return content
    return make_refnode(app.builder, node["refdoc"], page, target, content, node["tip"] or None)


def asked(place: SphinxRole | SphinxDirective, key: str) -> Claim | None:
    """The claim that a page asks for; a warning where it is none."""
    found = find(place.env, key)
    if found is None:
        known = ", ".join(claims(place.env))
        LOG.warning("no claim %r; there are %s", key, known, location=place.get_location())
    return found


class Verdict(SphinxRole):
    """`` {verdict}`claim` `` or `` {verdict}`claim/part` ``: the verdict as a badge."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        claim = asked(self, self.text)
        if claim is None:
            return [badge(NOT_MEASURED)], []
        return [linked(mark(claim), claim, self.env.docname)], []


class Found(SphinxRole):
    """`` {found}`claim` ``: estimate, interval and verdict; the verdict alone without a number."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        claim = asked(self, self.text)
        if claim is None:
            return [badge(NOT_MEASURED)], []
        label = linked(mark(claim), claim, self.env.docname)
        text = self.say(claim)
        if not text:
            return [label], []
        shown = nodes.inline("", "", *plain(text), classes=["record"])
        return [shown, nodes.Text(" "), label], []

    def say(self, claim: Claim) -> str:
        return claim.number("interval") if claim.facts.get("measured") is not None else ""


class Reason(Found):
    """`` {reason}`claim` ``: the sentence that a run wrote for its verdict, and the verdict.

    The name of the claim comes before it where it begins an item of a list, and there too why it
    was not measured.
    """

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        shown, messages = super().run()
        claim = find(self.env, self.text)
        part = self.text.partition("/")[2]
        name = ", ".join(filter(None, (claim.title, part))) if claim else self.text
        why = claim.text("reason") if claim and claim.verdict == NOT_MEASURED else ""
        told = [nodes.inline("", f" {why}", classes=[WHY])] if why else []
        return [nodes.strong("", f"{name}. ", classes=[NAME]), *shown, *told], messages

    def say(self, claim: Claim) -> str:
        return "" if claim.verdict == NOT_MEASURED else claim.text("reason")


def names(app: Sphinx, doctree: nodes.document) -> None:
    """Keep names of claims, and why one was not measured, in items of a list that begin so."""
    marked = (node for node in doctree.findall(nodes.Element) if {NAME, WHY} & {*node["classes"]})
    for node in list(marked):
        paragraph = node.parent
        first = paragraph.children[0]
        begins = isinstance(first, nodes.strong) and NAME in first["classes"]
        if not (begins and isinstance(paragraph.parent, nodes.list_item)):
            paragraph.remove(node)


class Record(SphinxRole):
    """`` {record}`claim:field` ``: a number of the claim, or "not measured"."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        key, _, field = self.text.partition(":")
        claim = asked(self, key)
        text = claim.number(field) if claim else NOT_MEASURED
        return [nodes.inline(text, text, classes=["record"])], []


COUNTED = ("judged", "otherwise", "elsewhere", "changed", "changed verdict")
"""Elsewhere: what came out otherwise of another system. Changed: since the first rule judged it."""


class Count(SphinxRole):
    """`` {count}`holds` ``, or `COUNTED` in a verdict's place."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        kind = self.text
        if kind not in (*VERDICTS, IN_PART, *COUNTED):
            LOG.warning(
                "%r is no verdict; it may be %s",
                kind,
                ", ".join((*VERDICTS, IN_PART, *COUNTED)),
                location=self.get_location(),
            )
        chosen = claims(self.env).values()
        found = [claim.verdict for claim in chosen]
        apart = [c for c in chosen if c.verdict not in (HOLDS, *UNDECIDED)]
        again = [c for c in chosen if c.facts.get("first") and c.verdict != NOT_MEASURED]
        elsewhere = sum(claim.text("basis") == "another system" for claim in apart)
        number = {
            "judged": sum(verdict != NOT_MEASURED for verdict in found),
            "otherwise": len(apart) - elsewhere,
            "elsewhere": elsewhere,
            IN_PART: sum(claim.label == IN_PART for claim in chosen),
            "changed": len(again),
            "changed verdict": sum(c.verdict != c.facts["first"]["verdict"] for c in again),
        }.get(kind, found.count(kind))
        return [nodes.inline(str(number), str(number), classes=["record"])], []


def table(head: list[Any], rows: list[list[Any]], widths: list[int], kind: str) -> nodes.Node:
    """A table of cells that are text or lists of nodes, in a box that scrolls."""
    group = nodes.tgroup(cols=len(head))
    group.extend(nodes.colspec(colwidth=width) for width in widths)
    for part, lines in ((nodes.thead(), [head]), (nodes.tbody(), rows)):
        for line in lines:
            row = nodes.row()
            for cell in line:
                entry = nodes.entry()
                entry.extend([nodes.paragraph("", cell)] if isinstance(cell, str) else cell)
                row += entry
            part += row
        group += part
    box = nodes.container(classes=["scroll"])
    box += nodes.table("", group, classes=[kind])
    return box


class VerdictKinds(SphinxDirective):
    """What each verdict means."""

    def run(self) -> list[nodes.Node]:
        rows = [
            [[nodes.paragraph("", "", badge(kind))], self.parse_text_to_nodes(KINDS[kind])]
            for kind in KINDS
        ]
        return [table(["Verdict", "means"], rows, [20, 80], "kinds")]


class Advice(SphinxDirective):
    """What to do, chosen by a verdict: the body maps verdicts to sentences.

    A key is a verdict, several joined by commas, `undecided` (inconclusive or not measured), or
    `otherwise`, which stands for the other verdicts that decide.
    """

    required_arguments = 1
    final_argument_whitespace = True  # names of parts have it
    has_content = True

    def run(self) -> list[nodes.Node]:
        claim = asked(self, self.arguments[0])
        said = {
            kind.strip(): str(text)
            for kinds, text in (yaml.safe_load("\n".join(self.content)) or {}).items()
            for kind in str(kinds).split(",")
        }
        if wrong := sorted(set(said) - {*VERDICTS, "undecided", "otherwise"}):
            LOG.warning(
                "%s: no verdict; it may be %s, undecided or otherwise",
                ", ".join(wrong),
                ", ".join(VERDICTS),
                location=self.get_location(),
            )
        text = advised(claim, said)
        box = nodes.container(classes=["advice"])
        box += self.parse_text_to_nodes(text)
        last = box.children[-1] if box.children else None
        if isinstance(last, nodes.paragraph):
            last += nodes.Text(" ")
            last += linked(mark(claim), claim, self.env.docname) if claim else badge(NOT_MEASURED)
        return [box]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("missing-reference", resolve)
    app.connect("doctree-read", names)
    app.add_role("verdict", Verdict())
    app.add_role("found", Found())
    app.add_role("reason", Reason())
    app.add_role("record", Record())
    app.add_role("count", Count())
    app.add_directive("verdict-kinds", VerdictKinds)
    app.add_directive("advice", Advice)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
