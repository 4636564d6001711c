"""What passes between Zarr and NCZarr, and what does not."""

import netCDF4
import numpy as np
import pytest
import zarr
from contracts.readers import assert_same

from hyperslab.io import Layout, Variable, create, reader, write_array

VALUES = np.arange(60, dtype="f4").reshape(6, 10)


def store(path, variables, layout):
    with create(path, variables, layout) as writer:
        for variable in variables:
            writer.write(variable.name, ..., np.ones(variable.shape, variable.dtype))
    return path


@pytest.mark.parametrize("dtype", ["i1", "u1"])
def test_bytes_of_nczarr_are_read_or_explained(tmp_path, dtype):
    """NCZarr gives bytes a byte order ("<i1"), which zarr-python 3.1 takes for no type."""
    path = store(tmp_path / "a.zarr", [Variable("a", ("x",), (5,), dtype)], Layout("nczarr"))
    with reader("nczarr").open(path, "a") as opened:
        assert_same(opened.read(), np.ones(5, dtype))
    if zarr.__version__.startswith("3.1."):
        with pytest.raises(OSError, match=f"zarr cannot open 'a': No Zarr data type.*<{dtype}"):
            reader("zarr").open(path, "a")
    else:
        with reader("zarr").open(path, "a") as opened:
            assert_same(opened.read(), np.ones(5, dtype))


def test_shuffled_deflate_of_nczarr_is_for_netcdf_only(tmp_path):
    path = tmp_path / "a.zarr"
    write_array(path, VALUES, Layout("nczarr", (3, 5), "deflate", shuffle=True))
    with reader("nczarr").open(path, "data") as opened:
        assert_same(opened.read(), VALUES)
    with pytest.raises(OSError, match="shuffle has its size as text: read it with nczarr"):
        reader("zarr").open(path, "data")
    with reader("xarray-zarr").open(path, "data") as opened, pytest.raises(TypeError):
        opened.read()


def test_a_scalar_of_nczarr_is_one_value_to_zarr(tmp_path):
    path = store(tmp_path / "a.zarr", [Variable("a", (), (), "f8")], Layout("nczarr"))
    with reader("nczarr").open(path, "a") as opened:
        assert_same(opened.read(), np.array(1.0))
    for name in ("zarr", "xarray-zarr"):
        with reader(name).open(path, "a") as opened:
            assert_same(opened.read(), np.array([1.0]))


def test_a_scalar_of_zarr_2_is_not_there_for_nczarr(tmp_path):
    path = store(tmp_path / "a.zarr", [Variable("a", (), (), "f8")], Layout("zarr2"))
    with pytest.raises(KeyError, match="no variable 'a'; there are none"):
        reader("nczarr").open(path, "a")


def test_groups_of_nczarr_are_closed_to_xarray(tmp_path):
    path = store(tmp_path / "a.zarr", [Variable("g/a", ("x",), (5,), "f4")], Layout("nczarr"))
    with reader("zarr").open(path, "g/a") as opened:
        assert_same(opened.read(), np.ones(5, "f4"))
    with pytest.raises(OSError, match=r"xarray-zarr cannot open 'g/a'.*_ARRAY_DIMENSIONS"):
        reader("xarray-zarr").open(path, "g/a")


def test_big_endian_zarr_is_refused_by_nczarr(tmp_path):
    """netCDF-C gives missing chunks the fill value with its bytes swapped; when it no longer
    does, the reader's refusal can go."""
    path = tmp_path / "a.zarr"
    with create(path, [Variable("a", ("x",), (8,), "f4", fill_value=-5)],
                Layout("zarr2", chunks=(4,), byteorder="big")) as writer:  # fmt: skip
        writer.write("a", slice(0, 4), np.ones(4, "f4"))
    with netCDF4.Dataset(f"file://{path}#mode=nczarr,file") as file:
        file.set_auto_mask(False)
        assert file["a"][5] == np.float32(-5).byteswap()
    with pytest.raises(OSError, match="it is big-endian"):
        reader("nczarr").open(path, "a")


def test_a_folder_netcdf_cannot_address_is_refused(tmp_path):
    (tmp_path / "run#1").mkdir()
    write_array(tmp_path / "run#1" / "a.zarr", VALUES, Layout("zarr2"))
    with pytest.raises(OSError, match="takes no #"):
        reader("nczarr").open(tmp_path / "run#1" / "a.zarr", "data")
    for name in ("zarr", "xarray-zarr"):
        with reader(name).open(tmp_path / "run#1" / "a.zarr", "data") as opened:
            assert_same(opened.read(), VALUES)


@pytest.mark.parametrize("name", ["zarr", "xarray-zarr"])
@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_names_are_found_in_every_group(tmp_path, name, format):
    variables = [Variable(n, ("x",), (5,), "f4") for n in ("b", "g/h/a", "g/c")]
    path = store(tmp_path / "a.zarr", variables, Layout(format))
    with pytest.raises(KeyError, match="no variable 'g/h/x'; there are b, g/c, g/h/a"):
        reader(name).open(path, "g/h/x")
    with reader(name).open(path, "g/h/a") as opened:
        assert_same(opened.read(), np.ones(5, "f4"))
