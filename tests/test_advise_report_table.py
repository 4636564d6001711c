"""Text for terminals holds what it is given, in the width it is given."""

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.advise.report.table import amount, grid, wrapped
from hyperslab.cli import main

COLUMNS = {"layout": ["copy", "12x5"], "file": ["1 kB", "2 kB"], "map\ncold": ["1 ms", "22 ms"]}


def test_a_wide_table_is_parted_and_each_part_names_its_rows():
    assert "\n\n" not in grid(COLUMNS)
    assert grid(COLUMNS, 200) == grid(COLUMNS)
    first, second = grid(COLUMNS, 14).split("\n\n")
    assert "file" in first
    assert "cold" not in first
    assert second.splitlines()[-1].split() == ["12x5", "22", "ms"]


def test_a_column_wider_than_the_terminal_is_shown_all_the_same():
    assert grid(COLUMNS, 3).count("copy") == 2


@given(st.lists(st.text("ab -/", min_size=1, max_size=30), min_size=1), st.integers(20, 100))
def test_no_word_is_lost(lines, width):
    text = "\n".join(lines)
    assert wrapped(text, 0) == text
    assert wrapped(text, width).split() == text.split() or max(map(len, text.split())) > width


@pytest.mark.parametrize("value", [0.0, 1.0, 999.0, 1e3, 1.5e7, 4.2e9, np.nan])
def test_amounts(value):
    assert amount(value)


def test_names_from_a_file_do_not_steer_the_terminal(tmp_path, capsys):
    path = tmp_path / "odd.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("a\x1b[31mred\n\u202eb", data=np.ones((20, 20)), chunks=(5, 5))
    told = []
    for words in (["advise", "--rough", "--no-measure"], ["index"], ["index", "--info"]):
        assert main([*words, str(path)]) == 0
        told.append("".join(capsys.readouterr()))
    assert main(["bench", "--variables", "none", str(path)]) == 2
    told.append("".join(capsys.readouterr()))
    assert "a [31mred" in told[0] and "a [31mred" in told[2] and "take of a [31mred" in told[3]
    assert {c for text in told for c in text if not c.isprintable()} <= {"\n"}
