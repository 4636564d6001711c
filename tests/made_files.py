"""Small real files of every kind that `hyperslab bench` takes, and a server for URLs."""

from contextlib import contextmanager

import netCDF4
import numpy as np
import zarr
from range_server import serving

from hyperslab.io.opening import open_source

RECORD = np.dtype([("speed", "f4"), ("count", "i4")])


def classic(path, format="NETCDF3_CLASSIC", steps=7):
    """A classic file with an unlimited dimension, and record variables of odd sizes."""
    draw = np.random.default_rng(1)
    with netCDF4.Dataset(path, "w", format=format) as nc:
        for name, length in (("time", None), ("lat", 5), ("lon", 9)):
            nc.createDimension(name, length)
        nc.createVariable("time", "f8", ("time",))[:] = np.arange(steps)
        nc["time"].units = "days since 2000-01-01"
        nc.createVariable("flag", "i1", ("time", "lon"))[:] = draw.integers(-9, 9, (steps, 9))
        nc.createVariable("sst", "f4", ("time", "lat", "lon"))[:] = draw.random((steps, 5, 9))
        nc.createVariable("mask", "i2", ("lat", "lon"))[:] = draw.integers(0, 2, (5, 9))
        if format == "NETCDF3_64BIT_DATA":
            big = nc.createVariable("many", "u8", ("lat",))
            big[:] = np.array([2**63 + n for n in range(5)], "u8")
    return path


def nested(path):
    """A netCDF-4 file with groups in groups, records, text, lists, and named values."""
    with netCDF4.Dataset(path, "w") as nc:
        nc.createDimension("x", 40)
        nc.history = "made"
        top = nc.createVariable("depth", "f8", ("x",))
        top[:] = np.linspace(0, 1, 40)
        record = nc.createCompoundType(RECORD, "record_t")
        nc.createVariable("records", record, ("x",))[:] = np.zeros(40, RECORD)
        nc.createVariable("names", str, ("x",))[:] = np.array([f"n{i}" for i in range(40)], object)
        lists = nc.createVLType("i4", "lists_t")
        nc.createVariable("lists", lists, ("x",))[0] = np.arange(3, dtype="i4")
        kind = nc.createEnumType("u1", "kind_t", {"sea": 0, "land": 1})
        nc.createVariable("kind", kind, ("x",))[:] = np.zeros(40, "u1")
        inner = nc.createGroup("ocean").createGroup("deep")
        inner.createDimension("x", 12)  # the same name, another length
        inner.createDimension("t", None)
        salt = inner.createVariable("salt", "f4", ("t", "x"), chunksizes=(2, 12), complevel=3,
                                    zlib=True, shuffle=True)  # fmt: skip
        salt[:] = np.random.default_rng(2).random((6, 12))
        salt.valid_range = np.array([0, 40], "f4")
        nc["ocean"].createVariable("heat", ">i4", ("x",), endian="big")[:] = np.arange(40)
    return path


def sharded(path):
    """A Zarr 3 store whose chunks lie in shards, and a group with an array without names."""
    root = zarr.open_group(path, mode="w", zarr_format=3)
    root.attrs["title"] = "sharded"
    sst = root.create_array(
        "sst", shape=(50, 60), chunks=(5, 10), shards=(20, 20), dtype="f4",
        dimension_names=("y", "x"),
    )  # fmt: skip
    sst[:] = np.random.default_rng(3).random((50, 60), "f4")
    sst.attrs["units"] = "K"
    inner = root.create_group("sub").create_array("n", shape=(7, 7), chunks=(3, 3), dtype="i8")
    inner[:] = np.arange(49).reshape(7, 7)
    return path


def packed(path):
    """A file of packed values, a quarter of them missing and a quarter never written."""
    draw = np.random.default_rng(5)
    with netCDF4.Dataset(path, "w") as nc:
        for name, length in (("time", 8), ("lat", 20), ("lon", 30)):
            nc.createDimension(name, length)
        sst = nc.createVariable("sst", "i2", ("time", "lat", "lon"), zlib=True,
                                chunksizes=(1, 20, 30), fill_value=-32768)  # fmt: skip
        sst.scale_factor, sst.add_offset = 0.01, 273.15
        sst.set_auto_maskandscale(False)
        values = draw.integers(-500, 3000, (6, 20, 30)).astype("i2")
        values[:, :, ::4] = -32768
        sst[:6] = values
    return path


def growing(path):
    """Variables of a dimension that grows, of which some were written less far than others."""
    with netCDF4.Dataset(path, "w") as nc:
        nc.createDimension("time", None)
        nc.createDimension("x", 4)
        nc.createVariable("time", "f8", ("time",))[:] = np.arange(6)
        nc.createVariable("short", "i4", ("time", "x"), fill_value=-5)[:2] = 1
        nc.createVariable("none", "i4", ("time",))
        inner = nc.createGroup("a").createGroup("b")
        inner.createVariable("v", "f4", ("time", "x"))[:3] = 1
    return path


def scalars(path, format="NETCDF4"):
    """A file with scalars of several types, one of them a coordinate, beside a short array."""
    with netCDF4.Dataset(path, "w", format=format) as nc:
        nc.createDimension("x", 3)
        nc.createVariable("height", "f8", ())[...] = 2.5
        nc.createVariable("crs", "i4", (), fill_value=-1)[...] = -7
        nc.createVariable("flag", "i1", ())[...] = 3
        nc.createVariable("map", "S1", ()).grid_mapping_name = "latitude_longitude"
        nc.createVariable("code", "S1", ("x",))[:] = np.array(list("abc"), "S1")
        nc["code"]._Encoding = "utf-8"
        nc.createVariable("sst", "f4", ("x",))[:] = np.arange(3)
    return path


def everything(path):
    """Format of a file, and all values that can be copied, by name."""
    with open_source(path) as source:
        return source.format, {
            name: source.read(name, tuple(slice(0, n) for n in variable.shape))
            for name, variable in source.variables.items()
            if not variable.reason
        }


@contextmanager
def served(folder, *, ranges=True):
    """The files of a folder over HTTP, in parts where asked for; gives the address."""
    with serving(folder, ranges=ranges, token=None, lists=True) as (address, _):
        yield address
