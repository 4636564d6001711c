"""Print a staged book: all its pages as one, with an outline and page numbers."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import yaml

from hyperslab.study.book import RenderError, build_pages, near

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BUILDER = "singlehtml"
PATIENCE_MS = 300_000
_FOOT = (
    '<div style="width: 100%; font: 8pt sans-serif; color: #555; text-align: center">'
    '<span class="pageNumber"></span> / <span class="totalPages"></span></div>'
)
_NOTHING = "<span></span>"
_OPEN = "document.querySelectorAll('details').forEach(each => { each.open = true })"
_LIGHT = (
    "document.documentElement.dataset.theme = 'light';"
    "document.documentElement.dataset.mode = 'light'"
)


def browser(names: Sequence[str] = BROWSERS) -> str:
    """Return the Chromium of this machine.

    Raises
    ------
    RenderError
        When there is none, with what to install.

    Examples
    --------
    >>> browser(["no-such-browser"])
    Traceback (most recent call last):
    ...
    hyperslab.study.book.RenderError: no Chromium: `apt-get install chromium` (Debian) gives what prints the book
    """  # noqa: E501
    for name in names:
        if found := shutil.which(name):
            return found
    raise RenderError("no Chromium: `apt-get install chromium` (Debian) gives what prints the book")


def print_book(stage: Path, pdf: Path) -> None:
    """Print a staged book; the file appears whole at `pdf`, or not at all.

    Parameters
    ----------
    stage
        Folder made by `book.stage`.
    pdf
        The file.

    Raises
    ------
    RenderError
        When a page has an error or a warning, or no browser or playwright is there.
    """
    program = browser()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise RenderError(
            "printing needs playwright, which `make pdf` installs (pip install 'hyperslab[dev]')"
        ) from None
    started = time.monotonic()
    pdf.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(".d", ".print-", pdf.parent) as folder:
        build_pages(stage.resolve(), Path(folder), pdf.parent / "pdf.log", BUILDER)
        root = yaml.safe_load((stage / "_toc.yml").read_text(encoding="utf-8"))["root"]
        page = Path(folder, "_build", BUILDER, f"{root}.html")  # index.html leads there
        done = Path(folder, pdf.name)
        print("pdf: printing", flush=True)
        with sync_playwright() as playwright:
            # No sandbox: Chromium refuses one to root, and these pages are our own.
            opened = playwright.chromium.launch(executable_path=program, chromium_sandbox=False)
            tab = opened.new_page(color_scheme="light")
            tab.goto(page.as_uri(), timeout=PATIENCE_MS)
            tab.evaluate(f"{_LIGHT}; {_OPEN}")
            tab.evaluate("window.MathJax?.startup?.promise ?? null")
            tab.pdf(
                path=done,
                format="A4",
                outline=True,
                tagged=True,
                print_background=True,
                display_header_footer=True,
                header_template=_NOTHING,
                footer_template=_FOOT,
                margin={"top": "16mm", "bottom": "18mm", "left": "15mm", "right": "15mm"},
            )
            opened.close()
        done.replace(pdf)
    print(f"pdf: printed in {time.monotonic() - started:.0f} s, {near(pdf)}", flush=True)
