"""The published package chunkindex, run from a checkout, and the reader that stands in for it.

`HYPERSLAB_CHUNKINDEX=folder pytest tests/test_chunkindex_package.py` holds one against the other.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from data_gen.variable import variable
from hyperslab.experiments import chunkindex_package as published
from hyperslab.experiments.chunkindex_package import NAME, Package, ReadByPackage
from hyperslab.io.experiment import Case, File
from hyperslab.io.indexed import index
from hyperslab.io.layout import Layout
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job

ROOT = Path(__file__).parents[1]
CHECKOUT = os.environ.get("HYPERSLAB_CHUNKINDEX", "")
READS = {
    "ocean series": np.s_[:, 280, 506],
    "ocean map": np.s_[0, :, :],
    "temperature series": np.s_[:, 0, 35, 63],
    "temperature map": np.s_[0, 0, :, :],
}
# Not the package's code: its two functions, as ours does them.
FAKE = """
from hyperslab.io import chunkindex_format as chunkindex
from hyperslab.io.by_chunkindex import StandIn
from hyperslab.io.urls import Stream

def create_index(index, path):
    chunkindex.write(path, index)

def read_slice(data, index, name, box):
    return StandIn(Stream(data), Stream(index), name).read(box)
"""


@pytest.fixture(scope="module")
def reads(tmp_path_factory):
    """A step of both variables, with shuffle and without, and what is read of each."""
    folder = tmp_path_factory.mktemp("files")
    found = {}
    for kind, array in {
        "ocean": variable("ocean", "uo", steps=1),
        "temperature": variable("gfs", "air_temperature", steps=1, nlat=90, nlon=180),
    }.items():
        for name, shuffle in (("netCDF-4", False), ("netCDF-4, shuffle", True))[
            : 1 + bool(CHECKOUT)
        ]:
            layout = Layout("netcdf4", array.step_shape, "deflate", 4, shuffle)
            file = File(folder / f"{kind}-{shuffle}.nc", array, layout)
            array.write({file.path: layout}, folder)
            found.setdefault(kind, {})[name] = file
    index(file for files in found.values() for file in files.values())
    return {read: (found[read.split()[0]], part) for read, part in READS.items()}


@pytest.fixture
def fake(tmp_path):
    """A package of that name, and an environment that is this one."""
    (tmp_path / "checkout" / "chunkindex").mkdir(parents=True)
    (tmp_path / "checkout" / "chunkindex" / "__init__.py").write_text(FAKE)
    python = tmp_path / "environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    # Not isolated: an installed hyperslab must not come before this one.
    python.write_text(f'#!/bin/sh\nshift\nPYTHONPATH="{ROOT}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    made = tmp_path / "environment" / published.VERSIONS.name
    made.write_text(published.VERSIONS.read_text())
    return Package(str(tmp_path / "checkout"), tmp_path / "environment")


def test_both_are_counted_over_http(fake, reads):
    published.index(fake, reads["ocean map"][0].values())
    few = {"ocean map": reads["ocean map"]}
    rows = list(published.counts(fake, few, ["netCDF-4"]))
    assert [row["reader"] for row in rows] == ["chunkindex", NAME]
    assert all(row["verified"] and row["points"] >= 2 for row in rows)
    ours, theirs = rows
    assert (ours["requests"], ours["wire_bytes"]) == (theirs["requests"], theirs["wire_bytes"])


def test_what_is_wrong_is_said(fake, tmp_path):
    with pytest.raises(FileNotFoundError, match="give a folder that holds the package's folder"):
        Package(str(tmp_path), tmp_path)
    with pytest.raises(RuntimeError, match=r"python ended with 1: .*FileNotFoundError"):
        fake.read("no.nc", "no.index", "x", [(0, 1)], tmp_path / "values.npy")


@pytest.mark.skipif(not CHECKOUT, reason="HYPERSLAB_CHUNKINDEX names no checkout of the package")
def test_the_stand_in_is_as_the_package(reads):
    package = Package(CHECKOUT, ROOT / "build" / "chunkindex")
    both = [(file, part) for files, part in reads.values() for file in files.values()]
    for file, _ in both:
        for path in file.path.parent.glob(f"*{published.SUFFIX}"):  # of another package
            path.unlink()
        file.path.with_name(f"warm-{file.path.name}").unlink(missing_ok=True)
    published.index(package, [file for file, _ in both])
    with Processes() as processes:
        for file, part in both:
            case = Case({"reader": NAME}, ReadByPackage(package, file, part)).ready("warm")
            outcome = processes.run(Job(case, 120.0, sweeps=False))
            assert (outcome.status, outcome.verified) == ("ok", True)
            assert [row["phase"] for row in outcome.rows] == ["open", "read", "close"]
            assert not list(file.path.parent.glob("*.read.npy"))
    rows = list(published.counts(package, reads, ["netCDF-4", "netCDF-4, shuffle"]))
    assert all(row["verified"] for row in rows), "values, and points of the index"
    for ours, theirs in zip(rows[::2], rows[1::2], strict=True):
        same = [(row["requests"], row["wire_bytes"]) for row in (ours, theirs)]
        assert same[0] == same[1], (ours["read"], ours["layout"])
