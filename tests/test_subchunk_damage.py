"""Damaged and forged indexes and files: an error by name, or right values; never wrong ones."""

import json
import os
import random
import struct
import zlib

import pytest
import subchunk_fuzz as fuzz

from hyperslab import subchunk
from hyperslab.subchunk.check import check
from hyperslab.subchunk.index.format import MAGIC, PREAMBLE, VERSION, encode, head_bytes

MUTATIONS = int(os.environ.get("HYPERSLAB_MUTATIONS", "4"))
INDEX = {"right", "CorruptIndexError", "NoIndexError", "UnknownVersionError", "MemoryLimitError"}
NAMED = {
    "index bytes": INDEX,
    "chunk bytes": {"right", "CorruptDataError"},
    # Forged, an index can only be found out by inflating whole chunks, which `check` does.
    "index structure": INDEX
    | {"CorruptDataError", "IndexError", "KeyError", "StaleIndexError", "SubchunkError"}
    | {"UnreadableError", "wrong, and check tells"},
}  # fmt: skip


@pytest.fixture(scope="module", params=fuzz.LAYOUTS, ids=str)
def pair(request, tmp_path_factory):
    """A file of two indexed chunks, and its values."""
    path, values = fuzz.make(tmp_path_factory.mktemp("damage"), **request.param)
    assert fuzz.compared(path, None, values) == "right"
    return path, values


@pytest.mark.parametrize("what", NAMED)
def test_mutations_are_named_or_harmless(pair, tmp_path, what):
    found = list(fuzz.fuzz(tmp_path, *pair, MUTATIONS, what))
    said = {outcome for outcome, _ in found}
    assert said <= NAMED[what] and said - {"right"}
    assert max(memory for _, memory in found) <= fuzz.MUCH_KIB


@pytest.mark.parametrize("table", ["number", "bit", "out", "header_bits", "mark"])
def test_a_forged_index_does_not_pass_the_check(pair, tmp_path, table):
    """One number of a table is another, and all checksums fit."""
    (path, values), rng, told = pair, random.Random(3), 0
    for _ in range(8):
        (tmp_path / "index").write_bytes(fuzz.of_index(path, rng, f"0/{table}"))
        try:
            check(path, tmp_path / "index")
        except subchunk.SubchunkError:
            told += 1
        else:  # some numbers are changed to what they were
            assert fuzz.compared(path, tmp_path / "index", values) == "right"
    assert told >= 6


def test_what_no_build_makes_does_not_pass_the_check(pair, tmp_path, monkeypatch):
    path, _ = pair
    content, tables, kept = fuzz.taken_apart(path)
    content["left_out"] = {"ghost": "it is not there"}
    (tmp_path / "index").write_bytes(encode(content, tables, kept))
    with pytest.raises(subchunk.CorruptIndexError, match="ghost"):
        check(path, tmp_path / "index")
    monkeypatch.setattr("hyperslab.subchunk.check._CROWD", 1)
    with pytest.raises(subchunk.CorruptIndexError, match="closer than any built"):
        check(path)


def test_damaged_bytes_are_not_carried_into_a_new_index(tmp_path):
    path, values = fuzz.make(tmp_path, **fuzz.LAYOUTS[0])
    index = path.with_name(path.name + ".subchunk")
    good, kept = index.read_bytes(), len(fuzz.taken_apart(path)[2])
    for at in range(7, kept, kept // 12):
        bad = bytearray(good)
        bad[at - kept] ^= 16
        index.write_bytes(bad)
        subchunk.build(path, add=True)
        assert fuzz.compared(path, index, values) == "right"


@pytest.mark.parametrize(
    "changes",
    [
        {"filters": [[2, [0]], [1, [4]]]}, {"filters": [[2, [-3]], [1, [4]]]},
        {"filters": [[2**40, []]]}, {"filters": [[-1, []]]}, {"shape": [2**70, 1, 1]},
        {"enum": {"a": "b"}}, {"enum": {"a": 1}, "dtype": "<f4"},
        {"name": "nogroup/s"}, {"name": "/data/"}, {"dtype": "i4," * 300_000},
        {"0/out": (2, 2**70)}, {"0/out": (1, "|O")}, {"0/offset": (1, "f4,(,")},
        {"0/first": (0, -8)},
    ],
    ids=lambda changes: str(changes)[:40],  # one is long
)  # fmt: skip
def test_a_forged_head_is_refused(pair, tmp_path, changes):
    """A variable that cannot be, or a table."""
    path, values = pair
    good = path.with_name(path.name + ".subchunk").read_bytes()
    begin = head_bytes(good)
    head = json.loads(good[PREAMBLE:begin])
    for name, value in changes.items():
        if name in head["tables"]:
            head["tables"][name][value[0]] = value[1]
        else:
            head["variables"][0][name] = value
    text = json.dumps(head).encode()
    front = struct.pack("<8sIII", MAGIC, VERSION, len(text), zlib.crc32(text))
    (tmp_path / "index").write_bytes(front + text + good[begin:])
    assert fuzz.compared(path, tmp_path / "index", values) == "CorruptIndexError"
