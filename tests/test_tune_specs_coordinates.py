"""A copy to keep holds what its variables cannot be understood without."""

import netCDF4
import numpy as np
import pytest
from made_bench import Made

from hyperslab.tune.bench.command import with_coordinates
from hyperslab.tune.rechunk import copy
from hyperslab.tune.source import open_source
from hyperslab.tune.specs.coordinates import coordinates_of
from hyperslab.tune.specs.target import Choice, Target


def found(names, *variables):
    return coordinates_of({v.name: v for v in variables}, names)


SST = Made("sst", ("time", "lat"), (3, 4), attrs={"coordinates": "day gone", "grid_mapping": "crs"})
TIME = Made("time", ("time",), (3,), attrs={"bounds": "ends"})
OTHERS = [
    Made("lat", ("lat",), (4,)),
    Made("ends", ("time", "two"), (3, 2)),
    Made("day", ("time",), (3,)),
    Made("crs", (), ()),
    Made("ice", ("time", "lat"), (3, 4)),
    Made("count", ("time",), (3,)),
]


def test_what_dimensions_and_attributes_name_is_needed_and_what_that_needs():
    assert found(["sst"], SST, TIME, *OTHERS) == ("time", "lat", "ends", "day", "crs")
    assert found(["ice"], SST, TIME, *OTHERS) == ("time", "lat", "ends")
    assert found(["sst", "time", "lat"], SST, TIME, *OTHERS) == ("ends", "day", "crs")


def test_groups_look_outwards():
    deep = Made("a/b/salt", ("a_b_t",), (3,), attrs={"coordinates": "level where"})
    others = [
        Made("a/b/t", ("a_b_t",), (3,)),
        Made("where", ("x",), (4,)),
        Made("a/level", ("z",), (2,)),
    ]
    assert found(["a/b/salt"], deep, *others) == ("a/b/t", "where", "a/level")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("coordinates") / "a.nc"
    with netCDF4.Dataset(path, "w") as nc:
        nc.createDimension("time", None)
        nc.createDimension("x", 4)
        sst = nc.createVariable("sst", "f4", ("time", "x"))
        sst[:] = np.linspace(0, 1, 12).reshape(3, 4)
        sst.coordinates = "name exact"
        nc.createVariable("time", "f8", ("time",))[:] = [0.1, 0.2, 0.3]
        nc.createVariable("exact", "i8", ("x",))[:] = 2**40
        nc.createVariable("name", str, ("x",))
        nc.createVariable("ice", "f4", ("time", "x"))[:] = 1
    return path


def test_coordinates_stay_as_they_are(file, tmp_path):
    target = Target("rounded", "netcdf4", Choice((1, 4), "deflate", quantize=("bitgroom", 1)))
    with open_source(file) as source:
        wider, names = with_coordinates(source, ["sst"], target)
    assert names == ("sst", "time", "exact")
    copy(file, tmp_path / "b.nc", wider, variables=names)
    with netCDF4.Dataset(tmp_path / "b.nc") as nc:
        assert set(nc.variables) == {"sst", "time", "exact"}
        assert nc["time"][:].tolist() == [0.1, 0.2, 0.3]
        assert nc["sst"].chunking() == [1, 4]


def test_what_the_format_cannot_hold_is_left_out(file):
    with open_source(file) as source:
        _, names = with_coordinates(source, ["sst"], Target("old", "netcdf3"))
    assert names == ("sst", "time")
