"""Radar tiles: products that agree with each other, and compress as the document's."""

import zlib

import numpy as np
import pytest

import data_gen
from data_gen.radar import COVERAGE, NO_COVERAGE, NO_ECHO, SCALE, Storms, Tile
from hyperslab.study.page import document

PRODUCTS = {}
RATIOS = document("lee2008", "table 5")


@pytest.fixture(params=["tile1", "tile2", "tile4"])
def tile(request):
    if request.param not in PRODUCTS:
        part = data_gen.dataset("radar", tile=request.param).draw(0)
        PRODUCTS[request.param] = {name: values for name, (_, values) in part.items()}
    return request.param, PRODUCTS[request.param]


def test_echo_covers_what_it_should(tile):
    name, products = tile
    assert (products["cref"] > NO_ECHO).mean() == pytest.approx(COVERAGE[name], rel=0.05)


def test_every_product_shows_the_same_network(tile):
    _, products = tile
    blind = products["cref"] == NO_COVERAGE
    assert 0 < blind.mean() < 0.1
    assert list(products) == list(SCALE)
    for values in products.values():
        assert (values.shape, values.dtype) == ((1501, 2001), np.int16)
        assert ((values == NO_COVERAGE) == blind).all()
        assert not ((values < 0) & (values != NO_ECHO) & ~blind).any()


def test_products_agree(tile):
    _, products = tile
    has = {name: values > NO_ECHO for name, values in products.items()}
    real = {name: values / SCALE[name] for name, values in products.items()}
    hail = has["shi"]
    assert hail.any()
    assert not (has["etop30"] & ~has["etop18"]).any()
    assert (real["etop30"] < real["etop18"])[has["etop30"]].all()
    assert real["cref"][hail].min() >= 40
    assert (has["mehs"] == hail).all()
    assert real["mehs"][hail] == pytest.approx(2.54 * np.sqrt(real["shi"][hail]), abs=0.006)
    assert not (has["posh"] & ~hail).any()
    assert real["posh"].max() <= 100
    assert real["lcref"][has["lcref"]].max() <= real["cref"].max()
    assert 45 < real["cref"].max() < 75
    assert real["etop18"].max() < 20
    assert real["vil"].max() < 120


def test_the_tile_compresses_as_the_documents(tile):
    name, products = tile
    raw, first, last = (
        sum(len(pack(values.tobytes())) for values in products.values())
        for pack in (bytes, lambda b: zlib.compress(b, 1), lambda b: zlib.compress(b, 9))
    )
    assert raw / first == pytest.approx(RATIOS[f"tile {name[-1]}"], rel=0.05)
    assert 0.04 < 1 - last / first < 0.13


def test_drawing_twice_is_the_same_and_another_seed_is_not():
    storms = Storms(nlat=150, nlon=200, cells=9)
    once, again = Tile(storms).products(), Tile(storms).products()
    other = Tile(Storms(nlat=150, nlon=200, cells=9, seed=1)).products()
    assert all(once[name].tobytes() == again[name].tobytes() for name in SCALE)
    assert once["cref"].tobytes() != other["cref"].tobytes()


def test_calm_weather_without_cells_or_lines_has_no_hail():
    products = Tile(Storms(nlat=150, nlon=200, cells=0, lines=0)).products()
    assert (products["shi"] <= NO_ECHO).all()
    assert (products["cref"] > NO_ECHO).any()
