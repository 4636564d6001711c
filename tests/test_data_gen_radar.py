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


def test_calm_weather_without_cells_or_lines_has_no_hail():
    products = Tile(Storms(nlat=150, nlon=200, cells=0, lines=0)).products()
    assert (products["shi"] <= NO_ECHO).all()
    assert (products["cref"] > NO_ECHO).any()
