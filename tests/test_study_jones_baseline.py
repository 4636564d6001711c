"""Tests of the page on plain binary: what is measured, and what its sentences make of records."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from hyperslab.measure.case import Stopwatch
from hyperslab.measure.records import frame_of
from hyperslab.study.jones import (
    baseline,
    baseline_figures,
    baseline_why_words,
    baseline_words,
    dd,
    dd_words,
    latencies,
)
from hyperslab.study.jones.files import Files
from hyperslab.study.jones.plan import Cell, size_bytes
from hyperslab.study.style import styled

SIZES = ("512B", "4KiB", "64KiB", "1MiB", "64MiB")
MB = 1e6


def made(rate, **counts):
    """Return records in which a cell's rate, in bytes a second, is what a function gives."""
    rows = []
    readers = (*baseline.FIGURE_3, *baseline.OTHERS)
    for state in ("cold", "warm"):
        for block in range(3):
            for reader in readers:
                for pattern in ("sequential", "strided", "random"):
                    for size in SIZES:
                        nbytes = size_bytes(size)
                        row = {
                            "experiment": "patterns", "case": Cell(reader, pattern, size).name,
                            "cache_state": state, "block": block, "phase": "read", "run_id": "r",
                            "useful_bytes": 10 * nbytes, "stages": 10, "status": "ok",
                            "wall_s": 10 * nbytes / rate(reader, pattern, nbytes, state),
                            "user_s": 0.0, "sys_s": 0.0, "syscr": 10, "rchar": 10 * nbytes,
                            "read_bytes": 10 * nbytes, "minflt": 0,
                        }  # fmt: skip
                        for name, count in counts.items():
                            row[name] = count(reader, pattern, nbytes)
                        rows.append(row)
    return frame_of(rows)


def flat(*_):
    return 1000 * MB


def test_rates_are_of_what_was_read():
    table = baseline.rates(made(flat))
    assert len(table) == 2 * 6 * 3 * len(SIZES)
    assert np.allclose(table["median"], 1000 * MB) and np.allclose(table["mean"], 1000 * MB)
    assert (table["calls"] == 1).all() and (table["fetched"] == 1).all()


def test_ratios_are_over_the_sizes_that_both_have():
    records = made(lambda reader, pattern, *_: {"random": 100 * MB}.get(pattern, 400 * MB))
    found = baseline.ratio(records, "cold", "c-fread/sequential/*", "c-fread/random/*")
    assert found.value == pytest.approx(4)
    assert baseline.ratio(records, "cold", "dd/sequential/*", "c-fread/random/*") is None
    one = records[records["case"] != "c-fread/random/4KiB"]
    assert baseline.ratio(one, "cold", "c-fread/random/4KiB", "c-fread/random/512B") is None
    part = baseline.ratio(one, "cold", "c-fread/sequential/*", "c-fread/random/*")
    assert part.value == pytest.approx(4)


def words(records):
    table = baseline.rates(records)
    ahead = latencies.Shape(8, 0.75, 3e9, 1e8, 0.8, (0.0, 0.0625))
    return "\n".join(
        [
            baseline_words.summary(records, table, ahead),
            baseline_words.method(records, table),
            baseline_why_words.why(table),
            baseline_why_words.large(records, table),
            baseline_words.advice(records),
            baseline_words.ahead(ahead, ahead),
        ]
    )


def test_sentences_turn_with_the_records():
    def slow_python(reader, *_):
        return (300 if reader == "python-read" else 900) * MB

    def quick_python(reader, *_):
        return (900 if reader == "python-read" else 300) * MB

    slow, quick = words(made(slow_python)), words(made(quick_python))
    assert "Python's `read` was 3× slower than C" in slow
    assert "Python's `read` was 3× faster than C" in quick
    assert "`file.readinto(buffer)`, with one" in slow
    assert "`file.read(n)`, without a" in quick
    same = words(made(flat))
    assert "without a" not in same and "with one" not in same


def test_orders_and_sizes_are_only_advised_where_they_gain():
    def quick(reader, pattern, nbytes, state):
        return (100 if pattern == "random" else 400) * MB * (nbytes / 2**12) ** 0.25

    said = words(made(quick))
    assert "in a row 4 KiB were 4× faster [4.00, 4.00] than at random from Python" in said
    assert "are worth sorting" in said and "make them larger" in said
    said = words(made(lambda r, p, n, s: (400 if p == "random" else 100) * MB))
    assert "make them" not in said and "read on" not in said


def test_sorting_is_judged_by_reads_that_skip():
    def same(reader, pattern, *_):
        return (400 if pattern == "sequential" else 100) * MB

    said = words(made(same))
    assert "in a row 4 KiB were 4× faster [4.00, 4.00] than at random" in said
    assert "gain nothing sure from sorting alone" in said and "was the same" in said

    def by_c_alone(reader, pattern, *_):
        return (900 if (reader, pattern) == ("c-fread", "strided") else 100) * MB

    assert "are worth sorting" not in words(made(by_c_alone))


def test_what_the_document_has_no_size_for_is_of_several_reads():
    def one_alone(reader, pattern, nbytes):
        return 1 if nbytes > 2**20 else 10

    shown = baseline_words.stated(baseline.rates(made(flat, stages=one_alone)))
    assert list(shown["at"]) == [
        "strided, 1 MiB", "sequential, 1 MiB", "sequential, 1 MiB",
    ]  # fmt: skip
    alone = baseline_words.stated(baseline.rates(made(flat, stages=lambda *_: 1)))
    assert list(alone["at"])[1] == "sequential, 64 MiB, one read alone"


def test_captions_say_ranges_where_blocks_are_few():
    table = baseline.rates(made(flat))
    assert "ranges over 3 interleaved blocks" in baseline_words.caption_others(table)
    mixed = table.assign(n=np.where(table["size"] == "1MiB", 11, 5))
    caption = baseline_words.caption_others(mixed)
    assert "95 % intervals over 11" in caption and "ranges where there were fewer" in caption


def test_what_is_skipped_is_read_or_not():
    plain = words(made(flat))
    assert "what is skipped is not read" in plain
    whole = words(made(flat, read_bytes=lambda r, p, n: 40 * n))
    assert "With buffers of 512 B to 64 MiB it is 4" in whole
    assert "what is skipped is not read" not in whole
    assert "the system reads ahead over what is skipped" in whole
    assert "past a sample's last read" not in whole
    beyond = words(made(flat, read_bytes=lambda r, p, n: 60 * n))
    assert "What is above 4 the system read ahead past a sample's last read" in beyond
    by_library = words(made(flat, read_bytes=lambda r, p, n: 40 * n, rchar=lambda r, p, n: 40 * n))
    assert "own buffer holds a step" in by_library and "reads ahead over" not in by_library


def test_two_calls_are_told_where_they_are_counted():
    twice = words(
        made(
            flat,
            syscr=lambda r, p, n: 20 if r == "c-fread" else 10,
            read_bytes=lambda r, p, n: n * (50 if r == "c-fread" else 20),
        )
    )
    assert "two calls that follow one another" in twice
    assert "two calls that follow one another" not in words(made(flat))


def test_huge_pages_are_only_named_where_faults_are_fewer():
    def faults(numpy):
        return lambda r, p, n: {"python-read": 1000, "numpy-fromfile": numpy}.get(r, 0)

    assert "huge pages" in words(made(flat, minflt=faults(10)))
    assert "huge pages" not in words(made(flat, minflt=faults(1000)))


def test_nothing_is_said_of_what_was_not_measured():
    records = made(flat)
    cold = records[records["cache_state"] == "cold"]
    assert "Large buffers" not in words(cold)
    few = records[records["case"].str.endswith("/512B")]
    assert "What we found" in words(few)


@pytest.mark.parametrize(("size", "much"), [(1e9, "cold, whole,"), (2e9, "cold, for 10 s each,")])
@pytest.mark.parametrize(
    ("ratios", "words"),
    [([1.0] * 7, "adds nothing"), ([1.3] * 7, "differ by more"), ([0.5, 1, 2] * 3, "too noisy")],
)
def test_dd_is_told_apart_or_not(ratios, words, size, much):
    rows = [
        {"experiment": "dd", "case": f"{library}/sequential/1MiB", "library": library,
         "block": block, "phase": "read", "useful_bytes": 1e9, "wall_s": 1 / rate, "status": "ok",
         "file_bytes": size}
        for block, ratio in enumerate(ratios) for library, rate in (("C", ratio), ("dd", 1.0))
    ]  # fmt: skip
    said = dd_words.whole(frame_of(rows))
    assert words in said and much in said
    assert "could not be run" in dd_words.whole(frame_of(rows[::2]))


def test_every_figure_draws_what_there_is_and_what_there_is_not():
    import matplotlib.pyplot as plt

    table = baseline.rates(made(lambda r, p, nbytes, s: nbytes**0.5 * MB))
    timed = latencies.table(each([1e-5] * 16))
    with styled("light"):
        for state in ("cold", "warm"):
            for part in (table, table[table["state"] == "cold"]):
                plt.close(baseline_figures.figure_3(part, state))
        for part in (table, table.assign(fetched=np.nan), table[:0]):
            plt.close(baseline_figures.figure_counts(part))
        for warm in (1e-5, float("nan")):
            plt.close(baseline_figures.figure_latencies(timed, warm))


def each(seconds):
    return frame_of(
        {"case": f"c-fread/sequential/{number:04d}", "phase": "read", "wall_s": taken,
         "block": block, "status": "ok"}
        for block in range(3) for number, taken in enumerate(seconds)
    )  # fmt: skip


def test_the_documents_eight_reads_are_seen_in_records():
    seconds = [latencies.NBYTES / rate for rate in (1e8, 4.6e8, *6 * [3e9])] * 4
    found = latencies.shape(latencies.table(each(seconds)))
    assert found.reads == 32 and found.fast == 0.75
    assert found.fast_rate == pytest.approx(3e9) and found.places[:3] == (0, 0.0625, 0.5)
    none = latencies.shape(latencies.table(each([1e-2] * 8)))
    assert none.fast == 0 and none.slow_share == 1
    assert "as a median, which is out of memory" not in baseline_words.ahead(none, none)


def test_each_read_has_a_row_of_its_own(tmp_path):
    files = Files(tmp_path, 2**17)
    baseline.make({"cold": files})
    for case in latencies.cases(files, 8):
        watch = Stopwatch(case.files)
        assert case.run(watch)
        rows = watch.rows()
        assert [row["case"] for row in rows] == [f"{case.name}/{n:04d}" for n in range(8)]
        assert all(row["wall_s"] > 0 and row["useful_bytes"] == 65536 for row in rows)
        assert all(row["syscr"] is None for row in rows)
        assert len({row["resident_before"] for row in rows}) == 1


@pytest.mark.parametrize("resident", [0.0, 1.0])
def test_each_read_says_what_was_in_memory_before_the_loop(tmp_path, monkeypatch, resident):
    files = Files(tmp_path, 2**17)
    baseline.make({"cold": files})
    monkeypatch.setattr(latencies, "resident_fraction", lambda paths: resident)
    watch = Stopwatch()
    assert latencies.cases(files, 8)[0].run(watch)
    assert [row["resident_before"] for row in watch.rows()] == [resident] * 8


def test_a_file_is_read_whole_by_c_and_by_dd(tmp_path):
    files = Files(tmp_path, 2**18)
    baseline.make({"cold": files})
    for case in dd.cases(files):
        watch = Stopwatch(case.files)
        assert case.check(case.run(watch))
        assert sum(row.get("useful_bytes") or 0 for row in watch.rows()) == files.nbytes


def test_dd_stops_in_time_and_says_how_much_it_read(tmp_path, monkeypatch):
    slow = tmp_path / "dd"
    slow.write_text(  # reads one block, and then waits until it is stopped
        """#!/bin/sh
trap 'echo "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s" >&2; exit 1' INT
while :; do sleep 0.01; done
"""
    )
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    watch, path = Stopwatch(), tmp_path / "values"
    path.write_bytes(bytes(2**21))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background of a shell
    try:
        assert dd.DdFor(path, 0.2)(watch)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    (read,) = watch.rows()
    assert read["useful_bytes"] == 2**20 and read["wall_s"] == 0.5


def test_what_dd_left_out_without_being_stopped_is_wrong(tmp_path, monkeypatch):
    short = tmp_path / "dd"
    short.write_text(
        """#!/bin/sh
echo "1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s" >&2
"""
    )
    short.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    path = tmp_path / "values"
    path.write_bytes(bytes(2**21))
    assert not dd.DdFor(path)(Stopwatch())


def test_sizes_can_be_chosen():
    assert baseline.chosen_sizes("paper", 2**40)[-1] == "1GiB"
    with pytest.raises(ValueError, match="no size"):
        baseline.chosen_sizes("paper", 2**40, "4kB")
    with pytest.raises(ValueError, match="fills none"):
        baseline.chosen_sizes("paper", 2**20, "1GiB")


def test_the_file_is_twice_the_memory_where_no_size_is_given(tmp_path):
    files = baseline.files_of(tmp_path, "elsewhere", 0, warm=False)
    assert list(files) == ["cold"] and files["cold"].folder.name == "elsewhere"
    assert files["cold"].nbytes > 2 * baseline.memory_bytes()
    assert files["cold"].nbytes % 2**30 == 0
    assert replace(files["cold"], values=1).nbytes == 8


def test_the_file_beside_dd_is_one_of_its_own_where_that_is_smaller(tmp_path):
    files = baseline.files_of(tmp_path, "", 64)
    assert dd.file_of(files, tmp_path, 0) == files["cold"]
    assert dd.file_of(files, tmp_path, 64) == files["cold"]
    own = dd.file_of(files, tmp_path, 2)
    assert own.folder == tmp_path / "whole" and own.nbytes == 2**21
