"""How long a classic file must be, against files that netCDF-C wrote."""

import netCDF4
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperslab.tune.sources.remote import needed_bytes

FORMATS = ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA")
VARIABLE = st.tuples(
    st.sampled_from(["i1", "i2", "i4", "f4", "f8"]),
    st.booleans(),  # grows
    st.lists(st.integers(0, 2), max_size=2, unique=True),
)


@given(
    st.sampled_from(FORMATS),
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)),
    st.lists(VARIABLE, max_size=4),
    st.integers(0, 5),
    st.text("abcé", max_size=9),
)
@settings(max_examples=60)
def test_it_is_the_length_of_the_file(tmp_path_factory, format, sizes, variables, steps, title):
    path = tmp_path_factory.mktemp("classic") / "a.nc"
    with netCDF4.Dataset(path, "w", format=format) as nc:
        nc.title = title
        nc.createDimension("t", None)
        for axis, size in enumerate(sizes):
            nc.createDimension(f"d{axis}", size)
        for number, (dtype, grows, axes) in enumerate(variables):
            dims = ("t",) * grows + tuple(f"d{axis}" for axis in axes)
            made = nc.createVariable(f"v{number}", dtype, dims)
            made.units = "K"
            if grows and steps:
                made[steps - 1] = 0
            elif not grows:
                made[...] = 0
    length = path.stat().st_size
    # netCDF-C pads the last variable to four bytes, and nothing is lost without them.
    assert length - 3 <= _needed(path) <= length
    data = path.read_bytes()
    path.write_bytes(data[:20])
    with pytest.raises(ValueError, match="ends within its header"):
        _needed(path)


def test_what_is_no_header_is_said(tmp_path):
    path = tmp_path / "a.nc"
    path.write_bytes(b"HDF5")
    with pytest.raises(ValueError, match="no header of a classic"):
        _needed(path)


def _needed(path):
    with path.open("rb") as file:
        return needed_bytes(file)
