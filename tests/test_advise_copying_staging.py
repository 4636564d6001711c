"""Two passes: every value passes through the plain file once, and chunks are read once."""

import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.advise.copying import copy as copying
from hyperslab.advise.copying.copy import copy
from hyperslab.advise.copying.failures import NoRoomError
from hyperslab.advise.copying.room import share
from hyperslab.advise.copying.staging import Stage, digest_of, staged
from hyperslab.advise.report.compare import WrongValuesError
from hyperslab.advise.source import open_source
from hyperslab.advise.sources.base import SourceVariable
from hyperslab.advise.specs.target import Choice, Target
from hyperslab.io import Layout, write_array

MIB = 2**20
LITTLE = 26 * MIB
SERIES = Target("series", "netcdf4", Choice((64, 32, 32)))


@st.composite
def grids(draw, most=12):
    shape = tuple(draw(st.integers(1, most)) for _ in range(draw(st.integers(1, 3))))
    source, target = (
        tuple(draw(st.integers(1, most)) for _ in shape) if draw(st.booleans()) else None
        for _ in range(2)
    )
    least = max(
        math.prod(min(c, n) for c, n in zip(chunks or (1,) * len(shape), shape, strict=True))
        for chunks in (source or shape, target)
    )
    return shape, source, target, draw(st.integers(least, least + 500)) * 4


@given(grids())
def test_what_is_put_in_is_taken_out_in_other_pieces(grid):
    shape, source, target, limit = grid
    pieces = staged(shape, 4, source, target, limit)
    values = np.random.default_rng(1).random(shape, "f4")
    file = io.BytesIO()
    stage = Stage(file, pieces)
    for slab in pieces.first:
        assert values[slab].nbytes <= limit
        stage.put(slab, values[slab])
    assert len(file.getvalue()) == values.nbytes == pieces.nbytes
    parts = 0
    for slab in pieces.second:
        found, mark = stage.take(slab)
        assert found.nbytes <= limit
        np.testing.assert_array_equal(found, values[slab])
        assert digest_of(found, slab, pieces) == mark
        assert digest_of(found + 1, slab, pieces) != mark
        parts += len(list(pieces.parts(slab)))
    assert parts == pieces.count
    assert pieces.reads == 1


def test_exchanged_parts_show():
    pieces = staged((4, 4), 4, (1, 4), (4, 1), 16)
    stage, values = Stage(io.BytesIO(), pieces), np.arange(16, dtype="f4").reshape(4, 4)
    for slab in pieces.first:
        stage.put(slab, values[slab])
    slab = next(iter(pieces.second))
    found, mark = stage.take(slab)
    assert digest_of(found[::-1], slab, pieces) != mark


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    """16 MiB, a chunk a map."""
    values = np.random.default_rng(0).integers(0, 9, (64, 256, 256)).astype("f4")
    path = tmp_path_factory.mktemp("maps") / "maps.nc"
    write_array(path, values, Layout("netcdf4", (1, 256, 256), "deflate", 1))
    return path, values


def copied(path):
    with open_source(path) as source:
        return source.read("data", tuple(slice(0, n) for n in (64, 256, 256)))


@pytest.mark.parametrize("format", ["netcdf4", "zarr3"])
def test_with_little_memory_the_source_is_read_once(maps, tmp_path, format, monkeypatch):
    path, values = maps
    seen = []
    real = copying.transfer_staged
    monkeypatch.setattr(
        copying, "transfer_staged", lambda *a, **k: seen.append(a[3]) or real(*a, **k)
    )
    out = tmp_path / f"out{Layout(format).suffix}"
    report = copy(path, out, Target("s", format, Choice((64, 32, 32))), memory_bytes=LITTLE)
    np.testing.assert_array_equal(copied(out), values)
    [room] = seen
    assert room.slabs.reads > 3
    assert report.reads == room.staged.reads == 1
    assert f"was read once instead of {room.slabs.reads:.1f} times" in report.notes[0]
    assert [entry.name for entry in tmp_path.iterdir()] == [out.name]


def test_with_enough_memory_there_is_one_pass_and_nothing_to_say(maps, tmp_path):
    report = copy(maps[0], tmp_path / "a.nc", SERIES, memory_bytes=512 * MIB)
    assert (report.reads, report.notes) == (1, ())


def test_without_room_for_the_temporary_file_the_source_is_read_again(maps, tmp_path, monkeypatch):
    path, values = maps
    monkeypatch.setattr("hyperslab.advise.copying.passes.require_room", _full)
    report = copy(path, tmp_path / "a.nc", SERIES, memory_bytes=LITTLE)
    np.testing.assert_array_equal(copied(tmp_path / "a.nc"), values)
    assert report.reads > 3
    assert f"was read {report.reads:.1f} times" in report.notes[0]


def _full(folder, needed):
    raise NoRoomError("the disk is full")


def test_a_value_that_changes_on_its_way_keeps_the_copy_from_its_name(maps, tmp_path, monkeypatch):
    real = Stage.take

    def wrong(self, slab):
        values, mark = real(self, slab)
        values[(0,) * values.ndim] += 1
        return values, mark

    monkeypatch.setattr(Stage, "take", wrong)
    with pytest.raises(WrongValuesError, match=r"data of the copy is wrong in \[0:64"):
        copy(maps[0], tmp_path / "a.nc", SERIES, memory_bytes=LITTLE)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("quantize", [None, ("bitround", 8)])
def test_rounded_values_take_one_pass(quantize):
    one = SourceVariable("v", ("t", "y", "x"), (64, 512, 512), "f4", chunks=(1, 512, 512))
    layout = Layout("netcdf4", (64, 32, 32), "deflate", 1, quantize=quantize)
    rooms = share(
        [(one, layout)], source_format="netcdf4", cache_bytes=None, memory_bytes=48 * MIB,
        staging=True,
    )  # fmt: skip
    assert (rooms.each["v"].staged is None) == (quantize is not None)
