"""Damaged or foreign indexes and data give an error by name, or right values; never wrong ones."""

import os
import random
import struct

import h5py
import numpy as np
import pytest

from hyperslab import subchunk
from hyperslab.subchunk.index.format import MAGIC

MUTATIONS = int(os.environ.get("HYPERSLAB_MUTATIONS", "150"))
KEYS = ((0, 40, 3), (slice(None), 5, 7), (1, slice(10, 60, 7), slice(3, 9)))


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "shuffled"])
def pair(request, tmp_path_factory):
    """A file of two indexed chunks, its index, and its values."""
    folder = tmp_path_factory.mktemp("damage")
    rng = np.random.default_rng(3)
    values = np.cumsum(rng.integers(-3, 4, (2, 120, 150)), axis=2).astype("<f4")
    with h5py.File(folder / "data.h5", "w") as file:
        file.create_dataset(
            "data", data=values, chunks=(1, 120, 150), compression=4, shuffle=request.param
        )
    subchunk.build(folder / "data.h5", spacing=4096)
    return folder, values


def outcome(path, index, values):
    """Read, and say what came of it: "right", or the error's name; wrong values fail."""
    try:
        with subchunk.open(path, index) as file:
            for key in KEYS:
                found = file["data"][key]
                assert np.array_equal(found, values[key]), "wrong values"
    except subchunk.SubchunkError as error:
        assert str(error)
        return type(error).__name__
    return "right"


def flipped(data, rng):
    """Bytes with a few of them changed, cut off, or repeated."""
    data = bytearray(data)
    kind = rng.choice(["flip", "flip", "flip", "zero", "cut", "swap"])
    at = rng.randrange(len(data))
    if kind == "flip":
        data[at] ^= 1 << rng.randrange(8)
    elif kind == "zero":
        length = rng.randrange(1, 200)
        data[at : at + length] = bytes(len(data[at : at + length]))
    elif kind == "cut":
        del data[at:]
    else:
        other = rng.randrange(len(data))
        data[at], data[other] = data[other], data[at]
    return bytes(data)


def test_damaged_index(pair, tmp_path):
    folder, values = pair
    good = (folder / "data.h5.subchunk").read_bytes()
    rng = random.Random(1)
    seen = set()
    for _ in range(MUTATIONS):
        (tmp_path / "index").write_bytes(flipped(good, rng))
        seen.add(outcome(folder / "data.h5", tmp_path / "index", values))
    assert seen <= {"right", "CorruptIndexError", "UnknownVersionError"}


def test_damaged_chunks(pair, tmp_path):
    folder, values = pair
    good = (folder / "data.h5").read_bytes()
    with h5py.File(folder / "data.h5") as file:
        places = [file["data"].id.get_chunk_info(number) for number in range(2)]
    stat = (folder / "data.h5").stat()
    rng = random.Random(2)
    seen = set()
    for _ in range(MUTATIONS):
        place = rng.choice(places)
        chunk = good[place.byte_offset : place.byte_offset + place.size]
        bad = flipped(chunk, rng).ljust(place.size, b"\0")
        data = good[: place.byte_offset] + bad + good[place.byte_offset + place.size :]
        path = tmp_path / "data.h5"
        path.write_bytes(data)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        seen.add(outcome(path, folder / "data.h5.subchunk", values))
    assert seen <= {"right", "CorruptDataError"} and "CorruptDataError" in seen


def test_stale_index(pair, tmp_path):
    folder, values = pair
    path, index = tmp_path / "data.h5", tmp_path / "data.h5.subchunk"
    path.write_bytes((folder / "data.h5").read_bytes())
    subchunk.build(path, spacing=4096)
    os.utime(path, ns=(1, 1))
    assert outcome(path, index, values) == "right", "touched, with the same content"
    with h5py.File(path, "a") as file:
        file.create_dataset("more", data=np.arange(9))
    with pytest.raises(subchunk.StaleIndexError, match=r"data\.h5 as it is now: it had \d+ bytes"):
        subchunk.open(path)
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=values[::-1], chunks=(1, 120, 150), compression=4)
    with pytest.raises(subchunk.StaleIndexError, match="build it again with `hyperslab index`"):
        subchunk.open(path)


def test_index_of_another_file(pair, tmp_path):
    folder, values = pair
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file.create_dataset("data", data=values + 1, chunks=(1, 120, 150), compression=4)
    with pytest.raises(subchunk.StaleIndexError, match=r"does not belong to other\.h5"):
        subchunk.open(tmp_path / "other.h5", folder / "data.h5.subchunk")


def test_newer_format(pair, tmp_path):
    folder, _ = pair
    good = (folder / "data.h5.subchunk").read_bytes()
    (tmp_path / "index").write_bytes(MAGIC + struct.pack("<I", 99) + good[12:])
    with pytest.raises(subchunk.UnknownVersionError, match="version 99.*upgrade hyperslab"):
        subchunk.open(folder / "data.h5", tmp_path / "index")


def test_no_index_at_all(pair, tmp_path):
    folder, _ = pair
    (tmp_path / "index").write_bytes(b"not an index, but long enough to be one")
    with pytest.raises(subchunk.CorruptIndexError, match="no sub-chunk index"):
        subchunk.open(folder / "data.h5", tmp_path / "index")
    with pytest.raises(FileNotFoundError):
        subchunk.open(tmp_path / "missing.h5")
