"""The experiment on the chunk cache: the library asked, small sweeps counted, lines that run."""

from functools import partial

import netCDF4
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_layouts import in_layouts

from hyperslab.experiments import chunking_cache as cached
from hyperslab.io import chunk_cached
from hyperslab.io.chunk_cache import RULES
from hyperslab.io.experiment import Array
from hyperslab.io.layout import Layout
from hyperslab.measure.worker import Job, perform
from hyperslab.study import Case

MIB = 2**20


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Small chunks side by side, and one larger than the default cache of h5py."""
    found = {}
    for name, width, across in (("small", 2**11, 4), ("large", 33 * 2**11, 1)):
        shape = (32, across * width)
        array = Array(partial(cached.noise, shape), shape, "i4")
        layout = Layout("netcdf4", chunks=(32, width), codec="deflate", level=1)
        found |= in_layouts(tmp_path_factory.mktemp(name), array, {name: layout})
    return found


def test_the_library_grants_what_the_rule_of_its_build_says(tmp_path):
    rule = chunk_cached.build_rule()
    assert rule in RULES.values()
    for row in cached.granted(tmp_path):
        assert row["cache_bytes"] == rule.granted(row["useful_bytes"])
    own = pd.DataFrame(cached.granted(tmp_path, cached.OWN_BYTES))
    assert (own["cache_bytes"] == own["predicted_bytes"]).all()


def test_the_default_cache_ends_where_the_model_says(tmp_path):
    found, slots = (pd.DataFrame(of(tmp_path)) for of in (cached.edges, cached.slots))
    assert (found["useful_bytes"] == found["predicted_bytes"]).all()
    assert found["syscr"].tolist() == [0, 1, 0, 10]
    assert (slots["syscr"] == slots["predicted_reads"]).all()
    assert not list(tmp_path.iterdir())


@given(st.integers(1, 999), st.integers(-5, 1005))
def test_the_edge_is_found_whatever_is_guessed(edge, guess):
    assert cached.last_staying(lambda size: size <= edge, 1, 1000, guess) == edge


@pytest.mark.parametrize(
    ("name", "reader", "cache_bytes", "setting", "expected"),
    [
        ("small", "netcdf4", 0, "", 4),
        ("small", "netcdf4", MIB // 2, "", 12),
        ("large", "h5py", 17 * MIB, "rdcc_nbytes", 1),
        ("large", "h5netcdf", 17 * MIB, "dataset kept", 1),
        ("large", "xarray-netcdf4", 17 * MIB, "set_chunk_cache", 1),
        ("large", "xarray-h5netcdf", 17 * MIB, "rdcc_nbytes", 3),
    ],
)
def test_sweeps_fetch_what_was_predicted(files, name, reader, cache_bytes, setting, expected):
    work = cached.RowByRow(files[name], 3, reader, cache_bytes, setting)
    case = Case({"reader": reader}, work).ready("warm")
    assert case.columns["predicted_reads"] == expected
    before = netCDF4.get_chunk_cache()
    outcome = perform(Job(case))
    assert netCDF4.get_chunk_cache() == before
    assert outcome.status == "ok" and outcome.verified, outcome.status
    [row] = [row for row in outcome.rows if row["phase"] == "read"]
    if not np.isnan(row["rchar"]):
        assert row["rchar"] // row["chunk_bytes"] == expected
