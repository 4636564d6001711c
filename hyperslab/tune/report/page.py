"""A report as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title><style>
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;
color:#222;background:#fff}pre{overflow-x:auto;background:#f4f4f4;padding:.8rem;font-size:13px}
svg{max-width:100%;height:auto}h1{font-size:1.4rem}h2{font-size:1.1rem}
</style></head><body><h1>{{ title }}</h1>
{% for part in sections if part.text or part.svg %}
{% if part.head %}<h2>{{ part.head }}</h2>{% endif %}
{% if part.verbatim %}<pre>{{ part.text }}</pre>
{% elif part.text.startswith("- ") %}<ul>
{% for line in part.text.split("\\n") %}<li>{{ line[2:] }}</li>
{% endfor %}</ul>
{% elif part.text %}{% for line in part.text.split("\\n\\n") %}<p>{{ line }}</p>
{% endfor %}{% endif %}{{ part.svg | safe }}
{% endfor %}</body></html>
"""


@dataclass(frozen=True)
class Section:
    """A part of a page: paragraphs, items that begin with "- ", or text as it is; and a figure."""

    head: str
    text: str
    verbatim: bool = False
    svg: str = ""


def page(title: str, sections: Sequence[Section]) -> str:
    """Return a page; sections that hold nothing are left out."""
    from jinja2 import Environment

    template = Environment(autoescape=True, trim_blocks=True).from_string(_PAGE)
    return template.render(title=title, sections=sections)
