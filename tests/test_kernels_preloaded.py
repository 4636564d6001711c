"""Importing the module loads the kernel, and is silent where there is none."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import hyperslab.kernels.preloaded
from hyperslab.kernels.build import kernel
print(kernel.cache_info().currsize)
"""


@pytest.mark.parametrize(("compiler", "loaded"), [("cc", "1"), ("no-such-compiler", "0")])
def test_importing_loads_the_kernel_where_there_is_one(compiler, loaded):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"CC": compiler},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout.strip(), done.stderr) == (loaded, "")
