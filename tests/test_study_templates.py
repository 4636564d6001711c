import json

import pytest

from hyperslab.study.templates import main, problems

PARAMETERS = 'profile: str = "quick"  # smoke, quick, full or paper\nseed: int = 0  # of the order'


def cell(source, *tags, **more):
    return {
        "cell_type": "code",
        "metadata": {"tags": list(tags)},
        "execution_count": None,
        "outputs": [],
        "source": source,
    } | more


def write(path, *cells, **metadata):
    metadata = {"kernelspec": {"name": "python3"}} | metadata
    path.write_text(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4}))
    return path


@pytest.fixture
def notebook(tmp_path):
    return tmp_path / "n.ipynb"


def test_a_clean_template_has_no_problems(notebook):
    short = cell("def f(x):\n    return x", "hide-input")
    assert problems(write(notebook, cell(PARAMETERS, "parameters"), short)) == []


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([cell("x = 1", "hide-input")], "0 cells are tagged parameters"),
        ([cell("x = 1", "hide-input"), cell(PARAMETERS, "parameters")], "first code cell"),
        ([cell("seed = 0  # of the order", "parameters")], "without a type: seed = 0"),
        ([cell("seed: int = 0", "parameters")], "without a comment on its line: seed: int = 0"),
        ([cell("seed: int = 0  #", "parameters")], "without a comment"),
        ([cell(PARAMETERS, "parameters", outputs=[{}])], "holds outputs"),
        ([cell(PARAMETERS, "parameters", execution_count=1)], "holds outputs"),
    ],
)
def test_each_fault_of_parameters_and_outputs_is_named(notebook, cells, says):
    assert any(says in problem for problem in problems(write(notebook, *cells)))


@pytest.mark.parametrize(
    ("source", "tags", "says"),
    [
        ("x = 1", [], "without the tag hide-input"),
        ("for i in range(3):\n    print(i)", ["hide-input"], "logic belongs into hyperslab"),
        ("class A:\n    pass", ["hide-input"], "logic belongs into hyperslab"),
        (
            "def f():\n" + "    a = 1\n" * 8 + "    return a",
            ["hide-input"],
            "def of 10 lines",
        ),
        ("%matplotlib inline", ["hide-input"], "not plain Python"),
        ("x = 1\n" * 31, ["hide-input"], "more than 30 lines"),
    ],
)
def test_each_fault_of_a_cell_is_named(notebook, source, tags, says):
    write(notebook, cell(PARAMETERS, "parameters"), cell(source, *tags))
    (problem,) = problems(notebook)
    assert says in problem


def test_an_executed_notebook_and_another_kernel_are_refused(notebook):
    write(notebook, cell(PARAMETERS, "parameters"), papermill={}, kernelspec={"name": "ir"})
    assert [problem.split(":")[0] for problem in problems(notebook)] == [
        "kernel is ir, must be python3",
        "holds papermill's record of a run",
    ]


def test_what_is_no_notebook_is_said(notebook):
    notebook.write_text("[]")
    assert problems(notebook)[0].startswith("is no notebook")


def test_main_names_the_file_and_fails(notebook, capsys):
    write(notebook, cell("x = 1"))
    assert main([str(notebook)]) == 1
    assert capsys.readouterr().out.startswith(f"{notebook}: ")
    assert main([]) == 0
