"""What Blosc in netCDF-C cannot write is known before it is tried."""

import subprocess
import sys

import numpy as np
import pytest

from hyperslab.io import Layout
from hyperslab.io.file_plan import check_blosc

PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from hyperslab.io import Layout, write_array
from hyperslab.io.file_plan import check_blosc
rng = np.random.default_rng(0)
path, differ = Path(sys.argv[1]) / "a.nc", []
for size in (16, 1000, 30_000):
    for bits in (0, 1, 3, 4, 8, 9, 12, 31):
        values = rng.integers(0, 2**32, size, dtype="u4") >> bits
        for codec in ("blosc-lz4", "blosc-zstd"):
            for shuffle in (False, True):
                layout = Layout("netcdf4", (size,), codec, shuffle=shuffle)
                can = []
                for attempt in (lambda: check_blosc(values, layout),
                                lambda: write_array(path, values, layout, overwrite=True)):
                    try:
                        attempt()
                        can.append(True)
                    except (OSError, RuntimeError):
                        can.append(False)
                differ += [(size, bits, codec, shuffle, can)] if len(set(can)) > 1 else []
                print(can[1])
print(differ)
"""


def test_it_refuses_what_netcdf_c_fails_on_and_nothing_else(tmp_path):
    """In a process of its own: netCDF-C complains until it ends."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path], capture_output=True, text=True)
    *written, differ = done.stdout.split("\n")[:-1]
    assert done.returncode == 0
    assert differ == "[]"
    assert {written.count("True") > 20, written.count("False") > 20} == {True}


NOISE = np.random.default_rng(0).integers(0, 2**32, (40, 50), "u4")


@pytest.mark.parametrize(
    "layout",
    [
        Layout("hdf5", (10, 50), "deflate"),
        Layout("netcdf4", (10, 50), "zstd"),
        Layout("zarr3", (10, 50), "blosc-lz4"),
        Layout("netcdf4", (10, 50), "blosc-lz4", quantize=("bitround", 4)),
        Layout("netcdf4"),
    ],
)
def test_other_layouts_are_let_through(layout):
    check_blosc(NOISE, layout)


def test_one_chunk_is_enough_and_the_edge_is_as_it_is_stored():
    values = np.zeros((40, 50), "u4")
    layout = Layout("netcdf4", (30, 30), "blosc-zstd")
    check_blosc(values, layout)
    values[30:] = NOISE[30:]
    check_blosc(values, layout)  # two thirds of these chunks are not there, and empty
    values[:30, :30] = NOISE[:30, :30]
    with pytest.raises(OSError, match="another codec"):
        check_blosc(values, layout)
