"""Fields as they were observed, and arrays of known numbers."""

import zlib

import numpy as np
import pytest
from numcodecs import Blosc

import data_gen
from data_gen import arrays, physics
from data_gen.gfs import GFS
from data_gen.ocean import FILL, Currents, Ocean
from data_gen.radar import COVERAGE, NO_COVERAGE, NO_ECHO, SCALE
from hyperslab.study.page import document


def test_a_selection_is_the_same_part_of_the_whole():
    whole = np.arange(7 * 5 * 11, dtype="i4").reshape(7, 5, 11)
    for shape in (*arrays.SMALL.values(), *arrays.LARGE.values()):
        index = tuple(n - 2 for n in shape)
        assert arrays.values(shape, index) == np.ravel_multi_index(index, shape)
    for selection in [(), (slice(1, 6, 2), 3), (-1,), (slice(None), slice(4, 1, -1), slice(2, 4))]:
        assert np.array_equal(arrays.values(whole.shape, selection), whole[selection])
    wrapped = arrays.values((40000,), (slice(32766, 32770),), "i2")
    assert wrapped.tolist() == [32766, 32767, 0, 1]
    with pytest.raises(IndexError):
        arrays.values((3, 4), (3,))


@pytest.fixture(scope="module")
def sea():
    return Currents()


def test_land_holds_the_fill_value_and_sea_does_not_in_any_seed(sea):
    assert (Currents(Ocean(seed=1)).land == sea.land).all()
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


def test_currents_are_as_large_as_those_of_table_1(sea):
    """Two frames of each component, scaled: chunks are compressed one by one."""
    documented = document("penard2025", "table 1")["ocean"]
    frames = [np.ascontiguousarray(c) for step in (10, 60) for c in sea.frame(step)]
    planes = [frame.view("u1").reshape(-1, 4).T for frame in frames]
    for name, parts in {"netCDF-4": frames, "netCDF-4, shuffle": planes}.items():
        size = 2 * 72 / len(parts) * sum(len(zlib.compress(part.tobytes(), 4)) for part in parts)
        assert size == pytest.approx(documented[name], rel=0.03), name


@pytest.fixture(scope="module")
def frame():
    return GFS().frame(6)


def test_waves_move_east(frame):
    both = frame, GFS().frame(12)
    first, later = (each[physics.LEVEL[300]][120:200].astype("f8") for each in both)
    shifts = range(-20, 21)
    alike = [(np.roll(first, s, axis=1) * later).mean() for s in shifts]
    assert shifts[int(np.argmax(alike))] > 0


def test_a_pole_is_one_place_and_longitudes_meet(frame):
    assert np.ptp(frame[:, [0, -1]], axis=2).max() < 0.05
    seam = np.abs(frame[:, :, 0] - frame[:, :, -1]).mean()
    assert seam == pytest.approx(np.abs(np.diff(frame, axis=2)).mean(), rel=0.15)


def test_temperature_is_as_large_as_that_of_table_1(frame):
    """Of a sixth of the rows, in bands as wide as what zlib looks back on."""
    documented = document("penard2025", "table 1")["temperature"]
    bands = np.concatenate([frame[:, row : row + 20] for row in range(0, 700, 120)], axis=1)
    scale = 13 * frame.size / bands.size
    planes = bands.view("u1").reshape(-1, 4).T
    for name, size in {
        "netCDF-4": scale * len(zlib.compress(bands, 4)),
        "netCDF-4, shuffle": scale * len(zlib.compress(planes.tobytes(), 4)),
        "Zarr, Blosc": 13 * len(Blosc("lz4", 5, Blosc.SHUFFLE).encode(np.ascontiguousarray(frame))),
    }.items():
        assert size == pytest.approx(documented[name], rel=0.03), name


@pytest.fixture(scope="module", params=["tile1", "tile2", "tile4"])
def tile(request):
    part = data_gen.dataset("radar", tile=request.param).draw(0)
    return request.param, {name: values for name, (_, values) in part.items()}


def test_every_product_shows_the_same_network(tile):
    name, products = tile
    assert (products["cref"] > NO_ECHO).mean() == pytest.approx(COVERAGE[name], rel=0.05)
    blind = products["cref"] == NO_COVERAGE
    assert 0 < blind.mean() < 0.1
    assert list(products) == list(SCALE)
    for values in products.values():
        assert (values.shape, values.dtype) == ((1501, 2001), np.int16)
        assert ((values == NO_COVERAGE) == blind).all()
        assert not ((values < 0) & (values != NO_ECHO) & ~blind).any()


def test_the_tile_compresses_as_the_documents(tile):
    documented, (name, products) = document("lee2008", "table 5"), tile
    raw = sum(values.nbytes for values in products.values())
    packed = sum(len(zlib.compress(values.tobytes(), 1)) for values in products.values())
    assert raw / packed == pytest.approx(documented[f"tile {name[-1]}"], rel=0.05)
