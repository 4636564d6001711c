"""Calibrations: fitted, kept, refused when they no longer fit."""

import dataclasses
import datetime
import math

import pytest

from hyperslab.io import Layout, write_array
from hyperslab.measure.machine import identity, versions
from hyperslab.tune.advice import calibrate as measuring
from hyperslab.tune.advice.calibrate import calibrate, field, fitted
from hyperslab.tune.advice.costs import ROUGH, Calibration, NoCalibrationError, terms
from hyperslab.tune.advice.counts import Read, counts_of
from hyperslab.tune.advice.kept_costs import ensured, known, load, save
from hyperslab.tune.advice.sample import decode_seconds, pack

NOW = datetime.datetime.now(datetime.UTC).isoformat()
COSTS = {"h5py/chunked:first": 1e-3, "h5py/deflate:out": 2e-9}
MADE = Calibration(COSTS, identity(), versions(), NOW, 9, 1.0)


def test_it_is_kept_for_this_machine_and_refused_when_it_no_longer_fits(tmp_path):
    place = save(MADE, tmp_path / "new")
    assert load(tmp_path / "new") == MADE
    assert list((tmp_path / "new").iterdir()) == [place]
    for content, said in (("{", "cannot be read"), ('{"form": 99}', "counts other things")):
        place.write_text(content)
        with pytest.raises(NoCalibrationError, match=said):
            load(tmp_path / "new")
    for change, said in (
        ({"versions": versions() | {"h5py": "1.0"}}, "h5py was 1.0, is"),
        ({"made": "2020-01-01T00:00:00+00:00"}, "days old"),
    ):
        save(dataclasses.replace(MADE, **change), tmp_path)
        with pytest.raises(NoCalibrationError, match=said):
            load(tmp_path)
    save(dataclasses.replace(MADE, identity=identity() | {"cpu": "Abacus 1"}), tmp_path / "other")
    with pytest.raises(NoCalibrationError, match="no calibration yet"):
        load(tmp_path / "other")


def test_a_study_s_own_comes_before_the_user_s(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert known(tmp_path / "study") is ROUGH
    save(MADE, tmp_path / "study")
    assert known(tmp_path / "study") == MADE
    assert known() is ROUGH
    assert known(tmp_path / "study", rough=True) is ROUGH


def test_a_machine_is_calibrated_once_or_when_asked(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked, said = [], []
    monkeypatch.setattr(measuring, "calibrate", lambda **options: asked.append(options) or MADE)
    assert ensured(say=said.append) == ensured() == MADE
    assert len(asked) == 1 and "this machine has no calibration yet" in said[0]
    ensured(again=True, workdir=tmp_path)
    assert asked[1]["workdir"] == tmp_path


def test_costs_that_made_the_times_are_found_again():
    truth = {
        "plain/binary:first": 3e-4,
        "plain/binary:request": 2e-6,
        "plain/binary:raw": 3e-10,
        "disk:extent": 1e-4,
        "disk:span": 1e-9,
    }

    def seconds(read, costs):
        counts = terms(read, counts_of(read))
        return sum(number * costs.get(name, 0.0) for name, number in counts.items())

    reads = [
        Read((n, 5000), "f4", Layout("binary"), chosen, "plain", cache=cache)
        for n in (10, 100, 1000)
        for chosen in ((...,), ((slice(None), 3),), ((slice(2, 5), slice(None)),))
        for cache in ("warm", "cold")
    ]
    costs = fitted([(read, seconds(read, truth)) for read in reads])
    for read in reads:
        assert math.isclose(seconds(read, costs), seconds(read, truth), rel_tol=0.02)


def test_a_small_calibration_predicts_and_times_decoding(tmp_path, monkeypatch):
    known = measuring._selections
    few = ("whole", "series", "box")
    monkeypatch.setattr(measuring, "_selections", lambda s: {n: known(s)[n] for n in few})
    made = calibrate(0, ("h5py",), codecs=("deflate",), workdir=tmp_path, side=32, progress=False)
    assert made.libraries == ("h5py",)
    assert made.codecs("h5py") == ("deflate", "deflate+shuffle")
    assert list(tmp_path.iterdir()) == []
    save(made, tmp_path)
    assert load(tmp_path) == made

    values = field("packed", (4, 64, 64), "f4")
    layout = Layout("netcdf4", chunks=(1, 64, 64), codec="deflate", shuffle=True)
    path = tmp_path / "file.nc"
    write_array(path, values, layout)
    read = Read(values.shape, "f4", layout, ((slice(None), 3, 3),), "h5py", 9e3)
    assert made.predict(read).seconds > 0
    decode_s = decode_seconds(read, path, made)
    assert decode_s >= 0
    assert made.predict(dataclasses.replace(read, decode_s=decode_s)).seconds > 0
    packed = pack(values, layout, "h5py", made, tmp_path)
    assert 0 < packed.value_bytes < 4 and packed.decode_s >= 0
    plain = Read((8, 8), "f4", Layout("netcdf4"), (...,), "h5py")
    assert decode_seconds(plain, tmp_path / "nowhere", made) is None
