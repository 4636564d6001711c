"""What the page on many small hyperslabs says and draws."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_hyperslabs import BYTES, SIDE, made, page, piece_rows, swept, whole

from hyperslab import claims
from hyperslab.measure.records import frame_of, save
from hyperslab.study.lee import (
    hyperslabs_figures,
    hyperslabs_rates,
    hyperslabs_why_words,
    hyperslabs_words,
    strided,
    strided_words,
)
from hyperslab.study.style import STYLES, styled


def test_rates_and_costs_are_those_of_the_records():
    records = page()
    rated = hyperslabs_rates.rates(records["read"], ("read",)).set_index(["way", "layout", "mode"])
    assert rated.loc[("c", "contiguous", "one"), "rate"] == pytest.approx(BYTES / 0.005 / 1e6)
    extra = hyperslabs_rates.extra_us(
        records["read"], "read", "c/contiguous/rows", "c/contiguous/one", SIDE
    )
    assert extra.value == pytest.approx(1e6 * 0.015 / SIDE)
    closed = hyperslabs_rates.compared(
        records["written"], ("write", "close"), "c/chunked/rows", "c/chunked/one"
    )
    assert closed.value == pytest.approx(21 / 6)
    assert hyperslabs_rates.compared(records["read"], ("read",), "c/nothing/one", "x") is None


@settings(max_examples=20)
@given(st.floats(0.5, 1000))
def test_half_the_rate_is_where_the_bytes_take_as_long_as_the_call(cost_us):
    calls = frame_of(made("calls", swept(cost_us=cost_us), blocks=1))
    found = hyperslabs_rates.affordable(calls)["c"].value
    total = BYTES / 5e9 + 1e-6 * cost_us
    exact = 1e-6 * cost_us / (2 * total / BYTES - 1 / 5e9)
    smallest, largest = 4 * (SIDE // 64), BYTES
    if exact < smallest:
        assert found == smallest
    elif exact < largest / 4:
        assert 0.7 < found / exact < 1.5, "interpolated between sizes four times apart"


def test_the_versions_that_are_compared_as_text():
    assert not strided.compares_as_text("4.9.3")
    assert strided.compares_as_text("4.10.1")
    old, new = (
        strided_words.found(strided.times(page()["steps"]), frame_of(piece_rows(version)))
        for version in ("1.7.4 (netCDF-C 4.9.3)", "1.7.5 (netCDF-C 4.10.1)")
    )
    assert "4.9.3, with which the comparison as text makes one call" in old
    assert "4.10.1, with which the comparison as text takes the selection apart" in new


@pytest.mark.parametrize(("scale", "said"), [(1.0, "4× slower"), (0.125, "2× faster")])
def test_the_direction_of_a_sentence_follows_the_records(scale, said):
    records = page(scale=scale)
    text = hyperslabs_words.summary(records["read"], records["written"], records["calls"], SIDE)
    assert f"netCDF-C, from C: reads {said}" in text and f"writes {said}" in text
    assert "in the document: reads 1.54× slower and writes 2.58× slower; and once" in text
    assert "its handles open, reads 22 % faster and writes 2.2× slower\n" in text
    assert "(The document's array" not in text
    toys = hyperslabs_words.summary(records["read"], records["written"], records["calls"], 256)
    assert "(The document's array has 3,162 × 3,162.)" in toys


def test_what_the_noise_hides_has_no_direction():
    records = page()
    read, rows = records["read"], "hdf5-c/contiguous/rows"
    plain = read["case"] == "hdf5-c-nosieve/contiguous/rows"
    noisy = 0.010 * np.where(read["block"] % 2, 1.05, 0.96)
    read = read.assign(wall_s=read["wall_s"].mask(plain, noisy))
    assert hyperslabs_rates.compared(read, ("read",), rows, "hdf5-c-nosieve/contiguous/rows")
    text = hyperslabs_why_words.why(read, records["written"], records["opened"], SIDE)
    assert "with it the rows were not told apart from without [0.96, 1.05]." in text


def test_the_advice_holds_with_masking_too():
    records = page()
    slow = records["calls"]["case"] == "python"
    cost = 1e-6 * 200 * records["calls"]["stages"].where(slow, 0)
    calls = records["calls"].assign(wall_s=records["calls"]["wall_s"] + cost)
    sizes = hyperslabs_rates.affordable(calls)
    text = hyperslabs_words.advice(records["read"], records["written"], calls)
    assert sizes["python"].value > 2**20 > sizes["python-plain"].value
    assert "take 2 MiB or more a call" in text


def test_a_call_is_held_against_the_documents():
    records = page()
    text = hyperslabs_why_words.why(records["read"], records["written"], records["opened"], SIDE)
    assert "closes 2 dataspaces and 1 property list, and no datatype and no dataset." in text
    assert "cost 16.5 µs more" in text  # 12,648 bytes at 268.05 and at 412.78 MB/s
    assert "leave its rows 13 % slower than its one call" in text  # 4.74 µs beside 30.6
    assert "it measured 22 % faster" in text


@pytest.mark.parametrize(
    ("style", "in_c", "counted"), [(STYLES[0], True, True), (STYLES[1], False, False)]
)
def test_the_page_is_drawn_whatever_was_measured(style, in_c, counted):
    records = page(in_c, counted)
    read, written, calls = records["read"], records["written"], records["calls"]
    timed = strided.times(records["steps"])
    rated = hyperslabs_rates.rates(read, ("read",))
    put = hyperslabs_rates.rates(written, ("write",))
    with styled(style):
        for draw in (
            partial(hyperslabs_figures.figure_rates, rated, put),
            partial(hyperslabs_figures.figure_calls, hyperslabs_rates.swept(calls)),
            partial(hyperslabs_figures.figure_strided, timed),
        ):
            figure = draw()
            figure.canvas.draw()
            assert figure.axes[-1].get_xlabel()
            plt.close(figure)
    ways = 4 if in_c else 2
    assert len(hyperslabs_words.table_rates(rated, put)) == 4 * (1 + ways)
    assert ("633" in hyperslabs_words.table_counts(read, written).to_string()) == counted
    why = hyperslabs_why_words.why(read, written, records["opened"], SIDE)
    assert ("sieve buffer" in why) == counted and "**Python.**" in why
    assert bool(hyperslabs_words.left_out(read)) != in_c
    assert ("from C" in strided_words.found(timed, records["pieces"])) == in_c
    assert bool(strided_words.chunked(timed)) == counted
    assert "Read blocks" in hyperslabs_words.advice(read, written, calls)
    assert "use_nc_get_vars(True)" in strided_words.advice(timed)
    assert "7 interleaved blocks" in hyperslabs_words.caption_rates(read, rated)
    assert "netCDF4-python, unmasked: from" in hyperslabs_words.afforded(calls)


def test_the_claims_find_their_cases(tmp_path):
    rows = [*made("read", whole("read")), *made("write", whole("write"))]
    save(frame_of(rows), tmp_path / "lee_hyperslabs.parquet")
    wanted = ("lee-8", "lee-8-hdf5", "lee-8-fix")
    chosen = [claim for claim in claims.load() if claim.id in wanted]
    judged = {found.claim.id: found for found in claims.evaluate(chosen, tmp_path)}
    assert set(judged) == set(wanted)
    assert {part.verdict for part in judged["lee-8"].parts} <= {"holds", "stronger"}
    assert [part.verdict for part in judged["lee-8-hdf5"].parts] == ["holds"] * 3
    assert [part.verdict for part in judged["lee-8-fix"].parts] == ["refuted"] * 2
    writes = next(part for part in judged["lee-8-hdf5"].parts if part.name == "C writes")
    assert writes.measured == pytest.approx(0.018 / 0.010), "both without filling"
    rows = [*made("read", whole("read", scale=0.2)), *made("write", whole("write"))]
    save(frame_of(rows), tmp_path / "lee_hyperslabs.parquet")
    fixed = next(c for c in claims.evaluate(chosen, tmp_path) if c.claim.id == "lee-8-fix")
    assert [part.verdict for part in fixed.parts] == ["holds"] * 2
