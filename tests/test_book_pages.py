"""The book, rendered strictly from a made-up run, and what its pages hold and promise."""

import json
import math
import re
from pathlib import Path

import pytest
import yaml
from made_claims import load
from made_notebooks import code, notebook, stream, written

from hyperslab.analysis.quantities import QUANTITIES
from hyperslab.claims.rules import effect
from hyperslab.study.book import RenderError, fingerprint, render, stage
from hyperslab.study.pages import placeholder

ROOT = Path(__file__).parents[1]

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
    outputs = (myst(FIGURE), stream("written\n"), stream("a progress bar", "stderr"))
    whole = notebook(
        code('workdir = "build"', tags=("injected-parameters",)),
        code("show.figure(zebracode)", *outputs, tags=("hide-input",)),
        code("show.table(run)", myst(TABLE), tags=("hide-input",)),
        title="# Chunk size",
    )
    claim = {
        "id": "lee-7-small", "document": "lee", "statement": "tiny chunks are slow", "rule": "",
        "measured": 126.25, "low": 120.5, "high": 131.5, "verdict": "stronger", "parts": [],
        "shown": "126 [120, 132]",
        "reason": "The slowest of 25 sizes is `8×8`.", "run_id": "r1", "notebook": "lee_chunk_size",
    }  # fmt: skip
    who = {"cpu": "Test 9000", "memory_bytes": 2**33}
    machine = {
        "r0": {"notebook": "lee_access", "versions": {"h5py": "2.7182"}},
        "r1": {"notebook": "lee_chunk_size", "versions": {"h5py": "3.1415"}, "identity": who},
    }
    runs = {run: {"profile": "quick", **facts} for run, facts in machine.items()}
    files = {
        "claims.json": json.dumps([claim]),
        "machine.json": json.dumps(runs),
        "lee_chunk_size.parquet": "records",
    }
    files |= {f"figures/lee_chunk_size/rates.{style}.svg": SVG for style in ("light", "dark")}
    written(folder / "results", files)
    written(folder / "executed", {"lee_chunk_size.ipynb": whole})
    return folder / "executed", folder / "results"


PAGES = (
    "book/guide", "book/methods", "book/machine", "book/documents/lee", "book/glossary",
    "book/bibliography", "notebooks/lee_access", "notebooks/lee_chunk_size",
)  # fmt: skip


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A book of few of its pages, which link to others: tests/test_whole.py renders all of them."""
    folder, project = (tmp_path_factory.mktemp(name) for name in ("book", "project"))
    executed, results = make_run(folder)
    for name in ("book", "notebooks"):
        (project / name).symlink_to(ROOT / name)
    toc = {"format": "jb-book", "root": "book/index", "chapters": [{"file": p} for p in PAGES]}
    (project / "_toc.yml").write_text(yaml.safe_dump(toc))
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config["sphinx"]["config"]["suppress_warnings"] += ["ref", "myst.xref_missing"]
    (project / "_config.yml").write_text(yaml.safe_dump(config))
    missing = stage(executed, results, folder / "build/book", root=project)
    assert "lee_access" in missing and "lee_chunk_size" not in missing
    assert render(folder / "build/book", folder / "build/html")
    return folder / "build"


def page(build, name):
    return (build / "html" / f"{name}.html").read_text(encoding="utf-8")


def text(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))


def test_a_notebook_s_page_has_what_its_outputs_are_and_no_stderr(build):
    html = page(build, "notebooks/lee_chunk_size")
    images = re.findall(r"<img[^>]+rates\.(?:light|dark)\.svg[^>]*>", html)
    for image, kind in zip(images, ("only-light", "only-dark"), strict=True):
        assert kind in image
        assert 'alt="Write rate against chunk size"' in image
    assert 'id="fig-rates"' in html and 'id="tab-sizes"' in html
    assert html.count("The rate rises") == 1
    assert "Sizes, by h5py 3.1415" in text(html), "the version of its run"
    assert "a progress bar" not in html and "iVBORw0KGgo" not in html
    assert "Tiny chunks. The slowest of 25 sizes is 8×8. stronger" in text(html)
    assert "NetCDF-4 from S3, ocean frame alone. " in text(html)
    index = (build / "html/searchindex.js").read_text(encoding="utf-8")
    assert "zebracode" in html
    assert "zebraco" not in index and "bandwidth" in index


def test_roles_take_numbers_and_verdicts_from_the_claims(build):
    guide = text(page(build, "book/guide"))
    assert "The slowest of 25 sizes is 8×8. stronger" in guide and "Tiny chunks. " not in guide
    assert "one part: " in guide, "of which the claim may say otherwise"
    start = text(page(build, "book/index"))
    assert "Tiny chunks Lee 2008 – 126 [120, 132] △ stronger" in start
    assert "Try chunks on your own file first" in start, "what is said where nothing was measured"
    assert "Chunk size is not judged here" not in start
    assert "prints the whole book" in start, "where no PDF was made"
    assert 'id="claim-lee-7-small"' in page(build, "book/documents/lee")
    row = text(page(build, "book/documents/lee"))
    assert "126 [120, 132]" in row
    assert "lee-7-small: shown in Chunk size; records: lee_chunk_size.parquet; run r1." in row
    (saved,) = (build / "html/_downloads").rglob("lee_chunk_size.parquet")
    assert saved.read_bytes() == b"records"


def test_what_was_not_run_and_the_runs_that_were_are_named(build):
    html = text(page(build, "notebooks/lee_access"))
    assert "was not run" in html and "hyperslab run lee_access" in html
    html = text(page(build, "book/machine"))
    assert "Test 9000" in html and "8.0 GiB" in html and "r1" in html
    start = text(page(build, "book/index"))
    assert "Measured on Test 9000; profile quick." in start and "toy sizes" not in start


def test_what_did_not_change_is_not_rendered_again_and_nothing_is_left_behind(build):
    made = (build / "html/index.html").stat().st_mtime_ns
    assert not render(build / "book", build / "html")
    assert (build / "html/index.html").stat().st_mtime_ns == made
    assert {path.name for path in build.iterdir()} == {"book", "html", "book.log", ".book.lock"}
    before = fingerprint(build / "book")
    with (build / "book/book/index.md").open("a") as page:
        page.write("Other words.\n")
    assert fingerprint(build / "book") != before, "else it would not be rendered again"


def test_prose_refers_to_nothing_that_a_run_may_lack():
    """Figures and tables of notebooks come by roles, which know those that were not made."""
    prose = [path.read_text(encoding="utf-8") for path in (ROOT / "book").rglob("*.md")]
    titles = [placeholder(path.stem, path) for path in (ROOT / "notebooks").glob("*.ipynb")]
    text = "\n".join(prose + titles)
    used = set(re.findall(r"\{(?:ref|numref|eq)\}`(?:[^`<]*<)?([\w-]+)>?`", text))
    named = re.findall(r"(?:^\(|^\$\$ \(|:name: )([\w-]+)", text, flags=re.MULTILINE)
    assert len(used) > 20 and used <= set(named)


def test_a_bad_page_is_an_error_and_the_old_site_stays(tmp_path):
    written(tmp_path, {
        "book/_toc.yml": "format: jb-book\nroot: index\n",
        "book/_config.yml": "title: t\nonly_build_toc_files: true\n",
        "book/index.md": "# Title\n\nSee {ref}`nowhere`.\n",
        "html/index.html": "old",
    })  # fmt: skip
    with pytest.raises(RenderError, match=r"nowhere[\s\S]*book\.log"):
        render(tmp_path / "book", tmp_path / "html")
    assert (tmp_path / "html/index.html").read_text() == "old"
    assert "nowhere" in (tmp_path / "book.log").read_text()


FIGURES_PAGE = (ROOT / "book/figures.md").read_text(encoding="utf-8")
SHOWN = sorted(set(re.findall(r"\{shown\}`(\w+)/((?:fig|tab)-[\w-]+)`", FIGURES_PAGE)))
HAS = {"Lee": (13, 8), "Jones": (8, 1), "Penard": (10, 3), "Chilan": (6, 0)}
"""How many figures and tables each document has."""


def test_what_the_page_of_figures_names_is_shown_there():
    assert FIGURES_PAGE.count("{shown}`") >= len(SHOWN) > 25
    for name, label in SHOWN:
        source = (ROOT / f"notebooks/{name}.ipynb").read_text(encoding="utf-8")
        assert f'\\"{label[4:]}\\"' in source, (name, label)


def test_no_fence_has_a_backtick_in_its_first_line():
    """With one, all that follows it becomes code."""
    for page in (ROOT / "book").rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"^```.*`.*$", text, flags=re.MULTILINE), page.name


@pytest.mark.parametrize("name", HAS)
def test_the_page_of_figures_has_each_and_table_once(name):
    (part,) = [each for each in FIGURES_PAGE.split("\n## ") if each.startswith(name)]
    rows = re.findall(r"^\| ((?:Figure|Table) \d+) \|", part, flags=re.MULTILINE)
    figures, tables = HAS[name]
    wanted = [f"Figure {n + 1}" for n in range(figures)]
    assert rows == [*wanted, *(f"Table {n + 1}" for n in range(tables))]


READING_PAGE = (ROOT / "book/reading.md").read_text(encoding="utf-8")


def absolute(part):
    """Whether times of one configuration decide it, or their difference, and not a ratio."""
    value = QUANTITIES.get(str(part.fields.get("value", "")))
    of_one = part.kind in ("level", "difference", "share")
    return of_one and value is not None and value.timed


def test_the_page_on_reading_names_each_claim_that_absolute_times_decide():
    named = READING_PAGE.partition("(sec-decides)=")[2].partition("## Verdicts")[0]
    decided = [claim.id for claim in load() if absolute(claim.headline)]
    assert len(decided) > 2
    assert [name for name in decided if f"{{verdict}}`{name}`" not in named] == []


def test_the_bands_of_the_page_on_reading_are_those_of_the_rule():
    rows = re.findall(
        r"^\* - ([\d.]+)\n  - ([\d.]+)\n  - ([\d.]+)$", READING_PAGE, flags=re.MULTILINE
    )
    assert len(rows) > 4
    for document, *said in rows:
        rule = effect(float(document))
        ends = [math.exp(edge * rule.log_unit) for edge, _ in rule.edges[1:]]
        assert [float(end) for end in said] == pytest.approx(ends, rel=0.005), document
