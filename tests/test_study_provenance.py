"""What was measured with what: changes that measure again, and changes that only draw."""

import sys

import pytest
from made_notebooks import code, notebook
from nbformat.v4 import new_markdown_cell

from hyperslab.measure.records import about, frame_of, save
from hyperslab.study import provenance, stale
from hyperslab.study.options import Options
from hyperslab.study.profile import Entry

ONE = Entry("one", "One", {"quick": {"blocks": 3}})
BOARD = Entry("board", "Board", {"quick": {"draws": True, "beside": "results"}})


def cell(source, *tags):
    return code(source, tags=tags)


def write(top, *cells):
    (top / "notebooks/one.ipynb").write_text(notebook(*cells))


def toy(top, text):
    (top / "data_gen_toy.py").write_text(text)


@pytest.fixture
def top(tmp_path, monkeypatch):
    """A study of one notebook that measures and one that draws, and a package `data_gen_toy`."""
    (tmp_path / "notebooks").mkdir()
    write(tmp_path, cell("x = 1", "measure"), cell("print(x)"))
    (tmp_path / "notebooks/board.ipynb").write_text(notebook(cell("")))
    toy(tmp_path, '"""Toy."""\nx = 1  # one\n')
    monkeypatch.syspath_prepend(tmp_path)
    provenance._module.cache_clear()
    yield tmp_path
    provenance._module.cache_clear()
    sys.modules.pop("data_gen_toy", None)


def page(top, item=ONE, options=None):
    provenance._module.cache_clear()
    return stale.Page.of(item, options or Options(), top)


def measured(top, **tools):
    """Leave records of notebook one, as it is now."""
    one = page(top)
    kept = {"experiment": one.experiment, "tools": provenance.now(["data_gen_toy", "numpy"])}
    kept["tools"] |= tools
    one.records.parent.mkdir(parents=True, exist_ok=True)
    save(frame_of([{"case": "a", "run_id": "r"}]), one.records, kept)
    assert about(one.records) == {"schema": 2, "labels": [], **kept}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda top: toy(top, "# other\nx = (1)\n"), ""),
        (lambda top: toy(top, "x = 2"), "data_gen_toy changed"),
        (lambda top: write(top, cell("x = 1  # one", "measure"), cell("print(2 * x)")), ""),
        (lambda top: write(top, cell("x = 2", "measure")), "its measuring cells changed"),
    ],
)
def test_what_changes_is_measured_again_or_not(top, change, said):
    assert page(top).measured_again() == "it has no records"
    measured(top)
    assert page(top).measured_again() == ""
    change(top)
    assert page(top).measured_again() == said
    given = page(top, options=Options(records="build/results/quick"))
    assert given.measured_again() == "" and not given.measures
    assert provenance.differs(given.inputs[0], given.experiment) == said


def test_settings_parameters_packages_and_releases_count(top):
    measured(top)
    four = Entry("one", "", {"quick": {"blocks": 4}})
    assert page(top, four).measured_again() == "blocks was 3 and is 4"
    assert page(top, options=Options(seed=7)).measured_again() == "seed was 0 and is 7"
    measured(top, numpy="1.0")
    assert page(top).measured_again().startswith("numpy was 1.0 and is ")
    save(frame_of([{"case": "a"}]), page(top).records)
    assert page(top).measured_again() == "its records were made by an earlier release"


def test_a_page_is_drawn_again_when_what_draws_it_changed(top, monkeypatch):
    measured(top)
    assert page(top).drawn_again() == "it was not executed whole"
    one = page(top)
    one.target.parent.mkdir(parents=True)
    one.target.write_text("{}")
    one.keep()
    assert page(top).drawn_again() == ""
    write(top, cell("x = 1", "measure"), new_markdown_cell("Words."))
    assert page(top).drawn_again() == "its notebook changed"
    assert page(top).measured_again() == ""
    monkeypatch.setattr(provenance, "code", lambda **_: "another")
    assert page(top).drawn_again() == "its code changed; its notebook changed"
    assert page(top).measured_again() == ""
    one.target.with_suffix(".json").write_text("{")
    assert page(top).drawn_again() == "it was not executed whole"
    one.forget()
    assert list(one.target.parent.iterdir()) == []


def test_a_board_depends_on_the_records_that_it_draws(top):
    assert page(top, BOARD).inputs == (top / "book/claims.yml",)
    measured(top)
    folder = top / "results/reference"
    folder.mkdir(parents=True)
    (folder / "one.parquet").write_bytes(b"")
    named = ("build/results/quick/one.parquet", "results/reference/one.parquet", "book/claims.yml")
    assert page(top, BOARD).inputs == tuple(top / name for name in named)
    assert not page(top, BOARD).measures
