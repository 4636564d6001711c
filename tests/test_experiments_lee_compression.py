"""Compression: samples on tiny tiles, wrong values, and break-even rates of known records."""

from functools import partial

import numpy as np
import pytest
from made_claims import COMMON, timed

from hyperslab.analysis import break_even
from hyperslab.experiments import lee_compression as radar
from hyperslab.io.layout import Layout
from hyperslab.measure.records import frame_of


def test_wrong_values_are_noticed(tmp_path):
    path, truth = tmp_path / "values.npy", np.arange(2.0, 26, dtype="f4").reshape(2, 3, 4)
    np.save(path, truth)
    exact = radar.Tile(path, path, Layout()).same
    rounded = radar.Tile(path, path, Layout(quantize=("bitround", 7))).same
    assert exact(list(truth)) and not exact(list(truth[:1]))
    for factor, within in ((1 + 2**-9, True), (1 + 2**-7, False)):
        changed = list(truth * np.float32(factor))
        assert rounded(changed) == within and not exact(changed)


def known():
    """Records of two tiles; compressed they take 0.1 and 0.3 s more for 20 MB less."""
    rows = []
    for data, extra in (("tile 1", 0.1), ("tile 2", 0.3)):
        for way, cpu, size in (("none", 0.02, 24e6), ("deflate 1", 0.02 + extra, 4e6)):
            row = {**COMMON, "experiment": "write", "data": data, "compression": way}
            row |= {"case": f"{data}, {way}", "phase": "write", "user_s": cpu, "sys_s": 0.0}
            rows += timed(cpu, **row, file_bytes=size)
    return frame_of(rows, ["data", "compression"])


@pytest.mark.parametrize(("where", "rate"), [({"data": "tile 1"}, 20e7), ({}, 20e6 / 0.2)])
def test_the_break_even_rate_is_bytes_saved_over_time_spent(where, rate):
    costs = partial(break_even.costs, phases=["write"], where=where)
    cost = costs(known(), "compression", "data", "none").loc["deflate 1"]
    assert cost["rate"].value == pytest.approx(rate) and cost["plain_bytes"] == 24e6
    slower, quicker = break_even.relative_time(cost, [1.1 * rate, 0.9 * rate])[0]
    assert slower > 1 > quicker
    lost = known().assign(status=lambda rows: np.where(rows["wall_s"] > 0.1, "no plugin", "ok"))
    assert list(costs(lost, "compression", "data", "none").index) == ["none"]
