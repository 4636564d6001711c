"""Executed notebooks as pages of the book."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

MYST = "text/x-myst"
_KEPT_METADATA = ("kernelspec", "language_info", "mystnb")


def clean(notebook: dict[str, Any], scrub: Callable[[str], str]) -> dict[str, Any]:
    """Return an executed notebook as the book shows it: as MyST, answers first, nothing private."""

    def shown(output: dict[str, Any]) -> dict[str, Any]:
        data = output.get("data", {})
        if MYST in data:
            return {**output, "data": {"text/markdown": data[MYST]}, "metadata": {}}
        return output

    cells = []
    for cell in notebook["cells"]:
        tags = list(cell["metadata"].get("tags", []))
        mystnb = dict(cell["metadata"].get("mystnb", {}))
        if "injected-parameters" in tags:
            tags = sorted({*tags, "hide-input"})
            mystnb |= {"code_prompt_show": "Parameters of this run", "code_prompt_hide": "Fold"}
        page_cell = {k: v for k, v in cell.items() if k != "metadata"}
        page_cell["metadata"] = {"tags": tags} if tags else {}
        if mystnb:
            page_cell["metadata"]["mystnb"] = mystnb
        if "outputs" in cell:
            page_cell["outputs"] = [
                shown(output) for output in cell["outputs"] if output.get("name") != "stderr"
            ]
        cells.append(page_cell)
    cells = _answer_first(cells)
    metadata = {k: v for k, v in notebook.get("metadata", {}).items() if k in _KEPT_METADATA}
    return scrubbed({**notebook, "cells": cells, "metadata": metadata}, scrub)


def _answer_first(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Move the cells tagged answer behind the first; a heading that this leaves alone goes."""

    def answers(cell: dict[str, Any]) -> bool:
        return "answer" in cell["metadata"].get("tags", [])

    def bare(cell: dict[str, Any], after: dict[str, Any]) -> bool:
        texts = ["".join(each["source"]).strip() for each in (cell, after)]
        return all(text.startswith("## ") for text in texts) and "\n" not in texts[0]

    first, *others = [cell for cell in cells if not answers(cell)]
    following = [*others[1:], first]
    rest = [c for c, after in zip(others, following, strict=False) if not bare(c, after)]
    return [first, *filter(answers, cells), *rest]


def scrubbed(notebook: dict[str, Any], scrub: Callable[[str], str]) -> dict[str, Any]:
    """Return a notebook without private text, and without the places papermill notes."""

    def walk(node: Any) -> Any:
        if isinstance(node, str):
            return scrub(node)
        if isinstance(node, list):
            return [walk(each) for each in node]
        if isinstance(node, dict):
            # Pictures are, or hold, base64: a name inside one is chance.
            return {k: v if k.startswith("image/") else walk(v) for k, v in node.items()}
        return node

    notes = notebook["metadata"].get("papermill", {})
    pathless = {k: v for k, v in notes.items() if k not in ("input_path", "output_path")}
    metadata = notebook["metadata"] | ({"papermill": pathless} if notes else {})
    result: dict[str, Any] = walk({**notebook, "metadata": metadata})
    return result


def placeholder(name: str, template: Path) -> str:
    """Return the page that stands for a notebook that was not run."""
    title, labels = name, []
    if template.is_file():
        cells = json.loads(template.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        labels = re.findall(r"^\(([\w-]+)\)=\s*$", text, re.MULTILINE)
        if heading := re.search(r"^# +(.+)$", text, re.MULTILINE):
            title = heading[1]
    marks = "".join(f"({label})=\n" for label in labels)
    return (
        f"{marks}# {title}\n\n```{{admonition}} No results here\n:class: missing\n"
        f"The notebook `{name}` was not run. `make book` runs what is missing and renders this "
        f"page; `hyperslab run {name}` runs this notebook alone.\n```\n"
    )
