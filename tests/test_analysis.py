"""Costs of a call, a byte and a fault, and how good predictions are: on made-up records."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperslab.analysis import call_costs
from hyperslab.analysis.predicted import beside, errors, gains, share, winners
from hyperslab.measure.records import frame_of

SLOW, QUICK = (5e-5, 3e-10, 2e-6), (5e-6, 1e-10, 1e-6)  # seconds of a call, a byte and a fault
SIZES = tuple(512 * 4**n for n in range(9))


def taken(readers, *, sizes=SIZES, blocks=6, noise=0.0, fresh=True, sieve=0, access="sequential"):
    """Samples of reads that take what their calls, bytes and faults cost."""
    rows = []
    for (reader, costs), nbytes, block in product(readers.items(), sizes, range(blocks)):
        passed = max(nbytes, sieve)
        faults = nbytes // 4096 if fresh and nbytes >= 2**17 else 0
        seconds = np.dot((1, passed, faults), costs) * (1 + noise * (-1) ** block)
        row = {"reader": reader, "access": access, "case": f"{reader} {access} {nbytes}"}
        row |= {"block": block, "phase": "read", "status": "ok", "cache_state": "warm"}
        row |= {"stages": 10, "useful_bytes": 10 * nbytes, "rchar": 10 * passed}
        rows.append(row | {"minflt": 10 * faults, "wall_s": 10 * seconds})
    return call_costs.samples(frame_of(rows, ["reader", "access"]))


def test_costs_are_recovered_and_predict_what_was_measured():
    samples = taken({"netCDF4-python": SLOW, "h5py": QUICK})
    costs = call_costs.fit(samples)
    assert list(costs.index) == ["netCDF4-python", "h5py"]
    for (call, byte, fault), (_, found) in zip((SLOW, QUICK), costs.iterrows(), strict=True):
        assert found["calls"].value == pytest.approx(call)
        assert found["kB"].value == pytest.approx(1e3 * byte)
        assert found["faults"].value == pytest.approx(fault)
        assert found["calls"].n == 6
    assert (call_costs.off(call_costs.predicted(samples, costs)) < 1e-9).all()
    assert (call_costs.off(call_costs.left_out(samples)) < 1e-6).all()


@settings(max_examples=10)
@given(
    st.tuples(st.floats(1e-7, 1e-3), st.floats(1e-11, 1e-8), st.floats(1e-8, 1e-5)),
    st.floats(0, 0.3),
)
def test_costs_are_never_negative_and_lie_in_their_intervals(costs, noise):
    samples = taken({"h5py": costs}, blocks=3, noise=noise)
    found = call_costs.fit(samples)
    assert all(0 <= each.low <= each.value <= each.high for each in found.loc["h5py"] if each.n)
    assert call_costs.off(call_costs.predicted(samples, found))["h5py"] <= 2 * noise + 1e-6


def test_too_few_sizes_are_not_fitted_nor_page_faults_without_new_memory():
    samples = taken({"h5py": QUICK}, sizes=SIZES[:3])
    costs = call_costs.fit(samples)
    assert costs.empty and call_costs.predicted(samples, costs).empty
    assert call_costs.off(call_costs.left_out(samples)).empty
    costs = call_costs.fit(taken({"netCDF-C": QUICK}, fresh=False))
    assert costs["faults"]["netCDF-C"].n == 0
    assert costs["calls"]["netCDF-C"].value == pytest.approx(QUICK[0])


def test_what_is_fetched_beyond_what_is_asked_is_predicted_too():
    costs = call_costs.fit(taken({"h5py": QUICK}))
    fetched = taken({"h5py": QUICK}, sieve=2**16, access="random")
    assert call_costs.off(call_costs.predicted(fetched, costs))["h5py"] < 1e-9


def test_a_call_costs_what_many_take_more_than_one_and_is_worth_it_from_half_the_rate_on():
    seconds = pd.DataFrame({"blocks": [pd.Series([s] * 7) for s in (1.0, 3.0)]}, ["one", "many"])
    assert call_costs.extra(seconds, "many", "one", 100).value == 0.02
    assert call_costs.extra(seconds, "few", "one", 100).n == 0
    index = pd.MultiIndex.from_product([["a"], [100, 1600, 6400]], names=["x", "bytes"])
    rates = pd.DataFrame({"blocks": [pd.Series([rate] * 7) for rate in (1.0, 4.0, 4.0)]}, index)
    assert call_costs.enough(rates)["a"].value == pytest.approx(400)


def records(off):
    """Eight reads, warm and cold in turn, each measured thrice, and predicted by a factor off."""
    measured, predicted = [], []
    for n in range(8):
        read = {
            "case": f"ocean: {n}/map", "cache_state": "cold" if n % 2 else "warm",
            "codec": "deflate" if n < 6 else "", "phase": "read", "status": "ok",
        }  # fmt: skip
        seconds = 1e-3 * 2**n
        measured += [read | {"block": block, "wall_s": seconds} for block in range(3)]
        predicted.append(read | {"mode": "blind", "wall_s": seconds * off})
    return frame_of(measured), frame_of(predicted)


def test_errors_are_told_apart_by_regime_and_what_was_not_measured_has_none():
    measured, predicted = records(1.1)
    measured = measured[measured["case"] != "ocean: 0/map"]
    found = errors(beside(measured, predicted), ["regime"])
    reads = {"cold, decoded": 3, "warm, decoded": 2, "warm, not decoded": 1, "cold, not decoded": 1}
    assert found["reads"].to_dict() == reads
    assert found[["median", "p90", "bias"]].to_numpy() == pytest.approx(0.1)


def test_winners_are_named_among_reads_that_are_alike():
    found = beside(*records(1.0))
    assert winners(found, ["cache_state"]) == (12, 12)
    assert winners(found) == (28, 28)
    found["predicted"] = found["seconds"].max() - found["seconds"]
    assert winners(found) == (0, 28)
    assert winners(found.iloc[:1]) == (0, 0)
    assert f"{share(29, 31):%}" == "94 % [79 %, 99 %]"


def test_leaving_a_file_as_it_is_has_no_gain_that_could_be_off():
    rows = [
        {"hints": "as it is", "gain_predicted": 1.0, "gain": 1.0},
        {"hints": "1x2", "gain_predicted": 2.0, "gain": 3.0},
        {"hints": "2x1", "gain_predicted": 3.0, "gain": 2.0},
        {"hints": "2x2", "gain_predicted": 3.0},
    ]
    assert gains(frame_of(rows))["off"].tolist() == [1.5, 1.5]
