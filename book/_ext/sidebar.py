"""The sidebar: made from titles alone, and with names and roles for who hears the page."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from docutils import nodes
from sphinx.addnodes import toctree
from sphinx.application import Sphinx

NAME = "Pages in this part"


def name_folds(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give the theme's unlabelled arrows a name."""
    # Its entries are no list items for a screen reader.
    if "body" in context:
        context["body"] = context["body"].replace('<div role="list" class="cit', '<div class="cit')
    if "toctree" in context:
        context["toctree"] = partial(from_titles, app.env, context["toctree"])
    made: Callable[..., Any] | None = context.get("generate_toctree_html")
    if made is None:
        return

    @wraps(made)
    def named(*args: Any, **options: Any) -> Any:
        tree = made(*args, **options)
        for arrow in tree.select("summary"):
            arrow["aria-label"] = NAME
        return tree

    context["generate_toctree_html"] = named


def from_titles(env: Any, make: Callable[..., str], **options: Any) -> str:
    """Make a tree of pages without copying what lies in each page, which takes most of its time."""
    whole = env.tocs
    if not hasattr(env, "of_titles"):
        env.of_titles = {name: titles(toc) for name, toc in whole.items()}
    try:
        env.tocs = env.of_titles
        return make(**options)
    finally:
        env.tocs = whole


def titles(toc: nodes.bullet_list) -> nodes.bullet_list:
    """Return the titles of a page's contents, with the pages below them."""
    short = toc.copy()
    for item in toc:
        kept = item.copy()
        kept += item[0].deepcopy()
        if below := [tree.deepcopy() for part in item[1:] for tree in part.findall(toctree)]:
            kept += nodes.bullet_list("", *below)
        short += kept
    return short


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", name_folds, priority=999)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
