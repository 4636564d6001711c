"""The directive `modules`: the public modules of a package, with their docstrings and sources."""

import inspect
import pkgutil
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

REPOSITORY = "https://github.com/hyperslab/hyperslab/blob/main"


def public(package: str) -> Iterator[str]:
    """Names of the public modules in a package, without importing them."""
    spec = find_spec(package)
    for found in pkgutil.iter_modules(spec.submodule_search_locations if spec else None):
        name = f"{package}.{found.name}"
        if found.name.startswith("_"):
            continue
        if found.ispkg:
            yield from public(name)
        else:
            yield name


class Modules(SphinxDirective):
    """`` ```{modules} hyperslab.io ``: a section for each public module.

    ``:without:`` names those that are left out, a folder with all that is in it.
    """

    required_arguments = 1
    option_spec: ClassVar = {"without": str.split}

    def run(self) -> list[nodes.Node]:
        package = self.arguments[0]
        parts = [
            f"## {name.removeprefix(package + '.')}\n\n"
            f"```{{eval-rst}}\n.. automodule:: {name}\n   :members:\n```\n"
            for name in public(package)
            if name.removeprefix(f"{package}.").partition(".")[0]
            not in self.options.get("without", [])
        ]
        return self.parse_text_to_nodes("\n".join(parts), allow_section_headings=True)


def source(domain: str, info: dict[str, str]) -> str | None:
    """Return where the source of what a page describes stands in the repository."""
    module = import_module(info["module"])
    try:
        described = inspect.unwrap(reduce(getattr, info["fullname"].split("."), module))
        lines, first = inspect.getsourcelines(described)
    except (AttributeError, OSError, TypeError):  # a constant, or a field without a value
        return None
    path = Path(inspect.getsourcefile(described) or "")
    top = Path(find_spec(info["module"].partition(".")[0]).origin).parents[1]
    return f"{REPOSITORY}/{path.relative_to(top).as_posix()}#L{first}-L{first + len(lines) - 1}"


def setup(app: Sphinx) -> dict[str, bool]:
    app.config.linkcode_resolve = source
    app.add_directive("modules", Modules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
