"""What netCDF-4 makes of HDF5, as the engines netcdf4 and h5netcdf show it."""

import io

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
import zarr
from h5py import h5d, h5s, h5t

from hyperslab import subchunk
from hyperslab.subchunk.engine import SubchunkEntrypoint
from hyperslab.subchunk.store import SubchunkStore


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
@pytest.mark.parametrize("group", [None, "g"])
def test_as_engine_netcdf4(tmp_path, what, indexed, group):
    path = make(tmp_path / "x.nc", what, indexed)
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


def test_a_short_variable_in_a_zarr_store(tmp_path):
    path = make(tmp_path / "x.nc", short)
    store = SubchunkStore(path, {"t": 3})
    with xr.open_zarr(store) as ours, xr.open_dataset(path, engine="netcdf4") as theirs:
        xr.testing.assert_equal(ours.load(), theirs.load())
    assert SubchunkStore(make(tmp_path / "y.nc", coordinates)).left_out == {}
    assert "other" in zarr.open_group(SubchunkStore(tmp_path / "y.nc"), mode="r")


def test_unlimited_dimensions_survive_a_copy(tmp_path):
    with opened(make(tmp_path / "x.nc", short)) as ours:
        ours.to_netcdf(tmp_path / "copy.nc", engine="netcdf4")
    with netCDF4.Dataset(tmp_path / "copy.nc") as file:
        assert file.dimensions["t"].isunlimited()
        assert not file.dimensions["x"].isunlimited()


def test_a_group_of_a_tree_is_its_root(tmp_path):
    path = make(tmp_path / "x.nc", coordinates)
    for group in (None, "g", "/g"):
        ours = xr.open_datatree(path, engine=SubchunkEntrypoint, group=group)
        theirs = xr.open_datatree(path, engine="netcdf4", group=group)
        xr.testing.assert_identical(ours.load(), theirs.load())
    with pytest.raises(OSError, match="has no group 'no'"):
        xr.open_datatree(path, engine=SubchunkEntrypoint, group="no")


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


def test_what_is_left_out_is_named(plain):
    with subchunk.open(plain) as file:
        assert {name: why.split(":")[0] for name, why in file.left_out.items()} == {
            "broken": "its link cannot be followed",
            "g/loop": "it leads back to /g",
            "outside": "it is a link into another file",
            "three": "numpy has no type for it",
        }
        with pytest.raises(
            subchunk.UnreadableError, match=r"three in .*: numpy has no type for it"
        ):
            file["three"]
        assert "three" not in file and "b" in file


@pytest.mark.filterwarnings("ignore:.* is left out")
def test_dimensions_without_names_are_counted_through_the_file(plain):
    tree = xr.open_datatree(plain, engine=SubchunkEntrypoint)
    assert tree["b"].dims == tree["hard"].dims == ("phony_dim_0",)
    assert tree["g/c"].dims == ("phony_dim_1", "phony_dim_2", "phony_dim_3")
    assert tree["g/h/d"].dims == ("phony_dim_5",)
    with opened(plain, group="g/h") as alone:
        assert alone["d"].dims == ("phony_dim_5",)
    np.testing.assert_array_equal(tree["soft"], tree["b"])


def test_a_variable_without_a_type_is_left_out_by_name(plain):
    with (
        pytest.warns(UserWarning, match="three is left out: numpy has no type"),
        opened(plain) as d,
    ):
        assert float(d["b"][42]) == 42
    assert "three" in SubchunkStore(plain).left_out


def test_what_cannot_be_opened_is_said(plain):
    with pytest.raises(TypeError, match="a path or a URL, not a BytesIO"):
        opened(io.BytesIO(plain.read_bytes()))
    with pytest.raises(ValueError, match="chunks are 'auto': give numbers by the names"):
        SubchunkStore(plain, "auto")
