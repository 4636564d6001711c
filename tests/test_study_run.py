"""Only what changed runs; what failed is kept and named; nothing partial is taken for whole."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import made_notebooks
import papermill
import pytest
from made_notebooks import code
from nbformat.v4 import new_markdown_cell
from samples import until

from hyperslab.cli import FAILED, main
from hyperslab.measure.parent import alive
from hyperslab.measure.records import about, frame_of, save
from hyperslab.study import provenance, stale
from hyperslab.study import run as running
from hyperslab.study.options import Options, executed_folder
from hyperslab.study.profile import Entry
from hyperslab.study.run import Result, run

ROOT = Path(__file__).parents[1]
PARAMETERS = """profile: str = "quick"
records: str = ""
workdir: str = ""
repeats: int = 0
seed: int = 0"""


def notebook(*cells):
    return made_notebooks.notebook(code(PARAMETERS, tags=["parameters"]), *map(code, cells))


MEASURES = """
from hyperslab.study import begin
session = begin(
    "first", profile=profile, workdir=workdir, records=records, seed=seed, repeats=repeats
)
def rows():
    with open("log", "a") as f:
        f.write("m")
    yield {"case": "x", "phase": "size", "file_bytes": 7}
frame = session.observe("sizes", rows)
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study of two notebooks that leave a letter in a file when they run."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "_config.yml").write_text("")
    profiles = {name: {} for name in ("smoke", "quick", "full", "paper")}
    listed = [{"name": name, "title": "T", "profiles": profiles} for name in ("first", "second")]
    (tmp_path / "notebooks/study.yml").write_text(json.dumps({"notebooks": listed}))
    for name in ("first", "second"):
        text = notebook(f"with open('log', 'a') as f: f.write('{name[0]}')")
        (tmp_path / f"notebooks/{name}.ipynb").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def killed_when(there):
    """Kill `hyperslab run` as soon as a file is there."""
    words = [sys.executable, "-m", "hyperslab", "run", "first", "--profile", "smoke"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)
    until(lambda: there.exists() or process.poll() is not None, seconds=120)
    assert process.poll() is None
    process.kill()
    process.wait()


def test_unchanged_notebooks_are_left_alone(study):
    def states(*names, **options):
        return [result.state for result in run(names, Options("quick", **options))]

    assert states() == ["done", "done"]
    assert states() == ["current", "current"]
    path = study / "notebooks/second.ipynb"
    path.write_text(path.read_text().replace("'s'", "'S'"))
    assert states() == ["current", "done"]
    assert states("first", seed=3) == ["done"]
    assert (study / "log").read_text() == "fsSf"


def test_failure_keeps_the_notebook_names_the_cell_and_goes_on(study):
    path = study / "notebooks/first.ipynb"
    text = path.read_text()
    path.unlink()
    (first,) = run(["first"], Options("smoke"))
    assert first.state == "failed" and "first.ipynb is missing" in first.message
    path.write_text(text.replace("seed: int = 0", "sede: int = 0"))
    (first,) = run(["first"], Options("smoke"))
    assert first.state == "failed" and "takes no parameters ['seed']" in first.message
    path.write_text(notebook("1 / 0"))
    first, second = run([], Options("smoke"))
    assert (first.state, second.state) == ("failed", "done")
    assert "cell 2: ZeroDivisionError: division by zero" in first.message
    folder = executed_folder(study / "build", "smoke")
    assert (folder / "first.failed.ipynb").exists() and not (folder / "first.ipynb").exists()
    path.write_text(text)
    assert [r.state for r in run([], Options("smoke"))] == ["done", "current"]
    assert not (folder / "first.failed.ipynb").exists()


def test_a_kernel_that_did_not_start_is_started_once_more(study, monkeypatch):
    execute, lost = papermill.execute_notebook, []

    def started(*words, **how):
        if lost.pop():
            raise RuntimeError("Kernel died before replying to kernel_info")
        return execute(*words, **how)

    monkeypatch.setattr(papermill, "execute_notebook", started)
    lost[:] = [False, True]
    assert run(["first"], Options("smoke"))[0].state == "done"
    lost[:] = [True, True]
    assert run(["second"], Options("smoke"))[0].state == "failed"


LINGERS = """
import os, time
if not os.path.exists("drawing"):
    with open("pid", "w") as file:
        file.write(str(os.getpid()))
    os.replace("pid", "drawing")
    time.sleep(30)
"""


def test_killed_while_drawing_measures_nothing_again_and_leaves_nothing_that_looks_whole(study):
    (study / "notebooks/first.ipynb").write_text(notebook(MEASURES, "session.finish()", LINGERS))
    killed_when(study / "drawing")
    kernel = int((study / "drawing").read_text())
    until(lambda: not alive(kernel))
    assert not list(executed_folder(study / "build", "smoke").glob("first.ipynb"))
    records = study / "build/results/smoke/first.parquet"
    before = records.read_bytes()
    assert run(["first"], Options("smoke"))[0].state == "done"
    assert (study / "log").read_text() == "m" and records.read_bytes() == before
    journals = study / "build/results/smoke/.journal"
    assert not list(journals.glob("*.jsonl")), "the notebook is whole"
    (journals / "first.jsonl").write_text("{}")  # as a kill leaves it beside a whole notebook
    assert run(["first"], Options("smoke"))[0].state == "current"
    assert not list(journals.glob("*.jsonl"))
    run(["first"], Options("smoke", again=True))
    assert (study / "log").read_text() == "mm" and not list(journals.glob("*.jsonl"))


@pytest.mark.parametrize(("profile", "at_once"), [("quick", 1), ("smoke", 2)])
def test_what_draws_or_measures_toys_runs_two_at_a_time_and_else_one(monkeypatch, profile, at_once):
    both, alone, order = threading.Barrier(2), threading.Lock(), []

    def one(item, options, top):
        order.append(item.name)
        if at_once > 1 or item.settings[options.profile].get("draws"):
            both.wait(timeout=30)
        else:
            assert alone.acquire(blocking=False)
            time.sleep(0.05)
            alone.release()
        return Result(item.name, "done", 0.0)

    monkeypatch.setattr(running, "_run_one", one)
    monkeypatch.chdir(ROOT)
    names = ["lee_access", "lee_formats", "claims", "machines"]
    assert [result.name for result in run(names, Options(profile))] == names
    assert {*order[:2]} == {*names[:2]}


@pytest.mark.parametrize(
    ("letter", "changes", "log"),
    [
        ("w", {"def rows": "open('log', 'a').write('w')\ndef rows"}, "mwdmf"),
        ("c", {'"m"': '"c"', "rows)": "rows, alone=False)"}, "mcdf"),
    ],
    ids=["makes its files", "is only counted"],
)
def test_what_goes_on_beside_one_that_draws_and_what_waits(study, letter, changes, log):
    waits = f"import time\nwhile {letter!r} not in open('log').read(): time.sleep(0.05)"
    drawn = "time.sleep(0.5); open('log', 'a').write('d')"
    first = notebook(MEASURES, "session.finish()", waits, drawn)
    (study / "notebooks/first.ipynb").write_text(first)
    begun = MEASURES.replace('"first"', '"second"')
    for old, new in changes.items():
        begun = begun.replace(old, new)
    second = notebook(begun, "session.finish()", "open('log', 'a').write('f')")
    (study / "notebooks/second.ipynb").write_text(second)
    assert [result.state for result in run([], Options("quick"))] == ["done", "done"]
    assert (study / "log").read_text() == log


def test_without_loopback_it_says_so_and_does_not_wait(study, monkeypatch, capsys):
    def down(*_):
        raise OSError(99, "Cannot assign requested address")

    monkeypatch.setattr("socket.create_server", down)
    assert main(["run", "first"]) == FAILED
    said = capsys.readouterr().err
    assert "127.0.0.1, which cannot be reached" in said and "ip link set lo up" in said


ONE = Entry("one", "One", {"quick": {"blocks": 3}})
BOARD = Entry("board", "Board", {"quick": {"draws": True, "beside": "results"}})


def write(top, *cells):
    (top / "notebooks/one.ipynb").write_text(made_notebooks.notebook(*cells))


def toy(top, text):
    (top / "data_gen_toy.py").write_text(text)


@pytest.fixture
def top(tmp_path, monkeypatch):
    """A study of one notebook that measures and one that draws, and a package `data_gen_toy`."""
    (tmp_path / "notebooks").mkdir()
    write(tmp_path, code("x = 1", tags=["measure"]), code("print(x)"))
    (tmp_path / "notebooks/board.ipynb").write_text(made_notebooks.notebook(code("")))
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
        (lambda top: write(top, code("x = 1  # one", tags=["measure"]), code("print(2 * x)")), ""),
        (lambda top: write(top, code("x = 2", tags=["measure"])), "its measuring cells changed"),
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
    write(top, code("x = 1", tags=["measure"]), new_markdown_cell("Words."))
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
