"""The page on compression: samples on tiny tiles, break-even rates and sentences from records."""

import dataclasses
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_gen.radar import SCALE
from hyperslab.measure.records import frame_of, save
from hyperslab.measure.stats import Interval
from hyperslab.measure.worker import Job, perform
from hyperslab.study import claims
from hyperslab.study.lee import (
    break_even,
    compression,
    compression_figures,
    compression_table_words,
    compression_words,
)
from hyperslab.study.lee.tiles import FLOAT, LEVELS, PRODUCTS, Tiles, levels, packings
from hyperslab.study.penard import survey
from hyperslab.study.style import STYLES, styled

# Processor seconds and MB of the file, of 24 MB of values.
PUT = {"none": (0.02, 24.0), "float": (0.02, 24.0), "deflate-1": (0.12, 4.0)}
OTHER = (0.22, 2.0)


def rows(experiment, waiting=0.0, states=("",), blocks=7, counted=True):
    """Records in which a case takes its CPU time and ``waiting`` seconds for each MB."""
    for state in states:
        for group in ("tile1", "tile2", "tile4", FLOAT):
            for packing in packings(group, "quick"):
                cpu, size = PUT.get(packing, OTHER)
                yield from sample(
                    experiment, state, f"{group}/{packing}", cpu, size, waiting, blocks, counted
                )


def sample(experiment, state, case, cpu, size, waiting, blocks, counted):
    phases = ("write", "sync") if experiment == "write" else ("read",)
    for block in range(blocks):
        for aa in ("A", "B") if case == "tile1/none" else ("",):
            for phase in phases:
                yield {
                    "run_id": "run-1", "profile": "quick", "notebook": "lee_compression",
                    "experiment": experiment, "case": case, "aa": aa, "cache_state": state,
                    "block": block, "order": hash((case, aa)) % 1000, "phase": phase,
                    "status": "ok", "user_s": cpu / len(phases), "sys_s": 0.0,
                    "wall_s": (cpu + waiting * size) / len(phases),
                    "useful_bytes": 24e6, "file_bytes": 1e6 * size, "chunks": "1501x2001",
                    "others_cpu": 0.0, **{
                        name: (1e6 * size if counted else float("nan"))
                        for name in ("wchar", "rchar", "syscw", "syscr")
                    },
                }  # fmt: skip


def pages(waiting=0.01, states=("cold", "warm"), counted=True):
    puts = frame_of(rows("write", waiting, counted=counted))
    gets = frame_of(rows("read", waiting, states, counted=counted))
    warm = gets[gets["cache_state"] == "warm"]
    return (
        puts,
        gets,
        break_even.times(puts, break_even.WRITING),
        break_even.times(gets, break_even.READING),
        break_even.costs(puts, break_even.WRITING),
        break_even.costs(warm, break_even.READING),
    )


@pytest.fixture(scope="module")
def tiles(tmp_path_factory):
    """Tiles of a sixteenth of the size, two products each."""
    made = Tiles(tmp_path_factory.mktemp("values"), "smoke", 2)
    made.make()
    return made


def test_the_products_are_those_of_the_tiles():
    assert tuple(SCALE) == PRODUCTS


def test_the_break_even_rate_is_bytes_saved_over_time_spent():
    *_, writing, reading = pages()
    cost = writing.set_index("case").loc["tile1/deflate-1"]
    assert cost["rate"].value == pytest.approx(20e6 / 0.1)
    assert cost["plain_bytes"] == 24e6
    assert reading.set_index("case").loc["tile2/deflate-1", "rate"].value == pytest.approx(20e7)
    assert break_even.relative_time(cost, [20e6 / 0.1])[0] == pytest.approx(1)


@given(
    st.floats(0, 10), st.floats(0, 10), st.floats(1, 1e9), st.floats(0, 1e9), st.floats(1e3, 1e12)
)
def test_below_the_break_even_rate_compression_is_quicker(cpu, extra, size, saved, rate):
    cost = {"plain_s": cpu, "bytes": size, "plain_bytes": size + saved}
    cost["extra_s"] = Interval(extra, extra, extra, 7)
    edge = break_even.break_even(saved, cost["extra_s"]).value
    ratio = break_even.relative_time(cost, [rate])[0][0]
    if abs(extra - saved / rate) > 1e-6 * (cpu + (size + saved) / rate):  # or it rounds away
        assert (ratio < 1) == (rate < edge)


def test_what_costs_no_time_pays_on_any_disk():
    assert break_even.break_even(1.0, Interval(-1.0, -2.0, 0.5, 7)).low == 2.0
    assert break_even.break_even(0.0, Interval(-1.0, -2.0, 0.5, 7)).value == 0


def test_the_rate_of_the_disk_is_what_was_waited_for():
    puts = frame_of(rows("write", 0.01))
    assert break_even.device_rate(puts, break_even.WRITING, "tile1/none") == pytest.approx(1e8)
    idle = frame_of(rows("write", 0.0))
    assert np.isnan(break_even.device_rate(idle, break_even.WRITING, "tile1/none"))
    found = break_even.seen(*pages()[:2])
    assert found["read"][1]["deflate-1"].value == pytest.approx((0.12 + 0.04) / (0.02 + 0.24))
    assert "read" not in break_even.seen(puts, frame_of(rows("read", states=("warm",))))


@pytest.mark.parametrize(("waiting", "said"), [(0.0, "6.00 to 6.00"), (0.05, "0.26 to 0.26")])
def test_the_summary_follows_the_records(waiting, said):
    _, _, written, read, writing, reading = pages(waiting)
    text = compression_words.summary(written, read, writing, reading)
    assert f"took {said} times as long to write" in text
    assert "on tile 1 (the verdicts take the three together) deflate 1 gains" in text
    assert "200 [200, 200] MB/s" in text


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(("states", "counted"), [(("cold", "warm"), True), (("warm",), False)])
def test_the_page_is_drawn_whatever_was_measured(style, states, counted):
    puts, gets, written, read, writing, reading = pages(states=states, counted=counted)
    seen = break_even.seen(puts, gets)
    whole = frame_of([{"case": "tile1/deflate-1", "useful_bytes": 72e6, "file_bytes": 3.4e6}])
    with styled(style):
        for draw in (
            partial(compression_figures.figure_9, written, read),
            partial(compression_figures.figure_codecs, writing, reading, whole),
            partial(compression_figures.figure_break_even, writing, reading, seen),
        ):
            figure = draw()
            figure.canvas.draw()
            assert all(axes.get_xlabel() for axes in figure.axes)
            plt.close(figure)
    assert len(compression_table_words.table(written, read, writing, reading)) == 7
    assert ("write calls" in compression_words.why(puts, gets)) == counted
    assert "BitRound" in compression_words.floats(writing)
    assert "how fast the disk is" in compression_words.advice(writing, reading)
    assert "7 interleaved blocks" in compression_words.caption_9(written, read, puts)


def test_the_page_says_what_is_smaller_than_the_documents():
    puts = pages()[0]
    assert compression_words.taken(puts, len(PRODUCTS)) == ""
    assert "4 of the 12 products" in compression_words.taken(puts, 4)
    assert "toys" in compression_words.taken(puts.assign(chunks="375x500"), 12)


def test_the_claim_finds_its_cases(tmp_path):
    parts = [*rows("write", 0.05), *rows("read", 0.05, ("cold", "warm"))]
    save(frame_of(parts), tmp_path / "lee_compression.parquet")
    chosen = [claim for claim in claims.load() if claim.id in ("lee-6-time", "lee-6-level")]
    judged = {j.claim.id: j for j in claims.evaluate(chosen, tmp_path)}
    assert [part.verdict for part in judged["lee-6-time"].parts] == ["holds"] * 4
    cpu = next(p for p in judged["lee-6-level"].parts if p.name == "CPU at level 9")
    assert cpu.verdict == "holds" and cpu.measured == pytest.approx(0.22 / 0.12)


def test_profiles_try_more_levels_with_more_time():
    assert levels("smoke") == levels("quick") == (1, 9)
    assert levels("full") == tuple(range(1, 10))
    assert list(packings("tile4", "full")) == ["none", "deflate-1"]


def test_all_chunks_are_equal():
    for group, layouts in Tiles(None, "full").groups().items():
        assert {layout.chunks for layout in layouts.values()} == {(1501, 2001)}, group


@pytest.mark.parametrize("count", [0, 13])
def test_a_tile_has_twelve_products(count):
    with pytest.raises(ValueError, match="give 1 to 12"):
        Tiles(None, count=count).names  # noqa: B018


def test_samples_write_and_read_every_layout(tiles, tmp_path):
    compression.make_files(tiles, tmp_path / "warm")
    cases = compression.write_cases(tiles, tmp_path)
    cases += compression.read_cases(tiles, {"warm": tmp_path / "warm"})
    sizes = {}
    for case in cases:
        outcome = perform(Job(case))
        assert outcome.status == "ok", (case.label, outcome.status)
        found = {row["phase"]: row for row in outcome.rows}
        last = found["close" if case.cache_state == "" else "read"]
        sizes.setdefault(case.name, set()).add(last["file_bytes"])
        group = 1 if case.name.startswith(FLOAT) else 2
        assert last["useful_bytes"] == group * 375 * 500 * (4 if last_is_float(case.name) else 2)
    assert all(len(both) == 1 for both in sizes.values()), "the reads' files are the writes'"
    assert list(tmp_path.iterdir()) == [tmp_path / "warm"]


def last_is_float(name):
    return name.startswith(FLOAT) and "int16" not in name


def test_wrong_values_are_noticed(tiles, tmp_path):
    exact = compression.Same(tiles.path("tile1", "none"))
    truth = np.load(exact.values)
    assert exact(list(truth))
    truth[1, 3, 3] += 1
    assert not exact(list(truth))
    assert not exact(list(truth[:1]))
    rounded = compression.Same(tiles.path(FLOAT, "float"), bits=7)
    values = np.load(rounded.values)
    assert rounded(list(values * np.float32(1 + 2**-9)))
    assert not rounded(list(values * np.float32(1 + 2**-7)))


def test_table_5_is_of_whole_tiles(tiles):
    found = frame_of(compression.table_5(tiles))
    assert (found["useful_bytes"] == 12 * 375 * 500 * 2).all()
    table = compression_table_words.table_5(found)
    assert table["document, times smaller"].tolist() == ["21", "14", "23"]
    assert dataclasses.replace(tiles, count=12).names == PRODUCTS


def test_the_whole_tile_is_the_file_that_the_verdict_is_of(tiles, tmp_path):
    plan = dataclasses.replace(survey.plan("smoke", 1, 1), levels=(1,), shrink=4)
    layouts = {
        f"tile1/deflate-{n}": x for n, x in survey.Survey(plan, tmp_path).levels("tile1").items()
    }
    done = survey.Job("tile1", layouts, plan, tmp_path)()
    (found,) = (row for row in compression.table_5(tiles) if row["case"] == "tile1/deflate-1")
    assert done.sizes["tile1/deflate-1"] == found["file_bytes"]


def test_every_level_is_sized(tiles, tmp_path):
    found = frame_of(compression.sizes(tiles, tmp_path))
    assert len(found) == len(LEVELS) and not list(tmp_path.iterdir())
    assert found["file_bytes"].iloc[-1] < found["file_bytes"].iloc[0]
    writing = pages()[4]
    table = compression_table_words.levels(found, writing)
    assert table["against level 1"].iloc[0] == "the same"
    assert (table["CPU to write, ms"] != "–").tolist() == [n in (1, 9) for n in LEVELS]
    assert "levels 1 and 9 the CPU" in compression_table_words.caption_levels(writing)


def test_files_of_all_states_are_the_same(tiles, tmp_path):
    compression.make_files(tiles, tmp_path / "cold", tmp_path / "warm")
    names = {path.name for path in (tmp_path / "cold").iterdir()}
    assert "tile1-none.nc" in names
    for name in names:
        cold, warm = (tmp_path / state / name for state in ("cold", "warm"))
        assert cold.read_bytes() == warm.read_bytes()
    cases = compression.read_cases(tiles, {s: tmp_path / s for s in ("cold", "warm")})
    floats = {case.cache_state for case in cases if case.name.startswith(FLOAT)}
    assert floats == {"warm"}, "no figure needs them cold"


@pytest.mark.parametrize(
    ("spread", "said"), [(0.0, "1.83× more than that of"), (0.9, "not told apart from that of")]
)
def test_processor_time_within_the_noise_has_no_direction(spread, said):
    puts = pages()[0]
    level = puts["case"] == "tile1/deflate-9"
    away = puts["block"].map(lambda block: 1 - spread * (block % 2))
    puts = puts.assign(user_s=puts["user_s"].where(~level, puts["user_s"] * away))
    writing = break_even.costs(puts, break_even.WRITING)
    text = compression_words.advice(writing, pages()[5])
    assert said in text
