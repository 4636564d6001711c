"""Streams of all kinds: where decompression can start, and what a point keeps."""

import importlib.util
import os
import zlib

import h5py
import numpy as np
import pytest
import subchunk_files as files

from hyperslab import subchunk
from hyperslab.subchunk.check import check
from hyperslab.subchunk.deflate import inflate
from hyperslab.subchunk.deflate import walk as walking
from hyperslab.subchunk.deflate.walk import NoZlibError

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
        found = self.real.decompress(data, min(most, self.left)) if self.left else b""
        self.left -= len(found)
        self.unconsumed_tail = self.real.unconsumed_tail if found else b""
        return found


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize("after", [0, 1, 70_000, 262_144])
def test_another_module_goes_on_where_one_fails(after, fails):
    raw = np.random.default_rng(2).integers(0, 9, 600_000).astype("u1").tobytes()
    data = memoryview(zlib.compress(raw))[2:]
    module = Failing(after, fails)
    found = list(inflate.inflated(data, 0, (0, 0), b"", len(raw), module))
    assert b"".join(found) == raw and all(found)
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
    for place, change in enumerate((1, -2, 1), begin):  # Adler-32 stays what it was
        content[place] += change
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


MODULES = [
    name
    for name in ("zlib", "isal.isal_zlib", "zlib_ng.zlib_ng")
    if importlib.util.find_spec(name.partition(".")[0])
]


@pytest.fixture(params=MODULES)
def module(request, monkeypatch):
    """What inflates all that is read."""
    monkeypatch.setattr(inflate, "_MODULES", (request.param, "zlib"))
    inflate.inflater.cache_clear()
    yield request.param
    inflate.inflater.cache_clear()


def held(path, values):
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
    held(files.write_one(tmp_path / "x.h5", values, compression=level), values)


@pytest.mark.parametrize("flush", FLUSHES)
@pytest.mark.parametrize("step", [700, 20_000])
def test_a_writer_may_flush(tmp_path, flush, step):
    values = np.random.default_rng(step).integers(0, 200, 20_000).astype("<i2")
    path = files.write_one(tmp_path / "x.h5", values)
    with h5py.File(path, "a") as file:
        file["x"].id.write_direct_chunk((0,), flushed(values.tobytes(), step, flush))
    held(path, values)
