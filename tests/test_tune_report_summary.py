"""The numbers of a benchmark: bm_file's columns under its names, ours beside them."""

import numpy as np
import pandas as pd
import pytest
from made_bench import TIMES, bench_frame

from hyperslab.tune.report.summary import (
    Quantity,
    lost,
    quantities,
    summary,
    targets,
    times,
    unverified,
)


def test_rates_are_bytes_of_the_data_over_the_time_of_the_data():
    rows = summary(bench_frame()).set_index("target")
    assert rows.loc["1x72x144", "data read time"] == pytest.approx(1e6)
    assert rows.loc["1x72x144", "write rate"] == pytest.approx(4.147, abs=1e-3)
    # the first row of the document's table: 100,000 shorts read in 409 µs
    assert round(200_000 / 409, 3) == 488.998


def test_sizes_formats_and_choices():
    row = summary(bench_frame()).iloc[1]
    assert (row["input format"], row["output_format"], row["input size"]) == (3, 3, 3_000_000)
    assert (row["output size"], row["deflate"], row["shuffle"]) == (2_000_000, 4, 1)
    assert [row[f"chunksize[{axis}]"] for axis in range(4)] == [1, 72, 144, 0]
    assert row["ratio"] == pytest.approx(4147200 / 2e6)
    assert (row["repeats"], row["verified"], row["status"]) == (7, True, "ok")


@pytest.mark.parametrize(("order", "number"), [("native", 0), ("little", 1), ("big", 2), ("", 0)])
def test_endianness_is_bm_files_number(order, number):
    frame = bench_frame()
    frame["byteorder"] = order
    assert summary(frame)["enddianness"].unique() == [number]


def test_times_are_summed_by_block():
    seconds = times(bench_frame(spread=0.0))
    assert (seconds["copy", Quantity("write")] == 4 * TIMES["copy"]).all()
    assert len(seconds["copy", Quantity("map", "cold")]) == 7


def test_what_was_timed():
    known = quantities(bench_frame(patterns=("whole",)))
    assert [quantity.label for quantity in known] == [
        "write", "re-read", "open", "whole, cold", "whole, warm",
    ]  # fmt: skip
    assert targets(bench_frame()) == list(TIMES)


def test_a_layout_that_failed_is_kept_with_its_reason():
    frame = bench_frame()
    frame.loc[frame["case"] == "copy", "status"] = "OSError: no space"
    assert lost(frame) == {"copy": "OSError: no space"}
    row = summary(frame).iloc[0]
    assert (row["repeats"], row["status"]) == (0, "OSError: no space")
    assert np.isnan(row["data read time"])


def test_wrong_values_are_told():
    frame = bench_frame()
    assert unverified(frame) == {}
    frame.loc[3, "status"] = "WrongValuesError: sst of the copy is wrong"
    assert unverified(frame) == {"copy": "sst of the copy is wrong"}
    assert lost(frame) == {}  # other samples count


def test_the_byte_order_of_a_classic_file_is_the_formats_own():
    frame = bench_frame()
    frame["byteorder"], frame["format"] = "big", "netcdf3"
    assert summary(frame)["enddianness"].unique() == [0]


def test_an_unknown_input_is_empty():
    frame = bench_frame()
    frame = frame[frame["phase"] != "stat"]
    row = summary(frame).iloc[0]
    assert row["input format"] == ""
    assert pd.isna(row["input size"])
