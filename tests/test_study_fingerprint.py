import json
from pathlib import Path

import pytest

from hyperslab.study.fingerprint import (
    LIBRARIES,
    changed,
    explain,
    fingerprint,
    parts,
    used_modules,
    version,
)


def write_notebook(path, code, prose="# Title", **cell):
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": [prose]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": code} | cell,
    ]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4}))
    return path


@pytest.fixture
def toy(tmp_path):
    """A package whose `top` imports `low` inside a function; nobody imports `alone`."""
    files = {
        "__init__.py": "",
        "top.py": "def f():\n    from .sub import low\n    return low.x\n",
        "alone.py": "x = 1\n",
        "registry.py": "NAMES = {'deep': 'toy.sub.deep'}\n",
        "finder.py": "import importlib\nload = importlib.import_module\n",
        "sub/__init__.py": "from .. import base\n",
        "sub/low.py": "x = 1  # a comment\n",
        "sub/deep.py": "",
        "base.py": "",
    }
    for name, text in files.items():
        path = tmp_path / "toy" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path / "toy"


def names(code, root):
    return [name.removeprefix("toy.") for name in used_modules([code], [root])]


def test_imports_are_followed_through_modules(toy):
    assert names("from toy.top import f", toy) == ["toy", "base", "sub", "sub.low", "top"]


@pytest.mark.parametrize(
    "code", ["import toy.alone as a", "from toy import alone", "from toy.alone import x"]
)
def test_every_form_of_import_is_seen(toy, code):
    assert names(code, toy) == ["toy", "alone"]


def test_modules_named_in_a_registry_count(toy):
    assert "sub.deep" in names("import toy.registry", toy)


def test_where_the_module_is_chosen_at_run_time_all_beside_it_count(toy):
    assert {"alone", "top", "registry"} <= set(names("import toy.finder", toy))


def test_other_packages_magics_and_names_that_are_no_module_are_passed_over(toy):
    assert names("%matplotlib inline\n!ls\nimport numpy\nfrom toy import nothing", toy) == ["toy"]


def test_same_inputs_give_the_same_hash(toy, tmp_path):
    notebook = write_notebook(tmp_path / "n.ipynb", "import toy.top")
    first = fingerprint(notebook, {"seed": 0, "profile": "smoke"}, [toy], ["numpy"])
    assert first == fingerprint(notebook, {"profile": "smoke", "seed": 0}, [toy], ["numpy"])


def test_outputs_and_execution_counts_do_not_matter(toy, tmp_path):
    plain = write_notebook(tmp_path / "a.ipynb", "import toy.top")
    run = write_notebook(tmp_path / "b.ipynb", "import toy.top", execution_count=3)
    lines = write_notebook(tmp_path / "c.ipynb", ["import ", "toy.top"])
    assert len({fingerprint(each, {}, [toy], []) for each in (plain, run, lines)}) == 1


def test_what_changed_is_named(toy, tmp_path):
    notebook = write_notebook(tmp_path / "n.ipynb", "import toy.top")
    before = parts(notebook, {"seed": 0}, [toy], ["numpy"])
    write_notebook(notebook, "import toy.top", prose="# Another title")
    (toy / "sub/low.py").write_text("x = 2\n")
    after = parts(notebook, {"seed": 1, "repeats": 7}, [toy], [])
    assert changed(before, after) == [
        "module toy.sub.low",
        "package numpy",
        "parameter repeats",
        "parameter seed",
        "prose",
    ]
    assert explain(before, after, most=9) == (
        "toy.sub.low changed; "
        f"numpy was {version('numpy')} and is not used any more; "
        "repeats is new: 7; seed was 0 and is 1; its prose changed"
    )


def test_a_module_that_is_not_used_may_change(toy, tmp_path):
    notebook = write_notebook(tmp_path / "n.ipynb", "import toy.top")
    before = fingerprint(notebook, {}, [toy], [])
    (toy / "alone.py").write_text("x = 2\n")
    assert fingerprint(notebook, {}, [toy], []) == before


def test_comments_and_layout_of_modules_do_not_matter(toy, tmp_path):
    notebook = write_notebook(tmp_path / "n.ipynb", "import toy.top")
    before = fingerprint(notebook, {}, [toy], [])
    (toy / "sub/low.py").write_text("# another comment\n\nx = (1)\n")
    assert fingerprint(notebook, {}, [toy], []) == before


def test_c_source_in_a_package_that_is_used_counts(toy, tmp_path):
    notebook = write_notebook(tmp_path / "n.ipynb", "import toy.sub.low")
    before = parts(notebook, {}, [toy], [])
    (toy / "sub/fast.c").write_text("int f;\n")
    assert changed(before, parts(notebook, {}, [toy], [])) == ["module toy.sub/fast.c"]


def test_nothing_changed_says_nothing():
    assert explain({"code": "1"}, {"code": "1"}) == ""


def test_parts_survive_json(toy, tmp_path):
    notebook = write_notebook(tmp_path / "n.ipynb", "import toy.top")
    found = parts(notebook, {"path": Path("build"), "n": 3}, [toy], ["numpy"])
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("package", LIBRARIES)
def test_c_libraries_stand_beside_the_package(package):
    assert "(" in version(package)
