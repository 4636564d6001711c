"""The page that says where each figure and table of the five documents is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "book/figures.md").read_text(encoding="utf-8")
SHOWN = sorted(set(re.findall(r"\{shown\}`(\w+)/((?:fig|tab)-[\w-]+)`", PAGE)))
HAS = {"Lee": (13, 8), "Jones": (8, 1), "Penard": (10, 3), "Chilan": (6, 0)}
"""How many figures and tables each document has."""


def test_what_it_names_is_shown_there():
    assert PAGE.count("{shown}`") >= len(SHOWN) > 25
    for notebook, label in SHOWN:
        source = (ROOT / f"notebooks/{notebook}.ipynb").read_text(encoding="utf-8")
        assert f'\\"{label[4:]}\\"' in source, (notebook, label)


def test_no_fence_has_a_backtick_in_its_first_line():
    """With one, all that follows it becomes code."""
    for page in (ROOT / "book").rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"^```.*`.*$", text, flags=re.MULTILINE), page.name


@pytest.mark.parametrize("name", HAS)
def test_it_has_each_figure_and_table_once(name):
    (part,) = [each for each in PAGE.split("\n## ") if each.startswith(name)]
    rows = re.findall(r"^\| ((?:Figure|Table) \d+) \|", part, flags=re.MULTILINE)
    figures, tables = HAS[name]
    wanted = [f"Figure {n + 1}" for n in range(figures)]
    assert rows == [*wanted, *(f"Table {n + 1}" for n in range(tables))]
