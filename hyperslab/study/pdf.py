"""Print a staged book: all its pages as one, with an outline and page numbers."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from hyperslab.study.book import RenderError, build_pages, near

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BUILDER = "singlehtml"
ENCLOSED = Path("book", "hyperslab.pdf")
"""Where a stage has the PDF; the directive `printed` looks there."""
PATIENCE_MS = 300_000
_FOOT = (
    '<div style="width: 100%; font: 8pt sans-serif; color: #555; text-align: center">'
    '<span class="pageNumber"></span> / <span class="totalPages"></span></div>'
)
_OPEN = (
    "document.documentElement.dataset.theme = 'light';"
    "document.documentElement.dataset.mode = 'light';"
    "document.querySelectorAll('details').forEach(each => { each.open = true });"
    "document.querySelectorAll('.toggle-hidden').forEach("
    "each => { each.classList.remove('toggle-hidden') })"
)
_PAPER = """
* { animation: none !important; transition: none !important; opacity: 1 !important; }
pre, code { white-space: pre-wrap !important; overflow-wrap: anywhere; }
details.above-input { display: none !important; }  /* what draws: the pages have it */
details > summary, .toggle-button, .headerlink, .copybtn { display: none !important; }
th { word-break: keep-all; overflow-wrap: normal; }
figure, .output_png, tr, pre, .admonition-title, .sd-card { break-inside: avoid; }
h1, h2, h3, h4, summary, .admonition-title { break-after: avoid; }
"""
_SCALE = 0.7  # of the width that a screen has


def browser() -> str:
    """Return the Chromium of this machine."""
    for name in BROWSERS:
        if program := shutil.which(name):
            return program
    raise RenderError("no Chromium: `apt-get install chromium` (Debian) gives what prints the book")


def unfold(tab: Any) -> None:
    """Make a page fit for paper: light, with nothing folded away, long lines broken."""
    tab.evaluate(_OPEN)
    tab.add_style_tag(content=_PAPER)
    tab.evaluate("window.MathJax?.startup?.promise ?? null")


def print_book(stage: Path, pdf: Path) -> None:
    """Print a staged book; the file appears whole at `pdf`, or not at all."""
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
        site = Path(folder, "_build", BUILDER)
        # What it leads to, figures and styles too, is named from the top, where it does not lie.
        page = Path(site, f"{root}.html").replace(site / "whole.html")
        printed = Path(folder, pdf.name)
        print("pdf: printing", flush=True)
        with sync_playwright() as playwright:
            # No sandbox: Chromium refuses one to root, and these pages are our own.
            chromium = playwright.chromium.launch(executable_path=program, chromium_sandbox=False)
            tab = chromium.new_page(color_scheme="light")
            lost = set[str]()

            def note(request: Any) -> None:
                if request.resource_type in ("image", "stylesheet", "font"):  # seen on paper
                    lost.add(request.url.rpartition("/")[2])

            tab.on("requestfailed", note)
            tab.goto(page.as_uri(), timeout=PATIENCE_MS)
            unfold(tab)
            if lost:
                raise RenderError(f"the book was not printed: {', '.join(sorted(lost))} not found")
            tab.pdf(
                path=printed,
                format="A4",
                scale=_SCALE,
                outline=True,
                tagged=True,
                print_background=True,
                display_header_footer=True,
                header_template="<span></span>",
                footer_template=_FOOT,
                margin={"top": "16mm", "bottom": "18mm", "left": "15mm", "right": "15mm"},
            )
            chromium.close()
        printed.replace(pdf)
    print(f"pdf: printed in {time.monotonic() - started:.0f} s, {near(pdf)}", flush=True)
