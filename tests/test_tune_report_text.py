"""The report says what the records say, in words that follow them."""

import pytest
from made_bench import bench_frame

from hyperslab.tune.report import text as report_text


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


def test_a_slower_one_is_called_slower():
    first, *others = sentences({"copy": 1.0, "a": 2.0}, spread=0.0)
    assert "a is 2 × slower than the file as it is" in first
    assert "nothing is faster than the file as it is" in others[0]


def test_what_cannot_be_told_apart_is_not_called_faster():
    frame = bench_frame(times={"copy": 1.01, "a": 1.0}, spread=0.02)
    lines = report_text.sentences(frame).splitlines()
    assert "a is neither faster nor slower" in lines[0]
    assert lines[1] == "time_series, cold: nothing is told apart from the quickest."
    assert not set("*=") & set(report_text.patterns(frame))


def test_without_cold_reads_the_warm_ones_speak():
    frame = bench_frame()
    frame = frame[frame["cache_state"] != "cold"]
    assert "time_series, warm: 1x72x144" in report_text.sentences(frame)
    assert "could not be measured" in report_text.patterns(frame)


def test_few_blocks_give_a_range_and_one_gives_none():
    assert "95 % intervals" in report_text.legend(bench_frame())
    assert "95 %" not in report_text.legend(bench_frame(blocks=3))
    once = report_text.copies(bench_frame(blocks=1))
    assert "±" not in once


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


def test_one_layout_alone_is_not_the_best():
    frame = bench_frame(times={"copy": 1.0})
    assert report_text.sentences(frame) == ""
    assert "*" not in report_text.copies(frame) + report_text.patterns(frame)


def test_every_size_of_number_has_a_cell():
    for value in (1e-7, 3e-5, 0.02, 5.0, 9e4):
        frame = bench_frame(times={"copy": value, "a": 2 * value}, blocks=2, patterns=("map",))
        assert "nan" not in report_text.text(frame, counts=True)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_report_fits_its_terminal(width):
    frame = bench_frame(times={"copy": 4.0, "balanced chunks, zstd 3": 2.0, "1x72x144": 1.0})
    whole, text = report_text.text(frame), report_text.text(frame, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert set(text.split()) >= set(whole.split()) - {"copy"}
