"""The experiment on default chunks: the library asked, and files written in the chunks compared."""

import netCDF4
import pandas as pd
import pytest

from data_gen.arrays import LARGE, SMALL
from hyperslab.experiments import chunking_defaults as defaults
from hyperslab.io.experiment import Array, File, Read
from hyperslab.io.layout import Layout
from hyperslab.measure.worker import Job, perform
from hyperslab.study import Case


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """What the library says of all that is tried."""
    folder = tmp_path_factory.mktemp("asked")
    tried = {
        "picked": defaults.variables([*SMALL.values(), *LARGE.values()]),
        "growing": defaults.growing(),
        "series": defaults.series(),
    }
    found = {name: pd.DataFrame(defaults.picked(of, folder)) for name, of in tried.items()}
    found["constants"] = pd.DataFrame(defaults.constants(folder))
    assert not list(folder.iterdir())
    return found


def test_the_model_equals_the_library_for_all_that_is_tried(asked):
    for name in ("picked", "growing", "series"):
        assert (asked[name]["chunks"] == asked[name]["predicted_chunks"]).all()
    picked = asked["picked"]
    assert len(picked) >= 200 and picked["variable"].is_unique
    assert set(defaults.SHOWN) <= set(picked["variable"])
    assert set(picked["mode"]) == {"none", "some", "all", "lone"}
    assert set(asked["series"]["variable"]) == {"i1 *", "i2 *", "f4 *", "f8 *"}
    assert asked["constants"]["mode"].tolist()[1] == "contiguous"


def test_an_array_can_have_named_dimensions_that_grow(tmp_path):
    import numpy as np

    array = Array(
        lambda: np.arange(24, dtype="i4").reshape(2, 3, 4), (2, 3, 4),
        dims=("time", "y", "x"), unlimited=("time",),
    )  # fmt: skip
    file = File(tmp_path / "a.nc", array, Layout("netcdf4", chunks=(1, 3, 4)))
    array.write({file.path: file.layout}, tmp_path)
    with netCDF4.Dataset(file.path) as made:
        assert made["data"].dimensions == ("time", "y", "x")
        assert made.dimensions["time"].isunlimited() and not made.dimensions["y"].isunlimited()
        assert made["data"].chunking() == [1, 3, 4]
    case = Case({"layout": "a"}, Read(file, np.s_[:, 1, :])).ready("warm")
    outcome = perform(Job(case))
    assert outcome.verified and outcome.status == "ok"
