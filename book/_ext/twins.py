"""Give every figure drawn twice its dark version: name.light.svg brings name.dark.svg."""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

LIGHT, DARK = ".light.svg", ".dark.svg"


class Twins(SphinxTransform):
    """Put the dark image beside the light one; the theme shows one of them."""

    default_priority = 10  # before Sphinx collects the images of the page

    def apply(self) -> None:
        for light in list(self.document.findall(nodes.image)):
            uri = light["uri"]
            if not uri.endswith(LIGHT):
                continue
            twin = uri.removesuffix(LIGHT) + DARK
            if not Path(self.env.relfn2path(twin, self.env.docname)[1]).is_file():
                continue
            dark = light.copy()
            dark["uri"] = twin
            dark["ids"], dark["names"] = [], []
            light["classes"] = [*light["classes"], "only-light"]
            dark["classes"] = [*dark["classes"], "only-dark"]
            light.parent.insert(light.parent.index(light) + 1, dark)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_transform(Twins)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
