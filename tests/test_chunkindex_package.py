"""The published package chunkindex, and the reader that stands in for it, one against the other.

The package is a fake; `HYPERSLAB_CHUNKINDEX=folder` names a checkout of the real one to hold too.
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
from hyperslab.io.layout import Layout
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job

ROOT = Path(__file__).parents[1]
PACKAGES = ["", *filter(None, [os.environ.get("HYPERSLAB_CHUNKINDEX")])]
# Not the package's code: its two functions, as ours does them.
FAKE = """
from hyperslab.io import chunkindex_format as chunkindex
from hyperslab.io.by_chunkindex import StandIn
from hyperslab.io.urls import Stream

def create_index(index, path):
    chunkindex.write(path, index)

def read_slice(data, index, name, box):
    return StandIn(Stream(data), Stream(index), name)[box]
"""


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


@pytest.mark.parametrize("checkout", PACKAGES)
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_stand_in_is_as_the_package_near_and_over_http(fake, tmp_path, checkout, shuffle):
    package = Package(checkout, ROOT / "build" / "chunkindex") if checkout else fake
    array = variable("ocean", "uo", steps=1)
    layout = Layout("netcdf4", array.step_shape, "deflate", 4, shuffle)
    file, part = File(tmp_path / "ocean.nc", array, layout), np.s_[:, 280, 506]
    array.write({file.path: layout}, tmp_path)
    published.index(package, [file])
    rows = list(published.counts(package, {"series": ({"one": file}, part)}, ["one"]))
    assert [row["reader"] for row in rows] == ["chunkindex", NAME]
    assert all(row["verified"] and row["points"] >= 2 for row in rows)
    ours, theirs = rows
    assert (ours["requests"], ours["wire_bytes"]) == (theirs["requests"], theirs["wire_bytes"])
    with Processes() as processes:
        case = Case({"reader": NAME}, ReadByPackage(package, file, part)).ready("cold")
        outcome = processes.run(Job(case, 120.0, sweeps=False))
    assert (outcome.status, outcome.verified) == ("ok", True)
    assert [row["phase"] for row in outcome.rows] == ["open", "read", "close"]
    assert not list(tmp_path.glob("*.read.npy"))


def test_what_is_wrong_is_said(fake, tmp_path):
    with pytest.raises(FileNotFoundError, match="give a folder that holds the package's folder"):
        Package(str(tmp_path), tmp_path)
    with pytest.raises(RuntimeError, match=r"python ended with 1: .*FileNotFoundError"):
        published._run(fake.words(data="no.nc", index="no.index"))
