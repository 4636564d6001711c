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
from itertools import chain
from pathlib import Path

from ..measure import machine, processes, records
from ..network import Endpoint

_PARSING = threading.Lock()
"""Python 3.11 miscounts how deep it is when two threads make syntax trees at once."""
# Modules whose code decides what is measured, by their place.
_MEASURING = (
    "data_gen", "analysis.cost", "experiments", "io", "kernels", "measure", "network", "parallel",
    "subchunk", "tune",
)  # fmt: skip
OURS = ("hyperslab", "data_gen")
_ROOT = Path(__file__).parents[2]
_MOST = 4  # differences that are named


def measures(module: str) -> bool:
    """Return whether a module decides what is measured; the others draw."""
    name = f"{module.removeprefix('hyperslab.')}."
    return module.startswith(OURS) and name.startswith(tuple(f"{prefix}." for prefix in _MEASURING))


def experiment(
    notebook: Path, settings: Mapping[str, object], **parameters: object
) -> dict[str, str]:
    """Return what is measured: the notebook's cells that measure, its settings and parameters."""
    text = notebook.read_text(encoding="utf-8")
    cells = [
        "".join(cell["source"])
        for cell in json.loads(text)["cells"]
        if "measure" in cell["metadata"].get("tags", [])
    ]
    facts = {"its measuring cells": hashed(_plain("\n".join(cells)))}
    for name, value in {**settings, **parameters}.items():
        facts[name] = json.dumps(value, sort_keys=True)
    # Places that are given by a variable and that no page tells.
    for name in sorted(set(re.findall(r"HYPERSLAB_\w+_URL", text)) & set(os.environ)):
        with suppress(ValueError):  # the notebook says what is wrong with it
            facts[name] = Endpoint.of(os.environ[name]).mark
    return facts


def loaded() -> dict[str, str]:
    """Return what measured in this process and in its samples: modules and packages, as now."""
    names = {name for name in {*sys.modules, *processes.LOADED} if measures(name)}
    unused = {name for name in machine.PACKAGES if name not in {*sys.modules, *processes.LOADED}}
    return now([*names, *(machine.versions().keys() - unused - set(OURS))])


def now(names: Iterable[str]) -> dict[str, str]:
    """Return a hash of each module of ours as it is, and the version of each package."""
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


@functools.cache
def code(*, whole: bool = False) -> str:
    """Return a hash of all that measures, or of the `whole` code: what draws a page, too."""
    total = hashlib.sha256()
    for path in _files("*.py", "*.[ch]"):
        if whole or _measuring(path):
            total.update(path.read_bytes())
    return total.hexdigest()[:16]


def prepare() -> None:
    """Work out what `loaded` asks for, of all that measures, for processes forked from this one."""
    for path in filter(_measuring, _files("*.py")):
        _code_of(*_texts(path))


def _files(*kinds: str) -> list[Path]:
    return [p for name in OURS for p in sorted(chain(*map((_ROOT / name).rglob, kinds)))]


def _measuring(path: Path) -> bool:
    return measures(".".join(path.relative_to(_ROOT).with_suffix("").parts))


def difference(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Say in what two of these differ; empty if in nothing."""
    names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
    changes = [
        f"{name} changed"
        if name.startswith((*OURS, "its "))
        else f"{name} was {old.get(name, 'nothing')} and is {new.get(name, 'nothing')}"
        for name in names
    ]
    more = [f"and {len(changes) - _MOST} more"] if len(changes) > _MOST else []
    return "; ".join(changes[:_MOST] + more)


@functools.cache
def _module(name: str) -> str:
    """Return a hash of a module's code, without comments and docstrings, and of the C beside it."""
    spec = None
    with suppress(ModuleNotFoundError):  # of its package
        spec = importlib.util.find_spec(name)
    if spec is None or not spec.origin:
        return "nothing"
    return _code_of(*_texts(Path(spec.origin)))


def _texts(path: Path) -> list[str]:
    beside = sorted(path.parent.glob("*.[ch]")) if path.name == "__init__.py" else []
    return [each.read_text("utf-8") for each in (path, *beside)]


@functools.cache
def _code_of(source: str, *beside: str) -> str:
    return hashed("\n".join([_plain(source), *beside]))


def _plain(source: str) -> str:
    """Return code without comments, docstrings and layout."""
    lines = ("" if line.startswith(("%", "!")) else line for line in source.splitlines())
    with _PARSING:
        tree = ast.parse("\n".join(lines))
    return ast.dump(_WithoutTexts().visit(tree))


class _WithoutTexts(ast.NodeTransformer):
    """Takes out statements that are a text alone, such as a docstring."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else node


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
