"""A report as files: checked before anything is measured, written after."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from hyperslab.tune.partial import whole_or_nothing

from .plot import picture
from .summary import Findings
from .text import sentences, text, warnings

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


def check(arguments: argparse.Namespace, options: Sequence[str]) -> None:
    """Refuse files that could not be written, before anything is measured."""
    if arguments.plot and Path(arguments.plot).suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"--plot {arguments.plot}: give a name that ends in .png, .svg or .pdf")
    seen: dict[str, str] = {}
    for option in options:
        given = getattr(arguments, option)
        if not given or given == "-":
            continue
        folder, real = Path(given).resolve().parent, os.path.realpath(given)
        if not folder.is_dir():
            raise ValueError(f"--{option} {given}: its folder does not exist: make it first")
        if not os.access(folder, os.W_OK):
            raise ValueError(f"--{option} {given}: its folder cannot be written to: take another")
        if Path(given).is_dir():
            raise ValueError(f"--{option} {given} is a folder: give the name of a file")
        if real == os.path.realpath(arguments.file):
            raise ValueError(f"--{option} {given} is the file itself: give another name")
        if real in seen:
            raise ValueError(f"--{seen[real]} and --{option} are both {given}: give each its own")
        seen[real] = option


def write(
    frame: pd.DataFrame,
    files: Mapping[str, str | None],
    *,
    title: str = "",
    head: str = "",
    notes: Sequence[str] = (),
) -> None:
    """Write what was asked for of a benchmark, by option."""
    renderers: dict[str, Callable[[str], bytes]] = {
        "plot": lambda name: picture(frame, Path(name).suffix, title),
        "html": lambda _: as_html(frame, title, head, notes).encode(),
        "csv": lambda _: str(
            Findings(frame).table.to_csv(index=False, lineterminator="\n")
        ).encode(),
        "json": lambda _: as_json(frame, notes).encode(),
    }
    outputs = [(option, name) for option in renderers if (name := files.get(option))]
    for option, name in sorted(outputs, key=lambda pair: pair[1] == "-"):  # whose reader may leave
        put(option, name, renderers[option](name))


def as_json(frame: pd.DataFrame, notes: Sequence[str] = ()) -> str:
    """Return the summary, every time with its samples, and the sentences, as JSON."""
    findings = Findings(frame)
    overall = findings.overall
    times: dict[str, dict[str, object]] = {name: {} for name in findings.targets}
    for (target, quantity), x in findings.medians.items():
        times[target][quantity.label] = {"value": x.value, "low": x.low, "high": x.high, "n": x.n}
    content = {
        "layouts": json.loads(str(findings.table.to_json(orient="records"))),
        "times_s": times,
        "best": {top.quantity.label: top.target if top.ahead else None for top in findings.best},
        "best_over_all": overall[0] if overall else None,
        "sentences": sentences(findings).splitlines(),
        "warnings": warnings(findings).splitlines(),
        "notes": list(notes),
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def as_html(frame: pd.DataFrame, title: str, head: str = "", notes: Sequence[str] = ()) -> str:
    """Return the report with its picture as one page."""
    return page(title, [
        Section("", head),
        Section("What was found", sentences(Findings(frame)).replace("\n", "\n\n")),
        Section("What was measured", text(frame, counts=True), True, picture(frame, ".svg")),
        Section("Notes", "\n".join(f"- {note}" for note in notes)),
    ])  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A part of a page: paragraphs, items that begin with "- ", or text as it is; and a figure."""

    head: str
    text: str
    verbatim: bool = False
    picture: bytes = b""  # SVG

    @property
    def svg(self) -> str:
        return self.picture[max(self.picture.find(b"<svg"), 0) :].decode()


def page(title: str, sections: Sequence[Section]) -> str:
    """Return one HTML file that needs nothing else; sections that hold nothing are left out."""
    from jinja2 import Environment

    template = Environment(autoescape=True, trim_blocks=True).from_string(_PAGE)
    return template.render(title=title, sections=sections)


def put(option: str, name: str, data: bytes) -> None:
    """Write a file, whole or not at all; "-", a pipe or a device is written to as it is."""
    if name == "-":
        sys.stdout.write(data.decode())
        return
    path = Path(os.path.realpath(name))
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
            return
        with whole_or_nothing(path, overwrite=True) as unfinished:
            unfinished.write_bytes(data)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"--{option} {name} cannot be written: {error.strerror or error}"
        raise OSError(f"{message}: make room, or take another") from error


@contextmanager
def maybe_unread() -> Iterator[None]:
    """Go on when nobody reads the output any more, as in a pipe to `head`."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        with suppress(OSError, ValueError):  # what is still in the buffer must go somewhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
