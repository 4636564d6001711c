"""Where points lie, what they keep, and how tables of them are packed."""

import importlib.util
import zlib

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab import subchunk
from hyperslab.subchunk.deflate import inflate
from hyperslab.subchunk.deflate import windows as packing
from hyperslab.subchunk.deflate.inflate import WINDOW, inflate_from
from hyperslab.subchunk.deflate.walk import bits, walk
from hyperslab.subchunk.deflate.windows import referred
from hyperslab.subchunk.index.format import decode_head, encode
from hyperslab.subchunk.index.spread import Spread

KINDS = {
    "noise": lambda rng, n: rng.integers(0, 256, n).astype("u1"),
    "runs": lambda rng, n: np.repeat(rng.integers(0, 3, n // 50 + 1), 50)[:n].astype("u1"),
    "walk": lambda rng, n: np.cumsum(rng.integers(-2, 3, n // 4)).astype("<f4").view("u1"),
    "text": lambda rng, n: rng.choice(np.frombuffer(b"etaoin shrdlu", "u1"), n),
    "zeros": lambda rng, n: np.zeros(n, "u1"),
}

INFLATERS = [
    importlib.import_module(name)
    for name in ("zlib", "isal.isal_zlib", "zlib_ng.zlib_ng")
    if importlib.util.find_spec(name.partition(".")[0])
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", [1, 4, 9])
@pytest.mark.parametrize("itemsize", [1, 4])
def test_what_a_point_keeps_is_enough(kind, level, itemsize):
    values = KINDS[kind](np.random.default_rng(level), 200_000)
    stream = np.frombuffer(zlib.compress(values.tobytes(), level), "u1")
    output = np.empty_like(values)
    places = walk(stream, 9_000, output)
    for place in range(1, len(places), 3):
        out, bit = int(places.out[place]), int(places.bit[place])
        start, stop = int(places.header_start[place]), int(places.header_stop[place])
        header = (bits(stream, start, stop), stop - start)
        window = np.zeros(WINDOW, "u1")
        window[max(0, WINDOW - out) :] = output[max(0, out - WINDOW) : out]
        truth = output[out : out + WINDOW]
        data = stream.data[bit >> 3 :]
        used = referred(data, bit & 7, header, window, truth)
        for packed in (
            packing.deflated(window, used, itemsize),
            packing.by_lzma(window, used, itemsize),
        ):
            kept = packing.unpacked(packed)
            for module in INFLATERS:
                found = inflate_from(data, bit & 7, header, kept, len(values) - out, module)
                assert found == values[out:].tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("module", INFLATERS, ids=lambda module: module.__name__)
@pytest.mark.parametrize("given", [1000, 2**16])
@pytest.mark.parametrize("taken", [1000, 2**18])
def test_pieces_are_small_and_the_whole(monkeypatch, kind, module, given, taken):
    monkeypatch.setattr(inflate, "_INPUT", given)
    monkeypatch.setattr(inflate, "_OUTPUT", taken)
    values = KINDS[kind](np.random.default_rng(7), 600_000).tobytes()
    raw = memoryview(zlib.compress(values, 4))[2:]
    for length in (1, taken, taken + 1, len(values) - 1, len(values), len(values) + 9):
        pieces = list(inflate.inflated(raw, 0, (0, 0), b"", length, module))
        assert b"".join(pieces) == values[:length]
        assert max(map(len, pieces)) <= taken


@given(
    dtype=st.sampled_from(["u1", "u2", "u4", "u8"]),
    values=st.lists(st.integers(0, 2**62), max_size=40),
    repeat=st.integers(1, 30),
)
def test_tables_come_back(dtype, values, repeat):
    table = np.array(values * repeat, "u8").astype(dtype)
    data = encode({}, {"a": table, "b": np.cumsum(table, dtype="u8")}, b"")
    head = decode_head(data)
    for name, truth in (("a", table), ("b", np.cumsum(table, dtype="u8"))):
        stored = head.tables[name]
        begin = head.begin + stored.at
        assert np.array_equal(stored.decode(data[begin : begin + stored.size]), truth)


@given(st.integers(1024, 2**20), st.integers(0, 50), st.integers(1, 40))
def test_an_even_spread_keeps_its_distance(spacing, chunk, count):
    size = count * spacing
    spread = Spread.even(spacing, size)
    out = np.arange(0, size, spread.mark)
    starts = spread.starts(out, chunk)
    assert starts[0] == 0
    assert (np.diff(out[starts]) <= spacing + spread.mark).all()
    # The first one is always there, and may be followed sooner.
    assert (np.diff(out[starts])[1:] >= spacing - spread.mark).all()


def test_points_of_neighbouring_chunks_are_shifted():
    spread = Spread.even(2**19, 2**24)
    out = np.arange(0, 2**24, spread.mark)
    second = [int(out[spread.starts(out, chunk)[1]]) for chunk in range(8)]
    assert len(set(second)) == 8


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("budget", [0.01, 0.02, 0.05])
def test_an_index_keeps_its_budget(tmp_path, shuffle, budget):
    rng = np.random.default_rng(3)
    field = 280 + np.cumsum(rng.normal(0, 0.1, (2, 900_000)), axis=1)
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "t", data=field.astype("f4"), chunks=(1, 900_000), compression=4, shuffle=shuffle
        )
    index = subchunk.build(path, budget=budget)
    assert index.stat().st_size <= budget * path.stat().st_size + 2_000  # the head
    with subchunk.open(path) as file:
        assert np.array_equal(file["t"][:, ::100_003], field.astype("f4")[:, ::100_003])


def test_points_lie_closer_where_more_must_be_read(tmp_path):
    rng = np.random.default_rng(4)
    half = 2_000_000
    values = np.concatenate([np.zeros(half, "u1"), rng.integers(0, 200, half).astype("u1")])
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=(2 * half,), compression=4)
    index = subchunk.Index(subchunk.build(path, budget=0.005))
    _, points = index.points(index.entries["x"])
    starts = points.out[points.mark]
    assert (starts > half).sum() > 2 * (starts < half).sum()


@pytest.mark.parametrize(("share", "expected"), [(1, 2**13), (0.0001, 2**16)])
def test_marks_cost_little_and_lie_closer_than_points(tmp_path, share, expected):
    rng = np.random.default_rng(5)
    values = rng.integers(0, 200, 3_000_000) * (rng.random(3_000_000) < share)
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values.astype("u1"), chunks=values.shape, compression=4)
    index = subchunk.Index(subchunk.build(path))
    _, points = index.points(index.entries["x"])
    assert np.median(np.diff(points.out)) == pytest.approx(expected, rel=0.05)


def test_points_lie_no_farther_apart_than_promised(tmp_path):
    noise = np.random.default_rng(8).integers(0, 256, 3_000_000, dtype="u1")  # is stored
    values = np.concatenate([noise, np.zeros(2_000_000, "u1"), noise])
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=values.shape, compression=1)
    index = subchunk.Index(subchunk.build(path))
    _, points = index.points(index.entries["x"])
    assert np.diff(points.out[points.mark], append=values.size).max() <= 2**17


@given(
    steps=st.lists(st.integers(1, 200_000), min_size=1, max_size=60),
    spacing=st.integers(2**14, 2**20),
    widest=st.integers(2**14, 2**18),
)
def test_a_gap_is_wide_only_where_no_place_lies(steps, spacing, widest):
    out = np.cumsum([0, *steps])
    end = int(out[-1])
    ends = np.array([0.0, end])
    starts = Spread(ends, ends / spacing, widest=widest).starts(out[:-1])
    assert starts[0] == 0 and (np.diff(starts) > 0).all()
    for first, last in zip(starts, [*starts[1:], len(steps)], strict=True):
        assert out[last] - out[first] <= widest or last == first + 1
