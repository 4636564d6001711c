"""Compression: samples on tiny tiles, wrong values, and break-even rates of known records."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import data_gen
from data_gen.radar import SCALE
from hyperslab.analysis import break_even
from hyperslab.experiments import lee_compression as radar
from hyperslab.io.layout import Layout
from hyperslab.measure.records import frame_of
from hyperslab.text import Interval

SHAPE = (94, 125)
DEFLATE = Layout("netcdf4", chunks=SHAPE, codec="deflate", level=1)
PLAIN = Layout("netcdf4", chunks=SHAPE)
ROUNDED = Layout("netcdf4", chunks=SHAPE, codec="deflate", level=1, quantize=("bitround", 7))
LAYOUTS = {
    "tile 1": {"none": PLAIN, "Zstandard 3": replace(PLAIN, codec="zstd", level=3)},
    "tile 2": {"none": PLAIN, "deflate 1": DEFLATE},
    radar.DBZ: {"none": PLAIN, "rounded": ROUNDED, "as integers, deflate 1": DEFLATE},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two products of each tile, on a small grid."""
    values = tmp_path_factory.mktemp("scratch") / "values"
    found = radar.files(values, LAYOUTS)

    def whole(tile, path):
        source = data_gen.dataset("radar", tile=tile, nlat=SHAPE[0], nlon=SHAPE[1])
        data_gen.write(source, {path: DEFLATE}, sync=False)

    radar.make(found.values(), values, whole, SCALE, 2)
    return found


def test_wrong_values_are_noticed(files):
    exact = files["tile 1", "none"].same
    truth = np.load(exact.values)
    assert exact(list(truth)) and not exact(list(truth[:1]))
    truth[1, 3, 3] += 1
    assert not exact(list(truth))
    rounded = files[radar.DBZ, "rounded"].same
    values = np.load(rounded.values)
    assert rounded(list(values * np.float32(1 + 2**-9)))
    assert not rounded(list(values * np.float32(1 + 2**-7)))


@pytest.mark.parametrize("count", [0, 13])
def test_a_tile_has_twelve_products(count):
    with pytest.raises(ValueError, match="give 1 to 12"):
        radar.chosen(SCALE, count)


def known(blocks=7):
    """Records of two tiles; compressed they take 0.1 and 0.3 s more for 20 MB less."""
    for data, extra in (("tile 1", 0.1), ("tile 2", 0.3)):
        for way, cpu, size in (("none", 0.02, 24e6), ("deflate 1", 0.02 + extra, 4e6)):
            for block in range(blocks):
                yield {
                    "run_id": "r", "experiment": "write", "data": data, "compression": way,
                    "case": f"{data}, {way}", "block": block, "phase": "write", "status": "ok",
                    "user_s": cpu, "sys_s": 0.0, "wall_s": cpu, "file_bytes": size,
                }  # fmt: skip


@pytest.mark.parametrize(("where", "rate"), [({"data": "tile 1"}, 20e7), ({}, 20e6 / 0.2)])
def test_the_break_even_rate_is_bytes_saved_over_time_spent(where, rate):
    records = frame_of(known(), ["data", "compression"])
    found = break_even.costs(records, "compression", "data", "none", ["write"], where)
    cost = found.loc["deflate 1"]
    assert cost["rate"].value == pytest.approx(rate) and cost["plain_bytes"] == 24e6
    assert break_even.relative_time(cost, [rate])[0] == pytest.approx(1)


def test_what_failed_has_no_rate():
    records = frame_of(known(), ["data", "compression"])
    lost = records["compression"] == "deflate 1"
    records = records.assign(status=np.where(lost, "no plugin", "ok"))
    found = break_even.costs(records, "compression", "data", "none", ["write"], {})
    assert isinstance(found, pd.DataFrame) and list(found.index) == ["none"]


@given(
    st.floats(0, 10), st.floats(0, 10), st.floats(1, 1e9), st.floats(0, 1e9), st.floats(1e3, 1e12)
)
def test_below_the_break_even_rate_compression_is_quicker(cpu, extra, size, saved, rate):
    cost = {"plain_s": cpu, "bytes": size, "plain_bytes": size + saved}
    cost["extra_s"] = Interval(extra, extra, extra, 7)
    edge = break_even.rate(saved, cost["extra_s"]).value
    ratio = break_even.relative_time(cost, [rate])[0][0]
    if abs(extra - saved / rate) > 1e-6 * (cpu + (size + saved) / rate):  # or it rounds away
        assert (ratio < 1) == (rate < edge)
