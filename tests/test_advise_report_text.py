"""The report says what the records say, in words that follow them."""

import pytest
from made_bench import bench_frame

from hyperslab.advise.report import text as report_text
from hyperslab.measure.stats import Interval


def test_the_best_of_each_column_is_marked():
    lines = report_text.patterns(bench_frame()).splitlines()
    assert lines[-1].startswith("1x72x144")
    assert lines[-1].count("*") == 6
    assert not any("*" in line for line in lines[:-1])
    assert report_text.copies(bench_frame()).splitlines()[3].count("*") == 1  # the smallest file


def test_the_sentences_say_by_how_much():
    text = report_text.sentences(bench_frame(spread=0.0))
    first, *others = text.splitlines()
    assert "1x72x144 is 4.0 [4.0, 4.0] times as fast as the file as it is" in first
    assert "at 3.00 of its size" in first
    assert [line.partition(":")[0] for line in others] == [
        "time_series, cold", "map, cold", "whole, cold", "write",
    ]  # fmt: skip


def test_a_slower_one_is_called_slow():
    first = report_text.sentences(bench_frame(times={"copy": 1.0, "a": 2.0})).splitlines()[0]
    assert "nothing is faster than the file as it is; next, a is 1.96" in first
    assert "times as slow as" in first


def test_the_files_own_as_the_best_says_how_far_the_next_is():
    text = report_text.sentences(bench_frame(times={"copy": 1.0, "a": 2.0, "b": 3.0}, spread=0))
    assert (
        "nothing is faster than the file as it is, which is 2.0 [2.0, 2.0] times as fast as a"
        in text
    )


def test_without_cold_reads_the_warm_ones_speak():
    frame = bench_frame()
    frame = frame[frame["cache_state"] != "cold"]
    assert "time_series, warm: 1x72x144" in report_text.sentences(frame)
    assert "could not be measured" in report_text.patterns(frame)


def test_few_blocks_give_a_range():
    assert "below 6 no 95 % interval" in report_text.legend(bench_frame(blocks=3))
    assert "95 % interval)" in report_text.legend(bench_frame())


def test_a_noisy_run_is_said():
    frame = bench_frame()
    assert report_text.warnings(frame) == ""
    frame.loc[frame["aa"] == "B", "wall_s"] *= 2
    assert "noisy run (void)" in report_text.warnings(frame)


def test_noise_of_what_no_table_shows_is_not_said():
    frame = bench_frame(patterns=())
    source = frame["phase"].isin(["meta_read", "data_read"])
    frame.loc[source, "cache_state"] = "cold"
    frame.loc[source & (frame["aa"] == "B"), "wall_s"] *= 2
    assert report_text.warnings(frame) == ""
    frame.loc[frame["aa"] == "B", "wall_s"] *= 2
    assert "in writing" in report_text.warnings(frame)
    assert "cold" not in report_text.warnings(frame)


def test_what_failed_is_said_and_the_rest_reported():
    frame = bench_frame()
    frame.loc[frame["case"] == "default chunks", "status"] = "OSError: no space left"
    text = report_text.text(frame, counts=True)
    assert "not measured: default chunks: OSError: no space left" in text
    assert "1x72x144 is 4.0" in text
    frame["status"] = "OSError: no space left"
    assert "not measured: copy" in report_text.text(frame)


def test_wrong_values_are_shouted():
    frame = bench_frame()
    frame.loc[frame["case"] == "copy", "status"] = "WrongValuesError: sst is wrong in [0:3]"
    text = report_text.text(frame)
    assert "WRONG VALUES: copy: sst is wrong in [0:3]" in text
    assert "not measured" not in text


def test_what_cannot_be_told_apart_is_not_called_faster():
    frame = bench_frame(times={"copy": 1.01, "a": 1.0}, spread=0.02)
    lines = report_text.sentences(frame).splitlines()
    assert "nothing is told apart from the file as it is; first, a is 1.0" in lines[0]
    assert lines[1] == "time_series, cold: nothing is told apart from the quickest."
    assert "*" not in report_text.patterns(frame)
    assert "=" not in report_text.patterns(frame)


def test_what_was_measured_once_has_no_spread():
    text = report_text.text(bench_frame(blocks=1))
    assert "measured once" in text
    assert "±" not in text
    assert "1x72x144 is 4.0 times as fast as the file as it is" in text


def test_one_layout_alone_is_not_the_best():
    text = report_text.text(bench_frame(times={"copy": 1.0}))
    assert "faster" not in text
    assert "*" not in text.partition("median of")[0]


def test_counts_are_shown():
    text = report_text.counted(bench_frame())
    assert "100.0 kB" in text
    assert "calls" in text


def test_every_size_of_number_has_a_cell():
    for value in (1e-7, 3e-5, 0.02, 5.0, 9e4):
        frame = bench_frame(times={"copy": value, "a": 2 * value}, blocks=2, patterns=("map",))
        assert "nan" not in report_text.text(frame)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_report_fits_its_terminal(width):
    frame = bench_frame(times={"copy": 4.0, "balanced chunks, zstd 3": 2.0, "1x72x144": 1.0})
    whole, text = report_text.text(frame), report_text.text(frame, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert set(text.split()) >= set(whole.split()) - {"copy"}


def test_a_factor_of_thousands():
    shown = report_text.factor(Interval(1500.0, 1400.0, 1600.0, 7))
    assert shown == "1,500 [1,400, 1,600] times as fast as"
