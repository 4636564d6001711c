"""How much memory a read may take: a limit that can be set, and holds."""

import json
import struct
import tracemalloc
import zlib

import h5py
import numpy as np
import pytest
import xarray as xr

from hyperslab import subchunk
from hyperslab.subchunk import process as memory
from hyperslab.subchunk import variable
from hyperslab.subchunk.deflate.windows import unpacked
from hyperslab.subchunk.engine import SubchunkEntrypoint
from hyperslab.subchunk.errors import MemoryLimitError
from hyperslab.subchunk.store import SubchunkStore

MIB = 2**20


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """24 chunks of 1 MiB, indexed, and the values."""
    path = tmp_path_factory.mktemp("memory") / "x.h5"
    rng = np.random.default_rng(1)
    values = rng.integers(0, 9, (24, 512, 512)).astype("f4")
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=(1, 512, 512), compression=1)
        file.create_dataset("plain", data=values[:2], chunks=(1, 512, 512), compression="lzf")
    subchunk.build(path, spacing=8192)
    return path, values


@pytest.mark.parametrize("key", [np.s_[...], np.s_[:, ::70, :], np.s_[:, 5]], ids=str)
def test_a_read_is_cut_into_pieces_that_fit(made, key):
    path, values = made
    with subchunk.open(path, memory_bytes=4 * MIB) as file:
        file["x"][0, 0]
        tracemalloc.start()
        try:
            found = file["x"][key]
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert np.array_equal(found, values[key])
    assert most - found.nbytes < 5 * MIB


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("fletcher32", [False, True])
@pytest.mark.parametrize(
    "key", [np.s_[0], np.s_[:, ::2], np.s_[:, :500, 0:2], np.s_[:, 7]], ids=str
)
def test_what_leads_to_pieces_counts_too(tmp_path, shuffle, fletcher32, key):
    values = np.random.default_rng(1).integers(0, 9, (2, 2**19, 2)).astype("i4")
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "x", data=values, chunks=(1, 2**19, 2), compression=1, shuffle=shuffle,
            fletcher32=fletcher32,
        )  # fmt: skip
    subchunk.build(path, spacing=65536)
    with subchunk.open(path, memory_bytes=16 * MIB) as file:
        file["x"][0, 0, 0]
        tracemalloc.start()
        try:
            found = file["x"][key]
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert np.array_equal(found, values[key])
    assert most - found.nbytes < 16 * MIB


def test_many_small_chunks_are_taken_a_few_at_a_time(tmp_path):
    values = np.arange(8000 * 64, dtype="i4").reshape(8000, 64)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(1, 64), compression=1)
    subchunk.build(tmp_path / "x.h5", spacing=65536)
    with subchunk.open(tmp_path / "x.h5", memory_bytes=MIB) as file:
        file["x"][0, 0]
        tracemalloc.start()
        try:
            found = file["x"][:, 3]
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert np.array_equal(found, values[:, 3])
    assert most < 2 * MIB


def test_a_chunk_above_the_limit_is_refused_by_name(made):
    path, values = made
    for memory_bytes in (2**19, MIB):
        with subchunk.open(path, memory_bytes=memory_bytes) as file:
            with pytest.raises(MemoryLimitError, match=r"a chunk of x needs [\d,]+ bytes.*give"):
                file["x"][0]
            assert np.array_equal(file["x"][:, 3, 4], values[:, 3, 4]), "inside of chunks it fits"
    with (
        subchunk.open(path, memory_bytes=2**19) as file,
        pytest.raises(MemoryLimitError, match="a chunk of plain needs"),
    ):
        file["plain"][0, 0]


def test_the_limit_can_be_set_wherever_a_file_is_opened(made):
    path, _ = made
    with xr.open_dataset(path, engine=SubchunkEntrypoint, memory_bytes=2**19) as data:
        with pytest.raises(MemoryLimitError):
            data["x"][0].load()
        assert float(data["x"][0, 0, 0]) < 9
    with pytest.raises(MemoryLimitError):
        SubchunkStore(path, memory_bytes=2**19)._arrays["x"].read((0, 0, 0))
    with pytest.raises(ValueError, match="memory_bytes is 0: give a number of bytes"):
        subchunk.open(path, memory_bytes=0)
    assert memory.allowed(None) > 2**28


def forged(path, target, change):
    """An index with another head, whose checksums are right."""
    data = path.read_bytes()
    length = struct.unpack_from("<I", data, 12)[0]
    head = json.loads(data[20 : 20 + length])
    change(head)
    text = json.dumps(head).encode()
    text += b" " * (-(len(text) + 20) % 8)
    fixed = data[:12] + struct.pack("<II", len(text), zlib.crc32(text))
    target.write_bytes(fixed + text + data[20 + length :])
    return target


def test_an_index_that_claims_too_much_is_refused(made, tmp_path):
    path, _ = made
    index = path.with_name(path.name + ".subchunk")

    def longer(head):
        for table in head["tables"].values():
            table[2] = 2**40
        head["table_bytes"] = head["kept_bytes"] = 2**50

    def wider(head):
        for item in head["variables"]:
            item["chunks"] = [1, 2**20, 2**20]

    for number, change in enumerate((longer, wider)):
        made_up = forged(index, tmp_path / f"{number}.subchunk", change)
        with pytest.raises(subchunk.SubchunkError):
            subchunk.open(path, made_up, memory_bytes=64 * MIB)["x"][0]
    cut = tmp_path / "cut.subchunk"
    cut.write_bytes(index.read_bytes()[:12] + struct.pack("<II", 2**27, 0))
    with pytest.raises(MemoryLimitError, match="the head of the index needs"):
        subchunk.open(path, cut, memory_bytes=64 * MIB)


def test_plain_reads_pick_what_is_wanted_from_large_boxes(made, monkeypatch):
    path, values = made
    monkeypatch.setattr(variable, "_LARGE", 1000)
    with h5py.File(path) as truth, subchunk.open(path) as file:
        for key in (np.s_[:, ::100, 3], np.s_[:, 500:0:-90], np.s_[1, 5:300:2], np.s_[:, :0]):
            assert np.array_equal(file["plain"][key], truth["plain"][...][key])
        rows = [500, 3, 3, 77]
        assert np.array_equal(file["plain"][:, rows, 1:3], values[:2, rows, 1:3])
        both = file["plain"][:, [1, 400], [2, 500]]
        assert np.array_equal(both, values[:2, [1, 400]][:, :, [2, 500]])


def test_a_window_that_was_made_up_to_fill_the_memory_is_refused():
    bomb = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = bomb.compress(bytes(2**27)) + bomb.flush()
    with pytest.raises(subchunk.CorruptIndexError, match=r"damaged: it has \d+ bytes"):
        unpacked(packed)
