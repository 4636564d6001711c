"""Several readers of one file: the same sums in every mode, and what each of them spent."""

import pytest
from made_layouts import in_layouts

from data_gen.variable import variable
from hyperslab.experiments import scaling_local as local
from hyperslab.io.layout import Layout
from hyperslab.measure.case import Stopwatch


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    ocean = variable("ocean", "uo", steps=2, nlat=40, nlon=130)
    layout = Layout("netcdf4", chunks=ocean.step_shape, codec="deflate", level=4, shuffle=True)
    return in_layouts(tmp_path_factory.mktemp("a"), ocean, {"maps": layout})["maps"]


def test_what_processes_spend_is_counted(file):
    watch, shape = Stopwatch(), (2, 40, 130)
    local.ReadTogether(file.path, "h5py", "uo", shape, local.PROCESSES, 2)(watch)
    row = watch.rows()[-1]
    assert row["user_s"] + row["sys_s"] > 0


def test_other_values_are_noticed(file):
    parts = local.ReadMaps(file, "h5py").parts("warm")
    right = parts["run"](Stopwatch())
    assert parts["check"](right)
    assert not parts["check"](right + 1)
    assert not parts["check"](right[:1])
