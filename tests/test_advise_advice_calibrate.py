"""Calibrations: fitted, kept, refused when they no longer fit."""

import dataclasses
import datetime
import json
import math
from pathlib import Path

import numpy as np
import pytest

from hyperslab.advise.advice.predictors import Modelled, Rough, known
from hyperslab.advise.model import (
    Calibration,
    NoCalibrationError,
    Read,
    Reading,
    StaleCalibrationError,
    calibrate,
    measure_codec,
    predict,
    probe,
)
from hyperslab.advise.model.calibration import cache_folder
from hyperslab.advise.model.measured.calibrate import fit, typical
from hyperslab.advise.model.measured.experiment import File, files, measured
from hyperslab.advise.model.measured.fields import TEXTURES, field
from hyperslab.advise.model.measured.fit import Sample, fitted, spread
from hyperslab.advise.model.measured.reading import checksum
from hyperslab.advise.model.terms import disk_terms, summed, terms
from hyperslab.measure.machine import identity, versions
from hyperslab.storage import Layout, write_array

NOW = datetime.datetime.now(datetime.UTC).isoformat()
MADE = Calibration(
    {"h5py/chunked:first": 1e-3, "h5py/deflate:out": 2e-9},
    {"": (0.9, 1.1)},
    identity(),
    versions(),
    NOW,
    9,
    1.0,
)


def test_it_is_kept_for_this_machine(tmp_path):
    place = MADE.save(tmp_path / "new")
    assert place.parent == tmp_path / "new"
    assert Calibration.load(tmp_path / "new") == MADE
    assert [p.name for p in place.parent.iterdir()] == [place.name]


def test_it_goes_into_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert MADE.save().parent == tmp_path / "hyperslab" == cache_folder()
    assert Calibration.load() == MADE


def test_a_study_s_own_comes_before_the_user_s(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert known(tmp_path / "study") == Rough()
    MADE.save(tmp_path / "study")
    assert known(tmp_path / "study") == Modelled(MADE)
    assert known() == Rough()
    assert known(tmp_path / "study", rough=True) == Rough()


def test_without_one_it_says_how_to_make_one(tmp_path):
    with pytest.raises(NoCalibrationError, match="--calibrate"):
        Calibration.load(tmp_path)


def test_what_cannot_be_read_is_said(tmp_path):
    place = MADE.save(tmp_path)
    place.write_text("{")
    with pytest.raises(NoCalibrationError, match="cannot be read"):
        Calibration.load(tmp_path)
    place.write_text(json.dumps({"form": 99}))
    with pytest.raises(StaleCalibrationError, match="counts other things"):
        Calibration.load(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"versions": versions() | {"h5py": "1.0"}}, "h5py was 1.0, is"),
        ({"made": "2020-01-01T00:00:00+00:00"}, "days old"),
    ],
)
def test_a_stale_one_is_refused_by_name(tmp_path, change, said):
    dataclasses.replace(MADE, **change).save(tmp_path)
    with pytest.raises(StaleCalibrationError, match=said):
        Calibration.load(tmp_path)


def test_one_of_another_machine_is_refused_by_name(tmp_path):
    other = dataclasses.replace(MADE, identity=identity() | {"cpu": "Abacus 1"})
    other.save(tmp_path)
    with pytest.raises(StaleCalibrationError, match="Abacus 1"):
        Calibration.load(tmp_path)
    with pytest.raises(StaleCalibrationError, match="cpu was Abacus 1, is"):
        other.check_fresh()


def test_costs_that_made_the_times_are_found_again():
    truth = {
        "plain/binary:first": 3e-4,
        "plain/binary:request": 2e-6,
        "plain/binary:raw": 3e-10,
        "disk:extent": 1e-4,
        "disk:byte": 1e-9,
    }
    samples = []
    for n in (10, 100, 1000):
        for chosen in ((...,), ((slice(None), 3),), ((slice(2, 5), slice(None)),)):
            for cache in ("warm", "cold"):
                read = Read((n, 5000), "f4", Layout("binary"), chosen, "plain", cache=cache)
                counts = terms(read) | (disk_terms(read) if cache == "cold" else {})
                samples.append(Sample(read, summed(counts, truth), f"{n}"))
    costs = fitted(samples)
    for sample in samples:
        read = sample.read
        counts = terms(read) | (disk_terms(read) if read.cache == "cold" else {})
        assert math.isclose(summed(counts, costs), sample.seconds, rel_tol=0.02)
    assert all(0.9 < low <= high < 1.1 for low, high in spread(samples).values())


def test_textures_are_the_same_each_time_and_differ():
    drawn = {texture: field(texture, (2, 64, 64), "f4") for texture in TEXTURES}
    for texture, values in drawn.items():
        np.testing.assert_array_equal(values, field(texture, (2, 64, 64), "f4"))
    assert np.isnan(drawn["land"]).any() and (drawn["sparse"] == 0).mean() > 0.5
    assert (field("land", (2, 64, 64), "i2") == -999).any()
    with pytest.raises(ValueError, match="noisy"):
        field("rough", (2, 2), "f4")


def test_every_library_and_codec_is_read(tmp_path):
    made = [(file, file.make(tmp_path)) for file in files(32, ("deflate", "zstd"))]
    reads = list(measured(made))
    assert len({one.name for one in reads}) == len(reads)
    libraries = {one.reading.read.library for one in reads}
    assert {"netcdf4", "h5py", "zarr", "plain", "subchunk", "xarray-netcdf4"} <= libraries
    for one in reads[::37]:
        assert terms(one.reading.read)
        assert one.case().cache_state == one.reading.read.cache


def test_what_a_quarter_stays_below_is_typical():
    assert typical([4.0, 1.0, 2.0, 3.0, 90.0]) == 2.0


def test_a_calibration_without_times_is_none():
    with pytest.raises(NoCalibrationError):
        fit([], {}, 0.0)


def test_a_small_calibration_predicts_and_probes(tmp_path):
    made = calibrate(
        0, ("h5py", "plain"), codecs=("deflate",), workdir=tmp_path, side=64, progress=False
    )
    assert made.libraries == ("h5py", "plain")
    assert made.codecs("h5py") == ("deflate", "deflate+shuffle")
    assert list(tmp_path.iterdir()) == []
    made.save(tmp_path)
    Calibration.load(tmp_path)

    values = field("packed", (4, 64, 64), "f4")
    layout = Layout("netcdf4", chunks=(1, 64, 64), codec="deflate", shuffle=True)
    path = tmp_path / "file.nc"
    write_array(path, values, layout)
    read = Read(values.shape, "f4", layout, ((slice(None), 3, 3),), "h5py", 9e3)
    blind = predict(read, made)
    assert 0 < blind.low <= blind.seconds <= blind.high
    probed = probe(Reading(path, read), made)
    assert probed.decode_s is not None and probed.decode_s >= 0
    assert predict(probed, made).seconds > 0
    found = measure_codec(values, layout, "h5py", made, tmp_path)
    assert 0 < found.chunk_bytes < 4 * 64 * 64
    plain = Read((8, 8), "f4", Layout("netcdf4"), (...,), "h5py")
    assert probe(Reading(Path("nowhere"), plain), made) == plain


def test_what_was_read_is_checked():
    assert checksum(np.array([[1, 2], [3, 4]], "u1")[:, ::-1]) == 10
    assert File("a", "land", (1, 8, 8), "i2", Layout("netcdf4")).values().dtype == "i2"
