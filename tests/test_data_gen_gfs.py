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


def test_a_pole_is_one_place_and_longitudes_meet(frame):
    assert np.ptp(frame[:, [0, -1]], axis=2).max() < 0.05
    seam = np.abs(frame[:, :, 0] - frame[:, :, -1]).mean()
    assert seam == pytest.approx(np.abs(np.diff(frame, axis=2)).mean(), rel=0.15)


def test_sizes_are_those_of_table_1(frame):
    """Of a sixth of the rows, in bands as wide as what zlib looks back on."""
    known = document("penard2025", "table 1")["temperature"]
    bands = np.concatenate([frame[:, row : row + 20] for row in range(0, 700, 120)], axis=1)
    scale = 13 * frame.size / bands.size
    planes = bands.view("u1").reshape(-1, 4).T
    for name, size in {
        "netCDF-4": scale * len(zlib.compress(bands, 4)),
        "netCDF-4, shuffle": scale * len(zlib.compress(planes.tobytes(), 4)),
        "Zarr, Blosc": 13 * len(Blosc("lz4", 5, Blosc.SHUFFLE).encode(np.ascontiguousarray(frame))),
    }.items():
        assert size == pytest.approx(known[name], rel=0.03), name
