"""The experiment on default chunks: the library asked, and files written in the chunks compared."""

from functools import partial

import netCDF4
import numpy as np
import pandas as pd

from data_gen.arrays import LARGE, SMALL
from hyperslab.experiments import chunking_defaults as defaults
from hyperslab.io.experiment import Array
from hyperslab.io.layout import Layout


def test_the_model_equals_the_library_for_all_that_is_tried(tmp_path):
    variables = defaults.variables([*SMALL.values(), *LARGE.values()])
    series = [defaults.Defined((0,), size, (0,)) for size in defaults.DTYPES]
    for tried in (variables, defaults.growing(), series):
        found = pd.DataFrame(defaults.picked(tried, tmp_path))
        assert (found["chunks"] == found["predicted_chunks"]).all()
    assert set(defaults.SHOWN) <= {item.name for item in variables}
    assert {item.kind for item in variables} == {"none", "some", "all", "lone"}
    assert [*defaults.constants(tmp_path)][1]["mode"] == "contiguous"
    assert not list(tmp_path.iterdir())


def test_an_array_can_have_named_dimensions_that_grow(tmp_path):
    make = partial(np.zeros, (2, 3, 4), "i4")
    array = Array(make, (2, 3, 4), dims=("time", "y", "x"), unlimited=("time",))
    array.write({tmp_path / "a.nc": Layout("netcdf4", chunks=(1, 3, 4))}, tmp_path)
    with netCDF4.Dataset(tmp_path / "a.nc") as made:
        assert made["data"].dimensions == ("time", "y", "x")
        assert made.dimensions["time"].isunlimited() and not made.dimensions["y"].isunlimited()
