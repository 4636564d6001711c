"""The book, rendered strictly from a made-up run, and what its pages hold."""

import json
import re
import shutil
from pathlib import Path

import pytest
from made_notebooks import code, error, notebook, stream

from hyperslab.claims import load
from hyperslab.study.book import RenderError, render, stage

ROOT = Path(__file__).parents[1]
CANARY = {"user": "canaryuser", "host": "canaryhost", "path": "/srv/canaryfolder"}

SVG = "<svg xmlns='http://www.w3.org/2000/svg' width='600' height='300'></svg>"
FIGURE = """````{figure} ../figures/lee_chunk_size/rates.light.svg
:name: fig-rates
:alt: Write rate against chunk size

The rate rises; see {cite:t}`lee2008`, {term}`chunk` and {verdict}`lee-7-small`.
````
"""
TABLE = (
    "~~~~{table} Sizes, by h5py {version}`h5py`\n:name: tab-sizes\n\n"
    "| chunk | MB |\n| --- | --- |\n| 790 | 62.42 |\n~~~~\n\n- {reason}`lee-7-small`\n"
    "- {reason}`penard-10/ocean frame alone`\n"
)


def myst(text):
    data = {"image/png": "iVBORw0KGgo=", "text/x-myst": text}
    return {"output_type": "display_data", "data": data, "metadata": {"image/png": {"alt": "x"}}}


def make_run(folder):
    """Write what a run leaves: executed notebooks, figures, claims and machine facts."""
    executed, results = folder / "executed", folder / "results"
    figures = results / "figures" / "lee_chunk_size"
    figures.mkdir(parents=True)
    executed.mkdir()
    for style in ("light", "dark"):
        (figures / f"rates.{style}.svg").write_text(SVG)
    said = f"wrote {CANARY['path']}/a.nc on {CANARY['host']} for {CANARY['user']}\n"
    outputs = (myst(FIGURE), stream(said), stream("a progress bar", "stderr"))
    placed = {"input_path": f"{CANARY['path']}/notebooks/a.ipynb"}
    (executed / "lee_chunk_size.ipynb").write_text(
        notebook(
            code('profile: str = "quick"', tags=("parameters",)),
            code(f'workdir = "{CANARY["path"]}"', tags=("injected-parameters",)),
            code("show.figure(zebracode)", *outputs, tags=("hide-input",)),
            code("show.table(run)", myst(TABLE), tags=("hide-input",)),
            title="# Chunk size",
            papermill=placed,
        )
    )
    failed = notebook(code("1 / 0", error("ValueError")), title="# Access")
    (executed / "lee_access.ipynb").write_text(failed)
    claims = [
        {
            "id": "lee-7-small",
            "document": "lee",
            "statement": "tiny chunks are slow",
            "rule": "",
            "measured": 126.25,
            "low": 120.5,
            "high": 131.5,
            "verdict": "stronger",
            "reason": "The slowest of 25 sizes is `8×8`.",
            "run_id": "r1",
            "notebook": "lee_chunk_size",
            "parts": [],
        }
    ]
    (results / "claims.json").write_text(json.dumps(claims))
    machine = {
        "r0": {"profile": "quick", "notebook": "lee_access", "versions": {"h5py": "2.7182"}},
        "r1": {
            "profile": "quick",
            "identity": {"cpu": "Test 9000", "memory_bytes": 2**33},
            "notebook": "lee_chunk_size",
            "versions": {"h5py": "3.1415"},
        },
    }
    (results / "machine.json").write_text(json.dumps(machine))
    (results / "lee_chunk_size.parquet").write_bytes(b"records")
    return executed, results


def private():
    return {name: f"<{kind}>" for kind, name in CANARY.items()}


def make_project(folder):
    """Copy the book, with docstrings in one page: tests/test_whole.py renders those of all."""
    shutil.copytree(ROOT / "book", folder / "book")
    for name in ("_config.yml", "_toc.yml", "notebooks"):
        (folder / name).symlink_to(ROOT / name)
    pages = set((folder / "book/api").glob("*.md"))
    assert folder / "book/api/kernels.md" in pages
    for path in pages - {folder / "book/api/kernels.md"}:
        written = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"```\{modules\}.*?```", "", written, flags=re.DOTALL))
    return folder


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    executed, results = make_run(folder)
    project = make_project(tmp_path_factory.mktemp("project"))
    missing = stage(executed, results, folder / "build/book", root=project, hide=private())
    assert missing["lee_access"] == "stopped in cell 2 with ValueError"
    assert "lee_chunk_size" not in missing
    assert render(folder / "build/book", folder / "build/html")
    return folder / "build"


def page(build, name):
    return (build / "html" / f"{name}.html").read_text(encoding="utf-8")


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))


def test_formulas_are_drawn_without_another_host(build):
    assert (build / "html/_static/mathjax/tex-svg.js").is_file()
    assert "mathjax/tex-svg.js" in page(build, "book/methods")
    assert not re.search(r"(?:src|href)=\"[^\"]*thebe", page(build, "notebooks/lee_chunk_size"))


def test_private_names_are_gone(build):
    for path in (build / "html").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            for name in (*CANARY.values(), str(build)):
                assert name.encode() not in content, f"{name} in {path.name}"


def test_figure_has_a_dark_twin_with_the_same_alt(build):
    html = page(build, "notebooks/lee_chunk_size")
    images = re.findall(r"<img[^>]+rates\.(?:light|dark)\.svg[^>]*>", html)
    assert len(images) == 2
    for image, kind in zip(images, ("only-light", "only-dark"), strict=True):
        assert kind in image
        assert 'alt="Write rate against chunk size"' in image
    assert 'id="fig-rates"' in html
    assert html.count("The rate rises") == 1


def test_outputs_show_myst_the_versions_of_their_runs_and_no_stderr(build):
    html = page(build, "notebooks/lee_chunk_size")
    assert 'id="tab-sizes"' in html and "62.42" in html
    assert "Sizes, by h5py 3.1415" in text(html)
    assert "a progress bar" not in html
    assert "iVBORw0KGgo" not in html


def test_roles_take_numbers_and_verdicts_from_the_claims(build):
    start = text(page(build, "book/index"))
    assert "The slowest of 25 sizes is 8×8. stronger" in text(page(build, "book/guide"))
    assert "Tiny chunks Lee 2008 – 126 [120, 132] △ stronger" in start
    assert "Try chunks on your own file first" in start, "what is said where nothing was measured"
    assert "Chunk size is not judged here" not in start
    assert "prints the whole book" in start, "where no PDF was made"
    row = page(build, "book/documents/lee")
    assert 'id="claim-lee-7-small"' in row
    assert "126 [120, 132]" in text(row)
    shown = "lee-7-small: shown in Chunk size; records: lee_chunk_size.parquet; run r1. Run it"
    assert shown in text(row)
    assert "papermill notebooks/lee_chunk_size.ipynb" in text(row)
    (saved,) = (build / "html/_downloads").rglob("lee_chunk_size.parquet")
    assert saved.read_bytes() == b"records"


def test_the_board_has_each_claim_under_a_topic(build):
    board = page(build, "book/index").partition('class="board ')[2]
    topics = [text(part) for part in board.split('class="board-title"')[1:]]
    assert len(topics) > 5 and " Tiny chunks " in topics[0]
    assert board.count("<tr") == len(load(ROOT / "book/claims.yml")) + len(topics)


def test_the_search_finds_words_but_not_code(build):
    index = (build / "html/searchindex.js").read_text(encoding="utf-8")
    assert "zebracode" in page(build, "notebooks/lee_chunk_size")
    assert "zebraco" not in index and "bandwidth" in index


def test_a_verdict_in_a_list_names_its_claim_and_that_of_a_part_says_so(build):
    made = text(page(build, "notebooks/lee_chunk_size"))
    assert "Tiny chunks. The slowest of 25 sizes is 8×8. stronger" in made
    assert "NetCDF-4 from S3, ocean frame alone. " in made
    assert "Tiny chunks. " not in text(page(build, "book/guide"))
    assert "one part: " in text(page(build, "book/guide")), "of which the claim may say otherwise"


def test_what_was_not_run_and_the_runs_that_were_are_named(build):
    html = text(page(build, "notebooks/lee_access"))
    assert "stopped in cell 2 with ValueError" in html and "hyperslab run lee_access" in html
    html = text(page(build, "book/machine"))
    assert "Test 9000" in html and "8.0 GiB" in html and "r1" in html
    start = text(page(build, "book/index"))
    assert "Measured on Test 9000; profile quick." in start and "toy sizes" not in start


def test_a_bad_page_is_an_error_and_the_old_site_stays(tmp_path):
    source = tmp_path / "book"
    source.mkdir()
    (source / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    (source / "_config.yml").write_text("title: t\nonly_build_toc_files: true\n")
    (source / "index.md").write_text("# Title\n\nSee {ref}`nowhere`.\n")
    (tmp_path / "html").mkdir()
    (tmp_path / "html/index.html").write_text("old")
    with pytest.raises(RenderError, match=r"nowhere[\s\S]*book\.log"):
        render(source, tmp_path / "html")
    assert (tmp_path / "html/index.html").read_text() == "old"
    assert "nowhere" in (tmp_path / "book.log").read_text()
