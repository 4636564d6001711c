"""Keep the rendered book free of requests to other hosts."""

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

MATHJAX = "tex-svg.js"  # one file that holds its fonts


def drop_thebe(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Leave out the scripts and styles that load thebe from a CDN."""
    for kind in ("script_files", "css_files"):
        context[kind] = [
            asset
            for asset in context.get(kind, [])
            if "thebe"
            not in f"{getattr(asset, 'filename', asset)}{getattr(asset, 'attributes', '')}".lower()
        ]


def copy_mathjax(app: Sphinx, error: Exception | None) -> None:
    """Put MathJax beside the pages."""
    if error is None and app.builder.format == "html":
        spec = find_spec("sphinx-mathjax-offline")
        if spec is None or spec.origin is None:
            raise RuntimeError("sphinx-mathjax-offline is missing: pip install 'hyperslab[study]'")
        target = Path(app.outdir, "_static/mathjax")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(spec.origin).parent / "static/mathjax" / MATHJAX, target)


def drop_templates(app: Sphinx, error: Exception | None) -> None:
    """Remove the themes' own templates: they are no pages, and break when opened as one."""
    if error is None and app.builder.format == "html":
        for template in Path(app.outdir, "_static").glob("*webpack-macros.html"):
            template.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    app.config.mathjax_path = f"mathjax/{MATHJAX}"
    app.config.mathjax3_config = {"options": {"enableMenu": False}}
    app.connect("html-page-context", drop_thebe, priority=999)
    app.connect("build-finished", copy_mathjax)
    app.connect("build-finished", drop_templates)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
