"""Whatever the kernel opens is closed once, at the end of its block, and not used after it."""

import numpy as np
import pytest

from hyperslab.kernels import Hdf5File, NetcdfFile, PlainFile

MAKE = {
    "netcdf": lambda path: NetcdfFile.create(path, "netcdf4", "a", ("x",), (4,), "u1"),
    "hdf5": lambda path: Hdf5File.create(path, "a", (4,), "u1"),
    "plain": lambda path: PlainFile(path, write=True),
}
WHERE = {"netcdf": ([[0]], [4], None), "hdf5": ([[0]], [4], None), "plain": ([0], 4)}


@pytest.mark.parametrize("kind", ["netcdf", "hdf5"])
def test_an_access_that_takes_nothing_may_start_at_the_end(tmp_path, kind):
    with MAKE[kind](tmp_path / "a") as file:
        file.access("write", *WHERE[kind], np.array([5, 6, 7, 8], "u1"))
        for steps, found in ((None, [5, 6]), ([3], [5, 8])):
            out = np.zeros(2, "u1")
            file.access("read", [[4], [4], [0]], [[0], [0], [2]], steps, out)
            assert out.tolist() == found


@pytest.mark.parametrize("kind", MAKE)
def test_the_end_of_the_block_closes_it_once_and_what_it_is_given_is_checked(tmp_path, kind):
    out = np.ones(4, "u1")
    with MAKE[kind](tmp_path / "a") as file:
        assert file.access("write", *WHERE[kind], out) > 0
        with pytest.raises(ValueError, match="action='seek': give one of read, write"):
            file.access("seek", *WHERE[kind], out)
    assert file.close() == 0
    with pytest.raises(ValueError, match=r"a: the file is closed; open it again"):
        file.access("write", *WHERE[kind], out)
    with pytest.raises(KeyError, match="mine"), MAKE[kind](tmp_path / "b") as file:
        raise KeyError("mine")
    assert file.close() == 0
