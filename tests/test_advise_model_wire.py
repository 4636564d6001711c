"""What a read takes over a link: by counts, and as a server counts them."""

import dataclasses
import math

import numpy as np
import pytest

from hyperslab.access.registry import reader
from hyperslab.advise.model import Read, UnknownLibraryError, geometry
from hyperslab.advise.model.wire import FETCHES, Moved, file_bytes, moved, opening, wire_seconds
from hyperslab.network import Link, serving
from hyperslab.storage import Layout
from hyperslab.storage.write import write_array

DEFLATE = Layout("netcdf4", chunks=(1, 100, 100), codec="deflate", shuffle=True)
READ = Read((50, 100, 100), "f4", DEFLATE, ((slice(None), 5, 5),), "h5py", 1e4)
VALUES = np.random.default_rng(0).normal(size=(12, 40, 60)).astype("f4")
SERIES = (slice(None), 5, 5)
FRAME = (3, slice(None), slice(None))
SHARD = (slice(None), slice(0, 40), slice(0, 30))


def test_a_link_costs_round_trips_and_bytes():
    link = Link(1e6, 0.1)
    times = {}
    for library in FETCHES:
        if library in ("zarr", "xarray-zarr"):
            continue
        far = dataclasses.replace(READ, library=library, link=link)
        times[library] = wire_seconds(far, geometry(far))
    assert math.isclose(times["h5py-none"], 50 * 0.1 + 50 * 1e4 / 1e6)
    asked = moved("h5py-none", geometry(READ))
    assert (asked.requests, asked.stages, asked.nbytes) == (50, 50, 50 * 1e4)
    ahead = moved("h5py", geometry(READ))
    assert ahead.requests < 50
    assert math.isclose(times["h5py"], link.seconds(ahead.stages, 0, ahead.nbytes))
    assert moved("kerchunk", geometry(READ)).stages == 5
    assert times["kerchunk"] < times["h5py-64k"] < times["h5py-none"]
    size = file_bytes(READ)
    assert moved("h5py", geometry(READ), size) == Moved(0, 0, 0.0)  # it came with opening
    assert opening("h5py", size) == Moved(2, 2, size)
    assert opening("h5py", 1e9).nbytes == FETCHES["h5py"].ahead_bytes
    opened = dataclasses.replace(READ, library="h5py-none", link=link, opens=True)
    assert math.isclose(wire_seconds(opened, geometry(opened)) - times["h5py-none"], 12 * 0.1)
    with pytest.raises(UnknownLibraryError, match="fetches"):
        wire_seconds(dataclasses.replace(READ, library="plain", link=link), geometry(READ))


@pytest.mark.parametrize("shards", [None, (12, 40, 30)])
@pytest.mark.parametrize("selection", [SERIES, FRAME, SHARD])
def test_zarr_asks_a_server_for_what_is_counted(tmp_path, shards, selection):
    layout = Layout("zarr3", (3, 20, 10), "zstd", 3, shards=shards)
    write_array(tmp_path / "a.zarr", VALUES, layout, "values")
    with serving(tmp_path) as server:
        opened = reader("zarr").open(server.address("a.zarr"), "values")
        first = len(server.requests())
        server.forget()
        opened.read(selection)
        opened.close()
        asked = len(server.requests())
    found = geometry(Read(VALUES.shape, "f4", layout, (selection,), "zarr", 2000.0))
    assert (first, asked) == (opening("zarr", 1e6).requests, found.requests)


def test_the_chunks_of_a_shard_are_asked_for_one_after_another():
    alone = Layout("zarr3", (1, 10, 10), "zstd", 3)
    held = dataclasses.replace(alone, shards=(50, 50, 50))
    stages = {}
    for name, layout in (("alone", alone), ("held", held)):
        read = Read((100, 100, 100), "f4", layout, ((slice(0, 49), 5, 5),), "zarr", 100.0)
        found = moved("zarr", geometry(read))
        stages[name] = found.stages, found.requests
    assert stages == {"alone": (5, 49), "held": (50, 50)}  # in the second the shard's own index
    whole = Read((100, 100, 100), "f4", held, ((slice(0, 50), *[slice(0, 50)] * 2),), "zarr", 100.0)
    assert moved("zarr", geometry(whole)).stages == 1


@pytest.mark.parametrize("library", ["h5py", "h5netcdf", "subchunk", "kerchunk"])
def test_opening_asks_a_server_for_what_is_counted(tmp_path, library):
    from hyperslab import subchunk
    from hyperslab.access import references

    path = tmp_path / "a.nc"
    write_array(path, VALUES, Layout("netcdf4", (3, 20, 10), "deflate", 1), "values")
    subchunk.build(path)
    references.write(path)
    with serving(tmp_path) as server:
        reader(library).open(server.address("a.nc"), "values").close()
        log = server.requests()
    assert len(log) == opening(library, path.stat().st_size).requests
    if FETCHES[library].ahead_bytes:  # all of a small file
        assert sum((one.stop or 0) - (one.start or 0) for one in log) == path.stat().st_size
