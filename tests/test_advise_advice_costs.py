"""Predictions: parts that add up, and nothing guessed."""

import dataclasses
import math

import pytest

from hyperslab.advise.model import (
    Calibration,
    Read,
    UncalibratedError,
    UnknownCodecError,
    UnknownLibraryError,
    geometry,
    predict,
)
from hyperslab.advise.model.measured.held_out import cost_rows, from_rows, refusals
from hyperslab.advise.model.terms import disk_terms, regimes, terms, worker
from hyperslab.storage import Layout

DEFLATE = Layout("netcdf4", chunks=(1, 100, 100), codec="deflate", shuffle=True)
SERIES = ((slice(None), 5, 5),)
READ = Read((50, 100, 100), "f4", DEFLATE, SERIES, "h5py", 1e4)
COSTS = {
    "h5py/chunked:first": 1e-3,
    "h5py/chunked:chunk": 1e-5,
    "h5py/chunked:new": 1e-10,
    "h5py/chunked:run": 1e-8,
    "h5py/chunked:small": 1e-9,
    "h5py/chunked:open": 5e-3,
    "h5netcdf/chunked:first": 2e-3,
    "h5py/deflate+shuffle:out": 3e-9,
    "h5py/deflate+shuffle:in": 5e-9,
    "h5py/deflate+shuffle:each": 1e-5,
    "zarr/zarr:first": 4e-3,
    "zarr/zarr:chunk": 2e-4,
    "disk:extent": 1e-4,
    "disk:byte": 1e-9,
    "disk:stream": 5e-10,
}
SPREAD = {"": (0.5, 2.0), "h5py/chunked, deflate+shuffle, warm": (0.8, 1.3)}
KNOWN = Calibration(COSTS, SPREAD, {}, {}, "2026-01-01T00:00:00+00:00", 100, 60.0)


def test_a_prediction_is_the_sum_of_its_parts():
    found = predict(READ, KNOWN)
    assert math.isclose(found.seconds, sum(found.parts.values()))
    decode = 50 * 40_000 * 3e-9 + 50 * 1e4 * 5e-9 + 50 * 1e-5
    assert math.isclose(found.parts["decode"], decode)
    assert math.isclose(found.parts["chunks"], 50e-5) and found.most == "decode"
    assert (found.low, found.high) == (0.8 * found.seconds, 1.3 * found.seconds)
    assert found.counts == geometry(READ)


def test_what_was_measured_of_the_file_takes_the_place_of_the_codec():
    found = predict(dataclasses.replace(READ, decode_s=1e-3), KNOWN)
    assert math.isclose(found.parts["decode"], 50e-3)


def test_opening_and_the_disk_come_on_top():
    warm = predict(READ, KNOWN).seconds
    cold = predict(dataclasses.replace(READ, cache="cold"), KNOWN)
    assert math.isclose(cold.parts["disk"], 1e-4 + 50 * 1e4 * 5e-10)
    assert math.isclose(cold.seconds - warm, cold.parts["disk"])
    opened = predict(dataclasses.replace(READ, opens=True), KNOWN)
    assert math.isclose(opened.seconds - warm, 5e-3)


def test_a_library_on_top_of_another_costs_more_a_call():
    over = predict(dataclasses.replace(READ, library="h5netcdf"), KNOWN)
    assert math.isclose(over.seconds - predict(READ, KNOWN).seconds, 1e-3)
    assert worker(dataclasses.replace(READ, library="h5netcdf")) == "h5py/chunked"


def test_what_was_not_calibrated_is_named_and_not_guessed():
    zstd = dataclasses.replace(DEFLATE, codec="zstd", shuffle=False)
    with pytest.raises(UnknownCodecError, match=r"'zstd' is not calibrated for h5py: deflate"):
        predict(dataclasses.replace(READ, layout=zstd), KNOWN)
    with pytest.raises(UnknownLibraryError, match=r"'netcdf4' is not calibrated: .*h5py"):
        predict(dataclasses.replace(READ, library="netcdf4"), KNOWN)
    plain = dataclasses.replace(READ, layout=Layout("netcdf4"), chunk_bytes=None)
    with pytest.raises(UnknownLibraryError, match="contiguous"):
        predict(plain, KNOWN)
    # Measured on the file, the codec need not be known.
    assert predict(dataclasses.replace(READ, layout=zstd, decode_s=1e-3), KNOWN).seconds > 0.05
    assert issubclass(UnknownCodecError, UncalibratedError)


def test_zarr_decodes_on_all_cores(monkeypatch):
    monkeypatch.setattr("hyperslab.advise.model.terms.LANES", 2)
    layout = Layout("zarr2", chunks=(1, 100, 100), codec="zstd")
    read = Read((50, 100, 100), "f4", layout, SERIES, "zarr", 1e4)
    assert terms(read)["zarr/zstd:out"] == 25 * 40_000
    one = dataclasses.replace(read, selections=((3, 5, 5),))
    assert terms(one)["zarr/zstd:out"] == 40_000


def test_regimes_go_from_narrow_to_wide():
    assert regimes(READ) == (
        "h5py/chunked, deflate+shuffle, warm",
        "h5py/chunked, deflate+shuffle",
        "",
    )
    assert set(disk_terms(READ)) >= {"disk:extent", "disk:stream"}


def test_a_calibration_survives_its_records():
    again = from_rows(cost_rows(KNOWN))
    assert (again.costs, again.spread) == (KNOWN.costs, KNOWN.spread)
    said = {row["case"]: row["hints"] for row in refusals(again)}
    assert "UnknownCodecError" in said["a codec"] and "hidefix" in said["a library"]
