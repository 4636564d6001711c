"""The search finds what pages say, not the code of their cells."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def leave_out_code(app: Sphinx) -> None:
    """Have the pages' index made without what cells of notebooks hold as source."""
    index_page = getattr(app.builder, "index_page", None)
    if index_page is None:
        return

    def without_code(pagename: str, doctree: nodes.document, title: str) -> Any:
        cells = [n for n in doctree.findall(nodes.container) if "cell_input" in n["classes"]]
        sources = [cell.children for cell in cells]
        for cell in cells:
            cell.children = []
        index_page(pagename, doctree, title)
        for cell, source in zip(cells, sources, strict=True):  # the page is written after this
            cell.children = source

    app.builder.index_page = without_code  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", leave_out_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
