"""Whole arrays in one call: what is written and read, checked, and counted."""

from dataclasses import replace

import numpy as np
import pytest

from hyperslab.analysis.compare import compare
from hyperslab.experiments import lee_formats as far
from hyperslab.io.calls import Copied, Equal, Stored, Whole, copied_in
from hyperslab.io.experiment import Case
from hyperslab.io.layout import Layout
from hyperslab.measure.records import frame_of
from hyperslab.measure.worker import Job, perform
from hyperslab.study.page import document

SQUARE = (256, 256)
LAYOUTS = {
    "netCDF-3": Layout("netcdf3"),
    "netCDF-4, contiguous": Layout("netcdf4"),
    "netCDF-4, one chunk": Layout("netcdf4", chunks=SQUARE),
}


def kept():
    return {
        name: far.Kept({"layout": name, "array": "large", "dimensions": "2"}, Whole(SQUARE), layout)
        for name, layout in LAYOUTS.items()
    }


def done(sample, state=""):
    outcome = perform(Job(Case({"layout": "x"}, sample).ready(state)))
    assert outcome.status == "ok", outcome.status
    return {row["phase"]: row for row in outcome.rows}


def test_a_toy_scales_the_cache_down():
    assert far.scaled(2**20, Whole((3162, 3162))) == 2**20
    assert far.scaled(2**20, Whole(SQUARE)) < Whole(SQUARE).nbytes


def test_arrays_are_written_and_read_as_they_are(tmp_path):
    files, folder, array = kept(), tmp_path / "warm", Whole(SQUARE)
    far.make(folder, files.values(), array)
    puts = {name: done(far.put(file, tmp_path)) for name, file in files.items()}
    assert {rows["write"]["useful_bytes"] for rows in puts.values()} == {array.nbytes}
    assert "sync" in done(far.put(files["netCDF-3"], tmp_path, to_disk=True))
    # What the page explains is there at toy size too.
    assert puts["netCDF-3"]["write"]["syscw"] > 10 * puts["netCDF-4, contiguous"]["write"]["syscw"]
    assert puts["netCDF-4, one chunk"]["write"]["wchar"] < array.nbytes
    chunk = files["netCDF-4, one chunk"]
    narrow = replace(chunk, cache_bytes=2**10)  # the same file, past the cache
    assert done(far.put(narrow, tmp_path))["write"]["wchar"] >= array.nbytes
    assert done(far.get(narrow, folder), "warm")["read"]["cache_bytes"] == 2**10
    for alloc in ("default", "early"):
        rows = done(far.put_hdf5(chunk, tmp_path, alloc))
        assert rows["write"]["cache_bytes"] < array.nbytes
        assert (rows["create"]["wchar"] >= array.nbytes) == (alloc == "early")
    for file in files.values():
        assert done(far.get(file, folder), "warm")["read"]["useful_bytes"] == array.nbytes
    for samples in (far.put_plain(array, folder, tmp_path), far.get_plain(array, folder)):
        for sample in samples.values():
            done(sample, "" if sample.made else "warm")
    assert [path.name for path in tmp_path.iterdir()] == ["warm"]


def test_filling_is_counted_for_each_layout(tmp_path):
    files = list(kept().values())
    labels = ["layout", "array", "dimensions"]
    filled = frame_of(far.fills(files, tmp_path), [*labels, "filled"])
    written = filled.groupby(["layout", "filled"])["wchar"].sum()
    assert written["netCDF-3", "yes"] > 1.9 * written["netCDF-3", "no"]
    whole = written["netCDF-4, contiguous"]
    assert whole["yes"] < 1.1 * whole["no"]
    assert not list(tmp_path.iterdir())


def test_wrong_values_are_noticed(tmp_path):
    array, plain, copy = Whole((4, 4)), tmp_path / "a", tmp_path / "b"
    values = array.values()
    values.tofile(plain)
    assert Stored(plain, array)(None) and Equal(array)(values)
    values[1, 1] += 1
    assert not Equal(array)(values) and not Equal(array)(values[:2])
    assert not Equal(array)(values.astype("i8"))
    values.tofile(copy)
    assert not Stored(copy, array)(None) and not Copied(plain, copy)(64)
    assert Copied(plain)(64) and not Copied(plain)(63)
    long = Whole((64, 2**16))
    slabs = [long.values()[slab] for slab in long.slabs()]
    assert len(slabs) == 4 and all(map(long.holds, long.slabs(), slabs))
    assert not long.holds(slice(0, 16), slabs[1]) and not long.holds(slice(0, 15), slabs[0])
    with pytest.raises(ValueError, match="no bytes and seconds"):
        copied_in("dd: no such file")


def test_a_mean_over_shapes_is_of_what_both_have():
    rows = [
        {"layout": layout, "dimensions": n, "block": block, "wall_s": seconds * int(n),
         "status": "ok", "run_id": "r", "phase": "read"}
        for layout, seconds, dims in (("slow", 0.4, "123"), ("quick", 0.1, "12"))
        for n in dims
        for block in range(7)
    ]  # fmt: skip
    frame = frame_of(rows, ["layout", "dimensions"])
    found = compare(frame, "wall_s", "layout", over="dimensions", against={"layout": "slow"})
    assert found.ratio["quick"].value == pytest.approx(4)
    assert found.value["slow"].value == pytest.approx(0.8)
    alone = frame[(frame["layout"] == "slow") | (frame["dimensions"] == "")]
    assert len(compare(alone, "wall_s", "layout", over="dimensions")) == 1


def test_the_document_is_taken_as_printed():
    found = document("lee2008", "table 2").unstack("layout")
    assert found.shape == (8, 4) and not found.isna().any(axis=None)
    again = found["netCDF-3"] / found["netCDF-3, again"]
    assert np.isclose(again.max(), 41 / 37)
    assert found.loc[("write, cached", "large"), "netCDF-4, contiguous"] == 279e6
