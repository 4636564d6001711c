"""A report as one HTML file that needs nothing else: what is said, the figure, the commands."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path

import pandas as pd

from hyperslab.tune.partial import whole_or_nothing

from ..sources.remote import is_url, shown
from .figure import picture
from .rows import SAID, bare_name

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#222;background:#fff}pre{overflow-x:auto;background:#f4f4f4;padding:.8rem;"
    "font-size:13px}img{max-width:100%}h1{font-size:1.4rem}h2{font-size:1.1rem}"
)
_PARTS = (
    ("advice", "What to do"), ("now", "What reads cost now, and why"),
    ("table", "What was tried"), ("how", "How to apply it"), ("notes", "Notes"),
)  # fmt: skip
_PLAIN = ("table", "how")
_OPTION = re.compile(r"--[a-z]+(?: [a-z0-9,=.]*[a-z0-9])?")


def said(frame: pd.DataFrame, what: str) -> str:
    """Return what was said under a name ("file", "now", "advice", "table", "how", "notes")."""
    found = frame[(frame["mode"] == SAID) & (frame["case"] == what)]
    return str(found["hints"].iloc[0]) if len(found) else ""


def myst(frame: pd.DataFrame, what: str) -> str:
    """Return the same as MyST: tables and commands as they are, between fences; options as code."""
    words = said(frame, what)
    if what in _PLAIN:
        return f"```text\n{words}\n```" if words else ""
    return _OPTION.sub(r"`\g<0>`", words)


def addressed(commands: str, address: str) -> str:
    """Return commands with the address of the file in place of its bare name.

    Parameters
    ----------
    commands
        As records hold them.
    address
        A path, or a URL; what may be secret in that is left out.

    Examples
    --------
    >>> addressed("nccopy a.nc a-9x9.nc\\nopen('a.nc')", "/my data/a.nc")
    "nccopy '/my data/a.nc' a-9x9.nc\\nopen('/my data/a.nc')"
    """
    bare = bare_name(address)
    whole = shown(address) if is_url(address) else str(Path(address).resolve())
    commands = commands.replace(repr(bare), repr(whole))
    if shlex.quote(bare) != bare:  # its quotes are the same in both
        return commands
    alone = re.compile(rf"(?<![\w/.'\"-]){re.escape(bare)}(?![\w.'\"-])")
    return alone.sub(lambda _: shlex.quote(whole), commands)


def page(frame: pd.DataFrame, title: str, address: str = "") -> str:
    """Return the report as HTML.

    Parameters
    ----------
    frame : pandas.DataFrame
        Records of an advice, from `hyperslab.advise.advisor.rows.rows`.
    title
        Of the page.
    address
        Of the file, for the commands; with "" they have its name alone.
    """
    title = shown(title) if is_url(title) else title
    drawn = picture(frame, ".svg").decode()
    body = [f"<h1>{html.escape(title)}</h1>", f"<p>{html.escape(said(frame, 'file'))}</p>"]
    for what, head in _PARTS:
        words = said(frame, what)
        if not words:
            continue
        if what == "how" and address:
            words = addressed(words, address)
        body.append(f"<h2>{head}</h2>")
        if what in _PLAIN:
            body.append(f"<pre>{html.escape(words)}</pre>")
        elif words.startswith("- "):
            items = (f"<li>{html.escape(line[2:])}</li>" for line in words.split("\n"))
            body.append(f"<ul>{''.join(items)}</ul>")
        else:
            parts = words.split("\n\n")
            body += [f"<p>{html.escape(part)}</p>" for part in parts]
        if what == "table":
            body.append(drawn[drawn.index("<svg") :])
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}'
        f"</title><style>{_STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    )


def write(frame: pd.DataFrame, place: str | Path, title: str, address: str = "") -> Path:
    """Write the report as an HTML file, whole or not at all, and return its path."""
    path = Path(place)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = page(frame, title, address)
    with whole_or_nothing(path, overwrite=True) as made:
        made.write_text(text, encoding="utf-8")
    return path
