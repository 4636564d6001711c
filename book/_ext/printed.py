"""The directive `printed`: where the whole book is as a PDF, or what prints it."""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

PDF = "/book/hyperslab.pdf"  # staged when it was printed


class Printed(SphinxDirective):
    """A link to the PDF of these very pages; the command that makes one where there is none."""

    def run(self) -> list[nodes.Node]:
        file = Path(self.env.srcdir, PDF.lstrip("/"))
        if not file.is_file():
            return self.parse_text_to_nodes(
                "`make pdf` prints the whole book, with all collapsed sections expanded, into "
                "`build/hyperslab.pdf`; these pages then link it."
            )
        size = f"{file.stat().st_size / 1e6:.0f} MB"
        name = nodes.inline("", "The whole book as a PDF")
        link = addnodes.download_reference("", "", name, reftarget=PDF, refdoc=self.env.docname)
        said = nodes.Text(f" ({size}), with all collapsed sections expanded.")
        return [nodes.paragraph("", "", link, said)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("printed", Printed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
