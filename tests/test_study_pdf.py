"""The whole book on paper: its figures, what is folded away, and nothing that is not found."""

import base64
import re
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from hyperslab.study import pdf
from hyperslab.study.book import RenderError, build_pages
from hyperslab.study.pdf import ENCLOSED, browser, print_book, unfold

ROOT = Path(__file__).parents[1]
DOT = base64.b64decode(
    b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgaPgPAAKDAYDVTm2NAAAAAElFTkSuQmCC"
)
INDEX = """# What it says

![a dot](../figures/dot.png)

```{admonition} Folded away
:class: dropdown
All of it is printed.
```

See {doc}`../more/second`.
"""


@pytest.fixture
def stage(tmp_path):
    """A book of two pages in folders, as the real one's are."""
    folder = tmp_path / "the stage"
    for name, text in {
        "_config.yml": "title: A book\nexecute: {execute_notebooks: 'off'}\n",
        "_toc.yml": "format: jb-book\nroot: book/index\nchapters:\n- file: more/second\n",
        "book/index.md": INDEX,
        "more/second.md": "# The second\n\nIt has words.\n",
        "figures/dot.png": "",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "figures/dot.png").write_bytes(DOT)
    return folder


def test_figures_are_printed(stage, tmp_path):
    made = tmp_path / "build/book.pdf"
    print_book(stage, made)
    assert made.read_bytes().startswith(b"%PDF")
    assert re.search(rb"/Subtype /Image\s*/Width 1\s*/Height 1\s", made.read_bytes())
    assert {path.name for path in made.parent.iterdir()} == {"book.pdf", "pdf.log"}


def test_nothing_stays_folded_and_pages_link_the_pdf(stage, tmp_path):
    with (stage / "_config.yml").open("a") as config:
        config.write(f"sphinx: {{local_extensions: {{printed: {ROOT / 'book/_ext'}}}}}\n")
    (stage / "book/index.md").write_text(INDEX + "\n```{printed}\n```\n")
    (stage / ENCLOSED).write_bytes(b"%PDF" + bytes(2_000_000))
    build_pages(stage, tmp_path / "with", tmp_path / "log")
    site = tmp_path / "with/_build/html/book"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser(), chromium_sandbox=False)
        tab = opened.new_page()
        tab.goto((site / "index.html").as_uri())
        folded = tab.get_by_text("All of it is printed.")
        before = folded.is_visible()
        unfold(tab)
        after = folded.is_visible()
        opened.close()
    assert (before, after) == (False, True)
    page = (site / "index.html").read_text()
    (place,) = re.findall(r'href="([^"]*hyperslab\.pdf)"', page)
    assert (site / place).read_bytes().startswith(b"%PDF")
    assert "prints the whole book" not in page and "(2 MB)" in page


def test_a_figure_that_is_not_found_is_an_error(stage, tmp_path, monkeypatch):
    def without_it(stage, out, log, builder):
        page = out / "_build" / builder / "book/index.html"
        page.parent.mkdir(parents=True)
        page.write_text('<img src="_images/none.png" alt="none">')

    monkeypatch.setattr(pdf, "build_pages", without_it)
    with pytest.raises(RenderError, match=r"not printed: none\.png not found"):
        print_book(stage, tmp_path / "book.pdf")
    assert not (tmp_path / "book.pdf").exists()
