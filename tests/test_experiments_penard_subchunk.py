"""Indexes of places inside chunks: reads, builds, what lies between points, and verdicts."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_claims import timed
from made_claims import verdicts as judged
from made_layouts import in_layouts

from data_gen.variable import variable
from hyperslab.experiments import penard_subchunk as inside
from hyperslab.io.indexed import BUDGET, BY_HYPERSLAB, CHUNKINDEX, Points, runs
from hyperslab.io.layout import Layout
from hyperslab.measure.records import frame_of

AT = (35, 63)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A step of the temperature on a coarse grid, without shuffle and with it, and its indexes."""
    data = variable("gfs", "air_temperature", steps=1, nlat=90, nlon=180)
    plain = Layout("netcdf4", chunks=data.step_shape, codec="deflate", level=4)
    layouts = {"temperature": plain, "temperature, shuffle": replace(plain, shuffle=True)}
    found = in_layouts(tmp_path_factory.mktemp("run"), data, layouts)
    for file, index in product(found.values(), (CHUNKINDEX, BUDGET)):
        index.build(file)
    return found


@given(st.data(), st.booleans())
def test_runs_are_the_bytes_of_a_box(data, shuffled):
    chunk = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    box = []
    for length in chunk:
        start = data.draw(st.integers(0, length - 1))
        box.append(range(start, data.draw(st.integers(start + 1, length))))
    wanted = np.zeros(chunk, bool)
    wanted[np.ix_(*box)] = True
    bytes_ = np.repeat(wanted.reshape(-1), 4)
    if shuffled:
        bytes_ = bytes_.reshape(-1, 4).T.reshape(-1)
    edges = np.diff(np.concatenate([[0], bytes_.astype(int), [0]]))
    begins, ends = runs(tuple(box), chunk, shuffled)
    assert begins.tolist() == np.flatnonzero(edges == 1).tolist()
    assert ends.tolist() == np.flatnonzero(edges == -1).tolist()


@given(st.data())
def test_sections_hold_what_is_wanted_and_begin_at_points(data):
    out = np.array(sorted(data.draw(st.sets(st.integers(1, 99), max_size=12)) | {0}))
    starts = np.array([True, *(data.draw(st.booleans()) for _ in out[1:])])
    cuts = sorted(data.draw(st.sets(st.integers(0, 100), min_size=2, max_size=12)))
    begins, ends = np.array(cuts[:-1:2]), np.array(cuts[1::2])
    found = Points(out, out * 2, starts, 100, 200).sections(begins, ends)
    assert set(found[:, 0]) <= set(out[starts])
    assert (found[1:, 0] > found[:-1, 1]).all()
    for begin, end in zip(begins, ends, strict=True):
        assert ((found[:, 0] <= begin) & (end <= found[:, 1])).sum() == 1


def test_what_lies_inside_of_chunks_adds_up(files):
    for file, index in product(files.values(), (CHUNKINDEX, BUDGET)):
        points = frame_of(inside.places(file, index))
        assert (points["out_at"].diff().dropna() > 0).all()
        assert points["phase"].tolist() == ["point"] * (len(points) - 1) + ["end"]
        found = {row["request"]: row for row in inside.pieces(file, index, AT)}
        assert {row["useful_bytes"] for row in found.values()} == {4 * 180}
        assert found["row"]["predicted_reads"] == (4 if file.layout.shuffle else 1)
        assert found["row"]["predicted_bytes"] >= found["row"]["useful_bytes"]
    held = {row["phase"]: row["file_bytes"] for row in inside.windows(files["temperature"])}
    assert held["sparse"] < held["packed"] and held["referred"] < held["whole"]


def rows(scale=1.0, shard=2e4, blosc=8e5):
    """Made-up records: indexes take so many milliseconds, and parts of chunks so many bytes."""
    times = {BUDGET.name: 0.5, BY_HYPERSLAB.name: 4.0, CHUNKINDEX.name: 8.0 * scale}
    times["chunkindex, 8 MiB apart"] = 16.0
    for index, ms in times.items():
        row = {"experiment": "spacing", "phase": "read", "file": "temperature", "read": "series"}
        row |= {"index": index, "index_size": "up to chunkindex's", "cache_state": "warm"}
        yield from timed(ms / 1e3, pair=True, **row)
    parts = {"Zarr 3, zstd": 8e5, "Zarr 3, zstd, shards": shard, "Zarr 2, Blosc": blosc}
    for stored, size in parts.items():
        row = {"experiment": "partial", "phase": "read", "stored": stored}
        yield {**row, "rchar": size, "useful_bytes": 1600}
    row = {"experiment": "index-size", "phase": "size", "window": "whole"}
    yield {**row, "file_bytes": 5 * 32768, "useful_bytes": 2**20}


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        ({}, ["holds", "holds", "holds", "obsolete"]),
        ({"scale": 0.05}, ["holds", "reversed", "holds", "obsolete"]),
        ({"scale": 4.0, "blosc": 1e5}, ["reversed", "holds", "holds", "holds"]),
    ],
)
def test_verdicts_follow_the_records(tmp_path, changes, verdicts):
    labels = ["file", "read", "index", "index_size", "stored", "window"]
    found = judged(tmp_path, "penard_subchunk", rows(**changes), labels)
    apart, ours, (whole, parts, _) = (
        found[f"penard-{name}"].parts for name in ("index", "index-ours", "partial")
    )
    assert [part.verdict for part in (apart[0], ours[0], whole, parts)] == verdicts
