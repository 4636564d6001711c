"""The xarray engine and the Zarr store: what engine netcdf4 gives, lazily and in pickles."""

import asyncio
import io
import os
import pickle
from itertools import product
from pathlib import Path

import netCDF4
import numpy as np
import pytest
import subchunk_files as files
import xarray as xr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype

from hyperslab import subchunk
from hyperslab.subchunk.engine import SubchunkEntrypoint
from hyperslab.subchunk.fetch import local
from hyperslab.subchunk.store import SubchunkStore


def climate(file):
    """What CF knows: packed values, fills, times, flags, text, groups."""
    rng = np.random.default_rng(0)
    cube = {"zlib": True, "chunksizes": (3, 40, 60)}

    def make(name, dtype, dims, values, how=None, **attributes):
        variable = file.createVariable(name, dtype, dims, **(how or {}))
        variable.setncatts(attributes)
        variable[:] = values

    file.title, file.numbers = "engine", np.array([1, 2], "i2")
    for name, size in (("time", None), ("lat", 40), ("lon", 60), ("width", 5)):
        file.createDimension(name, size)
    days, dims, shape = np.arange(6), ("time", "lat", "lon"), (6, 40, 60)
    since = {"units": "hours since 2020-01-01", "calendar": "standard"}
    make("time", "f8", dims[:1], days, {"chunksizes": (64,)}, **since)
    make("lat", "f4", dims[1:2], np.linspace(-80, 80, 40), units="degrees_north")
    make("lon", "f4", dims[2:], np.linspace(0, 354, 60))
    packed = {"scale_factor": np.float32(0.01), "add_offset": np.float32(250)}
    warm = np.ma.masked_less(rng.normal(255, 9, shape), 245)
    make("t", "i2", dims, warm, cube | {"fill_value": -32768, "shuffle": True}, **packed)
    holes = np.where(rng.random(shape) < 0.1, np.nan, rng.normal(size=shape))
    make("u", "f4", dims, holes, cube | {"fill_value": np.nan, "shuffle": False})
    big = cube | {"endian": "big"}
    make("big", ">f8", dims, rng.integers(-1, 3, shape), big, missing_value=-1.0)
    make("lead", "i4", dims[:1], days, {"zlib": True}, units="days")
    texts = np.array([list(f"s{i:<4}") for i in range(40)], "S1")
    make("station", "S1", ("lat", "width"), texts, {"zlib": True})
    make("names", str, ("lat",), np.array([f"näme{i}" for i in range(40)], object))
    file.createVariable("crs", "i4").grid_mapping_name = "latitude_longitude"
    inner = file.createGroup("g/run")
    inner.createDimension("step", 50)
    inner.note = "inner"
    w = inner.createVariable("w", "f4", ("step", "lat"), zlib=True, shuffle=True)
    w[:] = rng.normal(size=(50, 40))


def short(file):
    """Variables that end before their unlimited dimension does, with and without a fill."""
    file.createDimension("t", None)
    file.createDimension("x", 300)
    for name, length, fill in (("a", 4, None), ("b", 2, None), ("c", 0, -1.0), ("d", 3, np.nan)):
        variable = file.createVariable(name, "f4", ("t", "x"), zlib=True, fill_value=fill)
        variable[:length] = np.arange(length * 300.0).reshape(length, 300)
    file.createVariable("n", "i2", ("t",), zlib=True)[:3] = 5
    below = file.createGroup("g")
    below.createVariable("e", "i4", ("t",), zlib=True, fill_value=-7)[:2] = [1, 2]
    below.createDimension("x", None)
    below.createVariable("f", "i4", ("x",), zlib=True)[:6] = 1


def coordinates(file):
    """Coordinates of two dimensions, and one named like a dimension that it does not have."""
    for name, length in (("x", 30), ("y", 40), ("station", 4), ("len", 6), ("other", 3)):
        file.createDimension(name, length)
    file.createVariable("x", "f4", ("x", "y"), zlib=True)[:] = np.arange(1200).reshape(30, 40)
    labels = file.createVariable("station", "S1", ("station", "len"))
    labels._Encoding = "utf-8"
    labels[:] = np.array(["ab", "cde", "", "zzz"])
    file.createVariable("v", "f4", ("station",), zlib=True)[:] = range(4)
    file.createVariable("w", "f4", ("y", "x"), zlib=True)[:] = 3
    file.createVariable("other", "f4", ("y",), zlib=True)[:] = 3
    below = file.createGroup("g")
    below.createDimension("z", 5)
    below.createVariable("z", "f4", ("z", "x"), zlib=True)[:] = 2


def write(path, what, indexed=True):
    with netCDF4.Dataset(path, "w") as file:
        what(file)
    if indexed:
        subchunk.build(path, spacing=1024)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write(tmp_path_factory.mktemp("engine") / "a.nc", climate)


def test_the_engine_is_guessed_by_the_index(path, tmp_path):
    assert SubchunkEntrypoint().guess_can_open(str(path))
    with xr.open_dataset(f"{path}.subchunk") as data:  # netcdf4 would take path itself
        assert not innermost(data["u"]).plain
        assert data.encoding["source"] == str(path)
    in_dask = xr.open_dataset(path, engine="subchunk", chunks={})["t"]
    assert in_dask.chunks == ((3, 3), (40,), (60,))
    alone = tmp_path / "alone.nc"
    alone.write_bytes(path.read_bytes())
    assert not SubchunkEntrypoint().guess_can_open(alone)
    assert not SubchunkEntrypoint().guess_can_open(object())
    with pytest.raises(TypeError, match="a path or a URL, not a BytesIO"):
        xr.open_dataset(io.BytesIO(path.read_bytes()), engine="subchunk")


def innermost(array):
    """The reader that a lazy variable ends in."""
    data = array.variable._data
    while data is not None and not hasattr(data, "_reader"):
        data = getattr(data, "array", None)
    return getattr(data, "_reader", None)


STORED = ("zlib", "complevel", "shuffle", "fletcher32", "contiguous", "chunksizes",
          "original_shape", "source")  # fmt: skip
OPTIONS = (
    {}, {"decode_cf": False}, {"drop_variables": ["t", "names"]}, {"decode_coords": "all"},
    {"decode_timedelta": True},
)  # fmt: skip


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("what", [climate, short, coordinates])
def test_as_engine_netcdf4(tmp_path, what, indexed):
    path = write(tmp_path / "x.nc", what, indexed)
    for options, group in product(OPTIONS if what is climate else [{}], (None, "g")):
        with (
            xr.open_dataset(path, engine="subchunk", group=group, **options) as ours,
            xr.open_dataset(path, engine="netcdf4", group=group, **options) as theirs,
        ):
            xr.testing.assert_identical(ours.load(), theirs.load())
            for name, variable in theirs.variables.items():
                assert ours[name].dtype == variable.dtype, name
                stored, truth = ours[name].encoding, variable.encoding
                assert {k: stored.get(k) for k in STORED} == {k: truth.get(k) for k in STORED}, name
            assert ours.encoding["unlimited_dims"] == theirs.encoding["unlimited_dims"]
    for group in ("g", "/g") if what is short else (None, "g", "/g"):
        with (
            xr.open_datatree(path, engine="subchunk", group=group) as ours,
            xr.open_datatree(path, engine="netcdf4", group=group) as theirs,
        ):
            xr.testing.assert_identical(ours.load(), theirs.load())
    with pytest.raises(OSError, match="has no group 'no'"):
        xr.open_datatree(path, engine="subchunk", group="no")


def test_nothing_is_read_before_it_is_asked_for(path, monkeypatch):
    read = []
    get = subchunk.VariableReader.__getitem__
    monkeypatch.setattr(
        subchunk.VariableReader,
        "__getitem__",
        lambda self, key: read.append(self.variable.name) or get(self, key),
    )
    with xr.open_dataset(path, engine="subchunk", cache=False) as data:
        assert not set(read) & {"t", "u", "big"}
        read.clear()
        subset = data["u"][::2, 3:9].isel(lon=[4, 1])[:, ::-1]
        assert not read
        subset.load()
        assert read == ["u"]


def test_any_indexing_of_what_is_filled_up_gives_netcdf4s_values(tmp_path):
    path, points = write(tmp_path / "x.nc", short), xr.DataArray([3, 0, 2], dims="p")
    picks = [{"t": key} for key in np.s_[1:, 3:, ::-1, -1, [3, 0, 2], 1:1]]
    picks += [{"t": points, "x": points}, {"x": np.arange(300) % 7 == 0}]
    with (
        xr.open_dataset(path, engine="subchunk", cache=False) as ours,
        xr.open_dataset(path, engine="netcdf4") as theirs,
    ):
        for pick, name in product(picks, "abcd"):
            array, truth = ours[name].isel(pick).load(), theirs[name].load().isel(pick)
            xr.testing.assert_identical(array, truth)


def test_more_files_than_may_be_open(tmp_path, monkeypatch):
    """Where 1024 descriptors are allowed, a thousand files with their indexes are too many."""
    monkeypatch.setattr(local, "OPEN_FILES", 4)
    paths = [tmp_path / f"{number}.h5" for number in range(20)]
    index = subchunk.build(files.write_one(paths[0], np.arange(20_000)), spacing=1024)
    for path in paths[1:]:
        os.link(paths[0], path)
        os.link(index, f"{path}.subchunk")
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir())) if descriptors.is_dir() else 0
    xr.open_datatree(paths[0], engine="subchunk").close()
    assert not before or len(list(descriptors.iterdir())) == before
    opened = [subchunk.open(path) for path in paths]
    for file in opened * 2:
        assert file["x"][12_345] == 12_345
    if before:
        assert len(list(descriptors.iterdir())) <= before + 6


def test_xarray_reads_the_store_like_netcdf4(path):
    """In a process of a dask cluster too, which gets it pickled."""
    arguments = path, {"t": {"time": -1, "lat": 5, "lon": 5}, "time": np.int64(-1)}
    store = pickle.loads(pickle.dumps(SubchunkStore(*arguments)))
    assert store == SubchunkStore(*arguments) != SubchunkStore(path)
    for group in (None, "g/run"):
        how = {"group": group, "drop_variables": ["station"]}
        with (
            xr.open_dataset(path, engine="netcdf4", **how) as truth,
            xr.open_zarr(store, **how) as dataset,
        ):
            # JSON does not keep that the scale is a float32.
            xr.testing.assert_allclose(dataset.compute(), truth.compute())
            if not group:
                assert dataset["t"].chunks == ((6,), (5,) * 8, (5,) * 12)


def test_keys_and_parts(path):
    async def look_up():
        keys = [key async for key in store.list()]
        assert len(keys) == len(set(keys))
        for key in keys:
            assert await store.exists(key)
            whole = (await store.get(key, prototype)).to_bytes()
            assert await store.getsize(key) == len(whole)
            parts = [RangeByteRequest(2, 9), OffsetByteRequest(3), SuffixByteRequest(4)]
            got = await store.get_partial_values(prototype, [(key, part) for part in parts])
            assert [part.to_bytes() for part in got] == [whole[2:9], whole[3:], whole[-4:]]
        assert {"zarr.json", "time", "t", "g"} < {key async for key in store.list_dir("")}
        assert {key async for key in store.list_dir("t")} == {"zarr.json", "c"}
        assert {key async for key in store.list_dir("t/c")} == {"0", "1"}
        assert [k async for k in store.list_prefix("lat/c")] == ["lat/c/0"]
        for absent in ("t/c/2/0/0", "t/c/0/0", "t/c/x/0/0", "none/zarr.json", "t/c/-1/0/0"):
            assert not await store.exists(absent)
            assert await store.get(absent, prototype) is None
        with pytest.raises(ValueError, match="read-only"):
            await store.set("u/c/0", prototype.buffer.from_bytes(b""))
        with pytest.raises(ValueError, match="read-only"):
            await store.delete("u/c/0")

    store, prototype = SubchunkStore(path), default_buffer_prototype()
    asyncio.run(look_up())


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ("auto", "chunks are 'auto': give numbers by the names"),
        ({"nothing": 3}, "'nothing', which is no variable and no dimension"),
        ({"u": (1, 2)}, r"\(1, 2\): give a shape, or lengths by names"),
        ({"u": {"depth": 1}}, "name 'depth': its dimensions are"),
        ({"u": 2.5}, "give a shape, or lengths by names"),
        ({"u": 5}, "give a shape, or lengths by names"),
        ({"lat": 0}, "along lat are 0: give 1 to 40, or -1 for all"),
        ({"lat": 2.5}, "along lat are 2.5"),
    ],
)
def test_chunks_that_do_not_fit_are_named(path, chunks, message):
    with pytest.raises(ValueError, match=message):
        SubchunkStore(path, chunks)
