"""The xarray engine: the datasets of engine netcdf4, lazily, in threads, processes and pickles."""

import io
import os
from itertools import product
from pathlib import Path

import dask
import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
from h5py import h5d, h5s, h5t

from hyperslab import subchunk
from hyperslab.subchunk.engine import SubchunkEntrypoint
from hyperslab.subchunk.fetch import local
from hyperslab.subchunk.store import SubchunkStore

FILES = 3


def write(path, number=0):
    """A netCDF-4 file with what CF knows: packed values, fills, times, flags, text, groups."""
    rng = np.random.default_rng(number)
    with netCDF4.Dataset(path, "w") as file:
        file.title, file.numbers = "engine", np.array([1, 2], "i2")
        for name, size in (("time", None), ("lat", 40), ("lon", 60), ("width", 5)):
            file.createDimension(name, size)
        time = file.createVariable("time", "f8", ("time",), chunksizes=(64,))
        time.units, time.calendar = "hours since 2020-01-01", "standard"
        time[:] = np.arange(6) + 6 * number
        lat = file.createVariable("lat", "f4", ("lat",))
        lat.units, lat[:] = "degrees_north", np.linspace(-80, 80, 40)
        lon = file.createVariable("lon", "f4", ("lon",))
        lon[:] = np.linspace(0, 354, 60)
        cube = {"dimensions": ("time", "lat", "lon"), "zlib": True, "chunksizes": (3, 40, 60)}
        packed = file.createVariable("t", "i2", fill_value=-32768, shuffle=True, **cube)
        packed.scale_factor, packed.add_offset = np.float32(0.01), np.float32(250)
        packed[:] = np.ma.masked_less(rng.normal(255, 9, (6, 40, 60)), 245)
        nan = file.createVariable("u", "f4", fill_value=np.nan, shuffle=False, **cube)
        nan[:] = np.where(rng.random((6, 40, 60)) < 0.1, np.nan, rng.normal(size=(6, 40, 60)))
        zero = file.createVariable("flags", "u1", fill_value=0, **cube)
        zero[:] = rng.integers(0, 9, (6, 40, 60))
        big = file.createVariable("big", ">f8", endian="big", **cube)
        big.missing_value = -1.0
        big[:] = rng.integers(-1, 3, (6, 40, 60))
        lead = file.createVariable("lead", "i4", ("time",), zlib=True)
        lead.units, lead[:] = "days", np.arange(6)
        text = file.createVariable("station", "S1", ("lat", "width"), zlib=True)
        text[:] = np.array([list(f"s{i:<4}") for i in range(40)], "S1")
        names = file.createVariable("names", str, ("lat",))
        for i in range(40):
            names[i] = f"näme{i}"
        file.createVariable("crs", "i4").grid_mapping_name = "latitude_longitude"
        inner = file.createGroup("model/run")
        inner.createDimension("step", 50)
        inner.note = "inner"
        w = inner.createVariable("w", "f4", ("step", "lat"), zlib=True, shuffle=True)
        w[:] = rng.normal(size=(50, 40))
    subchunk.build(path, spacing=1024)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write(tmp_path_factory.mktemp("engine") / "a.nc")


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    return [write(folder / f"{number}.nc", number) for number in range(FILES)]


def test_the_engine_is_guessed_by_the_index(path, tmp_path):
    assert SubchunkEntrypoint().guess_can_open(str(path))
    with xr.open_dataset(f"{path}.subchunk") as data:  # netcdf4 would take path itself
        assert not innermost(data["u"]).plain
        assert data.encoding["source"] == str(path)
    alone = tmp_path / "alone.nc"
    alone.write_bytes(path.read_bytes())
    assert not SubchunkEntrypoint().guess_can_open(alone)
    assert not SubchunkEntrypoint().guess_can_open(object())


def innermost(array):
    """The reader that a lazy variable ends in."""
    data = array.variable._data
    while data is not None and not hasattr(data, "_reader"):
        data = getattr(data, "array", None)
    return getattr(data, "_reader", None)


def test_datasets_are_those_of_netcdf4(path):
    for options in (
        {}, {"decode_cf": False}, {"drop_variables": ["t", "names"]}, {"decode_coords": "all"},
        {"decode_timedelta": True},
    ):  # fmt: skip
        with (
            xr.open_dataset(path, engine="subchunk", **options) as found,
            xr.open_dataset(path, engine="netcdf4", **options) as truth,
        ):
            xr.testing.assert_identical(found.load(), truth.load())
            for name, variable in truth.variables.items():
                assert found[name].dtype == variable.dtype, name


def test_nothing_is_read_before_it_is_asked_for(path, monkeypatch):
    read = []
    get = subchunk.VariableReader.__getitem__
    monkeypatch.setattr(
        subchunk.VariableReader,
        "__getitem__",
        lambda self, key: read.append(self.variable.name) or get(self, key),
    )
    with xr.open_dataset(path, engine="subchunk", cache=False) as data:
        assert not set(read) & {"t", "u", "flags", "big"}
        read.clear()
        subset = data["u"][::2, 3:9].isel(lon=[4, 1])[:, ::-1]
        assert not read
        subset.load()
        assert read == ["u"]


def test_any_indexing_gives_netcdf4s_values(path):
    points = {"lat": xr.DataArray([1, 5, 30], dims="p"), "lon": xr.DataArray([9, 0, 59], dims="p")}
    picks = (
        {"lat": 5, "lon": 7},
        {"time": slice(None, None, -2), "lat": [3, 1, 1], "lon": slice(2, 50, 9)},
        points,
        {"time": 0, "lat": np.arange(40) % 2 == 0},
        {"time": slice(0, 0)},
    )
    with (
        xr.open_dataset(path, engine="subchunk", cache=False) as found,
        xr.open_dataset(path, engine="netcdf4") as truth,
    ):
        for pick, name in product(picks, ("t", "u", "flags", "big")):
            xr.testing.assert_identical(
                found[name].isel(pick).load(), truth[name].isel(pick).load()
            )


def test_dask_takes_the_files_chunks(path):
    with (
        xr.open_dataset(path, engine="subchunk", chunks={}) as found,
        xr.open_dataset(path, engine="netcdf4") as truth,
    ):
        assert found["t"].chunks == ((3, 3), (40,), (60,))
        assert found["t"].encoding["chunksizes"] == (3, 40, 60)
        with dask.config.set(scheduler="threads", num_workers=4):
            xr.testing.assert_allclose(found.mean().compute(), truth.mean().compute())
    with (
        pytest.warns(UserWarning, match="separate the stored chunks"),  # xarray's own words
        xr.open_dataset(path, engine="subchunk", chunks={"lat": 7}) as found,
    ):
        assert found["u"].chunks[1] == (7, 7, 7, 7, 7, 5)
        with xr.open_dataset(path, engine="netcdf4") as truth:
            xr.testing.assert_identical(found["u"].compute(), truth["u"].load())


def test_many_files_at_once(paths):
    options = {"combine": "by_coords", "drop_variables": ["names", "station"],
               "data_vars": "minimal", "coords": "minimal", "compat": "override"}  # fmt: skip
    with (
        xr.open_mfdataset(paths, engine="subchunk", parallel=True, **options) as found,
        # Opening by netCDF4 in threads corrupts memory now and then.
        xr.open_mfdataset(paths, engine="netcdf4", **options) as truth,
    ):
        assert found.sizes["time"] == 6 * FILES
        point = {"lat": 7, "lon": 9}
        xr.testing.assert_identical(found.isel(point).compute(), truth.isel(point).compute())


def test_more_files_than_may_be_open(tmp_path, monkeypatch):
    """Where 1024 descriptors are allowed, a thousand files with their indexes are too many."""
    monkeypatch.setattr(local, "OPEN_FILES", 4)
    with h5py.File(tmp_path / "0.h5", "w") as file:
        file.create_dataset("x", data=np.arange(20_000), chunks=(10_000,), compression=4)
    subchunk.build(tmp_path / "0.h5", spacing=1024)
    for number in range(1, 20):
        for name in ("{}.h5", "{}.h5.subchunk"):
            os.link(tmp_path / name.format(0), tmp_path / name.format(number))
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir())) if descriptors.is_dir() else 0
    files = [subchunk.open(tmp_path / f"{number}.h5") for number in range(20)]
    for file in files * 2:
        assert file["x"][12_345] == 12_345
    if before:
        assert len(list(descriptors.iterdir())) <= before + 6


def opened(path, **options):
    return xr.open_dataset(path, engine=SubchunkEntrypoint, **options)


def short(file):
    """Variables that end before their unlimited dimension does, with and without a fill."""
    file.createDimension("t", None)
    file.createDimension("x", 300)
    for name, length, fill in (("a", 4, None), ("b", 2, None), ("c", 0, -1.0), ("d", 3, np.nan)):
        made = file.createVariable(name, "f4", ("t", "x"), zlib=True, fill_value=fill)
        made[:length] = np.arange(length * 300.0).reshape(length, 300)
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


def make(path, what, indexed=True):
    with netCDF4.Dataset(path, "w") as file:
        what(file)
    if indexed:
        subchunk.build(path)
    return path


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("what", [short, coordinates])
def test_as_engine_netcdf4(tmp_path, what, indexed):
    path = make(tmp_path / "x.nc", what, indexed)
    for group in (None, "g"):
        with (
            opened(path, group=group) as ours,
            xr.open_dataset(path, engine="netcdf4", group=group) as theirs,
        ):
            xr.testing.assert_identical(ours.load(), theirs.load())
            assert ours.encoding["unlimited_dims"] == theirs.encoding["unlimited_dims"]


def test_a_short_variable_is_filled_wherever_it_is_cut(tmp_path):
    path = make(tmp_path / "x.nc", short)
    with opened(path, mask_and_scale=False) as ours, xr.open_dataset(path, engine="netcdf4") as ref:
        for name in ("a", "b", "c", "d", "n"):
            whole = xr.open_dataset(path, engine="netcdf4", mask_and_scale=False)[name].values
            for key in (np.s_[1:], np.s_[3:], np.s_[::-1], np.s_[-1], np.s_[[3, 0, 2]], np.s_[1:1]):
                np.testing.assert_array_equal(ours[name].isel(t=key).values, whole[key], str(key))
        assert ref.sizes == ours.sizes


def test_trees_are_those_of_netcdf4_and_a_group_of_one_is_its_root(path, tmp_path):
    made = make(tmp_path / "x.nc", coordinates)
    for file, group in ((path, None), (made, None), (made, "g"), (made, "/g")):
        with (
            xr.open_datatree(file, engine=SubchunkEntrypoint, group=group) as ours,
            xr.open_datatree(file, engine="netcdf4", group=group) as theirs,
        ):
            xr.testing.assert_identical(ours.load(), theirs.load())
    with pytest.raises(OSError, match="has no group 'no'"):
        xr.open_datatree(made, engine=SubchunkEntrypoint, group="no")


def test_sequences_do_not_keep_a_file_from_opening(tmp_path):
    def sequences(file):
        file.createDimension("n", 3)
        made = file.createVariable("v", file.createVLType("i4", "sequence"), ("n",))
        made[0], made[2] = np.arange(3, dtype="i4"), np.arange(1, dtype="i4")
        file.createVariable("w", "f4", ("n",), zlib=True)[:] = 1

    path = make(tmp_path / "x.nc", sequences)
    with opened(path) as ours, xr.open_dataset(path, engine="netcdf4") as theirs:
        assert ours["v"].dtype == theirs["v"].dtype
        xr.testing.assert_identical(ours["w"].load(), theirs["w"].load())
        for one, other in zip(ours["v"].values, theirs["v"].values, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """HDF5 without dimensions: groups, links, and a type that numpy lacks."""
    path = tmp_path_factory.mktemp("plain") / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("b", data=np.arange(100.0), chunks=(50,), compression=4)
        file.create_dataset("g/c", data=np.ones((7, 9, 9)), chunks=(7, 9, 9), compression=4)
        file.create_dataset("g/h/d", data=np.ones(9))
        file["g"].attrs["q"] = 1
        file["soft"], file["hard"] = h5py.SoftLink("/b"), file["b"]
        file["g/up"], file["broken"] = h5py.SoftLink("/b"), h5py.SoftLink("/nothing")
        file["outside"] = h5py.ExternalLink("other.h5", "/b")
        file["g/loop"] = file["g"]
        three = h5t.STD_I32LE.copy()
        three.set_precision(24)
        three.set_size(3)
        h5d.create(file.id, b"three", three, h5s.create_simple((5,)))
    subchunk.build(path)
    return path


def test_other_names_of_a_variable_are_there(plain):
    with subchunk.open(plain) as file:
        assert list(file) == ["b", "g/c", "g/h/d", "g/up", "hard", "soft"]
        for name in ("g/up", "hard", "soft"):
            assert not file[name].plain
            np.testing.assert_array_equal(file[name][90:], np.arange(90.0, 100))
            assert not file.index.entries[name].spacing  # its chunks are indexed once


@pytest.mark.filterwarnings("ignore:.* is left out")
def test_dimensions_without_names_are_counted_through_the_file(plain):
    tree = xr.open_datatree(plain, engine=SubchunkEntrypoint)
    assert tree["b"].dims == tree["hard"].dims == ("phony_dim_0",)
    assert tree["g/c"].dims == ("phony_dim_1", "phony_dim_2", "phony_dim_3")
    assert tree["g/h/d"].dims == ("phony_dim_5",)
    with opened(plain, group="g/h") as alone:
        assert alone["d"].dims == ("phony_dim_5",)
    np.testing.assert_array_equal(tree["soft"], tree["b"])


def test_what_cannot_be_opened_is_said(plain):
    with pytest.raises(TypeError, match="a path or a URL, not a BytesIO"):
        opened(io.BytesIO(plain.read_bytes()))
    with pytest.raises(ValueError, match="chunks are 'auto': give numbers by the names"):
        SubchunkStore(plain, "auto")
