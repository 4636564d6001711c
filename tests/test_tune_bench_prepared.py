"""What is known of a layout before it is measured is said."""

import made_files
import netCDF4
import numpy as np
import pytest

from hyperslab.tune.bench.prepared import prepare
from hyperslab.tune.source import open_source
from hyperslab.tune.specs.target import Choice, Target

MIB = 2**20


def notes(path, target):
    with open_source(path) as source:
        return prepare(source, source.choose(None), target, [], memory_bytes=256 * MIB).notes


@pytest.mark.parametrize(
    ("format", "chunks", "said"),
    [
        ("zarr3", (3, 4), "data becomes 133,600 chunks, a file each: one sample may take minutes"),
        ("netcdf4", (3, 4), ""),
        ("netcdf4", (1, 1), "data becomes 1,600,000 chunks: one sample may take minutes"),
        ("zarr3", (40, 40), ""),
    ],
)
def test_many_chunks_are_told(tmp_path, monkeypatch, format, chunks, said):
    monkeypatch.setattr("hyperslab.tune.bench.prepared.MANY_CHUNKS", 1_000_000)
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as nc:
        nc.createDimension("y", 1000)
        nc.createDimension("x", 1600)
        nc.createVariable("data", "i1", ("y", "x"))
    found = notes(tmp_path / "a.nc", Target("t", format, Choice(chunks)))
    assert [text.startswith(said) for text in found if "becomes" in text] == [True] * bool(said)


def test_a_mode_that_loses_the_missing_values_is_told(tmp_path):
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as nc:
        nc.createDimension("x", 9)
        nc.createVariable("a", "f4", ("x",), fill_value=np.nan)
        nc.createVariable("b", "f4", ("x",), fill_value=-9)
    for mode, said in (("granular_bitround", 1), ("bitround", 0)):
        found = notes(
            tmp_path / "a.nc", Target("t", "netcdf4", Choice("default", quantize=(mode, 3)))
        )
        assert len(found) == said
        assert all(
            "makes the missing values of a, which are no number (nan), zero" in text
            for text in found
        )


def test_there_is_nothing_to_tell_of_a_plain_copy(tmp_path):
    assert notes(made_files.packed(tmp_path / "a.nc"), Target("copy")) == ()
