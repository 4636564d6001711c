"""Reads of local files: an index is evicted with its file, caches are recorded, and verdicts."""

from itertools import product

import numpy as np
import pytest
from made_claims import timed
from made_claims import verdicts as judged
from made_layouts import in_layouts

from data_gen.variable import variable
from hyperslab.experiments.penard_local import ReadHere
from hyperslab.io.indexed import index
from hyperslab.io.layout import Layout

SERIES, MAP = np.s_[:, 3, 5], np.s_[0, :, :]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A step of the ocean, indexed."""
    ocean = variable("ocean", "uo", steps=1, nlat=40, nlon=130)
    layout = Layout("netcdf4", chunks=ocean.step_shape, codec="deflate", level=4, shuffle=True)
    made = in_layouts(tmp_path_factory.mktemp("run"), ocean, {"ocean": layout})
    index(made.values())
    return made["ocean"]


@pytest.mark.parametrize("reader", ["subchunk", "chunkindex_layout"])
def test_an_index_goes_with_its_file(file, reader):
    warm, cold = (ReadHere(file, MAP, reader).parts(state) for state in ("warm", "cold"))
    for parts in (warm, cold):
        path, beside = parts["files"]
        assert beside.exists() and beside.name.startswith(path.name)
    assert warm["files"][0].stat().st_mtime_ns == file.path.stat().st_mtime_ns
    assert not {one.resolve() for one in warm["files"]} & {one.resolve() for one in cold["files"]}


def test_a_chunk_cache_is_recorded(file):
    parts = ReadHere(file, SERIES, "netcdf4", 2**20).parts("warm")
    assert parts["columns"]["cache_bytes"] == 2**20 and parts["columns"]["predicted_reads"] == 1
    assert "cache_bytes" not in ReadHere(file, SERIES, "netcdf4").parts("warm")["columns"]


def rows(cached=1.0, chunkindex=1.0, profile="full"):
    """Made-up records: as long as the document has it, but for what is given."""
    layouts = ("netCDF-4", "netCDF-4, shuffle")
    ways = list(product(layouts, ("netcdf4", "h5py", "xarray-netcdf4", "xarray-h5netcdf")))
    ways += [*product(layouts, ("chunkindex", "subchunk")), ("Zarr, Blosc", "zarr")]
    ways += [("Zarr, deflate", "zarr"), ("NCZarr", "nczarr")]
    shares = {"nczarr": 0.08, "subchunk": 0.02, "xarray-netcdf4": 1.2, "xarray-h5netcdf": 1.2}
    common = {"cache_state": "warm", "predicted_reads": 1, "phase": "read", "profile": profile}
    for kind, stages in (("ocean", 72), ("temperature", 13)):
        for what, (layout, reader) in product(("series", "map"), ways):
            inside = 3 if what == "map" else 2 if kind == "ocean" else 0.25
            share = shares | {"chunkindex": chunkindex * inside}
            share["zarr"] = 0.1 if layout == "Zarr, Blosc" else 1
            read = {"read": f"{kind} {what}", "layout": layout, "reader": reader, "stages": stages}
            seconds, pair = share.get(reader, 1), reader == "h5py"
            yield from timed(seconds, pair=pair, experiment="reads", **common, **read)
        for size, seconds in (("16 MiB", cached), ("256 MiB", 1)):
            read = {"read": f"{kind} series", "layout": layouts[1], "reader": "netcdf4"}
            read |= {"chunk_cache": size, "stages": stages}
            pair = size == "16 MiB"
            yield from timed(seconds, pair=pair, experiment="cache", **common, **read)


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        ({}, {"penard-8a": "holds", "penard-8b": "holds", "penard-8b-why": "refuted",
              "penard-8c": "holds", "penard-xarray": "holds"}),
        ({"cached": 4.0}, {"penard-8b-why": "holds"}),
        ({"chunkindex": 0.1}, {"penard-8c": "refuted"}),
        ({"profile": "quick"}, {"penard-8c": "not measured", "penard-8a": "holds"}),  # short files
    ],
)  # fmt: skip
def test_verdicts_follow_the_records(tmp_path, changes, verdicts):
    names = ["read", "layout", "reader", "chunk_cache"]
    found = judged(tmp_path, "penard_local", rows(**changes), names)
    assert {name: found[name].verdict for name in verdicts} == verdicts
