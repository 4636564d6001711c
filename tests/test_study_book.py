"""Staging: what of a run reaches the pages, and what must not; the book on paper."""

import base64
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from made_notebooks import code, notebook, stream, written
from playwright.sync_api import sync_playwright

from hyperslab.study import pdf
from hyperslab.study.book import RenderError, build_pages, stage
from hyperslab.study.pages import clean
from hyperslab.study.pdf import ENCLOSED, browser, print_book, unfold
from hyperslab.study.privacy import revealed, scrubber

ROOT = Path(__file__).parents[1]
CONFIG = "title: t\nonly_build_toc_files: true\nexecute: {execute_notebooks: 'off'}\n"


@pytest.fixture
def project(tmp_path):
    """A small project: one page of prose, one notebook, no extensions."""
    root = tmp_path / "secretproject"
    written(root, {
        "book/index.md": "# Start\n\nTemperature by jones.\n",
        "notebooks/one.ipynb": made(),
        "_toc.yml": "format: jb-book\nroot: book/index\nchapters: [{file: notebooks/one}]\n",
        "_config.yml": CONFIG,
    })  # fmt: skip
    return root


def made(*cells):
    return notebook(*cells, title="(one)=\n# One", papermill={"a": 1})


def write_run(root, *cells):
    executed, results = root / "build/executed", root / "build/results/quick"
    written(executed, {"one.ipynb": made(*cells)})
    results.mkdir(parents=True, exist_ok=True)
    return executed, results


def test_private_text_does_not_reach_the_stage(project, tmp_path, monkeypatch):
    home = tmp_path / "homes/canaryuser"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("platform.node", lambda: "canaryhost")
    for name in ("LOGNAME", "USER"):
        monkeypatch.setenv(name, "canaryuser")
    said = f"canaryuser@canaryhost: {home}/x.nc {project}/build/data/a.nc\n"
    html = {"output_type": "display_data", "data": {"text/html": f"<b>{said}</b>"}, "metadata": {}}
    executed, results = write_run(
        project, code(f"workdir = '{project}/build'", stream(said), html, stream(said, "stderr"))
    )
    (results / "claims.json").write_text(json.dumps([{"id": "a", "reason": said}]))
    (results / "machine.json").write_text(json.dumps({"run": {"note": said}}))
    out = project / "build/book"
    assert stage(executed, results, out, root=project) == []
    text = "\n".join(path.read_text() for path in out.rglob("*") if path.is_file())
    for name in ("canaryuser", "canaryhost", "secretproject", str(tmp_path), "papermill"):
        assert name not in text, name
    assert "workdir = 'build'" in text
    assert "user@host: ~/x.nc build/data/a.nc" in text
    monkeypatch.setenv("LOGNAME", "jones")  # as a word of the book
    assert scrubber(project)("jones-order holds for jones") == "jones-order holds for jones"
    assert scrubber(project)("/home/jones/a.nc") == "~/a.nc"


def test_pictures_are_not_scrubbed_and_warnings_go(project):
    image = {"output_type": "display_data", "data": {"image/png": "abc/x/abc"}, "metadata": {}}
    outputs = image, stream("warning", "stderr"), stream("ok")
    page = clean(json.loads(made(code("", *outputs))), lambda text: text.replace("x", "y"))
    kept = [output.get("data") or output["text"] for output in page["cells"][1]["outputs"]]
    assert kept == [image["data"], ["ok"]]


def test_a_missing_notebook_gets_a_placeholder_until_it_is_run(project):
    out = project / "build/book"
    missing = stage(project / "none", project / "none", out, root=project)
    assert missing == ["one"]
    page = out / "notebooks/one.md"
    text = page.read_text()
    assert text.startswith("(one)=\n# One\n") and "`hyperslab run one`" in text
    assert not (out / "notebooks/one.ipynb").exists()
    executed, results = write_run(project, code("1"))
    stage(executed, results, out, root=project)
    assert not page.exists() and (out / "notebooks/one.ipynb").exists()
    left = {path.name for path in out.parent.iterdir()} - {"executed", "results"}
    assert left == {"book", ".book.lock"}


def test_stagings_at_once_leave_one_whole_stage(project):
    executed, results = write_run(project, code("1"))
    out = project / "build/book"
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: stage(executed, results, out, root=project), range(12)))
    assert (out / "notebooks/one.ipynb").is_file()


@pytest.mark.parametrize(
    "text",
    [
        "Bearer abcdefgh123", "/home/ann/a.nc", "/Users/ann", "see /" + "root/x",
        "/scratch/p123/a.nc", "C:\\data\\a.nc", "s3://bucket-of-ann/a", "https://ann:pw@server/a",
        "https://minio.local:9000", "192.168.1.7", "ann@cluster", "AKIA" + "A" * 16, "password: x",
        "TOKEN=x",
    ],
)  # fmt: skip
def test_what_is_private_is_seen(text):
    assert revealed(text) and revealed(f"OSError: '{text}' failed")


@pytest.mark.parametrize(
    "text",
    [
        "", "NetCDF-4 / HDF5", "http://server/a.nc#mode=bytes", "s3://bucket/gfs.nc", "MB/s",
        "http://127.0.0.1:4711/a", "4.9.3.1", "65536 tokens", "https://localhost:9000/a", "/data",
        "x@", "NETCDF4_CLASSIC",
    ],
)  # fmt: skip
def test_what_names_nobody_is_not(text):
    assert revealed(text) == ""


def test_a_folder_with_a_longer_name_is_another_folder(tmp_path):
    scrub = scrubber(tmp_path)
    assert scrub(f"{tmp_path} {tmp_path}/a").split() == [".", "a"]
    assert "-copy" in scrub(f"{tmp_path}-copy/a")


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
def printable(tmp_path):
    """A book of two pages in folders, as the real one's are."""
    folder = tmp_path / "the stage"
    written(folder, {
        "_config.yml": "title: A book\nexecute: {execute_notebooks: 'off'}\n",
        "_toc.yml": "format: jb-book\nroot: book/index\nchapters:\n- file: more/second\n",
        "book/index.md": INDEX,
        "more/second.md": "# The second\n\nIt has words.\n",
        "figures/dot.png": "",
    })  # fmt: skip
    (folder / "figures/dot.png").write_bytes(DOT)
    return folder


def test_figures_are_printed(printable, tmp_path):
    made = tmp_path / "build/book.pdf"
    print_book(printable, made)
    assert made.read_bytes().startswith(b"%PDF")
    assert re.search(rb"/Subtype /Image\s*/Width 1\s*/Height 1\s", made.read_bytes())
    assert {path.name for path in made.parent.iterdir()} == {"book.pdf", "pdf.log"}


def test_nothing_stays_folded_and_pages_link_the_pdf(printable, tmp_path):
    with (printable / "_config.yml").open("a") as config:
        config.write(f"sphinx: {{local_extensions: {{printed: {ROOT / 'book/_ext'}}}}}\n")
    (printable / "book/index.md").write_text(INDEX + "\n```{printed}\n```\n")
    (printable / ENCLOSED).write_bytes(b"%PDF" + bytes(2_000_000))
    build_pages(printable, tmp_path / "with", tmp_path / "log")
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


def test_a_figure_that_is_not_found_is_an_error(printable, tmp_path, monkeypatch):
    def without_it(stage, out, log, builder):
        page = out / "_build" / builder / "book/index.html"
        page.parent.mkdir(parents=True)
        page.write_text('<img src="_images/none.png" alt="none">')

    monkeypatch.setattr(pdf, "build_pages", without_it)
    with pytest.raises(RenderError, match=r"not printed: none\.png not found"):
        print_book(printable, tmp_path / "book.pdf")
    assert not (tmp_path / "book.pdf").exists()
