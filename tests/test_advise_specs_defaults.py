"""The libraries themselves say which chunks they pick."""

import netCDF4
import pytest

from hyperslab.advise.specs.target import default_chunks
from hyperslab.storage import Layout, Variable, create


@pytest.mark.parametrize(
    ("shape", "grows"),
    [
        ((300,), ()),
        ((300,), (0,)),
        ((500, 400), ()),
        ((500, 400), (0,)),
        ((500, 400), (0, 1)),
        ((20, 300, 700), ()),
        ((20, 300, 700), (0,)),
        ((7, 50, 80), (1,)),
        ((7, 50, 80), (1, 2)),
    ],
)
def test_netcdf_picks_the_same_in_a_file(shape, grows, tmp_path):
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
        for axis, n in enumerate(shape):
            file.createDimension(f"d{axis}", None if axis in grows else n)
        dims = [f"d{axis}" for axis in range(len(shape))]
        picked = file.createVariable("v", "f8", dims, zlib=True).chunking()
    assert default_chunks("netcdf4", shape, "f8", grows) == tuple(picked)


@pytest.mark.parametrize(
    "format", ["netcdf4", "netcdf4-classic", "hdf5", "zarr2", "zarr3", "nczarr"]
)
@pytest.mark.parametrize("shape", [(), (0, 5), (7,), (3000, 2000)])
def test_every_format_with_chunks_has_a_default_that_can_be_written(format, shape, tmp_path):
    chunks = default_chunks(format, shape, "i4")
    assert len(chunks) == len(shape)
    if shape and 0 not in shape:
        dims = tuple("xyz"[: len(shape)])
        layout = Layout(format, chunks=chunks)
        create(tmp_path / f"a{layout.suffix}", [Variable("v", dims, shape, "i4")], layout).close()
