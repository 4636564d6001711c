"""Ranges that lie near each other are read together, and come back as they were asked for."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.subchunk.fetch import LocalFile
from hyperslab.subchunk.fetch.filelike import RangeReader
from hyperslab.subchunk.fetch.ranges import joined

DATA = bytes(range(256)) * 4
PAIRS = st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 60)), max_size=12)


@given(pairs=PAIRS, gap=st.integers(0, 50))
def test_any_ranges(pairs, gap):
    read = []

    def reading(starts, stops):
        read.extend(zip(starts, stops, strict=True))
        return [DATA[a:b] for a, b in zip(starts, stops, strict=True)]

    starts, stops = [a for a, _ in pairs], [a + n for a, n in pairs]
    found = joined(reading, starts, stops, gap)
    assert [bytes(piece) for piece in found] == [
        DATA[a:b] for a, b in zip(starts, stops, strict=True)
    ]
    assert all(a < b for a, b in read), "servers refuse to give nothing"
    assert all(later - before > gap for (_, before), (later, _) in pairwise(read))


def test_nothing_is_read_for_nothing():
    assert joined(pytest.fail, [], [], 0) == []
    assert [bytes(piece) for piece in joined(pytest.fail, [5, 9], [5, 9], 0)] == [b"", b""]


@given(steps=st.lists(st.tuples(st.integers(0, 900), st.integers(0, 300)), max_size=8))
def test_a_stream_over_ranges(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("stream") / "data"
    path.write_bytes(DATA)
    stream = RangeReader(LocalFile(path))
    for at, length in steps:
        stream.seek(at)
        assert stream.read(length) == DATA[at : at + length]
    assert stream.seek(0, 2) == len(DATA) and stream.read(3) == b""
