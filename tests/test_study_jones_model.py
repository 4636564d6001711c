"""Three costs of a reader: recovered from made-up records, predicted, and said in words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperslab.measure.records import frame_of
from hyperslab.study.jones import model, model_words
from hyperslab.study.jones.plan import size_bytes

SIZES = ("512B", "4KiB", "64KiB", "1MiB", "8MiB", "64MiB")
FRESH_FROM = 2**20  # buffers that get new memory with each read
SLOW = (130e-6, 0.3e-9, 2e-6)  # seconds a call, a byte, a page fault
QUICK = (5e-6, 0.2e-9, 2e-6)


def rows(costs, *, sizes=SIZES, blocks=6, patterns=("sequential",), fresh=True, sieve=1, noise=0.0):
    """Made-up records whose times are exactly what costs give, or stray by a share of it."""
    draw = np.random.default_rng(0)
    for reader, (call, byte, fault) in costs.items():
        for pattern in patterns:
            for size in sizes:
                for block in range(blocks):
                    nbytes = size_bytes(size)
                    reads = max(1, 2**24 // nbytes)
                    fetched = max(nbytes, sieve) if pattern == "random" else nbytes
                    faults = nbytes // 4096 if fresh and nbytes >= FRESH_FROM else 0
                    seconds = reads * (call + byte * fetched + fault * faults)
                    yield {
                        "run_id": "run-1", "experiment": "patterns", "phase": "read",
                        "case": f"{reader}/{pattern}/{size}", "cache_state": "warm",
                        "block": block, "status": "ok", "verified": True, "stages": reads,
                        "useful_bytes": reads * nbytes, "rchar": reads * fetched,
                        "minflt": reads * faults, "syscr": reads, "user_s": seconds, "sys_s": 0.0,
                        "wall_s": seconds * (1 + noise * draw.uniform(-1, 1)),
                    }  # fmt: skip


def taken(costs, **changed):
    return model.samples(frame_of(rows(costs, **changed)))


def test_costs_are_recovered_and_predict_what_was_measured():
    samples = taken({"netcdf4-python": SLOW, "h5py": QUICK})
    costs = model.fit(samples)
    assert [each.reader for each in costs] == ["netcdf4-python", "h5py"]
    for each, (call, byte, fault) in zip(costs, (SLOW, QUICK), strict=True):
        assert each.call.value == pytest.approx(1e9 * call)
        assert each.kb.value == pytest.approx(1e12 * byte)
        assert each.fault.value == pytest.approx(1e9 * fault)
        assert each.call.low <= each.call.value <= each.call.high and each.call.n == 6
    assert model.off(model.rates(samples, costs)) < 1e-9
    assert model.off(model.left_out(samples)) < 1e-6


@settings(max_examples=10, deadline=None)
@given(
    st.tuples(st.floats(1e-7, 1e-3), st.floats(1e-11, 1e-8), st.floats(1e-7, 1e-4)),
    st.floats(0, 0.3),
)
def test_costs_are_never_negative_and_lie_in_their_intervals(costs, noise):
    samples = taken({"h5py": costs}, blocks=3, noise=noise)
    (found,) = model.fit(samples)
    for each in (found.call, found.kb, found.fault):
        assert 0 <= each.low <= each.value <= each.high
    assert model.off(model.rates(samples, [found])) <= 2 * noise + 1e-6


def test_a_reader_without_new_memory_has_no_cost_of_a_page_fault():
    (found,) = model.fit(taken({"netcdf-c": QUICK}, fresh=False))
    assert np.isnan(found.fault.value) and found.call.value == pytest.approx(5e3)
    assert found.seconds(1, 0, 10**6) == pytest.approx(5e-6)  # and its faults are free


def test_what_is_fetched_beyond_what_is_asked_is_predicted_too():
    samples = taken({"h5py": QUICK}, patterns=("sequential", "random"), sieve=2**16)
    others = model.rates(samples, model.fit(samples))
    assert model.off(others[others["pattern"] == "random"]) < 1e-9


def test_a_buffer_with_fewer_blocks_counts_where_it_was_measured():
    frame = frame_of(rows({"h5py": QUICK}))
    few = frame[~(frame["case"].str.endswith("/512B") & (frame["block"] > 2))]
    (found,) = model.fit(model.samples(few))
    assert found.call.value == pytest.approx(5e3) and not np.isnan(found.call.low)


def test_too_few_sizes_are_not_fitted():
    samples = taken({"h5py": QUICK}, sizes=SIZES[:3])
    assert model.fit(samples) == [] and model.left_out(samples).empty
    assert "Too few sizes" in model_words.fit(model.rates(samples, []), model.left_out(samples))
    assert "not" not in model_words.layers([])


def test_cold_reads_take_no_part():
    frame = frame_of(rows({"h5py": QUICK}))
    frame["cache_state"] = "cold"
    assert model.samples(frame).empty and len(model.samples(frame, "cold")) == len(frame)


def test_words_follow_the_costs_in_either_direction():
    def said(masked, plain):
        samples = taken({"netcdf4-python": masked, "netcdf4-python-plain": plain})
        costs = model.fit(samples)
        found, left = model.rates(samples, costs), model.left_out(samples)
        table = model_words.table(costs, found, left)
        assert list(table["reader"]) == ["netCDF4-python", "netCDF4-python without masking"]
        assert "0 %" in model_words.fit(found, left) and "6" in model_words.caption(costs)
        return model_words.layers(costs)

    assert "130 µs, 26 times netCDF4-python without masking" in said(SLOW, QUICK)
    assert "5 µs, 0.0385 times netCDF4-python without masking" in said(QUICK, SLOW)
    assert "not told apart" in said(QUICK, QUICK)
