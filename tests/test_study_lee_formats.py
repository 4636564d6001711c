"""The page on formats: ratios, counts and sentences from records."""

from functools import partial

import matplotlib.pyplot as plt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_formats import COST, PHASES, SIZE, asked, filled, made, rows, waiting

from hyperslab.measure.records import frame_of, save
from hyperslab.measure.stats import Interval
from hyperslab.study import claims
from hyperslab.study.lee import (
    format_advice_words,
    format_device,
    format_disk_words,
    format_figures,
    format_rates,
    format_table,
    format_why_words,
    format_words,
    formats,
)
from hyperslab.study.lee.format_cells import KINDS
from hyperslab.study.style import STYLES, styled


@pytest.mark.parametrize(
    ("seconds", "requests", "explained"),
    [
        ((0.1, 0.5, 0.1), (4, 2, 4), True),
        ((0.1, 0.5, 0.5), (4, 2, 4), False),  # one chunk waits as long, in more requests
        ((0.1, 0.5, 0.1), (14, 25, 14), False),
        ((0.1, 0.5, 0.1), (float("nan"),) * 3, False),
    ],
)
def test_waits_are_explained_only_where_the_devices_counts_do(seconds, requests, explained):
    said = format_disk_words.cold(waiting(seconds), asked(requests))
    assert ("in the fewest requests" in said) == explained
    assert ("stays unexplained" in said) == (not explained)
    assert ("completed" in said) == (requests[0] == requests[0])


@pytest.mark.parametrize(
    ("working", "sleeps", "explained"),
    [
        ((0.2, 0.1, 0.3), (6, 11, 5), True),
        ((0.2, 0.1, 0.3), (11, 11, 5), False),
        ((0.1, 0.2, 0.3), (6, 11, 5), False),
    ],
)
def test_who_sleeps_most_and_works_least_waits_longest(working, sleeps, explained):
    read = waiting((0.1, 0.5, 0.1), working)
    said = format_disk_words.cold(read, asked((14, 26, 14), sleeps))
    assert ("has the most sleeps" in said) == explained
    assert ("stays unexplained" in said) == (not explained)


def test_a_direction_is_named_only_outside_the_noise():
    timed = made(cost={**COST, "64MB": COST["1MB"]})
    noisy = timed["cache"]
    late = noisy["case"].str.startswith("64MB") & (noisy["block"] % 2 == 0)
    noisy.loc[late, "wall_s"] *= 1.1
    said = format_advice_words.advice(
        timed["write-cached"], timed["read"], noisy, filled(), format_rates.counts(timed)
    )
    assert "instead of 1 MB: no difference [0.91, 1.00]" in said


def test_a_slower_plain_write_with_the_same_counts_is_unexplained():
    disk = frame_of(rows("write-disk"))
    slow = (disk["case"] == "plain/large/2d") & (disk["phase"] == "write")
    disk.loc[slow, "user_s"] = 0.018 + 1e-4 * disk["block"]
    assert "the difference is unexplained" in format_disk_words.plain_write(disk)
    disk.loc[slow, "user_s"] = 0.01 + 0.008 * (disk["block"] > 4) - 0.001 * (disk["block"] < 2)
    said = format_disk_words.plain_write(disk)
    assert "not told apart [0.90, 1.80]" in said and "took 2.0 times the CPU time" in said
    disk.loc[slow, "user_s"] = 0.01
    assert "adds nothing that shows" in format_disk_words.plain_write(disk)


def test_device_counts_of_cold_reads(tmp_path):
    formats.make_files("smoke", tmp_path, cold=True)
    found = frame_of(format_device.device_counts("smoke", tmp_path))
    assert len(found) == 2 * len(KINDS) * format_device.BLOCKS
    assert (found["requests"].isna() | (found["requests"] >= 0)).all()
    assert not list(tmp_path.glob("*uncached*"))


def test_the_document_is_taken_as_printed():
    assert sum(abs(line[2]) > 5 for line in format_table.TABLE_2.values()) == 12
    for third, fourth, percent in format_table.TABLE_2.values():
        # Printed from rates before they were rounded: 10 and 10 MB/s are 9 % apart.
        top, bottom = max(third, fourth), min(third, fourth)
        least, most = (top - 0.5) / (bottom + 0.5) - 1, (top + 0.5) / (bottom - 0.5) - 1
        assert 100 * least - 0.5 <= abs(percent) <= 100 * most + 0.5
        assert third == fourth or (percent > 0) == (fourth > third)


def test_table_2_has_all_settings_and_their_ratios():
    found = format_table.table_2(made())
    assert [setting.key for setting in found] == list(format_table.TABLE_2)
    assert {round(setting.ratio.value, 6) for setting in found if setting.caching == "default"} == {
        2.0,
        0.5,
    }
    disk = next(s for s in found if s.key == ("contiguous", "override", "write", "large"))
    assert disk.ratio.value == pytest.approx(0.021 / 0.011)
    assert disk.documents_best == "neither" and disk.best == "netCDF-4"
    assert disk.netcdf3 == pytest.approx(SIZE / 1e6 / 0.021)
    assert disk.mean8[0] == pytest.approx(disk.netcdf3)


@given(st.floats(0.2, 5), st.floats(1, 1.5))
def test_a_best_is_named_only_where_the_whole_interval_names_it(ratio, wide):
    both = Interval(ratio, ratio / wide, ratio * wide, 7)
    line = format_table.TABLE_2["chunked", "default", "write", "large"]
    setting = format_table.Setting("chunked", "default", "write", "large", line, 1, 1, (1, 1), both)
    assert setting.documents_best == "netCDF-3"
    assert setting.best in ("open", format_table.winner(ratio))
    if setting.best != "open":
        assert format_table.winner(both.low) == format_table.winner(both.high) == setting.best


@pytest.mark.parametrize(("style", "without"), [*zip(STYLES, [(), ("cold", "dd")], strict=True)])
def test_the_figures_are_drawn_whatever_was_measured(style, without):
    timed = made(without=without)
    found = format_table.table_2(timed)
    assert len(found) == (12 if without else 16)
    with styled(style):
        for draw in (
            partial(format_figures.figure_table_2, found),
            partial(format_figures.figure_steps, format_rates.steps(timed)),
            *(partial(format_figures.figure_rates, timed, number) for number in range(1, 5)),
        ):
            figure = draw()
            figure.canvas.draw()
            assert all(axes.get_xlabel() for axes in figure.axes)
            plt.close(figure)


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("without", [(), ("cold", "dd")])
def test_the_page_speaks_whatever_was_measured(counted, without):
    timed = made(counted=counted, without=without)
    found, counts = format_table.table_2(timed), format_rates.counts(timed)
    said = format_words.summary(found, counts)
    assert "2× faster (document: 21 % slower) to write" in said
    assert ("4,880 write calls" in said) == counted
    assert ("8,197 bytes at a time" in format_why_words.why(counts)) == counted
    assert "netCDF-C's own cache of 64 MiB: 3.64× faster" in format_why_words.uncached(
        timed["read"], counts
    )
    assert len(format_words.table(found)) == len(found)
    assert len(format_why_words.table(counts)) == 4 * len(KINDS) + 4
    beside = (
        format_rates.beside_dd(timed["write-disk"], ("write", "sync")),
        format_rates.beside_dd(timed["read"], ("read",)),
    )
    assert ("2.00 [2.00, 2.00] read warm" in format_disk_words.dd(*beside)) == (not without)
    assert len(format_words.dd_table(*beside)) == 4
    assert bool(format_why_words.filling(filled(counted))) == counted
    assert bool(format_advice_words.moved(timed["allocation"], timed["cache"])) == counted
    tuned = format_advice_words.tuning(timed["allocation"], timed["cache"])
    assert tuned["here, put alone"].tolist() == ["3.00 [3.00, 3.00]", "1.50 [1.50, 1.50]"]
    assert "25 % more CPU time [+25 %, +25 %] in writing" in format_why_words.endian(
        timed["write-cached"], timed["read"]
    )
    assert "20.0 + 1.0 ms (netCDF-3), 10.0 + 1.0 ms" in format_why_words.forced(timed["write-disk"])
    said = format_disk_words.cold(timed["read"], asked())
    assert ("fetched 1.00 MB in 4,880 calls" in said) == (counted and not without)
    said = format_disk_words.plain_write(timed["write-disk"])
    assert ("10.0 ms of CPU time (10.0 to 10.0) for 40.0 MB in 1 call with" in said) == counted
    for caption in range(1, 5):
        assert "of 7 interleaved blocks" in format_words.caption_rates(caption, timed)


@pytest.mark.parametrize("best", ["netcdf4-contiguous", "netcdf3", "netcdf4-chunked"])
def test_the_advice_follows_the_records(best):
    quick = {**COST, best: (0.001, 40.0, 1)}
    timed = made(cost=quick)
    said = format_advice_words.advice(
        timed["write-cached"], timed["read"], timed["cache"], filled(), format_rates.counts(timed)
    )
    code = {"netcdf3": "NETCDF3", "netcdf4-chunked": "chunksizes"}.get(best, "contiguous=True")
    assert code in said.splitlines()[0]
    assert "2× fewer bytes were written" in said


def test_netcdf3_is_held_against_itself():
    timed = made()
    said = format_words.itself(timed["write-cached"], timed["read"])
    assert "large arrays, write, disk, is 41 and 37 MB/s, 11 % apart" in said
    assert "Of the 12 winners" in said
    assert "read cold 0 % [0 %, 0 %]" in said


def test_toys_are_called_so():
    assert format_words.taken(made()["write-cached"]) == ""
    assert "4 small arrays" in format_words.taken(frame_of(rows("write-cached", profile="smoke")))


def test_the_claims_find_their_cases(tmp_path):
    parts = [row for experiment in PHASES for row in rows(experiment)]
    save(frame_of(parts), tmp_path / "lee_formats.parquet")
    chosen = [claim for claim in claims.load() if claim.notebook == "lee_formats"]
    judged = {j.claim.id: j for j in claims.evaluate(chosen, tmp_path)}
    assert len(judged) == 12
    said = {name: judgement.verdict for name, judgement in judged.items()}
    assert said == {
        "lee-1-write": "reversed", "lee-1-read": "stronger", "lee-2-write": "refuted",
        "lee-2-read": "reversed", "lee-3-write": "holds", "lee-3-read": "reversed",
        "lee-4": "refuted", "lee-alloc": "stronger", "lee-cache": "weaker", "lee-endian": "holds",
        "lee-contig": "holds", "lee-self": "holds",
    }  # fmt: skip
    for judgement in judged.values():
        assert "not measured" not in {part.verdict for part in judgement.parts}
