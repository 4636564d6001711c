"""The directive `machine` and the role `version`: on what, and with what, was measured."""

import json
from typing import Any

from docutils import nodes
from findings import machines
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole
from verdicts import table

from hyperslab.text import printable

MIB, GIB = 2**20, 2**30
UNITS = {"_kib": "KiB", "_mib": "MiB", "_gib": "GiB", "_s": "s"}
RUN = ("profile", "notebook", "started", "time", "date", "seed", "git", "git_revision")


def fact(name: str, value: Any) -> tuple[str, str]:
    """A fact's name and value as text; the unit moves from the name to the value."""
    for end, unit in UNITS.items():
        if name.endswith(end) and isinstance(value, (int, float)):
            return name.removesuffix(end).replace("_", " "), f"{value:,} {unit}".replace(",", " ")
    label = name.removesuffix("_bytes").replace("_", " ")
    if value is None or value == "":
        return label, "unknown"
    if name.endswith("_bytes") and isinstance(value, (int, float)):
        return label, f"{value / GIB:.1f} GiB" if value >= GIB else f"{value / MIB:.1f} MiB"
    if isinstance(value, bool):
        return label, "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return label, printable(", ".join(str(each) for each in value))
    return label, printable(str(value))


def groups(facts: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Facts by heading: what identifies the machine, and each nested group, such as versions."""
    found: dict[str, list[tuple[str, str]]] = {"machine": []}
    for name, value in facts.items():
        if isinstance(value, dict):
            rows = [fact(inner, each) for inner, each in value.items()]
            found.setdefault("machine" if name == "identity" else name, []).extend(rows)
        else:
            found["machine"].append(fact(name, value))
    # A fact known twice, rounded and exact, is shown once, exact.
    return {name: list(dict(rows).items()) for name, rows in found.items() if rows}


class Machine(SphinxDirective):
    """A table of facts for each machine, with the runs that were made on it."""

    def run(self) -> list[nodes.Node]:
        found = machines(self.env)
        if not found:
            return self.parse_text_to_nodes("Nothing was measured yet: `make book` does it.")
        same: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for run_id, facts in found.items():
            lasting = {name: value for name, value in facts.items() if name not in RUN}
            same.setdefault(json.dumps(lasting), []).append((run_id, facts))
        shown: list[nodes.Node] = []
        for lasting, runs in same.items():
            for name, rows in groups(json.loads(lasting)).items():
                shown.append(table([name, ""], [list(row) for row in rows], [30, 70], "facts"))
            names = [name for name in RUN if any(name in facts for _, facts in runs)]
            lines = [[run, *(fact(n, facts.get(n))[1] for n in names)] for run, facts in runs]
            head = ["run", *(name.replace("_", " ") for name in names)]
            shown.append(table(head, lines, [1] * len(head), "facts"))
        return shown


class Measured(SphinxDirective):
    """A sentence on where and with which profile the book's numbers were measured."""

    def run(self) -> list[nodes.Node]:
        found = list(machines(self.env).values())
        if not found:
            return self.parse_text_to_nodes(
                ":::{note}\nNothing was measured yet. `make book` measures and judges.\n:::"
            )
        who = found[-1].get("identity", {})
        facts = [
            str(who.get("cpu", "")),
            f"{who['cores']} cores" if "cores" in who else "",
            f"{who['memory_gib']} GiB" if "memory_gib" in who else "",
            str(found[-1].get("file_system", "")),
            str(found[-1].get("kernel", "")),
        ]
        profiles = sorted({str(run.get("profile", "")) for run in found} - {""})
        who_and_what = printable(", ".join(filter(None, facts)))
        text = f"Measured on {who_and_what}; profile {', '.join(profiles)}."
        where = nodes.paragraph(text, text)  # of the records: nothing in it is markup
        if "smoke" not in profiles:
            return [where]
        toys = self.parse_text_to_nodes(
            "**These are toy sizes**: they show that everything runs. "
            "Their verdicts say nothing about the claims. `make book` measures real sizes."
        )
        return [nodes.warning("", where, *toys)]


class Version(SphinxRole):
    """`` {version}`fsspec` ``: the version of a package in the runs of the page's notebook."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        notebook = self.env.docname.rpartition("/")[2]
        runs = [facts for facts in machines(self.env).values() if facts.get("notebook") == notebook]
        known = {str(facts.get("versions", {}).get(self.text, "unknown")) for facts in runs}
        text = " and ".join(sorted(known)) or "unknown"
        return [nodes.inline(text, text, classes=["record"])], []


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("machine", Machine)
    app.add_directive("measured-on", Measured)
    app.add_role("version", Version())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
