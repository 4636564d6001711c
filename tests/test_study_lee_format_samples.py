"""The samples of the page on formats, on tiny arrays."""

import numpy as np
import pytest

from hyperslab.measure.records import frame_of
from hyperslab.measure.worker import Job, perform
from hyperslab.study.lee import (
    formats,
)
from hyperslab.study.lee.format_cells import BYTES, Cell, shapes
from hyperslab.study.lee.format_samples import Whole
from hyperslab.study.lee.plain_samples import copied_in


def test_every_profile_but_smoke_takes_table_1():
    assert [len(known) for known in shapes("quick").values()] == [6, 6]
    assert {len(shape) for shape in shapes("full")["large"].values()} == set(range(1, 7))
    assert Cell(BYTES, "large", shapes("full")["large"][1]).array.nbytes == 40_000_000


def test_bytes_are_those_of_the_integers():
    values = Whole((3, 8), "i1").values()
    assert values.shape == (3, 8)
    assert np.array_equal(values.view("i4"), Whole((3, 2)).values())
    assert Whole((3, 8), "i1").equals(values)
    long = Whole((3, 50_000))
    assert long.equals(long.values())
    last = long.values()
    last[-1, -1] = 0
    assert not long.equals(last)
    slabs = Whole((64, 2**16))
    both = [slabs.values()[slab] for slab in slabs.slabs()]
    assert len(both) == 4 and all(map(slabs.holds, slabs.slabs(), both))
    assert not slabs.holds(slice(0, 16), both[1]) and not slabs.holds(slice(0, 15), both[0])


def test_samples_write_and_read_every_format(tmp_path):
    folders = {state: tmp_path / state for state in ("cold", "warm")}
    for state, folder in folders.items():
        formats.make_files("smoke", folder, cold=state == "cold")
    cases = [
        *formats.write_cases("smoke", tmp_path, to_disk=False),
        *formats.write_cases("smoke", tmp_path, to_disk=True),
        *formats.read_cases("smoke", folders),
        *formats.allocation_cases("smoke", tmp_path),
        *formats.cache_cases("smoke", tmp_path),
    ]
    put = {}
    for case in cases:
        outcome = perform(Job(case))
        assert outcome.status == "ok", (case.label, outcome.status)
        found = {row["phase"]: row for row in outcome.rows}
        moved = found["read" if case.cache_state else "write"]
        size = 1024 if "/small/" in case.name else 65536
        assert moved["useful_bytes"] == 4 * size
        if case.cache_state != "cold":
            put[case.name] = moved
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cold", "warm"]
    # What the page explains is there at toy size too.
    assert put["netcdf3/large/2d"]["syscr"] > 10 * put["netcdf4-contiguous/large/2d"]["syscr"]
    assert put["early/large/2d"]["cache_bytes"] == put["1MB/large/2d"]["cache_bytes"] < 4 * 65536


def test_filling_is_counted_for_each_format(tmp_path):
    found = frame_of(formats.fill_counts("smoke", tmp_path))
    written = found.groupby("case")["wchar"].sum()
    assert written["fill/netcdf3"] > 1.9 * written["nofill/netcdf3"]
    assert written["fill/netcdf4-contiguous"] < 1.1 * written["nofill/netcdf4-contiguous"]
    assert not list(tmp_path.iterdir())


def test_wrong_bytes_are_noticed(tmp_path):
    from hyperslab.study.lee.format_samples import Equal, Stored
    from hyperslab.study.lee.plain_samples import Copied

    array = Whole((4, 4))
    values = array.values()
    plain, copy = tmp_path / "a", tmp_path / "b"
    values.tofile(plain)
    assert Stored(plain, array)(None) and Equal(array)(values)
    values[1, 1] += 1
    assert not Equal(array)(values) and not Equal(array)(values[:2])
    assert not Equal(array)(values.astype("i8"))
    values.tofile(copy)
    assert not Stored(copy, array)(None)
    assert Copied(plain)(64) and not Copied(plain)(63)
    assert not Copied(plain, copy)(64)


def test_what_dd_says_is_understood():
    assert copied_in("1048576 bytes transferred in 0.5 secs (2 bytes/sec)") == (1048576, 0.5)
    with pytest.raises(ValueError, match="no bytes and seconds"):
        copied_in("dd: no such file")
