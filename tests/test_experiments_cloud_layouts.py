"""Layouts on a server: what is stored, what opening sees and asks for, and a wrong answer."""

import pytest
from forked_servers import forking

from hyperslab.experiments import cloud_layouts as cloud
from hyperslab.io.experiment import Case, File, modules
from hyperslab.io.far import Place, serve
from hyperslab.io.layout import Layout
from hyperslab.measure.processes import Processes
from hyperslab.measure.records import frame_of
from hyperslab.measure.worker import Job
from hyperslab.network import Link

forked = pytest.fixture(scope="module", autouse=True)(forking)


SMALL = Layout("netcdf4", chunks=(1, 64, 64))
LAYOUTS = {
    "netCDF-4": SMALL,
    "HDF5 in pages": Layout("hdf5", chunks=(1, 64, 64), page_bytes=2**16),
    "Zarr 2": Layout("zarr2", chunks=(1, 64, 64)),
    "Zarr 3": Layout("zarr3", chunks=(1, 64, 64)),
}
OPENINGS = {
    "plain": ("netCDF-4", cloud.Opening("h5netcdf", "none")),
    "paged": ("HDF5 in pages", cloud.Opening("h5netcdf", "pages")),
    "indexed": ("netCDF-4", cloud.Opening("subchunk")),
    "listed": ("Zarr 3", cloud.Opening("zarr", zarr_format=3)),
    "consolidated": ("Zarr 3", cloud.Opening("zarr", consolidated=True, zarr_format=3)),
    "Zarr 2": ("Zarr 2", cloud.Opening("zarr", consolidated=True)),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder, many = tmp_path_factory.mktemp("cloud"), cloud.Variables(3)
    made = {
        name: File(folder / f"many{number}{layout.suffix}", many, layout)
        for number, (name, layout) in enumerate(LAYOUTS.items())
    }
    many.write({file.path: file.layout for file in made.values()}, folder)
    cloud.put_beside([made["netCDF-4"]], referred=[])
    return made


def test_sizes_and_objects_are_of_each_store_and_of_what_lies_beside_it(files):
    rows = frame_of(cloud.stored({"many": files}), ["data", "layout", "part"])
    table = rows.set_index(["layout", "part"])
    # A group, three axes with a chunk each, and three variables with chunks of four tiles, twice.
    assert table["requests"]["Zarr 3", "values"] == 1 + 3 * 2 + 3 * (1 + 8)
    assert table["requests"]["netCDF-4", "values"] == 1
    assert table["file_bytes"]["HDF5 in pages", "values"] % 2**16 == 0
    least, most = (table["file_bytes"]["netCDF-4", part] for part in ("index", "values"))
    assert 0 < least < most


def test_each_opening_sees_all_variables_and_counts_its_requests(files):
    folder = files["netCDF-4"].path.parent
    with serve(folder, {"s3": Link(1e9, 0.0)}, "s3") as places:
        ready = {
            name: Case({"reader": name}, cloud.OpenOver(places["s3"], files[layout], how)).ready()
            for name, (layout, how) in OPENINGS.items()
        }
        with Processes(modules(ready.values())) as processes:
            seen = {name: processes.run(Job(case)) for name, case in ready.items()}
    assert {name: one.status for name, one in seen.items()} == dict.fromkeys(OPENINGS, "ok")
    asked = {name: one.rows[-1]["requests"] for name, one in seen.items()}
    assert asked["indexed"] < asked["plain"]
    assert asked["consolidated"] < asked["listed"]
    assert all(one.rows[-1]["wire_bytes"] > 0 for one in seen.values())


def test_a_variable_that_is_not_as_it_was_written_spoils_a_sample():
    right = cloud.Variables(2).described
    check = cloud.Described(right)
    assert check(dict(right))
    assert not check(cloud.Variables(1).described)
    assert not check(right | {"field_00": ((2, 128, 128), "m")})


def test_nothing_is_served_where_records_are_drawn_from(files):
    place = Place("s3", Link(1e9, 0.0))
    with pytest.raises(AssertionError, match="nothing is served"):
        cloud.OpenOver(place, files["netCDF-4"], cloud.Opening("subchunk")).parts("")


def test_the_corner_of_the_current_is_kept(tmp_path):
    import numpy as np

    import data_gen

    cloud.draw(tmp_path / "a.npy", 2, 47, 160)
    kept = np.load(tmp_path / "a.npy")
    truth = data_gen.open("ocean", steps=2, decode=False).uo[:, :47, :160]
    assert kept.dtype == "f4"
    assert np.array_equal(kept, truth)
