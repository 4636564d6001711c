"""Name what unfolds a part of the sidebar, and mend roles, for who hears the page."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from sphinx.application import Sphinx

NAME = "Pages in this part"


def name_folds(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Give the theme's unlabelled arrows a name."""
    # Its entries are no list items for a screen reader.
    if "body" in context:
        context["body"] = context["body"].replace('<div role="list" class="cit', '<div class="cit')
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


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", name_folds, priority=999)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
