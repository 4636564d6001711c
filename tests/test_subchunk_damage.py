"""Damaged and forged indexes and files: an error by name, or right values; never wrong ones.

A long fuzz is ``HYPERSLAB_MUTATIONS=1000 pytest tests/test_subchunk_damage.py``. Each mutation is
read in a process of its own, with limits of time and memory.

Structure: a number that the format means something by is changed, and every checksum over it made
right again. No reader can tell such an index from an honest one without inflating the chunks, which
`check` does: so what counts there is that nothing that it lets pass reads wrong.
"""

import itertools
import json
import os
import random
import resource
import signal
import struct
import zlib

import h5py
import numpy as np
import pytest

from hyperslab import subchunk
from hyperslab.subchunk.check import check
from hyperslab.subchunk.index.format import (
    MAGIC,
    PREAMBLE,
    VERSION,
    decode_head,
    encode,
    head_bytes,
)
from hyperslab.subchunk.index.points import POINT_ARRAYS

KEYS = np.s_[0, 40, 3], np.s_[:, 5, 7], np.s_[1, 10:60:7, 3:9], np.s_[1, 90:100], np.s_[...]
MEMORY_BYTES, ADDRESS_SPACE = 2**26, 2**33
SLOW_S, MUCH_KIB = 10, 2**19
LAYOUTS = (
    {"shuffle": False, "dtype": "<f4"},
    {"shuffle": True, "dtype": "<f4"},
    {"shuffle": True, "dtype": ">i2", "fletcher32": True},
    {"shuffle": False, "dtype": "<f8", "level": 9},
)
TIMES = np.arange(7.0)
ODD = [
    None, -1, 0, 3, 2**31, 2**63, -(2**70), 1.5, "", "x", "<f4", ">i2", "|O", "f4,(,", "é", True,
    [], [-1], ["a"], [[1, 2]], [2**63], [None], {}, {"a": 1},
]  # fmt: skip


def make(folder, level=4, **how):
    """Write a file of two chunks, and one that was never written, with its index."""
    rng = np.random.default_rng(3)
    values = np.cumsum(rng.integers(-3, 4, (3, 120, 150)), axis=2).astype(how["dtype"])
    values[2] = 0
    path, how = folder / "data.h5", {"chunks": (1, 120, 150), "compression": level} | how
    with h5py.File(path, "w") as file:
        data = file.create_dataset("data", values.shape, **how)
        data[:2] = values[:2]
        data.attrs["units"], data.attrs["numbers"] = "K", TIMES
        file.create_dataset("times", data=TIMES)
    subchunk.build(path, spacing=4096)
    return path, values


def of_bytes(data, rng):
    """Bytes with some of them changed, moved, cut off or added."""
    at, length = rng.randrange(len(data)), rng.randrange(1, 200)
    before, some, after = data[:at], data[at : at + length], data[at + length :]
    flipped = bytes([some[0] ^ 1 << rng.randrange(8)]) + some[1:]
    ways = [flipped, bytes(len(some)), rng.randbytes(len(some)), some + some, b""]
    return before if rng.random() < 0.1 else before + rng.choice([flipped, *ways]) + after


def another(value, rng):
    """A whole number near to a number, or far from it."""
    near = value + rng.choice((-64, -8, -2, -1, 1, 2, 8, 64))
    return max(0, rng.choice((near, near, near, 0, 1, 2 * value, rng.randrange(2**16), 2**40)))


def taken_apart(path):
    """What `encode` makes the index of a file from: its content, tables and kept bytes."""
    good = path.with_name(path.name + ".subchunk").read_bytes()
    head = decode_head(good)
    tables = {
        name: np.array(table.decode(good[head.begin + table.at :][: table.size]))
        for name, table in head.tables.items()
    }
    return json.loads(json.dumps(head.content)), tables, bytearray(good[head.kept_begin :])


def of_index(path, rng, table=""):
    """An index with one thing changed, in a table if one is named, and all its checksums right."""
    content, tables, kept = taken_apart(path)
    changed = "table" if table else rng.choice(("kept", "content", "table", "table"))
    if changed == "kept":
        kept[rng.randrange(len(kept))] ^= 1 << rng.randrange(8)
    elif changed == "table":
        name = table or rng.choice([name for name in tables if len(tables[name])])
        at = rng.randrange(len(tables[name]))
        tables[name] = tables[name].astype(np.uint64)
        tables[name][at] = another(int(tables[name][at]), rng)
    sums_made_right(path, content["variables"], tables, kept)
    if changed == "content":
        holder, key = rng.choice(list(places(content)))
        number = type(holder[key]) is int and rng.random() < 0.7
        holder[key] = another(holder[key], rng) if number else rng.choice(ODD)
    return encode(content, tables, bytes(kept))


def places(node):
    """All places in what JSON holds, each as its holder and key."""
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from places(node[key])


def sums_made_right(path, variables, tables, kept):
    """Let checksums fit what they are of, as far as it is there."""
    data = path.read_bytes()
    for number, variable in enumerate(variables):
        columns = {name: tables.get(f"{number}/{name}") for name in ("size", *POINT_ARRAYS)}
        if columns["first"] is None or not variable["filters"]:
            continue
        at, sizes = columns["kept_at"].tolist(), columns["kept_bytes"].tolist()
        sums = [zlib.crc32(kept[a : a + n]) for a, n in zip(at, sizes, strict=False)]
        tables[f"{number}/kept_crc"] = np.array(sums, np.uint64)
        first, bit = columns["first"].tolist(), columns["bit"].tolist()
        guard = 4 * any(number == 3 for number, _ in variable["filters"])
        sums = []
        for row, (begin, end) in enumerate(itertools.pairwise(first)):
            offset = int(tables[f"{number}/offset"][row])
            stop = int(columns["size"][row]) - guard
            ends = [*((position + 7) >> 3 for position in bit[begin + 1 : end]), stop]
            sums += [
                zlib.crc32(data[offset + (a >> 3) : max(offset + b, 0)])
                for a, b in zip(bit[begin:end], ends, strict=False)
            ]
        tables[f"{number}/segment_crc"] = np.array(sums, np.uint64)


def compared(path, index, values):
    """Read, and say what came of it: "right", "wrong", or the error's name."""
    try:
        with subchunk.open(path, index, memory_bytes=MEMORY_BYTES, threads=1) as file:
            for variable in file.values():
                assert variable.attrs is not None and variable.dtype is not None
            [file.attributes(path) for path in file.listing.dimensions]
            if file["data"].shape != values.shape:
                return "wrong"  # and a forged length may be one that fills the memory
            pairs = [(file["data"][key], values[key]) for key in KEYS]
            pairs.append((file["times"][...], TIMES))
    except (subchunk.SubchunkError, KeyError, IndexError) as error:
        assert str(error)
        return type(error).__name__
    right = all(np.array_equal(read, true, equal_nan=True) for read, true in pairs)
    return "right" if right else "wrong"


def checked(path, index, values):
    """What a mutated file or index comes to; where that is wrong, whether `check` tells."""
    verdict = compared(path, index, values)
    if verdict != "wrong":
        return verdict
    try:
        check(path, index)
    except subchunk.SubchunkError:
        return "wrong, and check tells"
    return "wrong"


def outcome(*arguments):
    """Read in a process of its own; return what became of it, and the KiB that it took."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if not child:
        verdict, held = "unnamed", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
            signal.alarm(SLOW_S)
            verdict = checked(*arguments)
        except BaseException as error:
            verdict = f"unnamed {type(error).__name__}: {str(error)[:100]}"
        finally:
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
            os.write(write_end, f"{used} {verdict}".encode())
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        used, _, verdict = pipe.read().decode().partition(" ")
    _, status = os.waitpid(child, 0)
    return (verdict, int(used)) if not status else (f"death {status & 127}", 0)


MUTATIONS = int(os.environ.get("HYPERSLAB_MUTATIONS", "4"))
INDEX = {"right", "CorruptIndexError", "NoIndexError", "UnknownVersionError", "MemoryLimitError"}
NAMED = {
    "index bytes": INDEX,
    "chunk bytes": {"right", "CorruptDataError"},
    "index structure": INDEX
    | {"CorruptDataError", "IndexError", "KeyError", "StaleIndexError", "SubchunkError"}
    | {"UnreadableError", "wrong, and check tells"},
}  # fmt: skip


@pytest.fixture(scope="module", params=LAYOUTS, ids=str)
def pair(request, tmp_path_factory):
    path, values = make(tmp_path_factory.mktemp("damage"), **request.param)
    assert compared(path, None, values) == "right"
    return path, values


@pytest.mark.parametrize("what", NAMED)
def test_mutations_are_named_or_harmless(pair, tmp_path, what):
    (path, values), rng, verdicts = pair, random.Random(1), set()
    index, stat = path.with_name(path.name + ".subchunk"), path.stat()
    good, data = index.read_bytes(), path.read_bytes()
    target, other = tmp_path / "mutated.h5", tmp_path / "mutated.subchunk"
    with h5py.File(path) as file:
        infos = [file["data"].id.get_chunk_info(number) for number in range(2)]
    for _ in range(MUTATIONS):
        if what == "chunk bytes":
            info = rng.choice(infos)
            begin, end = info.byte_offset, info.byte_offset + info.size
            bad = of_bytes(data[begin:end], rng)[: info.size].ljust(info.size, b"\0")
            target.write_bytes(data[:begin] + bad + data[end:])
            os.utime(target, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            verdict, memory_kib = outcome(target, index, values)
        else:
            structure = what == "index structure"
            other.write_bytes(of_index(path, rng) if structure else of_bytes(good, rng))
            verdict, memory_kib = outcome(path, other, values)
        verdicts.add(verdict)
        assert memory_kib <= MUCH_KIB
    assert verdicts <= NAMED[what] and verdicts - {"right"}


@pytest.mark.parametrize("table", ["number", "bit", "out", "header_bits", "mark"])
def test_a_forged_index_does_not_pass_the_check(pair, tmp_path, table):
    """One number of a table is another, and all checksums fit."""
    (path, values), rng, refused = pair, random.Random(3), 0
    for _ in range(8):
        (tmp_path / "index").write_bytes(of_index(path, rng, f"0/{table}"))
        try:
            check(path, tmp_path / "index")
        except subchunk.SubchunkError:
            refused += 1
        else:  # some numbers are changed to what they were
            assert compared(path, tmp_path / "index", values) == "right"
    assert refused >= 6


def test_what_no_build_makes_does_not_pass_the_check(pair, tmp_path, monkeypatch):
    path, _ = pair
    content, tables, kept = taken_apart(path)
    content["left_out"] = {"ghost": "it is not there"}
    (tmp_path / "index").write_bytes(encode(content, tables, kept))
    with pytest.raises(subchunk.CorruptIndexError, match="ghost"):
        check(path, tmp_path / "index")
    monkeypatch.setattr("hyperslab.subchunk.check._CROWD", 1)
    with pytest.raises(subchunk.CorruptIndexError, match="closer than any built"):
        check(path)


def test_damaged_bytes_are_not_carried_into_a_new_index(tmp_path):
    path, values = make(tmp_path, **LAYOUTS[0])
    index = path.with_name(path.name + ".subchunk")
    good, kept_size = index.read_bytes(), len(taken_apart(path)[2])
    for at in range(7, kept_size, kept_size // 12):
        bad = bytearray(good)
        bad[at - kept_size] ^= 16
        index.write_bytes(bad)
        subchunk.build(path, add=True)
        assert compared(path, index, values) == "right"


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
    assert compared(path, tmp_path / "index", values) == "CorruptIndexError"
