"""Fields as they were observed, coasts where they are, and arrays of known numbers."""

import zlib

import numpy as np
import pytest
from numcodecs import Blosc

import data_gen
from data_gen import arrays, coast, physics
from data_gen.gfs import GFS
from data_gen.ocean import FILL, Currents, Ocean
from data_gen.radar import COVERAGE, NO_COVERAGE, NO_ECHO, SCALE
from hyperslab.study.page import document

SEA = {
    "Gulf of Lion": (4.5, 42.0), "Alboran": (-3.0, 36.0), "Adriatic": (16.0, 42.6),
    "Ionian": (18.5, 37.0), "Levantine": (31.0, 33.5), "north Aegean": (25.0, 39.5),
    "Gulf of Gabes": (11.0, 34.2), "Gibraltar": (-5.45, 35.95), "Atlantic": (-14.0, 38.0),
}  # fmt: skip
LAND = {
    "Madrid": (-3.7, 40.4), "Rome": (12.6, 42.0), "Cairo": (31.2, 30.3), "Ankara": (32.9, 39.9),
    "Corsica": (9.1, 42.2), "Sardinia": (9.0, 40.1), "Sicily": (14.0, 37.5), "Crete": (24.9, 35.2),
    "Cyprus": (33.0, 35.0), "Black Sea, masked": (33.0, 43.0), "Biscay, masked": (-4.0, 44.5),
}  # fmt: skip
WORLD_LAND = {"Kansas": (-98, 39), "Amazon": (-60, -5), "Sahara": (10, 25), "Siberia": (100, 62)}
WORLD_SEA = {"Pacific": (-150, 0), "Atlantic": (-40, 30), "Indian": (80, -20), "Southern": (0, -60)}


def on_land(point, *texts):
    lon, lat = (np.full((1, 1), x, float) for x in point)
    return any(coast.land(lon, lat, text)[0, 0] for text in texts)


def test_places_lie_where_they_do():
    basin = coast.MAINLAND, coast.ISLANDS
    assert [name for name, point in SEA.items() if on_land(point, *basin)] == []
    assert [name for name, point in LAND.items() if not on_land(point, *basin)] == []
    assert [name for name, point in WORLD_SEA.items() if on_land(point, coast.WORLD)] == []
    assert [name for name, point in WORLD_LAND.items() if not on_land(point, coast.WORLD)] == []


def test_a_selection_is_the_same_part_of_the_whole():
    whole = np.arange(7 * 5 * 11, dtype="i4").reshape(7, 5, 11)
    for shape in (*arrays.SMALL.values(), *arrays.LARGE.values()):
        index = tuple(n - 2 for n in shape)
        assert arrays.values(shape, index) == np.ravel_multi_index(index, shape)
    for selection in [(), (slice(1, 6, 2), 3), (-1,), (slice(None), slice(4, 1, -1), slice(2, 4))]:
        assert np.array_equal(arrays.values(whole.shape, selection), whole[selection])


def test_integers_wrap_within_their_type_and_an_index_outside_is_an_error():
    values = arrays.values((40000,), (slice(32766, 32770),), "i2")
    assert values.tolist() == [32766, 32767, 0, 1]
    with pytest.raises(IndexError):
        arrays.values((3, 4), (3,))


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


def test_currents_are_as_large_as_those_of_table_1(sea):
    """Two frames of each component, scaled: chunks are compressed one by one."""
    known = document("penard2025", "table 1")["ocean"]
    frames = [np.ascontiguousarray(c) for step in (10, 60) for c in sea.frame(step)]
    planes = [frame.view("u1").reshape(-1, 4).T for frame in frames]
    for name, parts in {"netCDF-4": frames, "netCDF-4, shuffle": planes}.items():
        size = 2 * 72 / len(parts) * sum(len(zlib.compress(part.tobytes(), 4)) for part in parts)
        assert size == pytest.approx(known[name], rel=0.03), name


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


PRODUCTS = {}
RATIOS = document("lee2008", "table 5")


@pytest.fixture(params=["tile1", "tile2", "tile4"])
def tile(request):
    if request.param not in PRODUCTS:
        part = data_gen.dataset("radar", tile=request.param).draw(0)
        PRODUCTS[request.param] = {name: values for name, (_, values) in part.items()}
    return request.param, PRODUCTS[request.param]


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
    name, products = tile
    raw = sum(values.nbytes for values in products.values())
    packed = sum(len(zlib.compress(values.tobytes(), 1)) for values in products.values())
    assert raw / packed == pytest.approx(RATIOS[f"tile {name[-1]}"], rel=0.05)
