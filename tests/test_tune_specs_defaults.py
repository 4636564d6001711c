"""The libraries themselves say which chunks they pick."""

import pytest

from hyperslab.io import Layout, Variable, create
from hyperslab.tune.specs.target import default_chunks


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
