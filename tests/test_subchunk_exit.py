"""Processes that read URLs end without a word; forked ones leave its connections to the parent."""

import subprocess
import sys

import h5py
import numpy as np
import pytest
from range_server import serving

from hyperslab import subchunk

OPEN = """
import gc, os, sys
from hyperslab import subchunk

file = subchunk.open(sys.argv[1], storage_options={"backend": sys.argv[2]})
assert not file["x"].plain and file["x"][3, 5] == 305
"""
ENDS = {
    "closed": "file.close()",
    "left open": "",
    "freed": "file.close(); del file; gc.collect()",
    "cache cleared": """
import fsspec
del file
fsspec.filesystem("http").clear_instance_cache()
gc.collect()
""",
    "by xarray": """
import xarray
kept = {"backend": sys.argv[2]}
data = xarray.open_dataset(sys.argv[1], engine="subchunk", storage_options=kept)
assert data["x"][4, 7].item() == 407
""",
}
FORKS = (
    'assert file["x"][9, 9] == 909',
    "file.close(); del file; gc.collect()",
    "import fsspec; fsspec.filesystem('http').clear_instance_cache(); gc.collect()",
    "",
)
FORK = """
child = os.fork()
if not child:
    {}
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert file["x"][{}, 13] == {}13
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exit")
    values = np.arange(20)[:, None] * 100 + np.arange(20_000)
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(1, 20_000), compression=4)
    subchunk.build(folder / "x.h5", spacing=16384)
    with serving(folder) as (address, _):
        yield f"{address}/x.h5"


def run(code, *arguments):
    """Exit code and what was printed, but for the slow steps that asyncio tells in this mode."""
    # Python 3.12 warns of forks where there are threads.
    strict = ["-X", "dev", "-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    command = [sys.executable, *strict, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    said = [line for line in done.stderr.splitlines() if not line.startswith("Executing <")]
    return done.returncode, done.stdout + "\n".join(said)


@pytest.mark.parametrize("backend", ["fsspec", "obstore"])
@pytest.mark.parametrize("end", ENDS)
def test_the_end_is_silent(address, end, backend):
    pytest.importorskip(backend)
    assert run(OPEN + ENDS[end], address, backend) == (0, "")


def test_a_fork_leaves_the_parent_its_connections(address):
    forks = [FORK.format(what, row, row) for row, what in enumerate(FORKS, 11)]
    assert run(OPEN + "".join(forks), address, "fsspec") == (0, "")


def test_a_fork_that_obstore_would_hang_is_refused(address):
    pytest.importorskip("obstore")
    refused = """
    try:
        file["x"][9, 9]
    except subchunk.SubchunkError as error:
        assert "forked from one that used obstore: start processes by spawn" in str(error)
        sys.exit(7)
    """
    assert run(OPEN + FORK.format(refused.strip(), 11, 11), address, "obstore") == (0, "")
