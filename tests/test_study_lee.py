"""The pages of Lee et al.: cases, tables, sentences and figures from made-up records."""

from functools import partial

import matplotlib.pyplot as plt
import pytest

from data_gen import arrays
from hyperslab.measure.records import frame_of
from hyperslab.study.lee import (
    chunk_size,
    chunk_size_figures,
    chunk_size_words,
)
from hyperslab.study.show import lost_text
from hyperslab.study.style import styled


def chunk_rows(length=3162):
    for side in chunk_size.sides(length):
        for block in range(4):
            for phase, seconds in (("write", 1.0 / side), ("sync", 0.01)):
                yield {
                    "run_id": "run-1", "case": f"{side}x{side}", "block": block, "phase": phase,
                    "wall_s": seconds, "useful_bytes": 4 * length**2, "status": "ok",
                    "file_bytes": 5 * length**2, "predicted_bytes": 5 * length**2,
                }  # fmt: skip


@pytest.mark.parametrize("length", [3162, 512])
def test_the_page_on_chunk_sizes(length):
    frame = frame_of(chunk_rows(length))
    rated = chunk_size.rates(frame)
    sized = frame[frame["phase"] == "write"].drop_duplicates("case")
    assert rated["rate"].is_monotonic_increasing
    assert "to the byte" in chunk_size_words.summary(rated, sized, length)
    with styled("light"):
        for draw in (
            partial(chunk_size_figures.figure_10, rated, length),
            partial(chunk_size_figures.figure_11, rated, sized, length),
            partial(chunk_size_figures.figure_12, length),
        ):
            figure = draw()
            figure.canvas.draw()
            assert all(axes.get_xlabel() for axes in figure.axes)
            plt.close(figure)


def test_a_wrong_prediction_is_said():
    frame = frame_of(chunk_rows())
    frame.loc[3, "predicted_bytes"] *= 1.01
    text = chunk_size_words.summary(chunk_size.rates(frame), frame, 3162)
    assert "within 1.000 %" in text


def test_files_of_every_n_and_how_many_are_predicted_exactly():
    frame = frame_of(chunk_rows()).drop_duplicates("case").assign(stages=2.0)
    assert f"of these {len(frame)} files all to the byte" in chunk_size_words.caption_ceil(frame)
    frame.loc[frame.index[0], "predicted_bytes"] += 1812
    said = chunk_size_words.caption_ceil(frame)
    assert f"{len(frame) - 1} to the byte and the others to 1,812 bytes (0.00" in said


def test_real_files_are_predicted(tmp_path):
    values = partial(arrays.values, (200, 200))
    rows = list(chunk_size.divided(200, values, tmp_path, 25))
    assert {row["case"] for row in rows} >= {"ceil/2", "floor/7", "ceil/8"}
    assert all(row["file_bytes"] == row["predicted_bytes"] for row in rows)
    assert not list(tmp_path.iterdir())


def test_what_was_lost_is_named_once():
    rows = [
        {"experiment": "e", "cache_state": "cold", "case": case, "status": status}
        for case, status in (("a", "no way"), ("b", "no way"), ("b", "no way"), ("c", "ok"))
    ]
    assert "- e cold: a, b: no way\n" in lost_text(frame_of(rows))
    assert lost_text(frame_of(rows[3:])) == ""
