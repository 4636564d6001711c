"""What a benchmark found, in numbers, words, a picture and files: it follows the records."""

import errno
import json
import os
import threading
from pathlib import Path

import matplotlib.pyplot as plt
import netCDF4
import numpy as np
import pytest
from made_bench import bench_frame

from hyperslab.measure import records
from hyperslab.tune.report import compare
from hyperslab.tune.report import text as report_text
from hyperslab.tune.report.compare import difference
from hyperslab.tune.report.files import as_json, write
from hyperslab.tune.report.plot import figure
from hyperslab.tune.report.summary import (
    best,
    lost,
    overall,
    summary,
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


def of(frame, label):
    return next(one for one in best(frame) if one.quantity.label == label)


def test_the_best_is_the_quickest_and_the_gain_is_over_the_files_own():
    found = of(bench_frame(spread=0.0), "map, cold")
    assert (found.target, found.baseline, found.alike) == ("1x72x144", "copy", ())
    assert found.gain.value == pytest.approx(4)


def test_what_cannot_be_told_apart_is_marked():
    found = of(bench_frame(times={"copy": 2.0, "a": 1.0, "b": 1.001}), "map, warm")
    assert (found.target, found.alike) == ("a", ("b",))


def test_none_is_the_best_when_all_are_alike():
    times = {"copy": 1.001, "a": 1.0, "b": 1.002}
    assert not of(bench_frame(times=times, spread=0.02), "write").ahead
    assert of(bench_frame(times=times | {"b": 3.0}, spread=0.02), "write").ahead
    assert of(bench_frame(times={"copy": 1.0}), "write").ahead
    found = json.loads(as_json(bench_frame(times=times, spread=0.02)))
    assert found["best"]["write"] is None


def test_over_all_patterns():
    name, gain, chosen = overall(bench_frame(spread=0.0))
    assert name == "1x72x144"
    assert gain.value == pytest.approx(4)
    assert [one.label for one in chosen] == ["time_series, cold", "map, cold", "whole, cold"]


def sentences(times, **options):
    return report_text.sentences(bench_frame(times=times, **options)).splitlines()


def test_the_best_of_each_column_is_marked():
    lines = report_text.patterns(bench_frame()).splitlines()
    assert lines[-1].startswith("1x72x144")
    assert lines[-1].count("*") == 6
    assert not any("*" in line for line in lines[:-1])
    assert report_text.copies(bench_frame()).splitlines()[3].count("*") == 1  # the smallest file


def test_the_sentences_say_by_how_much():
    first, *others = sentences(None, spread=0.0)
    assert "1x72x144 is 4 × faster than the file as it is, at 3.00 of its size" in first
    assert [line.partition(":")[0] for line in others] == [
        "time_series, cold", "map, cold", "whole, cold", "write",
    ]  # fmt: skip


def test_what_cannot_be_told_apart_is_not_called_faster():
    frame = bench_frame(times={"copy": 1.01, "a": 1.0}, spread=0.02)
    lines = report_text.sentences(frame).splitlines()
    assert "a is neither faster nor slower" in lines[0]
    assert lines[1] == "time_series, cold: nothing is told apart from the quickest."
    assert not set("*=") & set(report_text.patterns(frame))


def test_noise_is_said_of_what_a_table_shows():
    frame = bench_frame(patterns=())
    assert report_text.warnings(frame) == ""
    source = frame["phase"].isin(["meta_read", "data_read"])
    frame.loc[source, "cache_state"] = "cold"
    frame.loc[source & (frame["aa"] == "B"), "wall_s"] *= 2
    assert report_text.warnings(frame) == ""
    frame.loc[frame["aa"] == "B", "wall_s"] *= 2
    said = report_text.warnings(frame)
    assert "noisy run (void)" in said
    assert "in writing" in said
    assert "cold" not in said


def test_what_failed_is_said_and_the_rest_reported():
    frame = bench_frame()
    frame.loc[frame["case"] == "default chunks", "status"] = "OSError: no space left"
    text = report_text.text(frame, counts=True)
    assert "not measured: default chunks: OSError: no space left" in text
    assert "1x72x144 is" in text
    frame["status"] = "OSError: no space left"
    assert "not measured: copy" in report_text.text(frame)


def test_wrong_values_are_shouted():
    frame = bench_frame()
    frame.loc[frame["case"] == "copy", "status"] = "WrongValuesError: sst is wrong in [0:3]"
    text = report_text.text(frame)
    assert "WRONG VALUES: copy: sst is wrong in [0:3]" in text
    assert "not measured" not in text


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_report_fits_its_terminal(width):
    frame = bench_frame(times={"copy": 4.0, "balanced chunks, zstd 3": 2.0, "1x72x144": 1.0})
    whole, text = report_text.text(frame), report_text.text(frame, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert set(text.split()) >= set(whole.split()) - {"copy"}


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


NAMES = {"csv": "a.csv", "json": "a.json", "parquet": "a.parquet", "plot": "a.svg"}


def test_they_are_written_over_what_was_there(tmp_path):
    given = {option: str(tmp_path / name) for option, name in NAMES.items()}
    for name in given.values():
        Path(name).write_text("old")
    (tmp_path / "link.csv").symlink_to("a.csv")
    write(bench_frame(), {**given, "csv": str(tmp_path / "link.csv")})
    assert (tmp_path / "a.csv").read_text().startswith("target,input format")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "a.json").read_text().startswith("{")
    assert len(records.load(tmp_path / "a.parquet")) == len(bench_frame())
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")
    assert {path.name for path in tmp_path.iterdir()} == {*NAMES.values(), "link.csv"}


@pytest.mark.parametrize("option", NAMES)
def test_a_full_disk_is_named_and_leaves_what_was_there(tmp_path, monkeypatch, option):
    def full(path, data):
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / NAMES[option]
    path.write_text("old")
    monkeypatch.setattr(Path, "write_bytes", full)
    said = rf"--{option} .*{path.name} cannot be written: No space left on device: make room"
    with pytest.raises(OSError, match=said):
        write(bench_frame(), {option: str(path)})
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [(path.name, "old")]


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write, args=(bench_frame(), {"csv": str(pipe)}))
    writer.start()
    assert pipe.read_text().startswith("target,")
    writer.join()
    assert pipe.is_fifo()


def test_the_first_difference_is_named_wherever_it_is(monkeypatch):
    monkeypatch.setattr(compare, "_AT_ONCE", 5)  # in the third piece of several
    values = np.arange(24, dtype="i4").reshape(4, 6)
    found = values.copy()
    found[2, 1] = found[3, 3] = -1
    assert difference(found, values) == "2 of 24 values differ, first at [2, 1]: 13 became -1"
    assert difference(values, values) == ""
    assert difference(values[:2], values) == "(4, 6) values became (2, 6)"
    assert difference(values.astype("i8"), values) == "int32 became int64"


@pytest.mark.parametrize(
    ("quantize", "near", "far"),
    [(("bitround", 7), 1.001, 1.02), (("granular_bitround", 3), 1.004, 1.02),
     (("bitgroom", 3), 1.004, 1.02)],
)  # fmt: skip
def test_rounded_values_may_differ_by_what_rounding_allows(quantize, near, far):
    truth = np.array([1.0, -1.0, 0.0, np.nan, np.inf])
    rounded = np.array([near, -near, 0.0, np.nan, np.inf])
    assert difference(rounded, truth, quantize=quantize) == ""
    assert difference(rounded, truth) != ""
    assert "1 of 5" in difference(np.where(truth == 1, far, rounded), truth, quantize=quantize)


def rounded_by_the_library(path, truth, mode, digits, fill_value=None):
    """Values as netCDF-C rounds and stores them."""
    with netCDF4.Dataset(path, "w") as nc:
        nc.createDimension("x", len(truth))
        made = nc.createVariable(
            "a", truth.dtype, ("x",), zlib=True, quantize_mode=mode, significant_digits=digits,
            fill_value=fill_value,
        )  # fmt: skip
        made.set_auto_maskandscale(False)
        made[:] = truth
    with netCDF4.Dataset(path) as nc:
        nc["a"].set_auto_maskandscale(False)
        return nc["a"][:]


MODES = {"bitgroom": "BitGroom", "bitround": "BitRound", "granular_bitround": "GranularBitRound"}
FILL = 9.969209968386869e36  # of netCDF-C, where a variable names none


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    ("mode", "special"),
    [
        ("bitgroom", [np.nan]),
        ("bitround", [np.nan, np.inf, -np.inf]),
        ("granular_bitround", []),
    ],
)
def test_what_the_library_rounds_is_as_rounded(tmp_path, dtype, mode, special):
    truth = np.array([FILL, -0.0, 0.0, 1.2345678, -9e30, 1e-39, 1e-310, *special] * 2, dtype)
    found = rounded_by_the_library(tmp_path / "a.nc", truth, MODES[mode], 3)
    assert difference(found, truth, quantize=(mode, 3)) == ""
    assert difference(found, truth) != ""
    assert found[0] == truth[0]  # the fill value is kept as it is


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("fill_value", [None, np.nan])
@pytest.mark.parametrize(
    ("mode", "value", "became"),
    [
        ("bitgroom", np.inf, "inf became nan"),
        ("granular_bitround", np.nan, "nan became -0.0"),
        ("granular_bitround", -np.inf, "-inf became 0.0"),
    ],
)
def test_what_the_library_makes_another_thing_is_wrong(
    tmp_path, dtype, fill_value, mode, value, became
):
    truth = np.array([value, 1.0], dtype)
    if mode == "bitgroom":
        truth = truth[[1, 0]]  # every other value is padded with ones
    found = rounded_by_the_library(tmp_path / "a.nc", truth, MODES[mode], 3, fill_value)
    said = difference(found, truth, quantize=(mode, 3), fill_value=fill_value)
    assert f"1 of 2 values differ, first at [{int(mode == 'bitgroom')}]: {became}, because" in said
    assert said.endswith(f"netCDF-C's {mode} does not keep {value}: take bitround, which does")


def test_values_that_the_library_spoils_are_wrong(tmp_path):
    """Seven digits are more than BitGroom can keep of 32 bits; rounding up may end at infinity."""
    truth = np.array([1.2345678, 1.2345678], "f4")
    found = rounded_by_the_library(tmp_path / "a.nc", truth, "BitGroom", 7)
    assert "2 of 2" in difference(found, truth, quantize=("bitgroom", 7))
    most = np.finfo("f4").max
    found = rounded_by_the_library(tmp_path / "b.nc", np.array([most]), "BitRound", 3)
    assert "became inf" in difference(found, np.array([most]), quantize=("bitround", 3))
