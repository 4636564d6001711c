"""Heads of indexes that hold nonsense under a good checksum: errors by name, no others."""

import json
import random
import struct
import zlib

import h5py
import numpy as np
import pytest

from hyperslab import subchunk
from hyperslab.subchunk.index.format import MAGIC, PREAMBLE, VERSION

ODD = [
    None, -1, 0, 3, 2**31, 2**63, -(2**70), 1.5, "", "x", "<f4", "|O", "f4,(,", "é", "zz", True,
    [], [-1], ["a"], [[1, 2]], [2**63], [None], {}, {"a": 1},
]  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A file with its index, the index's head, and what follows it."""
    path = tmp_path_factory.mktemp("head") / "a.h5"
    values = np.random.default_rng(0).integers(0, 50, (3, 40_000)).astype("f4")
    with h5py.File(path, "w") as file:
        how = {"chunks": (1, 40_000), "compression": 4, "shuffle": True, "fletcher32": True}
        data = file.create_dataset("g/d", data=values, **how)
        data.attrs["units"], data.attrs["flags"] = "K", np.arange(3)
        file["t"], file["s"], file["none"] = np.arange(3.0), ["a", "b"], np.zeros((0, 4))
    index = subchunk.build(path, spacing=8192).read_bytes()
    length = struct.unpack_from("<I", index, 12)[0]
    return path, values, json.loads(index[PREAMBLE:][:length]), index[PREAMBLE + length :]


def rewrite(path, head, rest):
    text = json.dumps(head).encode()
    text += b" " * (-(len(text) + PREAMBLE) % 8)
    front = struct.pack("<8sIII", MAGIC, VERSION, len(text), zlib.crc32(text))
    path.with_name("a.h5.subchunk").write_bytes(front + text + rest)


def places(node):
    """All places in what JSON holds, each as its holder and key."""
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from places(node[key])


def read(path, values, right=False):
    with subchunk.open(path, memory_bytes=10**8) as file:
        for variable in file.values():
            assert variable.attrs is not None and variable.dtype is not None
        file.groups()
        data = file["g/d"]
        if (data.shape, data.dtype) == (values.shape, values.dtype):
            found = data[1, 5:9], data[:, 7]  # a lie with a good checksum may be believed
            assert not right or np.array_equal(found[0], values[1, 5:9])
            assert not right or np.array_equal(found[1], values[:, 7])
        assert file["t"][...].shape == file["t"].shape and file["none"].shape == (0, 4)


def test_nonsense_is_an_error_by_name(made):
    path, values, head, rest = made
    refused = 0
    for seed in range(400):
        choose = random.Random(seed)
        changed = json.loads(json.dumps(head))
        holder, key = choose.choice(list(places(changed)))
        if choose.random() < 0.15:
            del holder[key]
        else:
            holder[key] = choose.choice(ODD)
        rewrite(path, changed, rest)
        try:
            read(path, values)
        except subchunk.SubchunkError:
            refused += 1
        except KeyError as error:  # another name: the file has no such variable
            assert "no variable" in str(error) or "doesn't exist" in str(error), (seed, error)
    assert refused > 100
    rewrite(path, head, rest)
    read(path, values, right=True)


@pytest.mark.parametrize(
    ("table", "place", "value"),
    [("0/offset", 1, "f4,(,"), ("0/out", 2, 2**70), ("0/out", 1, "|O"), ("0/first", 0, -8)],
)
def test_a_head_that_names_impossible_tables(made, table, place, value):
    path, values, head, rest = made
    changed = json.loads(json.dumps(head))
    changed["tables"][table][place] = value
    rewrite(path, changed, rest)
    with pytest.raises(subchunk.SubchunkError, match=r"a\.h5\.subchunk"):
        read(path, values)
