"""Many small accesses: tiny arrays, exact counts, and verdicts on made-up records."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_claims import timed, verdicts

from hyperslab.experiments import lee_hyperslabs as small
from hyperslab.experiments.lee_hyperslabs import Way
from hyperslab.io.ways import Blocks, lasts


@given(st.tuples(st.integers(1, 12), st.integers(1, 12)), st.data())
def test_blocks_are_what_a_user_writes(shape, data):
    high = data.draw(st.integers(1, shape[0]))
    wide = shape[1] if high > 1 else data.draw(st.integers(1, shape[1]))
    most = data.draw(st.none() | st.integers(1, 200))
    blocks, array = Blocks(shape, (high, wide), most), np.arange(np.prod(shape)).reshape(shape)
    starts, indices = blocks.starts(), blocks.indices()
    assert len(starts) == len(indices) == min(most or 200, (shape[0] // high) * (shape[1] // wide))
    for (row, column), index in zip(starts, indices, strict=True):
        taken = array[row : row + high, column : column + wide]
        assert np.array_equal(np.reshape(array[index], taken.shape), taken)
    assert lasts([blocks]).tolist() == taken[-1].tolist()


def test_without_a_compiler_functions_are_counted_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(small, "in_c", lambda: False)
    chosen = {"c": Way("netCDF-C")}, {"python": Way("netCDF4")}
    assert {row["pattern"] for row in small.opened(tmp_path, *chosen)} == {"functions"}
    assert not list(tmp_path.iterdir())


def test_the_claims_find_their_cases(tmp_path):
    seconds = {"netCDF-C, from C": 0.020, "netCDF-C, from C, cache of 1 MB": 0.020,
               "netCDF-C, without filling": 0.018, "HDF5, from C": 0.010,
               "netCDF4-python": 0.250, "h5py": 0.030}  # fmt: skip
    rows, names, layouts = [], ("read", "write"), ("contiguous", "one chunk")
    for name, way, layout in product(names, seconds, layouts):
        row = {"experiment": name, "phase": name, "way": way, "layout": layout}
        row |= {"useful_bytes": 4e7, "user_s": 0.01, "sys_s": 0.0}
        for calls, wall_s in (("one call", 0.005), ("one call a row", seconds[way])):
            rows += timed(wall_s, pair=True, **row, calls=calls)
    found = verdicts(tmp_path, "lee_hyperslabs", rows, ["way", "layout", "calls"])
    hdf5, fix, eight = (found[f"lee-8{name}"].parts for name in ("-hdf5", "-fix", ""))
    writes = next(part for part in hdf5 if part.name == "C writes")
    assert writes.measured == pytest.approx(1.8), "both without filling"
    assert [part.verdict for part in hdf5] == ["holds"] * 4
    assert [part.verdict for part in fix][:2] == ["reversed", "refuted"]
    assert {part.verdict for part in eight} <= {"holds", "stronger"}
