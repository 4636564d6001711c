"""Sizes of the synthetic datasets: what is written, scaled, and left behind; their physics."""

import pytest

import data_gen
from data_gen.physics import checks
from hyperslab.experiments.penard_datasets import sizes
from hyperslab.io.layout import Layout
from hyperslab.measure.records import frame_of
from hyperslab.study.page import document

GRID = {"nlat": 45, "nlon": 90}


def layouts(chunk):
    return {
        "netCDF-4": Layout("netcdf4", chunks=chunk, codec="deflate", level=4),
        "NCZarr, zipped": Layout("nczarr", chunks=chunk),
        "NCZarr": Layout("nczarr", chunks=chunk),
    }


def rows(folder, name="gfs", **part):
    data = (data_gen.dataset(name, **part), data_gen.dataset(name))
    return frame_of(
        sizes({name: data}, {name: layouts(data[0].frame)}, folder), ["dataset", "layout"]
    ).set_index("layout")


def test_each_layout_has_a_size_and_no_file_is_left(tmp_path):
    found = rows(tmp_path, steps=1, **GRID)
    assert list(found.index) == ["netCDF-4", "NCZarr, zipped", "NCZarr"]
    assert set(found["stages"]) == {1}
    assert (found["useful_bytes"] == 13 * 13 * 721 * 1440 * 4).all()
    assert found.loc["NCZarr, zipped", "file_bytes"] < found.loc["NCZarr", "file_bytes"]
    assert list(tmp_path.iterdir()) == []


def test_one_step_of_the_ocean_scales_to_the_documents_sizes(tmp_path):
    found, known = rows(tmp_path, "ocean", steps=1), document("penard2025", "table 1")["ocean"]
    assert found["file_bytes"].to_numpy() == pytest.approx(known[found.index], rel=0.03)


def test_a_failed_dataset_leaves_no_files(tmp_path):
    data = data_gen.dataset("gfs", steps=1, **GRID)
    bad = {"bad": layouts(data.frame) | {"none": Layout("netcdf4", chunks=(1, 2))}}
    with pytest.raises(ValueError, match="chunks"):
        list(sizes({"bad": (data, data)}, bad, tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_the_physics_hold():
    assert [check for check in checks(1) if not check.low <= check.value <= check.high] == []
