"""Points where deflate's blocks end: by the shared zlib, and by zran where there is none."""

import sys
import types
import zlib

import h5py
import numpy as np
import pytest

from hyperslab import subchunk
from hyperslab.subchunk.deflate import walk as walking
from hyperslab.subchunk.deflate import zran
from hyperslab.subchunk.deflate.inflate import WINDOW, inflate_from
from hyperslab.subchunk.deflate.walk import NoZlibError, walk

RNG = np.random.default_rng(2)
TEXTURES = {
    "noise": RNG.integers(0, 256, 300_000).astype("u1"),
    "series": np.cumsum(RNG.integers(-3, 4, 150_000)).astype("<f4").view("u1"),
    "planes": np.cumsum(RNG.integers(-3, 4, 150_000)).astype("<f4").view("u1").reshape(-1, 4).T,
    "same": np.zeros(400_000, "u1"),
}


@pytest.fixture
def no_zlib(monkeypatch):
    """A machine without a shared zlib and without zran."""

    def none():
        raise NoZlibError("no shared zlib was found")

    monkeypatch.setattr(walking, "library", none)
    monkeypatch.setitem(sys.modules, "zran", None)
    monkeypatch.setattr(walking, "installed", lambda: False)


@pytest.fixture
def zran_alone(no_zlib, monkeypatch):
    """The same with zran: the real one where it is installed, else one of its form."""
    monkeypatch.setattr(walking, "installed", lambda: True)
    monkeypatch.delitem(sys.modules, "zran")
    if not zran.installed():
        monkeypatch.setitem(sys.modules, "zran", stand_in())


def stand_in():
    """A module with zran's classes, whose points come from another walk of ours."""
    found = types.ModuleType("zran")

    class Point:
        def __init__(self, outloc, bit):
            self.outloc, self.inloc = outloc, (bit + 7) // 8
            self.bits = self.inloc * 8 - bit

    class Index:
        @staticmethod
        def create_index(data, span):
            pairs = by_the_shared_zlib(data, span)
            return types.SimpleNamespace(points=[Point(*pair) for pair in pairs])

    found.Index = Index
    return found


def by_the_shared_zlib(data, span, library=walking.library):
    """Points of a stream, whatever the tests make of the walk."""
    kept = walking.library
    walking.library = library
    try:
        output = np.empty(len(zlib.decompress(data)), "u1")
        places = walk(np.frombuffer(data, "u1"), span, output, blocks=True)
    finally:
        walking.library = kept
    return list(zip(places.out.tolist(), places.bit.tolist(), strict=True))


@pytest.mark.parametrize("level", [0, 1, 4, 9])
@pytest.mark.parametrize("texture", sorted(TEXTURES))
@pytest.mark.parametrize("spacing", [1, 50_000])
def test_decompression_starts_at_each(texture, level, spacing):
    values = np.ascontiguousarray(TEXTURES[texture]).reshape(-1)
    stream = np.frombuffer(zlib.compress(values.tobytes(), level), "u1")
    output = np.empty_like(values)
    places = walk(stream, spacing, output, blocks=True)
    assert np.array_equal(output, values)
    assert (places.out[0], places.bit[0]) == (0, 16)
    assert (np.diff(places.out.astype(int)) >= spacing).all()
    assert (places.header_start == places.header_stop).all()
    for out, bit in zip(places.out.tolist(), places.bit.tolist(), strict=True):
        window = values[max(0, out - WINDOW) : out].tobytes()
        rest = inflate_from(stream.data[bit >> 3 :], bit & 7, (0, 0), window, values.size, zlib)
        assert rest == values[out:].tobytes()


def test_zran_gives_the_same_points(zran_alone):
    values = TEXTURES["series"]
    data = zlib.compress(values.tobytes(), 4)
    for spacing in (1, 70_000, 10**6):
        output = np.empty_like(values)
        places = walk(np.frombuffer(data, "u1"), spacing, output)
        assert np.array_equal(output, values)
        found = list(zip(places.out.tolist(), places.bit.tolist(), strict=True))
        assert found == by_the_shared_zlib(data, spacing)


def test_an_index_is_built_by_zran(zran_alone, tmp_path):
    values = np.cumsum(RNG.integers(-3, 4, (2, 300, 200)), axis=2).astype("<i4")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(1, 300, 200), compression=4, shuffle=True)
    subchunk.build(tmp_path / "x.h5", spacing=8192)
    with subchunk.open(tmp_path / "x.h5") as file:
        assert np.array_equal(file["x"][:, 7, ::3], values[:, 7, ::3])
    data = bytearray((tmp_path / "x.h5").read_bytes())
    with h5py.File(tmp_path / "x.h5") as file:
        place = file["x"].id.get_chunk_info(1)
    data[place.byte_offset + 2 : place.byte_offset + 999] = b"\xff" * 997
    (tmp_path / "x.h5").write_bytes(data)
    with pytest.raises(subchunk.SubchunkError, match="a chunk is damaged: zlib says"):
        subchunk.build(tmp_path / "x.h5", spacing=8192)


def test_without_either_the_error_says_what_to_install(no_zlib, monkeypatch, tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=np.arange(9000), chunks=(9000,), compression=4)
    with pytest.raises(subchunk.SubchunkError, match="no shared zlib was found"):
        subchunk.build(tmp_path / "x.h5")
    monkeypatch.undo()
    monkeypatch.setattr(walking, "_candidates", lambda: iter(["no-such-library.so"]))
    with pytest.raises(NoZlibError, match=r"apt install zlib1g.*pip install zran"):
        walking.library.__wrapped__()


@pytest.mark.parametrize("length", [299_999, 300_001])
def test_zran_refuses_another_length(length):
    stream = np.frombuffer(zlib.compress(bytes(300_000)), "u1")
    with pytest.raises(subchunk.SubchunkError, match=f"does not decompress to the {length} bytes"):
        zran.block_points(stream, 1000, np.empty(length, "u1"))
