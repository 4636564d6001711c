"""Surface currents: tangential at coasts, with the right spectrum, tide and size."""

import zlib

import numpy as np
import pytest

from data_gen.ocean import FILL, Currents, Ocean
from hyperslab.study.page import document


@pytest.fixture(scope="module")
def sea():
    return Currents()


def test_another_seed_is_another_ocean_in_the_same_basin(sea):
    other = Currents(Ocean(seed=1))
    assert other.frame(0)[0].tobytes() != sea.frame(0)[0].tobytes()
    assert (other.land == sea.land).all()


def test_land_holds_the_fill_value_and_sea_does_not(sea):
    for component in sea.frame(3):
        assert component.dtype == np.float32
        assert (component[sea.land] == FILL).all()
        assert np.abs(component[~sea.land]).max() < 2
        assert 0.1 < component[~sea.land].std() < 0.4


def test_inertial_motion_turns_clockwise():
    still = {"speed": 0.0, "boundary": 0.0, "tide": 0.0}
    sea = Currents(Ocean(**still))
    point = (100, 900)
    assert not sea.land[point]
    turning = [complex(*(float(c[point]) for c in sea.frame(hour))) for hour in range(4)]
    angles = np.diff(np.unwrap(np.angle(turning)))
    pendulum_hours = 12 / np.sin(np.deg2rad(float(sea.lat[point[0]])))
    assert angles == pytest.approx(-2 * np.pi / pendulum_hours, rel=0.01)


def test_sizes_are_those_of_table_1(sea):
    """Two frames of each component, scaled: chunks are compressed one by one."""
    known = document("penard2025", "table 1")["ocean"]
    frames = [np.ascontiguousarray(c) for step in (10, 60) for c in sea.frame(step)]
    planes = [frame.view("u1").reshape(-1, 4).T for frame in frames]
    for name, parts in {"netCDF-4": frames, "netCDF-4, shuffle": planes}.items():
        size = 2 * 72 / len(parts) * sum(len(zlib.compress(part.tobytes(), 4)) for part in parts)
        assert size == pytest.approx(known[name], rel=0.03), name
