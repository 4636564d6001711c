"""The experiment on default chunks: an array whose dimensions grow."""

from functools import partial

import netCDF4
import numpy as np

from hyperslab.io.experiment import Array
from hyperslab.io.layout import Layout


def test_an_array_can_have_named_dimensions_that_grow(tmp_path):
    make = partial(np.zeros, (2, 3, 4), "i4")
    array = Array(make, (2, 3, 4), dims=("time", "y", "x"), unlimited=("time",))
    array.write({tmp_path / "a.nc": Layout("netcdf4", chunks=(1, 3, 4))}, tmp_path)
    with netCDF4.Dataset(tmp_path / "a.nc") as made:
        assert made["data"].dimensions == ("time", "y", "x")
        assert made.dimensions["time"].isunlimited() and not made.dimensions["y"].isunlimited()
