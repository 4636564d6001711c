"""A store rewritten: wrong values are noticed, memory is seen, nothing is left behind."""

import subprocess
import sys
from functools import partial

import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st
from made_layouts import in_layouts

from data_gen.variable import variable
from hyperslab.experiments import rechunking as engines
from hyperslab.io.experiment import Case
from hyperslab.io.layout import Layout
from hyperslab.measure.worker import Job, perform
from hyperslab.tune.rechunk import rechunk

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
