"""Predictions: parts that add up, and nothing guessed."""

import dataclasses
import math

import pytest

from hyperslab.experiments.cost_model import cost_rows, from_rows, refusals
from hyperslab.io import Layout
from hyperslab.tune.advice.costs import ROUGH, Calibration, terms
from hyperslab.tune.advice.counts import Read, counts_of
from hyperslab.tune.advice.fetches import UncalibratedError

DEFLATE = Layout("netcdf4", chunks=(1, 100, 100), codec="deflate", shuffle=True)
SERIES = ((slice(None), 5, 5),)
READ = Read((50, 100, 100), "f4", DEFLATE, SERIES, "h5py", 1e4)
COSTS = {
    "h5py/chunked:first": 1e-3,
    "h5py/chunked:chunk": 1e-5,
    "h5py/chunked:fault": 1e-7,
    "h5py/chunked:run": 1e-8,
    "h5py/chunked:byte": 1e-9,
    "h5py/chunked:open": 5e-3,
    "h5netcdf/chunked:first": 2e-3,
    "h5py/deflate+shuffle:out": 3e-9,
    "h5py/deflate+shuffle:in": 5e-9,
    "h5py/deflate+shuffle:each": 1e-5,
    "zarr/zarr:first": 4e-3,
    "zarr/zarr:chunk": 2e-4,
    "disk:extent": 1e-4,
    "disk:span": 1e-9,
    "disk:stream": 5e-10,
}
KNOWN = Calibration(COSTS, made="2026-01-01T00:00:00+00:00", samples=100, took_s=60.0)


def test_a_prediction_is_the_sum_of_its_parts():
    found = KNOWN.predict(READ)
    assert math.isclose(found.seconds, sum(found.parts.values()))
    decode = 50 * 40_000 * 3e-9 + 50 * 1e4 * 5e-9 + 50 * 1e-5
    assert math.isclose(found.parts["decode"], decode)
    assert math.isclose(found.parts["chunks"], 50e-5) and found.most == "decode"
    assert found.counts == counts_of(READ)


def test_what_was_measured_of_the_file_takes_the_place_of_the_codec():
    found = KNOWN.predict(dataclasses.replace(READ, decode_s=1e-3))
    assert math.isclose(found.parts["decode"], 50e-3)


def test_opening_and_the_disk_come_on_top():
    warm = KNOWN.predict(READ).seconds
    cold = KNOWN.predict(dataclasses.replace(READ, cache="cold"))
    assert math.isclose(cold.parts["disk"], 1e-4 + 50 * 1e4 * 5e-10)
    assert math.isclose(cold.seconds - warm, cold.parts["disk"])
    opened = KNOWN.predict(dataclasses.replace(READ, opens=True))
    assert math.isclose(opened.seconds - warm, 5e-3)


def test_a_library_on_top_of_another_costs_more_a_call():
    over = KNOWN.predict(dataclasses.replace(READ, library="h5netcdf"))
    assert math.isclose(over.seconds - KNOWN.predict(READ).seconds, 1e-3)


def test_what_was_not_calibrated_is_named_and_not_guessed():
    zstd = dataclasses.replace(DEFLATE, codec="zstd", shuffle=False)
    with pytest.raises(UncalibratedError, match=r"'zstd' is not calibrated for h5py: deflate"):
        KNOWN.predict(dataclasses.replace(READ, layout=zstd))
    with pytest.raises(UncalibratedError, match=r"'netcdf4' is not calibrated .*h5py"):
        KNOWN.predict(dataclasses.replace(READ, library="netcdf4"))
    plain = dataclasses.replace(READ, layout=Layout("netcdf4"), chunk_bytes=None)
    with pytest.raises(UncalibratedError, match="contiguous"):
        KNOWN.predict(plain)
    # Measured on the file, the codec need not be known.
    assert KNOWN.predict(dataclasses.replace(READ, layout=zstd, decode_s=1e-3)).seconds > 0.05


def test_zarr_decodes_on_all_cores(monkeypatch):
    monkeypatch.setattr("hyperslab.tune.advice.costs.LANES", 2)
    layout = Layout("zarr2", chunks=(1, 100, 100), codec="zstd")
    read = Read((50, 100, 100), "f4", layout, SERIES, "zarr", 1e4)
    assert terms(read, counts_of(read))["zarr/zstd:out"] == 25 * 40_000
    one = dataclasses.replace(read, selections=((3, 5, 5),))
    assert terms(one, counts_of(one))["zarr/zstd:out"] == 40_000


def test_of_typical_costs_more_chunks_take_longer_and_the_disk_adds():
    def seconds(chunks, **options):
        layout = Layout("netcdf4", chunks, "deflate", 4)
        read = Read((100, 90, 90), "f4", layout, SERIES, "netcdf4", 1e4, **options)
        return ROUGH.predict(read).seconds

    assert seconds((1, 90, 90)) > seconds((100, 9, 9))
    assert seconds((1, 90, 90), cache="cold") > seconds((1, 90, 90))


def test_a_calibration_survives_its_records():
    again = from_rows(cost_rows(KNOWN))
    assert again.costs == KNOWN.costs
    said = {row["case"]: row["hints"] for row in refusals(again)}
    assert "szip" in said["a codec"] and "hidefix" in said["a library"]
