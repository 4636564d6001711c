"""A built book's pages: what each names, and where its links lead."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class Page(HTMLParser):
    """The names in a page, and what it links to or loads."""

    path: Path
    names: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)

    def __post_init__(self):
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.names |= {given[key] for key in ("id", "name") if given.get(key)}
        self.links += [given[key] for key in ("href", "src") if given.get(key)]


def pages(html):
    """Return a site's pages by their place in it, those beside the pages left out."""
    found = (path for path in sorted(html.rglob("*.html")) if "_static" not in path.parts)
    return {str(path.relative_to(html)): Page(path) for path in found}


def broken(html):
    """Return each link inside a site that leads nowhere: page, link and what is missing."""
    known, wrong = pages(html), []
    for place, page in known.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.path.parent / unquote(parts.path)) if parts.path else page.path
            target = target.resolve()
            if not target.is_file():
                wrong.append(f"{place}: {link}: no such file")
            elif parts.fragment and target.suffix == ".html":
                there = known.get(str(target.relative_to(html.resolve())))
                if there and unquote(parts.fragment) not in there.names:
                    wrong.append(f"{place}: {link}: no such anchor")
    return wrong
