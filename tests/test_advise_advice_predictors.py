"""What predicts: the calibration of this machine, or typical costs where there is none."""

import pytest

from hyperslab.advise.advice import predictors
from hyperslab.advise.advice.predictors import Modelled, Rough, known, predictor
from hyperslab.advise.model import NoCalibrationError, Read
from hyperslab.io import Layout

SERIES = ((slice(None), 5, 5),)


def read(chunks, **options):
    layout = Layout("netcdf4", chunks, "deflate", 4)
    return Read((100, 90, 90), "f4", layout, SERIES, "netcdf4", 1e4, **options)


class Made:
    """A calibration that somebody made."""

    def save(self):
        return "a place"


@pytest.fixture
def absent(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_more_chunks_take_longer_and_the_disk_and_the_network_add():
    rough = Rough()
    wide, deep = rough.seconds(read((1, 90, 90))), rough.seconds(read((100, 9, 9)))
    assert wide > deep
    assert rough.seconds(read((1, 90, 90), cache="cold")) > wide


def test_without_a_calibration_costs_are_typical(absent):
    assert isinstance(known(), Rough)
    assert isinstance(predictor(rough=True), Rough)


def test_a_machine_is_calibrated_once(absent, monkeypatch):
    made = []

    def calibrate(**options):
        made.append(options)
        return Made()

    monkeypatch.setattr("hyperslab.advise.model.calibrate", calibrate)
    said = []
    found = predictor(say=said.append)
    assert isinstance(found, Modelled)
    assert len(made) == 1
    assert "in under two minutes (this machine has no calibration yet" in said[0]
    assert said[1] == "calibrated: a place"


def test_one_that_is_there_is_taken_unless_it_is_asked_for_anew(monkeypatch):
    there = object()
    monkeypatch.setattr("hyperslab.advise.model.Calibration.load", lambda *_: there)
    monkeypatch.setattr("hyperslab.advise.model.calibrate", lambda **_: Made())
    assert predictor().calibration is there
    assert known().calibration is there
    assert isinstance(predictor(again=True).calibration, Made)


def test_one_that_is_stale_is_made_anew(monkeypatch):
    def load(*_):
        raise NoCalibrationError("it is of other libraries")

    monkeypatch.setattr("hyperslab.advise.model.Calibration.load", load)
    monkeypatch.setattr("hyperslab.advise.model.calibrate", lambda **_: Made())
    said = []
    assert predictors.predictor(say=said.append).name.startswith("the cost model")
    assert "it is of other libraries" in said[0]
