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

from hyperslab.tune.report import differences
from hyperslab.tune.report import text as report_text
from hyperslab.tune.report.differences import difference
from hyperslab.tune.report.plot import figure
from hyperslab.tune.report.report_files import as_json, write
from hyperslab.tune.report.summary import Findings


def test_a_summary_has_bm_files_columns_and_units():
    """The document's first row: 100,000 shorts read in 409 µs are 488.998."""
    frame = bench_frame()
    frame.loc[frame["case"] == "1x72x144", "byteorder"] = "big"
    row = Findings(frame).table.set_index("target").loc["1x72x144"]
    assert row["data read time"] == pytest.approx(1e6)
    assert row["write rate"] == pytest.approx(4.147, abs=1e-3)
    assert (row["input format"], row["output_format"], row["input size"]) == (3, 3, 3_000_000)
    assert (row["output size"], row["deflate"], row["shuffle"]) == (3_000_000, 4, 1)
    assert [row[f"chunksize[{axis}]"] for axis in range(4)] == [1, 72, 144, 0]
    assert (row["enddianness"], Findings(frame).table["enddianness"].iloc[0]) == (2, 0)
    assert row["ratio"] == pytest.approx(4147200 / 3e6)
    assert (row["repeats"], row["verified"], row["status"]) == (7, True, "ok")


def test_what_failed_or_is_wrong_is_told_and_the_rest_reported():
    frame = bench_frame()
    copy = frame["case"] == "copy"
    frame.loc[copy, "status"] = "OSError: no space"
    assert Findings(frame).lost == {"copy": "OSError: no space"}
    row = Findings(frame).table.iloc[0]
    assert (row["repeats"], row["status"]) == (0, "OSError: no space")
    assert np.isnan(row["data read time"])
    text = report_text.text(frame, counts=True)
    assert "not measured: copy: OSError: no space" in text and "1x72x144 is" in text
    figure(frame).canvas.draw()  # its row is empty
    plt.close("all")
    frame.loc[copy, "status"] = "ok"
    frame.loc[3, "status"] = "WrongValuesError: sst of the copy is wrong"
    assert Findings(frame).unverified == {"copy": "sst of the copy is wrong"}
    assert Findings(frame).lost == {}  # other samples count
    assert "WRONG VALUES: copy: sst of the copy is wrong" in report_text.text(frame)
    frame["status"] = "OSError: no space left"
    assert "not measured: copy" in report_text.text(frame)


def test_the_best_is_the_quickest_by_what_can_be_told_apart():
    def of(label, **options):
        every = Findings(bench_frame(**options)).best
        return next(best for best in every if best.quantity.label == label)

    leader = of("map, cold", spread=0.0)
    assert (leader.target, leader.alike) == ("1x72x144", ())
    assert leader.gain.value == pytest.approx(4)
    leader = of("map, warm", times={"copy": 2.0, "a": 1.0, "b": 1.001})
    assert (leader.target, leader.alike) == ("a", ("b",))
    alike = {"times": {"copy": 1.001, "a": 1.0, "b": 1.002}, "spread": 0.02}
    assert not of("write", **alike).ahead
    assert json.loads(as_json(bench_frame(**alike)))["best"]["write"] is None
    assert of("write", times=alike["times"] | {"b": 3.0}, spread=0.02).ahead
    assert of("write", times={"copy": 1.0}).ahead
    findings = Findings(bench_frame(spread=0.0))
    name, gain, chosen = findings.overall
    assert (name, gain.value) == ("1x72x144", pytest.approx(4))
    assert [q.label for q in chosen] == ["time_series, cold", "map, cold", "whole, cold"]
    sentences = report_text.sentences(findings)
    assert "1x72x144 is 4 × faster than the file as it is, at 3.00 of its size" in sentences
    lines = report_text.patterns(findings).splitlines()
    assert [line.count("*") for line in lines[-3:]] == [0, 0, 6]
    findings = Findings(bench_frame(times={"copy": 1.01, "a": 1.0}, spread=0.02))
    assert "a is neither faster nor slower" in report_text.sentences(findings)
    assert not set("*=") & set(report_text.patterns(findings))


def test_noise_is_said_of_what_a_table_shows():
    frame = bench_frame(patterns=())
    source = frame["phase"].isin(["meta_read", "data_read"])
    frame.loc[source, "cache_state"] = "cold"
    frame.loc[source & (frame["aa"] == "B"), "wall_s"] *= 2
    assert report_text.warnings(Findings(frame)) == ""
    frame.loc[frame["aa"] == "B", "wall_s"] *= 2
    warnings = report_text.warnings(Findings(frame))
    assert "noisy run (void)" in warnings and "in writing" in warnings and "cold" not in warnings


def test_files_are_replaced_whole_and_pipes_written_to(tmp_path, monkeypatch):
    names = {"csv": "a.csv", "json": "a.json", "plot": "a.svg"}
    given = {option: str(tmp_path / name) for option, name in names.items()}
    for name in given.values():
        Path(name).write_text("old")
    (tmp_path / "link.csv").symlink_to("a.csv")

    def full(path, data):
        path.touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    frame = bench_frame(blocks=2, patterns=("map",))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match=r"--csv .*a.csv cannot be written: No space left on dev"):
            write(frame, {"csv": given["csv"]})
        assert Path(given["csv"]).read_text() == "old"
    write(frame, {**given, "csv": str(tmp_path / "link.csv")})
    assert (tmp_path / "a.csv").read_text().startswith("target,input format")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "a.json").read_text().startswith("{")
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")
    assert {path.name for path in tmp_path.iterdir()} == {*names.values(), "link.csv"}
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write, args=(frame, {"csv": str(pipe)}))
    writer.start()
    assert pipe.read_text().startswith("target,")
    writer.join()
    assert pipe.is_fifo()


def test_the_first_difference_is_named_wherever_it_is(monkeypatch):
    monkeypatch.setattr(differences, "_AT_ONCE", 5)  # in the third piece of several
    values = np.arange(24, dtype="i4").reshape(4, 6)
    copied = values.copy()
    copied[2, 1] = copied[3, 3] = -1
    assert difference(copied, values) == "2 of 24 values differ, first at [2, 1]: 13 became -1"
    assert difference(values, values) == ""
    assert difference(values[:2], values) == "(4, 6) values became (2, 6)"
    assert difference(values.astype("i8"), values) == "int32 became int64"


FILL = 9.969209968386869e36  # of netCDF-C, where a variable names none
PLAIN = [FILL, -0.0, 0.0, 1.2345678, -9e30, 1e-39, 1e-310]
NAMES = {"bitgroom": "BitGroom", "bitround": "BitRound", "granular_bitround": "GranularBitRound"}
MOST = float(np.finfo("f4").max)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    ("mode", "digits", "values", "fill_value", "expected"),
    [
        ("bitgroom", 3, [*PLAIN, np.nan] * 2, None, ""),
        ("bitround", 3, [*PLAIN, np.nan, np.inf, -np.inf], None, ""),
        ("granular_bitround", 3, PLAIN, None, ""),
        # every other value of bitgroom is padded with ones
        ("bitgroom", 3, [1, np.inf], np.nan, "1 of 2 values differ, first at [1]: inf became nan"),
        ("granular_bitround", 3, [np.nan, 1], np.nan, "first at [0]: nan became -0.0"),
        ("granular_bitround", 3, [-np.inf, 1], None, "first at [0]: -inf became 0.0"),
        # more digits than 32 bits can keep; rounding up may end at infinity
        ("bitgroom", 7, [1.2345678] * 2, None, "2 of 2"),
        ("bitround", 3, [MOST], None, "became inf"),
    ],
)
def test_what_netcdf_c_rounds_is_as_rounded_or_said_to_be_another_thing(
    tmp_path, dtype, mode, digits, values, fill_value, expected
):
    truth = np.array(values, dtype)
    how = {"quantize_mode": NAMES[mode], "significant_digits": digits, "fill_value": fill_value}
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as nc:
        nc.createDimension("x", len(truth))
        variable = nc.createVariable("a", dtype, ("x",), zlib=True, **how)
        variable.set_auto_maskandscale(False)
        variable[:] = truth
    with netCDF4.Dataset(tmp_path / "a.nc") as nc:
        nc["a"].set_auto_maskandscale(False)
        rounded = nc["a"][:]
    message = difference(rounded, truth, quantize=(mode, digits), fill_value=fill_value)
    if not expected:
        assert message == "" != difference(rounded, truth)
        assert rounded[0] == truth[0]  # the fill value is kept as it is
        further = np.where(truth == truth[3], 2, rounded).astype(dtype)
        assert "differ, first at [3]" in difference(further, truth, quantize=(mode, digits))
    elif dtype == "f4" or not np.isfinite(values).all():
        assert expected in message
        assert np.isfinite(values).all() or f"{mode} does not keep" in message
