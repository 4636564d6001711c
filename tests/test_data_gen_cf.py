"""CF metadata, and datasets opened lazily with it."""

import re

import numpy as np
import pytest
import xarray as xr

import data_gen

SMALL = {
    "ocean": {"steps": 3, "nlat": 38, "nlon": 128},
    "gfs": {"steps": 2, "nlat": 37, "nlon": 72},
    "radar": {"nlat": 150, "nlon": 200, "cells": 9},
    "array": {"shape": (7, 5)},
}


def raw(name):
    return data_gen.open(name, decode=False, **SMALL[name])


@pytest.mark.parametrize("name", data_gen.NAMES)
def test_the_whole_and_its_variables_and_axes_are_described(name):
    opened = raw(name)
    assert opened.attrs["Conventions"] == "CF-1.11"
    told = {"title", "source", "history", "references", "institution", "comment"}
    assert told <= set(opened.attrs) and opened.attrs["source"].startswith("synthetic")
    for text in opened.attrs.values():
        assert not re.search(r"/(home|work|root|tmp|Users)|\d{4}-\d\d-\d\d|@", text)
    if name == "array":
        return
    for variable in opened.data_vars.values():
        assert variable.attrs["units"] and variable.attrs["long_name"]
        assert variable.attrs["cell_methods"].startswith("time: point")
        assert variable.attrs["_FillValue"].dtype == variable.dtype
    letters = [c.attrs["axis"] for c in opened.coords.values() if "axis" in c.attrs]
    assert len(letters) == len(set(letters)) and {"Y", "X"} <= set(letters)


def test_values_are_decoded():
    ocean = data_gen.open("ocean", **SMALL["ocean"])
    assert ocean.uo.attrs["standard_name"] == "eastward_sea_water_velocity"
    assert np.diff(ocean.time.values).tolist() == [3_600_000_000_000] * 2
    values = ocean.uo.isel(time=0).values
    assert np.isnan(values).any() and np.nanmax(np.abs(values)) < 3
    stored, decoded = raw("radar").cref.values, data_gen.open("radar", **SMALL["radar"]).cref
    echo = stored > 0
    assert decoded.values[echo] == pytest.approx(stored[echo] / 100, rel=1e-6)
    assert np.isnan(decoded.values[stored == -9990]).all()


def test_what_is_opened_can_be_written_and_read_by_xarray(tmp_path):
    gfs = data_gen.open("gfs", **SMALL["gfs"])
    gfs.to_netcdf(tmp_path / "gfs.nc")
    with xr.open_dataset(tmp_path / "gfs.nc") as again:
        xr.testing.assert_identical(again.load(), gfs.compute())
