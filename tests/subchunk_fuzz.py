"""Mutations of indexes, and of the compressed data of indexed chunks: named errors or right values.

Run by hand for a long fuzz: ``python tests/subchunk_fuzz.py [MUTATIONS] [SEED]``; the tests run a
short one. Each mutation is read with a memory limit, and what reading takes is bounded and counted.
"""

import collections
import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np

from hyperslab import subchunk

KINDS = ("flip", "flip", "flip", "byte", "zero", "random", "cut", "swap", "repeat", "insert")
KEYS = ((0, 40, 3), (slice(None), 5, 7), (1, slice(10, 60, 7), slice(3, 9)), (1, slice(90, 100)))
MEMORY_BYTES = 2**26
SLOW_S = 10.0
LAYOUTS = (
    {"shuffle": False, "dtype": "<f4"},
    {"shuffle": True, "dtype": "<f4"},
    {"shuffle": True, "dtype": ">i2", "fletcher32": True},
    {"shuffle": False, "dtype": "<f8", "level": 9},
)


def make(folder, shuffle, dtype, fletcher32=False, level=4):
    """Write a file of two chunks with its index; return its path and its values."""
    rng = np.random.default_rng(3)
    values = np.cumsum(rng.integers(-3, 4, (2, 120, 150)), axis=2).astype(dtype)
    path = Path(folder) / "data.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "data", data=values, chunks=(1, 120, 150), compression=level, shuffle=shuffle,
            fletcher32=fletcher32,
        )  # fmt: skip
        file.create_dataset("times", data=np.arange(7.0))
    subchunk.build(path, spacing=4096)
    return path, values


def mutated(data, rng):
    """Bytes with some of them changed, moved, cut off or added."""
    data = bytearray(data)
    kind, at = rng.choice(KINDS), rng.randrange(len(data))
    length = rng.randrange(1, 200)
    if kind == "flip":
        data[at] ^= 1 << rng.randrange(8)
    elif kind == "byte":
        data[at] = rng.choice((0, 1, 127, 128, 255))
    elif kind == "zero":
        data[at : at + length] = bytes(len(data[at : at + length]))
    elif kind == "random":
        data[at : at + length] = rng.randbytes(len(data[at : at + length]))
    elif kind == "cut":
        del data[at:]
    elif kind == "swap":
        other = rng.randrange(len(data))
        data[at], data[other] = data[other], data[at]
    elif kind == "repeat":
        data[at:at] = data[at : at + length]
    else:
        data[at:at] = rng.randbytes(length)
    return bytes(data)


def outcome(path, index, values):
    """Read, and say what came of it: "right", or the error's name; wrong values fail."""
    began = time.monotonic()
    try:
        with subchunk.open(path, index, memory_bytes=MEMORY_BYTES, threads=1) as file:
            for key in KEYS:
                found = file["data"][key]
                assert found.dtype == values[key].dtype and np.array_equal(found, values[key]), (
                    "wrong"
                )
            assert np.array_equal(file["times"][...], np.arange(7.0)), "wrong times"
        said = "right"
    except subchunk.SubchunkError as error:
        assert str(error)
        said = type(error).__name__
    assert time.monotonic() - began < SLOW_S, "it hangs"
    return said


def fuzz_index(folder, path, values, mutations, seed):
    """Mutate the index; return how often each outcome came."""
    rng = random.Random(seed)
    good = path.with_name(path.name + ".subchunk").read_bytes()
    target = Path(folder) / "mutated.subchunk"
    found = collections.Counter()
    for _ in range(mutations):
        target.write_bytes(mutated(good, rng))
        found[outcome(path, target, values)] += 1
    return found


def fuzz_data(folder, path, values, mutations, seed):
    """Mutate the compressed bytes of chunks, size and time kept; return the outcomes."""
    rng = random.Random(seed)
    good, stat = path.read_bytes(), path.stat()
    with h5py.File(path) as file:
        places = [file["data"].id.get_chunk_info(number) for number in range(2)]
    target = Path(folder) / "mutated.h5"
    index = path.with_name(path.name + ".subchunk")
    found = collections.Counter()
    for _ in range(mutations):
        place = rng.choice(places)
        begin, end = place.byte_offset, place.byte_offset + place.size
        bad = mutated(good[begin:end], rng)[: place.size].ljust(place.size, b"\0")
        target.write_bytes(good[:begin] + bad + good[end:])
        os.utime(target, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        found[outcome(target, index, values)] += 1
    return found


def main(mutations=5000, seed=0):
    """Fuzz every layout; print the outcomes and the memory that was needed."""
    each = -(-mutations // len(LAYOUTS))
    for number, layout in enumerate(LAYOUTS):
        with tempfile.TemporaryDirectory() as folder:
            path, values = make(folder, **layout)
            assert outcome(path, None, values) == "right", "before any mutation"
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for what, fuzz in (("index", fuzz_index), ("data", fuzz_data)):
                found = fuzz(folder, path, values, each, seed + number)
                print(layout, what, dict(found), flush=True)
            grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            print(f"  peak memory grew by {grown / 1024:.0f} MiB", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
