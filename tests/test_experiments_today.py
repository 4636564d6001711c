"""Layouts of today: codecs, stores rewritten, what is stored on a server."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st
from made_claims import COMMON, timed
from made_layouts import in_layouts

from data_gen.dataset_variable import variable
from hyperslab.analysis.choice import smallest_of_fastest
from hyperslab.analysis.compare import compare
from hyperslab.experiments import cloud_layouts as cloud
from hyperslab.experiments import codecs_today as codecs
from hyperslab.experiments import rechunking as engines
from hyperslab.io.experiment import Array, Case
from hyperslab.io.layout import Layout
from hyperslab.measure.records import frame_of
from hyperslab.measure.worker import Job, perform
from hyperslab.tune.rechunk import rechunk

FILL = 1e20


def test_what_is_missing_stays_missing_and_only_rounding_changes_values(tmp_path):
    values = 280 + np.random.default_rng(0).normal(size=(2, 40, 60)).astype("f4")
    values[:, :10] = FILL
    maps = Array(partial(codecs.maps, values, 2, 1), (2, 40, 60), "f4", "air")
    ways = {
        "exact": {"codec": "deflate"},
        "BitRound": {"codec": "deflate", "quantize": ("bitround", 8)},
        "BitGroom, Blosc": {"codec": "blosc-zstd", "quantize": ("bitgroom", 3)},
    }
    files = {
        ("air", name): codecs.Stored(
            tmp_path / f"{name}.nc", maps, Layout(chunks=(1, 20, 30), **how), FILL
        )
        for name, how in ways.items()
    }
    codecs.write(files)
    for file in files.values():
        exact, given = np.load(file.exact), file.part(...)()
        assert np.array_equal(given == np.float32(FILL), exact == np.float32(FILL))
        assert np.array_equal(given, exact) == (file.layout.quantize is None)
    assert {row["layout"] for row in codecs.fidelities(files)} == {*ways} - {"exact"}


def test_rounding_beyond_its_bound_and_what_is_missing_elsewhere_are_refused():
    values = np.array([1.0, 2.0], "f4")
    layout = Layout(chunks=(2,), quantize=("bitround", 8))
    codecs.check_bound(values, values * np.float32(1.001), layout, None)
    assert codecs.bound(Layout(chunks=(2,), quantize=("bitgroom", 3))) == 0.005
    with pytest.raises(ValueError, match=r"changed a value by 0\.01"):
        codecs.check_bound(values, values * np.float32(1.01), layout, None)
    land, sea = np.full((16, 16), FILL, "f4"), np.zeros((16, 16), "f4")
    with pytest.raises(ValueError, match="missing"):
        codecs.bands([(land, sea)], FILL)


def test_noise_hides_what_is_small():
    """A long wave of size 1 and noise of 0.01: what rounds by 0.1 keeps the one, not the other."""
    rows, columns = np.indices((96, 128))
    wave = np.sin(2 * np.pi * columns / 64 + 0.1 * rows)
    noisy = (wave + 0.01 * np.random.default_rng(1).normal(size=wave.shape)).astype("f4")
    bands = codecs.bands([(noisy, np.round(noisy, 1))])
    coherence = [band["coherence"] for band in bands]
    assert max(coherence) > 0.999 and min(coherence) < 0.9
    assert bands[0]["error"] == pytest.approx(0.05, rel=0.01)
    assert 2 < bands[0]["kept_from"] < 128


def test_what_is_as_fast_and_smaller_is_chosen_and_what_was_read_once_is_not():
    seconds = {"LZ4": 1.0, "zstd": 1.0, "deflate": 2.0, "once": 0.1}
    rows = []
    for name, wall_s in seconds.items():
        row = {**COMMON, "phase": "read", "layout": name}
        rows += timed(wall_s, blocks=1 if name == "once" else 6, **row)
    times = compare(frame_of(rows, ["layout"]), "wall_s", "layout")
    sizes = {"LZ4": 4.0, "zstd": 3.0, "deflate": 2.0, "once": 1.0}
    assert smallest_of_fastest(times, sizes, seconds) == "zstd"
    assert smallest_of_fastest(times, sizes, ["deflate", "LZ4"]) == "LZ4"


MIB = 2**20
ALLOWED = 32 * MIB
WANTED = Layout("zarr3", chunks=(16, 16, 16), codec="blosc-lz4", level=5, shuffle=True)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    maps = engines.Drift(variable("ocean", "uo", steps=1, nlat=64, nlon=64), 16)
    layout = Layout("zarr3", chunks=(1, 64, 64), codec="blosc-lz4", level=5, shuffle=True)
    return in_layouts(tmp_path_factory.mktemp("my maps"), maps, {"maps": layout})["maps"]


own = partial(rechunk, chunks=dict(zip(engines.DIMS, WANTED.chunks, strict=True)), verify=False)


def rewriting(source, engine):
    return Case({"engine": engine}, engines.Rewrite(source, WANTED, engine, ALLOWED, own)).ready()


def test_what_was_taken_and_given_back_is_seen():
    """In a process of its own: this one may have memory left from before."""
    code = """if True:
        from hyperslab.experiments.rechunking import peak, reset_peak
        before = reset_peak()
        some = bytearray(b"x") * 2**26
        del some
        print(peak() - before, -(reset_peak() - peak()))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    taken, later = map(int, done.stdout.split())
    assert 60 * MIB < taken < 200 * MIB
    assert later < 20 * MIB, "the mark of before is gone"


def test_other_values_and_other_chunks_are_noticed(source, tmp_path):
    out = tmp_path / "series.zarr"
    own(source.path, out, memory_bytes=ALLOWED)
    same = rewriting(source, engines.COPY).check
    assert same(out)
    array = zarr.open_group(str(out))["uo"]
    array[5, 60, 60] = 7
    assert not same(out)
    assert not same(source.path), "its chunks are maps"


def test_an_engine_that_cannot_start_loses_its_sample(source, monkeypatch):
    monkeypatch.setitem(sys.modules, "cubed", None)  # as if it were not installed
    assert "cubed" in perform(Job(rewriting(source, engines.CUBED))).status
    assert not list(source.path.parent.glob("by-*"))


@given(steps=st.integers(1, 3000), rows=st.integers(1, 600), columns=st.integers(1, 600))
def test_series_have_all_steps_and_no_more_values_than_a_map(steps, rows, columns):
    first, high, wide = engines.series_chunks((steps, rows, columns))
    assert first == steps
    assert 1 <= high <= rows and 1 <= wide <= columns
    assert high * wide * steps <= max(rows * columns, steps)


def test_sizes_and_objects_are_of_each_store_and_of_what_lies_beside_it(tmp_path):
    layouts = {
        "netCDF-4": Layout("netcdf4", chunks=(1, 64, 64)),
        "HDF5 in pages": Layout("hdf5", chunks=(1, 64, 64), page_bytes=2**16),
        "Zarr 3": Layout("zarr3", chunks=(1, 64, 64)),
    }
    files = in_layouts(tmp_path, cloud.Variables(3), layouts)
    cloud.put_beside([files["netCDF-4"]], referred=[])
    rows = frame_of(cloud.stored({"many": files}), ["data", "layout", "part"])
    table = rows.set_index(["layout", "part"])
    # A group, three axes with a chunk each, and three variables with chunks of four tiles, twice.
    assert table["requests"]["Zarr 3", "values"] == 1 + 3 * 2 + 3 * (1 + 8)
    assert table["requests"]["netCDF-4", "values"] == 1
    assert table["file_bytes"]["HDF5 in pages", "values"] % 2**16 == 0
    assert 0 < table["file_bytes"]["netCDF-4", "index"] < table["file_bytes"]["netCDF-4", "values"]
