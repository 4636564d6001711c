"""The pages of Lee et al.: cases, tables, sentences and figures from made-up records."""

import sys
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest

from data_gen import arrays
from hyperslab.measure.records import frame_of
from hyperslab.study.lee import (
    access,
    access_figures,
    access_words,
    chunk_size,
    chunk_size_figures,
    chunk_size_words,
)
from hyperslab.study.show import lost_text
from hyperslab.study.style import STYLES, styled

TIMES = {"netcdf3": 8.0, "netcdf4-contiguous": 4.0, "4096x1": 2.0, "8192x1": 1.0, "16384x1": 0.5}


def column_rows(states=("cold", "warm"), counted=True, scale=1.0):
    for state in states:
        for case, seconds in TIMES.items():
            for block in range(5):
                for phase in ("open", "read", "close"):
                    yield {
                        "run_id": "run-1", "experiment": "column-read", "case": case,
                        "cache_state": state, "block": block, "phase": phase, "status": "ok",
                        "wall_s": scale * seconds if phase == "read" else 0.1,
                        "useful_bytes": 65536,
                        "rchar": 1e6 * seconds if counted else float("nan"),
                        "read_bytes": 2e6 * seconds if counted else float("nan"),
                        "syscr": 10 * seconds if counted else float("nan"),
                    }  # fmt: skip


def chunk_rows(length=3162):
    for side in chunk_size.sides(length):
        for block in range(4):
            for phase, seconds in (("write", 1.0 / side), ("sync", 0.01)):
                yield {
                    "run_id": "run-1", "case": f"{side}x{side}", "block": block, "phase": phase,
                    "wall_s": seconds, "useful_bytes": 4 * length**2, "status": "ok",
                    "file_bytes": 5 * length**2, "predicted_bytes": 5 * length**2,
                }  # fmt: skip


def test_ratios_are_those_of_the_records():
    timed = access.times(frame_of(column_rows()), ("read",))
    cold = timed[timed["cache_state"] == "cold"].set_index("case")
    assert cold.loc["16384x1", "gain"].value == pytest.approx(16)
    assert cold.loc["4096x1", "ms"] == pytest.approx(2000)
    assert cold.loc["4096x1", "mean8"] == pytest.approx(2000)


@pytest.mark.parametrize(("scale", "said"), [(1.0, "16 × faster"), (-1.0, "slower")])
def test_the_direction_of_a_sentence_follows_the_records(scale, said):
    rows = list(column_rows())
    if scale < 0:
        for row in rows:
            row["wall_s"] = 1 / row["wall_s"]
    frame = frame_of(rows)
    timed, counted = access.times(frame, ("read",)), access.counts(frame)
    assert said in access_words.summary(timed, counted)
    assert said in access_words.advice(timed)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("states", "counted"), [(("cold", "warm"), True), (("warm",), False)])
def test_the_page_on_columns_draws_whatever_was_measured(style, states, counted):
    frame = frame_of(column_rows(states, counted))
    timed, table = access.times(frame, ("read",)), access.counts(frame)
    with styled(style):
        for draw in (
            partial(access_figures.figure_7, timed),
            partial(access_figures.figure_counts, table),
            partial(access_figures.figure_8, 16384, 512),
        ):
            figure = draw()
            figure.canvas.draw()
            plt.close(figure)
    assert len(access_words.table(timed, table)) == 5
    assert access_words.summary(timed, table)
    assert ("MiB" in access_words.opening(frame)) == counted


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


def test_column_files_hold_the_array(tmp_path):
    values = partial(arrays.values, (64, 128))
    access.make_files(64, values, tmp_path)
    cases = access.read_cases(64, 128, values, {"warm": tmp_path})
    assert [case.name for case in cases] == list(TIMES)
    for case in cases:
        assert case.check(np.arange(64, dtype="i4") * 128 + 100)
        assert not case.check(np.arange(64, dtype="i4") * 128 + 101)


def test_what_was_lost_is_named_once():
    rows = [
        {"experiment": "e", "cache_state": "cold", "case": case, "status": status}
        for case, status in (("a", "no way"), ("b", "no way"), ("b", "no way"), ("c", "ok"))
    ]
    assert "- e cold: a, b: no way\n" in lost_text(frame_of(rows))
    assert lost_text(frame_of(rows[3:])) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="drawn from Linux counters")
def test_opening_is_the_median_of_all_layouts():
    assert access.opening_bytes(frame_of(column_rows())) == 2e6
