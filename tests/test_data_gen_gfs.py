"""Temperature on pressure levels: climate, waves, packing and size."""

import zlib

import numpy as np
import pytest
from numcodecs import Blosc

from data_gen import physics
from data_gen.gfs import GFS
from hyperslab.study.page import document


@pytest.fixture(scope="module")
def air():
    return GFS()


@pytest.fixture(scope="module")
def frame(air):
    return air.frame(6)


def test_waves_move_east(air):
    first, later = (air.frame(t)[physics.LEVEL[300]][120:200].astype("f8") for t in (0, 12))
    shifts = range(-20, 21)
    alike = [(np.roll(first, s, axis=1) * later).mean() for s in shifts]
    assert shifts[int(np.argmax(alike))] > 0


def test_a_pole_is_one_place(frame):
    for level in frame[:, [0, -1]].reshape(-1, 1440):
        assert np.ptp(level) < 0.05


def test_longitudes_meet(frame):
    seam = np.abs(frame[:, :, 0] - frame[:, :, -1]).mean()
    inside = np.abs(np.diff(frame, axis=2)).mean()
    assert seam == pytest.approx(inside, rel=0.15)


def test_sizes_are_those_of_table_1(frame):
    """Of a third of the rows, in bands as wide as what zlib looks back on."""
    known = document("penard2025", "table 1")["temperature"]
    bands = np.concatenate([frame[:, row : row + 20] for row in range(0, 700, 60)], axis=1)
    scale = 13 * frame.size / bands.size
    raw = bands.tobytes()
    planes = bands.view("u1").reshape(-1, 4).T.tobytes()
    blosc = Blosc("lz4", 5, Blosc.SHUFFLE)
    assert scale * len(zlib.compress(raw, 4)) == pytest.approx(known["netCDF-4"], rel=0.03)
    assert scale * len(zlib.compress(planes, 4)) == pytest.approx(
        known["netCDF-4, shuffle"], rel=0.03
    )
    assert 13 * len(blosc.encode(np.ascontiguousarray(frame))) == pytest.approx(
        known["Zarr, Blosc"], 0.03
    )
    assert scale * len(zlib.compress(raw, 6)) == pytest.approx(known["NCZarr, zipped"], rel=0.03)
