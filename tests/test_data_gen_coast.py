"""Coastlines: known places lie on the right side of them."""

import numpy as np

from data_gen import coast

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
