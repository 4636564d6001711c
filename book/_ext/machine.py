"""The directive `machine`: on what the numbers in this book were measured."""

from typing import Any

from docutils import nodes
from findings import machines
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from verdicts import table

MIB, GIB = 2**20, 2**30
RUN = ("run_id", "profile", "notebook", "started", "time", "date", "seed", "git", "git_revision")


def plain(name: str, value: Any) -> str:
    """A fact as text; sizes in binary units."""
    if value is None or value == "":
        return "unknown"
    if name.endswith("_bytes") and isinstance(value, (int, float)):
        return f"{value / GIB:.1f} GiB" if value >= GIB else f"{value / MIB:.1f} MiB"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(str(each) for each in value)
    return str(value)


def rows(facts: dict[str, Any], above: str = "") -> list[tuple[str, str]]:
    """Facts flattened to (name, value), in their order."""
    flat: list[tuple[str, str]] = []
    for name, value in facts.items():
        label = f"{above} {name}".strip().removesuffix("_bytes").replace("_", " ")
        if isinstance(value, dict):
            flat += rows(value, label)
        else:
            flat.append((label, plain(name, value)))
    return flat


class Machine(SphinxDirective):
    """A table of facts for each machine, with the runs that were made on it."""

    def run(self) -> list[nodes.Node]:
        found = machines(self.env)
        if not found:
            return self.parse_text_to_nodes("Nothing was measured yet: `make book` does it.")
        same: dict[tuple[tuple[str, str], ...], list[tuple[str, dict[str, Any]]]] = {}
        for run_id, facts in found.items():
            what = tuple(rows({key: facts[key] for key in facts if key not in RUN}))
            same.setdefault(what, []).append((run_id, facts))
        shown: list[nodes.Node] = []
        for what, runs in same.items():
            names = [name for name in RUN if name != "run_id" and any(name in f for _, f in runs)]
            lines = [[run, *(plain(n, f.get(n)) for n in names)] for run, f in runs]
            shown.append(table(["Fact", "Value"], [list(row) for row in what], [30, 70], "facts"))
            head = ["Run", *(name.replace("_", " ") for name in names)]
            shown.append(table(head, lines, [1] * len(head), "facts"))
        return shown


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("machine", Machine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
