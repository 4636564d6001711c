"""What was measured with what: changes that measure again, and changes that only draw."""

import sys

import pytest
from made_notebooks import code, notebook

from hyperslab.measure.records import about, frame_of, save
from hyperslab.study import provenance, stale
from hyperslab.study.options import Options
from hyperslab.study.profile import Entry

ONE = Entry("one", "One", {"quick": {"blocks": 3}})
BOARD = Entry("board", "Board", {"quick": {"draws": True, "beside": "results"}})


def cell(source, *tags):
    return code(source, tags=tags)


def write_notebook(path, *cells):
    path.write_text(notebook(*cells))


@pytest.fixture
def top(tmp_path, monkeypatch):
    """A study of one notebook that measures and one that draws, and a package `data_gen_toy`."""
    (tmp_path / "notebooks").mkdir()
    write_notebook(tmp_path / "notebooks/one.ipynb", cell("x = 1", "measure"), cell("print(x)"))
    write_notebook(tmp_path / "notebooks/board.ipynb", cell(""))
    (tmp_path / "data_gen_toy.py").write_text('"""Toy."""\nx = 1  # one\n')
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


def test_what_measures_and_what_draws():
    assert provenance.measures("hyperslab.subchunk.file") and provenance.measures("data_gen.gfs")
    assert not provenance.measures("hyperslab.text") and not provenance.measures("io")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda top: None, ""),
        (lambda top: (top / "data_gen_toy.py").write_text("# other\nx = (1)\n"), ""),
        (lambda top: (top / "data_gen_toy.py").write_text("x = 2"), "data_gen_toy changed"),
        (
            lambda top: write_notebook(
                top / "notebooks/one.ipynb", cell("x = 1  # one", "measure"), cell("print(2 * x)")
            ),
            "",
        ),
        (
            lambda top: write_notebook(top / "notebooks/one.ipynb", cell("x = 2", "measure")),
            "its measuring cells changed",
        ),
    ],
)
def test_what_changes_is_measured_again_or_not(top, change, said):
    assert page(top).measured_again() == "it has no records"
    measured(top)
    change(top)
    assert page(top).measured_again() == said


def test_settings_parameters_and_packages_count(top):
    measured(top)
    assert page(top, Entry("one", "", {"quick": {"blocks": 4}})).measured_again() == (
        "blocks was 3 and is 4"
    )
    assert page(top, options=Options(seed=7)).measured_again() == "seed was 0 and is 7"
    measured(top, numpy="1.0")
    assert page(top).measured_again().startswith("numpy was 1.0 and is ")


def test_records_of_an_earlier_release_are_measured_again(top):
    one = page(top)
    one.records.parent.mkdir(parents=True)
    save(frame_of([{"case": "a"}]), one.records)
    assert page(top).measured_again() == "its records were made by an earlier release"


def test_drawing_from_given_records_measures_nothing_and_says_what_differs(top):
    measured(top)
    (top / "data_gen_toy.py").write_text("x = 2")
    given = page(top, options=Options(records="build/results/quick"))
    assert given.measured_again() == "" and not given.measures
    assert provenance.differs(given.inputs[0], given.experiment) == "data_gen_toy changed"


def test_a_page_is_drawn_again_when_what_draws_it_changed(top):
    measured(top)
    assert page(top).drawn_again() == "it was not executed whole"
    one = page(top)
    one.target.parent.mkdir(parents=True)
    one.target.write_text("{}")
    noted = one.records.parent / ".loaded/one.json"
    noted.parent.mkdir()
    noted.write_text('["data_gen_toy"]')
    one.keep(1.5)
    assert page(top).drawn_again() == "" and page(top).kept()["seconds"] == 1.5
    write_notebook(
        top / "notebooks/one.ipynb",
        cell("x = 1", "measure"),
        {**cell("Words."), "cell_type": "markdown"},
    )
    assert page(top).drawn_again() == "its notebook changed"
    assert page(top).measured_again() == ""
    (top / "data_gen_toy.py").write_text("x = 2")
    assert page(top).drawn_again() == "data_gen_toy changed; its notebook changed"
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
    names = [path.relative_to(top).as_posix() for path in page(top, BOARD).inputs]
    assert names == [
        "build/results/quick/one.parquet", "results/reference/one.parquet", "book/claims.yml",
    ]  # fmt: skip
    assert not page(top, BOARD).measures
