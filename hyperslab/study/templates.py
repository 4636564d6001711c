"""What a notebook of the study may hold: `python -m hyperslab.study.templates FILE…`.

Only the standard library is used, so that the pre-commit hook is quick.
"""

import ast
import io
import json
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

LONGEST_DEF_LINES = 8
LONGEST_MEASURING_DEF_LINES = 12
"""Of a cell that measures: it shows which cases there are."""
LONGEST_CELL_LINES = 30
LOGIC = (ast.For, ast.While, ast.Try, ast.ClassDef, ast.AsyncFunctionDef, ast.Match)


def problems(notebook: Path) -> list[str]:
    """Return what keeps a notebook from being a clean template, empty if nothing does.

    A template holds prose, one cell of typed and commented parameters, calls, and no outputs.

    Parameters
    ----------
    notebook
        An .ipynb file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "empty.ipynb")
    ...     _ = path.write_text('{"cells": [], "metadata": {}, "nbformat": 4}')
    ...     problems(path)
    ['kernel is None, must be python3', '0 cells are tagged parameters, must be 1']
    """
    try:
        document = json.loads(notebook.read_text(encoding="utf-8"))
        cells = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as error:
        return [f"is no notebook: {error!r}"]
    return [
        *_metadata_problems(document["metadata"]),
        *_parameter_problems(cells),
        *(problem for cell in cells for problem in _cell_problems(cell)),
    ]


def _metadata_problems(metadata: dict[str, Any]) -> Iterator[str]:
    kernel = metadata.get("kernelspec", {}).get("name")
    if kernel != "python3":
        yield f"kernel is {kernel}, must be python3"
    if "papermill" in metadata:
        yield "holds papermill's record of a run: it is an executed notebook, commit the template"


def _parameter_problems(cells: Sequence[dict[str, Any]]) -> Iterator[str]:
    tagged = [cell for cell in cells if "parameters" in _tags(cell)]
    if len(tagged) != 1:
        yield f"{len(tagged)} cells are tagged parameters, must be 1"
        return
    if tagged[0] is not cells[0]:
        yield "the first code cell must be the one tagged parameters"
    source = source_of(tagged[0])
    comments = {
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and token.string.strip("# ")
    }
    for statement in ast.parse(source).body:
        line = ast.unparse(statement)
        if not isinstance(statement, ast.AnnAssign):
            yield f"parameter without a type: {line}"
        elif statement.end_lineno not in comments:
            yield f"parameter without a comment on its line: {line}"


def _cell_problems(cell: dict[str, Any]) -> Iterator[str]:
    source = source_of(cell)
    start = next(iter(source.splitlines()), "")
    if cell.get("outputs") or cell.get("execution_count") is not None:
        yield f"holds outputs: clear them (cell {start!r})"
    if not _tags(cell) & {"parameters", "hide-input", "measure"}:
        yield f"code cell without the tag hide-input or measure: {start!r}"
    if source.count("\n") >= LONGEST_CELL_LINES:
        yield f"code cell of more than {LONGEST_CELL_LINES} lines: {start!r}"
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        yield f"code cell is not plain Python ({error.msg}): {start!r}"
        return
    for node in ast.walk(tree):
        if isinstance(node, LOGIC):
            yield f"logic belongs into hyperslab, not here: {ast.unparse(node).splitlines()[0]!r}"
        elif isinstance(node, ast.FunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            measures = "measure" in _tags(cell)
            most = LONGEST_MEASURING_DEF_LINES if measures else LONGEST_DEF_LINES
            if lines > most:
                yield f"def of {lines} lines, at most {most}: {node.name}"


def source_of(cell: dict[str, Any]) -> str:
    """Return a cell's text, which a notebook may store in one string or in lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _tags(cell: dict[str, Any]) -> set[str]:
    return set(cell.get("metadata", {}).get("tags", []))


def main(paths: Sequence[str]) -> int:
    """Print the problems of the given notebooks; return 1 if there is any, else 0."""
    found = [(path, problem) for path in paths for problem in problems(Path(path))]
    for path, problem in found:
        print(f"{path}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
