"""chunkindex's index, and the published package, which the reader that stands in for it is like.

The package is a fake; `HYPERSLAB_CHUNKINDEX=folder` names a checkout of the real one to hold too.
"""

import os
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
import subchunk_files as files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data_gen.dataset_variable import variable
from hyperslab.experiments import chunkindex_package as published
from hyperslab.experiments.chunkindex_package import NAME, Package, ReadByPackage
from hyperslab.io import chunkindex_format as chunkindex
from hyperslab.io.by_chunkindex import SUFFIX, SerialVariable, StandIn
from hyperslab.io.chunkindex_format import ChunkindexFile
from hyperslab.io.experiment import Case, File
from hyperslab.io.layout import Layout
from hyperslab.io.urls import Stream
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job
from hyperslab.subchunk import CorruptIndexError

SHAPE, CHUNKS, INDEX = (4, 200, 300), (1, 200, 300), f"data.h5{SUFFIX}"


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "shuffled"])
def pair(request, tmp_path_factory):
    """A file, its index of some points a chunk, and its values."""
    folder = tmp_path_factory.mktemp("serial")
    rng = np.random.default_rng(5)
    values = np.cumsum(rng.integers(-3, 4, SHAPE), axis=2).astype("<f4")
    with h5py.File(folder / "data.h5", "w") as file:
        how = {"chunks": CHUNKS, "compression": 4, "shuffle": request.param}
        file.create_dataset("x", data=values, **how).attrs["add_offset"] = "none"
    chunkindex.write(folder / "data.h5", folder / INDEX, spacing=30_000)
    return folder, values


class Counted(Stream):
    """A stream that counts what is read."""

    requests = read_bytes = 0

    def readinto(self, buffer):
        size = super().readinto(buffer)
        self.requests, self.read_bytes = self.requests + 1, self.read_bytes + size
        return size


def opened(kind, path, index, name="x"):
    return kind(Counted(path.open("rb")), Counted(index.open("rb")), name)


def test_the_layout_is_that_of_figure_3(pair):
    index = pair[0] / INDEX
    with netCDF4.Dataset(index) as file:
        group = file["x/1.0.0"]
        assert len(group.dimensions["win"]) == 2**15
        assert {name: (v.dimensions, v.dtype.str) for name, v in group.variables.items()} == {
            "outloc": (("outloc",), "<i8"),
            "inloc": (("outloc",), "<i8"),
            "bits": (("outloc",), "|i1"),
            "window": (("outloc", "win"), "|i1"),
        }
        assert group["window"].chunking() == [1, 2**15] and group["window"].filters()["zlib"]
        assert group.uncompressed_size == np.prod(CHUNKS) * 4
    first = chunkindex.chunk_points(index, "x")["0.0.0"]
    assert (first.outloc[0], first.inloc[0], first.bit[0]) == (0, 2, 16)
    assert len(first.outloc) > 1 and (np.diff(first.outloc) >= 30_000).all()


def test_a_chunk_may_be_missing_and_damage_is_named(pair, tmp_path):
    folder, values = pair
    (tmp_path / "index.nc").write_bytes((folder / INDEX).read_bytes())
    with h5py.File(tmp_path / "index.nc", "a") as index:
        del index["x/1.0.0"]
    with ChunkindexFile(folder / "data.h5", tmp_path / "index.nc") as file:
        for key in (np.s_[:, 5, 7], np.s_[1, 10:60:7, 250:3:-9], np.s_[:, 199, [3, 40, 259]]):
            assert np.array_equal(file["x"][key], values[key])
    with h5py.File(tmp_path / "index.nc", "a") as index:
        index["x/0.0.0/bits"][0] = 8
    for kind in (SerialVariable, StandIn):
        with (
            closing(opened(kind, folder / "data.h5", tmp_path / "index.nc")) as reader,
            pytest.raises(CorruptIndexError, match=r"damaged where it describes /x/0\.0\.0"),
        ):
            reader[0, 0, 0]


@settings(
    max_examples=4,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data(), layout=files.layouts(), spacing=st.sampled_from([1, 900, 2**21]))
def test_every_layout_and_selection(tmp_path, data, layout, spacing):
    path, index = tmp_path / "file.h5", tmp_path / "index.nc"
    truth = files.write(path, layout)
    chunkindex.write(path, index, spacing=spacing)
    with ChunkindexFile(path, index) as file, ExitStack() as stack:
        serial, stand_in = (
            stack.enter_context(closing(opened(kind, path, index, "data")))
            for kind in (SerialVariable, StandIn)
        )
        for read in (file["data"].__getitem__, serial.__getitem__, stand_in.__getitem__):
            for _ in range(5):
                key = data.draw(files.keys(truth.shape))
                lists = any(isinstance(item, list | np.ndarray) for item in key)
                if read == stand_in.__getitem__ and lists:
                    continue
                assert np.array_equal(read(key), files.expected(truth, key))


def test_the_lean_reader_asks_for_no_more_than_it_needs(pair):
    """A piece for each chunk and each byte of the values, from the point before to that behind."""
    folder, values = pair
    record = chunkindex.chunk_points(folder / INDEX, "x")["0.0.0"]
    with closing(opened(SerialVariable, folder / "data.h5", folder / INDEX)) as serial:
        pieces = 4 if serial.variable.shuffled else 1
        for key, chunks in (((slice(None), 100, 100), 4), ((2, slice(50, 60), 100), 1), (0, 1)):
            before = serial.data.requests
            assert np.array_equal(serial[key], values[key])
            assert serial.data.requests - before == chunks * pieces
        before = serial.data.read_bytes
        serial[0, 0, 1]
        assert pieces == 4 or serial.data.read_bytes - before == record.inloc[1] - 2


def test_the_stand_in_opens_the_index_again_for_each_chunk(pair, monkeypatch):
    folder, values = pair
    files, true = [], h5py.File
    monkeypatch.setattr(h5py, "File", lambda path, mode: files.append(path) or true(path, mode))
    with closing(opened(StandIn, folder / "data.h5", folder / INDEX)) as reader:
        assert files == [reader.data]
        assert np.array_equal(reader[1:4, 100, 100], values[1:, 100, 100])
        assert files == [reader.data, *[reader.index] * 3]


ROOT = Path(__file__).parents[1]
PACKAGES = ["", *filter(None, [os.environ.get("HYPERSLAB_CHUNKINDEX")])]
# Not the package's code: its two functions, as ours does them.
FAKE = """
from hyperslab.io import chunkindex_format as chunkindex
from hyperslab.io.by_chunkindex import StandIn
from hyperslab.io.urls import Stream

def create_index(index, path):
    chunkindex.write(path, index)

def read_slice(data, index, name, box):
    return StandIn(Stream(data), Stream(index), name)[box]
"""


@pytest.fixture
def fake(tmp_path):
    """A package of that name, and an environment that is this one."""
    (tmp_path / "checkout" / "chunkindex").mkdir(parents=True)
    (tmp_path / "checkout" / "chunkindex" / "__init__.py").write_text(FAKE)
    python = tmp_path / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    # Not isolated: an installed hyperslab must not come before this one.
    python.write_text(f'#!/bin/sh\nshift\nPYTHONPATH="{ROOT}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    versions = tmp_path / "environment" / published.VERSIONS.name
    versions.write_text(published.VERSIONS.read_text())
    return Package(str(tmp_path / "checkout"), tmp_path / "environment")


@pytest.mark.parametrize("checkout", PACKAGES)
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_stand_in_is_as_the_package_near_and_over_http(fake, tmp_path, checkout, shuffle):
    package = Package(checkout, ROOT / "build" / "chunkindex") if checkout else fake
    array = variable("ocean", "uo", steps=1)
    layout = Layout("netcdf4", array.step_shape, "deflate", 4, shuffle)
    file, selection = File(tmp_path / "ocean.nc", array, layout), np.s_[:, 280, 506]
    array.write({file.path: layout}, tmp_path)
    published.index(package, [file])
    rows = list(published.counts(package, {"series": ({"one": file}, selection)}, ["one"]))
    assert [row["reader"] for row in rows] == ["chunkindex", NAME]
    assert all(row["verified"] and row["points"] >= 2 for row in rows)
    ours, theirs = rows
    assert (ours["requests"], ours["wire_bytes"]) == (theirs["requests"], theirs["wire_bytes"])
    with Processes() as processes:
        case = Case({"reader": NAME}, ReadByPackage(package, file, selection)).ready("cold")
        outcome = processes.run(Job(case, 120.0, sweeps=False))
    assert (outcome.status, outcome.verified) == ("ok", True)
    assert [row["phase"] for row in outcome.rows] == ["open", "read", "close"]
    assert not list(tmp_path.glob("*.read.npy"))


def test_what_is_wrong_is_said(fake, tmp_path):
    with pytest.raises(FileNotFoundError, match="give a folder that holds the package's folder"):
        Package(str(tmp_path), tmp_path)
    with pytest.raises(RuntimeError, match=r"python ended with 1: .*FileNotFoundError"):
        published._run(fake.words(data="no.nc", index="no.index"))
