"""Experiments on chunking: bm_file, the chunk cache counted, dimensions that grow."""

from functools import partial

import netCDF4
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_bench import bench_frame
from made_claims import verdicts
from made_layouts import in_layouts

from hyperslab.experiments import chunking_bench as bm_file
from hyperslab.experiments import chunking_cache as cached
from hyperslab.io import chunk_cached
from hyperslab.io.chunk_cache import RULES
from hyperslab.io.experiment import Array
from hyperslab.io.layout import Layout
from hyperslab.measure.worker import Job, perform
from hyperslab.study import Case
from hyperslab.study.page import document
from hyperslab.tune.report.summary import BM_COLUMNS, Findings


def test_bm_file_itself_makes_copies_where_it_is_given(tmp_path, monkeypatch):
    answer = bench_frame(times={"1x5": 1.0}).assign(chunks="128x128")
    monkeypatch.setattr(bm_file, "measured", lambda words, **how: answer)
    prints = ("output size, data write time, data reread time", "208240, 319, 123")
    works = f'touch "$8" "tst_copy_$8"; printf "%s\\n" "{prints[0]}" "{prints[1]}"'
    given = {"": ""}
    for name, does in {"bm_file": works, "broken": "echo no such file >&2; exit 2"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}")
        (tmp_path / name).chmod(0o755)
        given[name] = bm_file.program(str(tmp_path / name))
    rows = {}
    for name, program in given.items():
        records = bm_file.shorts(tmp_path, [90], 3, 0, program)
        rows[name] = [row for row in records if row["layout"] == "bm_file"]
    (untried,), (failed,), (size, write, reread) = rows[""], rows["broken"], rows["bm_file"]
    assert untried["status"].startswith("missing: bm_file") and "no such file" in failed["status"]
    assert (size["file_bytes"], write["wall_s"], reread["wall_s"]) == (208240, 319e-6, 123e-6)
    assert {path.name for path in tmp_path.iterdir()} == {"bm_file", "broken", "shorts-1d.nc"}
    with pytest.raises(ValueError, match="bm_file='nowhere': give the path"):
        bm_file.program("nowhere")


def test_every_column_is_tried_by_itself():
    frame = bench_frame()
    rows = list(bm_file.columns(frame, frame.assign(dimensions="1")))
    assert [(row["column"], row["status"]) for row in rows] == [(name, "ok") for name in BM_COLUMNS]
    wrong = Findings(frame).table.assign(**{"read rate": 1.0, "output size": 1, "deflate": np.nan})
    faults = {name: bm_file.fault(wrong, name) for name in BM_COLUMNS}
    assert "over 'data read time'" in faults["read rate"] and "not filled" in faults["deflate"]
    assert "not the size" in faults["output size"] and not faults["shuffle"]


@pytest.mark.parametrize(("size", "verdict"), [(40_997_536, "holds"), (40_997_544, "refuted")])
def test_the_claim_is_judged_by_columns_and_sizes(tmp_path, size, verdict):
    theirs = document("netcdf2018chunking", "bm_file, shorts").unstack("column")["file"]
    copies = {"experiment": "copies", "phase": "size"}
    rows = [
        {**copies, "layout": "128x128", "file_bytes": size},
        {**copies, "layout": "bm_file", "file_bytes": 40_997_536},
        *({"experiment": "columns", "column": name} for name in BM_COLUMNS),
    ]
    for n, nbytes in theirs.items():
        short = {"experiment": "shorts", "dimensions": n, "case": n, "file_bytes": nbytes}
        rows += [{**short, "layout": n, "phase": "close"}]
        rows += [{**short, "layout": "bm_file", "phase": "size"}]
    claims = verdicts(tmp_path, "chunking_bench", rows, ["layout", "column", "dimensions"])
    parts = claims["chunking-bm"].parts
    assert [part.verdict for part in parts] == [*["holds"] * 3, verdict, verdict]


MIB = 2**20


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Small chunks side by side, and one larger than the default cache of h5py."""
    files = {}
    for name, width, across in (("small", 2**11, 4), ("large", 33 * 2**11, 1)):
        shape = (32, across * width)
        array = Array(partial(cached.noise, shape), shape, "i4")
        layout = Layout("netcdf4", chunks=(32, width), codec="deflate", level=1)
        files |= in_layouts(tmp_path_factory.mktemp(name), array, {name: layout})
    return files


def test_the_library_grants_what_the_rule_of_its_build_says(tmp_path):
    rule = chunk_cached.build_rule()
    assert rule in RULES.values()
    for row in cached.granted(tmp_path):
        assert row["cache_bytes"] == rule.granted(row["useful_bytes"])
    own = pd.DataFrame(cached.granted(tmp_path, cached.OWN_BYTES))
    assert (own["cache_bytes"] == own["predicted_bytes"]).all()


def test_the_default_cache_ends_where_the_model_says(tmp_path):
    edges, slots = (pd.DataFrame(of(tmp_path)) for of in (cached.edges, cached.slots))
    assert (edges["useful_bytes"] == edges["predicted_bytes"]).all()
    assert edges["syscr"].tolist() == [0, 1, 0, 10]
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


def test_an_array_can_have_named_dimensions_that_grow(tmp_path):
    make = partial(np.zeros, (2, 3, 4), "i4")
    array = Array(make, (2, 3, 4), dims=("time", "y", "x"), unlimited=("time",))
    array.write({tmp_path / "a.nc": Layout("netcdf4", chunks=(1, 3, 4))}, tmp_path)
    with netCDF4.Dataset(tmp_path / "a.nc") as file:
        assert file["data"].dimensions == ("time", "y", "x")
        assert file.dimensions["time"].isunlimited() and not file.dimensions["y"].isunlimited()
