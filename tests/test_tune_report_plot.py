"""A benchmark draws, whatever was measured."""

import matplotlib.pyplot as plt
import pytest
from made_bench import bench_frame

from hyperslab.tune.report.plot import figure, picture


@pytest.mark.parametrize("patterns", [(), ("map",), ("time_series", "map", "whole")])
def test_there_is_a_panel_for_each_time(patterns):
    drawn = figure(bench_frame(patterns=patterns), "sst.nc")
    drawn.canvas.draw()
    assert [axes.get_title(loc="left") for axes in drawn.axes] == [
        "file", "write", "re-read", *patterns,
    ]  # fmt: skip
    assert all(axes.get_xlabel() for axes in drawn.axes)
    plt.close(drawn)


def test_a_layout_that_failed_leaves_its_row_empty():
    frame = bench_frame()
    frame.loc[frame["case"] == "copy", "status"] = "OSError: no space left"
    drawn = figure(frame)
    drawn.canvas.draw()
    plt.close(drawn)


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_it_is_drawn(ending):
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[ending]
    made = picture(bench_frame(), ending)
    assert made.startswith(start)
    assert len(made) > 1000
    assert not plt.get_fignums()
