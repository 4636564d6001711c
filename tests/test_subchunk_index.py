"""Streams of all kinds, where points lie, what they keep; indexes that do not belong."""

import os
import struct
import zlib

import h5py
import numpy as np
import pytest
import subchunk_files as files

from hyperslab import subchunk
from hyperslab.cli import main
from hyperslab.subchunk.check import check
from hyperslab.subchunk.deflate import inflate
from hyperslab.subchunk.deflate import walk as walking
from hyperslab.subchunk.deflate.walk import NoZlibError
from hyperslab.subchunk.index.format import MAGIC, VERSION
from hyperslab.subchunk.index.spread import Spread

FLUSHES = (zlib.Z_BLOCK, zlib.Z_PARTIAL_FLUSH, zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH)


def flushed(raw, step, flush):
    """A stream of a writer that flushes after each so many bytes, and at the end."""
    packer = zlib.compressobj(6)
    pieces = [
        packer.compress(raw[at : at + step]) + packer.flush(flush)
        for at in range(0, len(raw), step)
    ]
    return b"".join(pieces) + packer.flush()


class Failing:
    """A module that gives some bytes, and then fails or stops."""

    error = zlib.error

    def __init__(self, after, fails):
        self.left, self.fails = after, fails

    def decompressobj(self, wbits, zdict=b""):
        self.real, self.eof = zlib.decompressobj(wbits, zdict=zdict), False
        return self

    def decompress(self, data, most):
        if not self.left and self.fails:
            raise zlib.error("beyond the end")
        output = self.real.decompress(data, min(most, self.left)) if self.left else b""
        self.left -= len(output)
        self.unconsumed_tail = self.real.unconsumed_tail if output else b""
        return output


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize("after", [0, 1, 70_000, 262_144])
def test_another_module_goes_on_where_one_fails(after, fails):
    raw = np.random.default_rng(2).integers(0, 9, 600_000).astype("u1").tobytes()
    data = memoryview(zlib.compress(raw))[2:]
    module = Failing(after, fails)
    pieces = list(inflate.inflated(data, 0, (0, 0), b"", len(raw), module))
    assert b"".join(pieces) == raw and all(pieces)
    with pytest.raises(zlib.error, match=r"beyond|invalid|Error -3"):
        damaged = memoryview(bytes(data[:9]) + b"\xff" * 90)
        list(inflate.inflated(damaged, 0, (0, 0), b"", len(raw), Failing(0, fails)))


def test_a_chunk_read_whole_is_held_against_the_index(tmp_path):
    values = np.random.default_rng(5).integers(50, 90, 100_000).astype("u1")
    path = files.write_one(tmp_path / "x.h5", values, compression="gzip", compression_opts=0)
    subchunk.build(path, spacing=1024)
    when, content = path.stat(), bytearray(path.read_bytes())
    with h5py.File(path) as file:
        begin = file["x"].id.get_chunk_info(0).byte_offset + 5_000
    for position, change in enumerate((1, -2, 1), begin):  # Adler-32 stays what it was
        content[position] += change
    path.write_bytes(content)
    os.utime(path, ns=(when.st_atime_ns, when.st_mtime_ns))
    with h5py.File(path) as file:
        assert (file["x"][...] != values).sum() == 3  # HDF5 does not notice
    with subchunk.open(path) as file, pytest.raises(subchunk.CorruptDataError, match="changed"):
        file["x"][...]


def test_without_a_shared_zlib_the_error_says_what_to_install(monkeypatch, tmp_path):
    path = files.write_one(tmp_path / "x.h5", np.arange(9000))
    walking.library.cache_clear()
    monkeypatch.setattr(walking, "_candidates", lambda: iter(["no-such-library.so"]))
    with pytest.raises(NoZlibError, match=r"no shared zlib was found.*apt install zlib1g"):
        subchunk.build(path)


KINDS = {
    "noise": lambda rng, n: rng.integers(0, 256, n).astype("u1"),
    "runs": lambda rng, n: np.repeat(rng.integers(0, 3, n // 50 + 1), 50)[:n].astype("u1"),
    "walk": lambda rng, n: np.cumsum(rng.integers(-2, 3, n // 4)).astype("<f4").view("u1"),
    "text": lambda rng, n: rng.choice(np.frombuffer(b"etaoin shrdlu", "u1"), n),
    "zeros": lambda rng, n: np.zeros(n, "u1"),
}


@pytest.fixture(params=["zlib", "isal.isal_zlib", "zlib_ng.zlib_ng"])
def module(request, monkeypatch):
    """What inflates all that is read."""
    pytest.importorskip(request.param)
    monkeypatch.setattr(inflate, "_MODULES", (request.param, "zlib"))
    inflate.inflater.cache_clear()
    yield request.param
    inflate.inflater.cache_clear()


def build_and_read(path, values):
    """Build an index, and read through it."""
    subchunk.build(path, spacing=len(values) // 13)
    assert check(path) > 3
    with subchunk.open(path, threads=1) as file:
        for at in (0, *range(1, len(values), len(values) // 60)):
            assert np.array_equal(file["x"][at : at + 5000], values[at : at + 5000])
        assert np.array_equal(file["x"][...], values)


@pytest.mark.parametrize("level", [1, 9])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_point_keeps_is_enough_for_each_module(tmp_path, module, level, kind):
    assert inflate.inflater().__name__ == module
    values = KINDS[kind](np.random.default_rng(level), 120_000)
    build_and_read(files.write_one(tmp_path / "x.h5", values, compression=level), values)


@pytest.mark.parametrize("flush", FLUSHES)
@pytest.mark.parametrize("step", [700, 20_000])
def test_a_writer_may_flush(tmp_path, flush, step):
    values = np.random.default_rng(step).integers(0, 200, 20_000).astype("<i2")
    path = files.write_one(tmp_path / "x.h5", values)
    with h5py.File(path, "a") as file:
        file["x"].id.write_direct_chunk((0,), flushed(values.tobytes(), step, flush))
    build_and_read(path, values)


@pytest.mark.parametrize("shuffle", [False, True])
def test_an_index_keeps_its_budget(tmp_path, shuffle):
    rng = np.random.default_rng(3)
    field = (280 + np.cumsum(rng.normal(0, 0.1, (2, 500_000)), axis=1)).astype("f4")
    path = files.write_one(tmp_path / "x.h5", field, chunks=(1, 500_000), shuffle=shuffle)
    index = subchunk.build(path, budget=0.02)
    assert index.stat().st_size <= 0.02 * path.stat().st_size + 2_000  # the head
    with subchunk.open(path) as file:
        assert np.array_equal(file["x"][:, ::100_003], field[:, ::100_003])


def test_data_that_compress_very_well_are_indexed(tmp_path):
    """What marks alone take can be above the budget: then there are as few points as may be."""
    values = np.zeros(5 * 2**18, "f4")
    values[:: 2**16] = 1
    path = files.write_one(tmp_path / "x.h5", values, shuffle=True)
    subchunk.build(path, budget=0.001)
    with subchunk.open(path) as file:
        assert np.array_equal(file["x"][65530:65540], values[65530:65540])


def test_points_lie_no_farther_apart_than_promised(tmp_path):
    noise = np.random.default_rng(8).integers(0, 256, 3_000_000, dtype="u1")  # is stored
    values = np.concatenate([noise, np.zeros(2_000_000, "u1"), noise])
    path = files.write_one(tmp_path / "x.h5", values, compression=1)
    index = subchunk.Index(subchunk.build(path))
    _, points = index.points(index.entries["x"])
    assert np.diff(points.out[points.mark], append=values.size).max() <= 2**17


def test_where_a_budget_leaves_no_points_they_lie_as_close_as_promised():
    places = np.arange(0, 1_000_000, 1000)
    starts = Spread(np.array([0.0, 1e6]), np.array([0.0, 2.0]), widest=2**17).starts(places)
    assert np.diff(places[starts], append=10**6).max() <= 2**17


@pytest.fixture
def path(tmp_path):
    """A file with its index beside it."""
    files.write_far(tmp_path / "data.h5")
    subchunk.build(tmp_path / "data.h5", spacing=4096)
    return tmp_path / "data.h5"


def later(path):
    """Move a file's time on, as any writing does."""
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 10**9))


CHANGES = {
    "data": lambda file: file["data"].write_direct(np.arange(9e4)[::-1].reshape(3, -1).copy()),
    "more": lambda file: file.create_dataset("more", data=np.arange(5000), compression=1),
    "small": lambda file: file["small"].write_direct(np.ones(5)),
    "scale": lambda file: file["data"].attrs.modify("scale", 2.0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_is_refused_until_it_is_indexed_again(path, change):
    """Of small values and attributes size and chunks do not tell; time alone is no change."""
    size = path.stat().st_size
    later(path)
    subchunk.open(path).close()
    with h5py.File(path, "r+") as file:
        CHANGES[change](file)
    if change in ("small", "scale"):
        assert path.stat().st_size == size
    later(path)
    why = r"data\.h5\.subchunk does not belong to data\.h5 .*: it (had|was written at another time)"
    with pytest.raises(subchunk.StaleIndexError, match=why + ".*`hyperslab index`, or remove it"):
        subchunk.open(path)
    assert main(["index", "--add", str(path)]) == 0
    with subchunk.open(path) as file, h5py.File(path) as truth:
        assert set(file) == set(truth) and not file["data"].plain
        assert file["data"].attrs["scale"] == truth["data"].attrs["scale"]
        for name in truth:
            assert np.array_equal(file[name][-1:], truth[name][-1:])


def test_an_index_that_was_cut_or_added_to_or_is_of_a_newer_format_is_refused(path):
    index = path.with_name("data.h5.subchunk")
    whole = index.read_bytes()
    for broken in (b"", whole[:19], whole[:500], whole[:-1], whole + b"more"):
        index.write_bytes(broken)
        with pytest.raises(subchunk.CorruptIndexError, match=r"data\.h5\.subchunk: "):
            subchunk.open(path)
    index.write_bytes(MAGIC + struct.pack("<I", VERSION + 1) + whole[12:])
    why = rf"data\.h5\.subchunk.*version {VERSION + 1}, and this release reads.*upgrade hyp"
    with pytest.raises(subchunk.UnknownVersionError, match=why):
        subchunk.open(path)


def test_building_leaves_nothing_half_written(path, monkeypatch):
    """Nor what a process left that was killed, after a while."""
    index = path.with_name("data.h5.subchunk")
    before = index.read_bytes()
    old, new = (path.with_name(f".data.h5.subchunk.{pid}.part") for pid in (1, 2))
    for left in (old, new):
        left.write_bytes(b"half")
    os.utime(old, (1, 1))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        subchunk.build(path)
    assert index.read_bytes() == before
    assert {*path.parent.iterdir()} == {path, index, new}
