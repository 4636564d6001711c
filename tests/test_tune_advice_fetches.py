"""What a read takes over a link: by counts, and as a server counts them."""

import dataclasses
import math

import numpy as np
import pytest
from forked_servers import forking

from hyperslab import subchunk
from hyperslab.io import Layout, references
from hyperslab.io.cards import reader
from hyperslab.io.creation import write_array
from hyperslab.network import Link, serving
from hyperslab.tune.advice.counts import Read, counts_of
from hyperslab.tune.advice.fetches import (
    FETCHES,
    Moved,
    UncalibratedError,
    moved,
    wire_seconds,
)

forked = pytest.fixture(scope="module", autouse=True)(forking)


DEFLATE = Layout("netcdf4", chunks=(1, 100, 100), codec="deflate", shuffle=True)
READ = Read((50, 100, 100), "f4", DEFLATE, ((slice(None), 5, 5),), "h5py", 1e4)
VALUES = np.random.default_rng(0).normal(size=(12, 40, 60)).astype("f4")
SERIES = (slice(None), 5, 5)
SHARD = (slice(None), slice(0, 40), slice(0, 30))


def over(library, link, **changes):
    return dataclasses.replace(READ, library=library, link=link, **changes)


def test_a_link_costs_round_trips_and_bytes():
    link = Link(1e6, 0.1)
    times = {}
    for library in FETCHES:
        if library in ("zarr", "xarray-zarr"):
            continue
        far = over(library, link)
        times[library] = wire_seconds(far, counts_of(far))
    assert math.isclose(times["h5py-none"], 50 * 0.1 + 50 * 1e4 / 1e6)
    assert moved(over("h5py-none", link), counts_of(READ)) == Moved(50, 50, 50 * 1e4)
    assert moved(READ, counts_of(READ)) == Moved(1, 1, 50 * 1e4)  # no more than there is
    assert math.isclose(times["h5py"], link.seconds(1, 0, 50 * 1e4))
    assert moved(over("kerchunk", link), counts_of(READ)).stages == 5
    assert times["h5py"] < times["kerchunk"] < times["h5py-none"]
    opened = over("h5py-none", link, opens=True)
    assert math.isclose(wire_seconds(opened, counts_of(opened)) - times["h5py-none"], 12 * 0.1)
    with pytest.raises(UncalibratedError, match="fetches"):
        moved(dataclasses.replace(READ, library="plain"), counts_of(READ))


def test_a_file_that_came_with_opening_is_not_asked_for_again():
    opened = dataclasses.replace(READ, opens=True)
    assert moved(opened, counts_of(opened)) == Moved(2, 2, 50 * 1e4)


@pytest.mark.parametrize("shards", [None, (12, 40, 30)])
@pytest.mark.parametrize("selection", [SERIES, SHARD])
def test_zarr_asks_a_server_for_what_is_counted(tmp_path, shards, selection):
    layout = Layout("zarr3", (3, 20, 10), "zstd", 3, shards=shards)
    write_array(tmp_path / "a.zarr", VALUES, layout, "values")
    with serving(tmp_path) as server:
        opened = reader("zarr").open(server.address("a.zarr"), "values")
        opened.read(selection)
        opened.close()
        asked = len(server.requests())
    read = Read(VALUES.shape, "f4", layout, (selection,), "zarr", 2000.0, opens=True)
    assert asked == moved(read, counts_of(read)).requests


def test_the_chunks_of_a_shard_are_asked_for_one_after_another():
    alone = Layout("zarr3", (1, 10, 10), "zstd", 3)
    held = dataclasses.replace(alone, shards=(50, 50, 50))
    stages = {}
    for name, layout in (("alone", alone), ("held", held)):
        read = Read((100, 100, 100), "f4", layout, ((slice(0, 49), 5, 5),), "zarr", 100.0)
        found = moved(read, counts_of(read))
        stages[name] = found.stages, found.requests
    assert stages == {"alone": (5, 49), "held": (50, 50)}  # in the second the shard's own index
    whole = Read((100, 100, 100), "f4", held, ((slice(0, 50), *[slice(0, 50)] * 2),), "zarr", 100.0)
    assert moved(whole, counts_of(whole)).stages == 1


@pytest.mark.parametrize("library", ["h5py", "subchunk", "kerchunk"])
def test_opening_asks_a_server_for_what_is_counted(tmp_path, library):
    path = tmp_path / "a.nc"
    write_array(path, VALUES, Layout("netcdf4", (3, 20, 10), "deflate", 1), "values")
    subchunk.build(path)
    references.write(path)
    with serving(tmp_path) as server:
        reader(library).open(server.address("a.nc"), "values").close()
        log = server.requests()
    assert len(log) == FETCHES[library].opening
    if FETCHES[library].ahead_bytes:  # all of a small file
        assert sum((one.stop or 0) - (one.start or 0) for one in log) == path.stat().st_size


@pytest.mark.parametrize("chunks", [(1, 250, 250), None])
def test_a_file_beyond_the_read_ahead_is_asked_for_as_is_counted(tmp_path, chunks):
    """Windows of fsspec, and the jumps to HDF5's index of chunks, about."""
    selection = (slice(None), 9, 9)
    values = np.random.default_rng(0).normal(size=(100, 250, 250)).astype("f4")
    layout = Layout("netcdf4", chunks, "deflate" if chunks else None, 1 if chunks else None)
    path = tmp_path / "a.nc"
    write_array(path, values, layout, "values")
    with serving(tmp_path) as server, reader("h5py").open(server.address("a.nc"), "values") as got:
        got.read(selection)
        log = server.requests()
    stored = path.stat().st_size / 100 if chunks else None
    read = Read(values.shape, "f4", layout, (selection,), "h5py", stored, opens=True)
    found = moved(read, counts_of(read))
    nbytes = sum((one.stop or 0) - (one.start or 0) for one in log)
    assert abs(found.requests - len(log)) <= 3
    assert found.nbytes == pytest.approx(nbytes, rel=0.4)
