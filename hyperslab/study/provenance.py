"""What records were measured with, and pages drawn with: what of a page must be made anew."""

import ast
import functools
import hashlib
import importlib.util
import json
import os
import re
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..measure import machine, processes, records
from ..network import Endpoint

_PARSING = threading.Lock()
"""Python 3.11 miscounts how deep it is when two threads make syntax trees at once."""
# Modules whose code decides what is measured, by their place.
_PLACES = (
    "data_gen", "analysis.cost", "experiments", "io", "kernels", "measure", "network", "parallel",
    "subchunk", "tune",
)  # fmt: skip
OURS = ("hyperslab", "data_gen")


def measures(module: str) -> bool:
    """Return whether a module decides what is measured; the others draw.

    Examples
    --------
    >>> measures("hyperslab.measure.cold"), measures("hyperslab.study.show")
    (True, False)
    """
    if not module.startswith(OURS):
        return False
    name = module.removeprefix("hyperslab.")
    return any(name == place or name.startswith(f"{place}.") for place in _PLACES)


def experiment(
    notebook: Path, settings: Mapping[str, object], **parameters: object
) -> dict[str, str]:
    """Return what is measured: the notebook's cells that measure, its settings and parameters."""
    text = notebook.read_text(encoding="utf-8")
    cells = ["".join(c["source"]) for c in json.loads(text)["cells"] if "measure" in _tags(c)]
    found = {"its measuring cells": hashed(_plain("\n".join(cells)))}
    for name, value in {**settings, **parameters}.items():
        found[name] = json.dumps(value, sort_keys=True)
    # Places that are given by a variable and that no page tells.
    for name in sorted(set(re.findall(r"HYPERSLAB_\w+_URL", text)) & set(os.environ)):
        found[name] = _address(os.environ[name])
    return found


def loaded() -> dict[str, str]:
    """Return what measured in this process and in its samples: modules and packages, as now."""
    names = {name for name in {*sys.modules, *processes.LOADED} if measures(name)}
    unused = {name for name in machine.PACKAGES if name not in {*sys.modules, *processes.LOADED}}
    return now([*names, *(machine.versions().keys() - unused - set(OURS))])


def now(names: Iterable[str]) -> dict[str, str]:
    """Return a hash of each module of ours as it is, and the version of each package.

    Examples
    --------
    >>> now(["hyperslab.no_such_module", "no-such-package"])
    {'hyperslab.no_such_module': 'nothing', 'no-such-package': 'nothing'}
    """
    versions = machine.versions()
    return {
        name: _module(name) if name.startswith(OURS) else versions.get(name, "nothing")
        for name in sorted(names)
    }


def differs(path: Path, experiment: Mapping[str, str]) -> str:
    """Say in what records were measured otherwise than they would be now; empty if in nothing."""
    about = records.about(path)
    if "tools" not in about:
        return ""
    tools = about["tools"]
    return difference({**about["experiment"], **tools}, {**experiment, **now(tools)})


def code() -> str:
    """Return a hash of all that measures: an interrupted run goes on only where it is the same."""
    total = hashlib.sha256()
    for folder in (Path(__file__).parents[1], Path(__file__).parents[2] / "data_gen"):
        for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.[ch]")]):
            if measures(".".join(path.relative_to(folder.parent).with_suffix("").parts)):
                total.update(path.read_bytes())
    return total.hexdigest()[:16]


def drawn(notebook: Path, modules: Iterable[str], inputs: Iterable[Path]) -> dict[str, str]:
    """Return what a page is drawn with: its whole notebook, modules, and files."""
    stats = {f"{path.parent.name}/{path.name}": path.stat() for path in inputs}
    files = {name: f"{stat.st_size} {stat.st_mtime_ns}" for name, stat in stats.items()}
    return {"its notebook": hashed(notebook.read_text("utf-8")), **files, **now(modules)}


def difference(old: Mapping[str, str], new: Mapping[str, str], most: int = 4) -> str:
    """Say in what two of these differ; empty if in nothing.

    Examples
    --------
    >>> difference({"seed": "0", "data_gen.x": "1f"}, {"seed": "7", "data_gen.x": "2e"})
    'data_gen.x changed; seed was 0 and is 7'
    """
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    said = [
        f"{name} changed"
        if name.startswith((*OURS, "its "))
        else f"{name} was {old.get(name, 'nothing')} and is {new.get(name, 'nothing')}"
        for name in names
    ]
    return "; ".join(said[:most] + ([f"and {len(said) - most} more"] if len(said) > most else []))


def note_modules(path: Path) -> None:
    """Keep in a file, after each cell of the running notebook, which modules it has loaded."""
    from IPython import get_ipython

    def note(_: object = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        names = sorted(name for name in sys.modules if name.startswith(OURS))
        part = path.with_suffix(".part")
        with suppress(OSError):  # where the disk is full the cell says so
            part.write_text(json.dumps(names))
            part.replace(path)
        part.unlink(missing_ok=True)

    if shell := get_ipython():
        shell.events.register("post_run_cell", note)


@functools.cache
def _module(name: str) -> str:
    """Return a hash of a module's code, without comments and docstrings, and of the C beside it."""
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        spec = None
    if spec is None or not spec.origin:
        return "nothing"
    path = Path(spec.origin)
    beside = sorted(path.parent.glob("*.[ch]")) if path.name == "__init__.py" else []
    return hashed("\n".join([_plain(path.read_text("utf-8")), *(p.read_text() for p in beside)]))


def _plain(source: str) -> str:
    """Return code without comments, docstrings and layout."""
    lines = ("" if line.startswith(("%", "!")) else line for line in source.splitlines())
    with _PARSING:
        tree = ast.parse("\n".join(lines))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _said(part)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _said(part: ast.AST) -> bool:
    return (
        isinstance(part, ast.Expr)
        and isinstance(part.value, ast.Constant)
        and isinstance(part.value.value, str)
    )


def _tags(cell: Mapping[str, Any]) -> list[str]:
    tags: list[str] = cell["metadata"].get("tags", [])
    return tags


def _address(url: str) -> str:
    try:
        return Endpoint.of(url).mark
    except ValueError:  # the notebook says what is wrong with it
        return "none"


def hashed(text: str) -> str:
    """Return a hash that stands for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
