"""Size is a feature: no part has more lines of code than pyproject.toml allows it."""

import ast
import json
import re
import tomllib
from functools import cache

import pytest
from test_repository import ROOT, tracked

BUDGET = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hyperslab"]["lines-of-code"]
BEGIN = {".py": "#", ".c": "//", ".h": "//", ".js": "//", ".html": "<!--"}  # a comment
SLACK = 0.02  # or 100 lines: what is saved is taken from the budget


def lines_of_code(text, suffix):
    """Count the lines that are neither blank, comment nor docstring."""
    if suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        return sum(lines_of_code(cell, ".py") for cell in code)
    lines = text.splitlines()
    if suffix in (".c", ".h", ".js"):
        lines = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).splitlines()
    documented = set()
    for node in ast.walk(ast.parse(text)) if suffix == ".py" else ():
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                documented.update(range(first.lineno, first.end_lineno + 1))
    return sum(
        bool(line.strip()) and not line.strip().startswith(BEGIN[suffix]) and n not in documented
        for n, line in enumerate(lines, 1)
    )


def counted():
    for path in tracked():
        place = path.relative_to(ROOT)
        if path.suffix in (*BEGIN, ".ipynb") and place.parts[0] not in ("tests", "results"):
            yield place, lines_of_code(path.read_text(encoding="utf-8"), path.suffix)


@cache
def parts():
    """Sum the lines by what the budget names: a folder, or a package of hyperslab."""
    sums = dict.fromkeys(BUDGET, 0)
    for place, lines in counted():
        folders = [parent.as_posix() for parent in (place, *place.parents)]
        part = next((folder for folder in folders if folder in sums), None)
        assert part, f"{place} is in no part of [tool.hyperslab.lines-of-code] in pyproject.toml"
        sums[part] += lines
    return sums


@pytest.mark.parametrize("part", BUDGET)
def test_no_part_is_larger_than_its_budget(part):
    lines = parts()[part]
    assert lines <= BUDGET[part], f"{part} has {lines} lines of code: delete, or raise the budget"
    spare = max(100, SLACK * BUDGET[part])
    assert BUDGET[part] - lines <= spare, f"{part} has {lines}: lower its budget to that"
