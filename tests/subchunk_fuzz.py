"""Mutations of indexes, of bytes and of structure, and of chunks: named errors or right values.

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
import zlib

import h5py
import numpy as np

from hyperslab import subchunk
from hyperslab.subchunk.check import check
from hyperslab.subchunk.index.format import decode_head, encode
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
    return json.loads(json.dumps(head.content)), tables, bytearray(good[head.kept :])


def of_index(path, rng, table=""):
    """An index with one thing changed, in a table if one is named, and all its checksums right."""
    content, tables, kept = taken_apart(path)
    part = "table" if table else rng.choice(("kept", "content", "table", "table"))
    if part == "kept":
        kept[rng.randrange(len(kept))] ^= 1 << rng.randrange(8)
    elif part == "table":
        name = table or rng.choice([name for name in tables if len(tables[name])])
        at = rng.randrange(len(tables[name]))
        tables[name] = tables[name].astype(np.uint64)
        tables[name][at] = another(int(tables[name][at]), rng)
    sums_made_right(path, content["variables"], tables, kept)
    if part == "content":
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
            ends = [*((place + 7) >> 3 for place in bit[begin + 1 : end]), stop]
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
            file.groups()
            if file["data"].shape != values.shape:
                return "wrong"  # and a forged length may be one that fills the memory
            found = [(file["data"][key], values[key]) for key in KEYS]
            found.append((file["times"][...], TIMES))
    except (subchunk.SubchunkError, KeyError, IndexError) as error:
        assert str(error)
        return type(error).__name__
    right = all(np.array_equal(one, other, equal_nan=True) for one, other in found)
    return "right" if right else "wrong"


def on_index(path, index, values):
    """What a mutated index comes to: as it is, and where that is wrong, whether `check` tells."""
    said = compared(path, index, values)
    if said != "wrong":
        return said
    try:
        check(path, index)
    except subchunk.SubchunkError:
        return "wrong, and check tells"
    return "wrong"


def outcome(act, *arguments):
    """Do something in a process of its own; return what became of it, and the KiB that it took."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        said, held = "unnamed", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
            signal.alarm(SLOW_S)
            said = act(*arguments)
        except BaseException as error:
            said = f"unnamed {type(error).__name__}: {str(error)[:100]}"
        finally:
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
            os.write(there, f"{used} {said}".encode())
            os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as pipe:
        used, _, said = pipe.read().decode().partition(" ")
    _, status = os.waitpid(child, 0)
    return (said, int(used)) if not status else (f"death {status & 127}", 0)


def fuzz(folder, path, values, mutations, what):
    """Mutate; return the outcomes, each with the memory it took."""
    rng = random.Random(1)
    index, stat = path.with_name(path.name + ".subchunk"), path.stat()
    good, data = index.read_bytes(), path.read_bytes()
    target, other = folder / "mutated.h5", folder / "mutated.subchunk"
    with h5py.File(path) as file:
        infos = [file["data"].id.get_chunk_info(number) for number in range(2)]
    for _ in range(mutations):
        if what == "chunk bytes":
            info = rng.choice(infos)
            begin, end = info.byte_offset, info.byte_offset + info.size
            bad = of_bytes(data[begin:end], rng)[: info.size].ljust(info.size, b"\0")
            target.write_bytes(data[:begin] + bad + data[end:])
            os.utime(target, ns=(stat.st_atime_ns, stat.st_mtime_ns))
            yield outcome(compared, target, index, values)
        else:
            structure = what == "index structure"
            other.write_bytes(of_index(path, rng) if structure else of_bytes(good, rng))
            yield outcome(on_index, path, other, values)
