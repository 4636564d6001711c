"""Datasets by name: parameters, parts, and the same bytes anywhere."""

import hashlib
import math
import subprocess
import sys

import numpy as np
import pytest

import data_gen
from data_gen.physics import checks

SMALL = {
    "ocean": {"steps": 2, "nlat": 19, "nlon": 64},
    "gfs": {"steps": 2, "nlat": 91, "nlon": 180},
    "radar": {"nlat": 150, "nlon": 200, "cells": 9},
}


def digest(part):
    return hashlib.sha256(b"".join(part[name][1].tobytes() for name in sorted(part))).hexdigest()


def test_shapes_are_the_documents():
    for name, shape in {"ocean": (72, 380, 1287), "gfs": (13, 13, 721, 1440)}.items():
        assert {v.shape for v in data_gen.dataset(name).description.variables} == {shape}


@pytest.mark.parametrize(
    ("name", "given", "parts"),
    [
        ("ocean", {"steps": 5, "nlat": 38, "nlon": 128}, 5),
        ("gfs", {"steps": 2, "nlat": 37, "nlon": 72}, 2),
        ("radar", {"nlat": 150, "nlon": 200, "cells": 9}, 1),
        ("array", {"shape": (5000, 1000), "dtype": "f8"}, 3),
    ],
)
def test_parts_cover_each_variable_once(name, given, parts):
    source = data_gen.dataset(name, **given)
    assert source.parts == parts
    seen = {v.name: np.zeros(v.shape, "i1") for v in source.description.variables}
    for number in range(parts):
        for variable, (selection, values) in source.draw(number).items():
            assert seen[variable][selection].shape == values.shape
            seen[variable][selection] += 1
    assert all((count == 1).all() for count in seen.values())
    assert source.nbytes == sum(
        math.prod(v.shape) * np.dtype(v.dtype).itemsize for v in source.description.variables
    )


def test_parts_are_the_same_anywhere_in_any_order_and_differ_by_step_and_seed():
    lasts = []
    for name, given in SMALL.items():
        source, other = data_gen.dataset(name, **given), data_gen.dataset(name, seed=1, **given)
        last = source.parts - 1
        first, later = digest(source.draw(0)), digest(source.draw(last))
        assert (first != later) == (last > 0) and digest(other.draw(last)) != later
        lasts.append(later)
    code = (
        "import hashlib, data_gen\n"
        f"for name, given in {SMALL}.items():\n"
        "    source = data_gen.dataset(name, **given)\n"
        "    part = source.draw(source.parts - 1)\n"
        "    drawn = b''.join(part[n][1].tobytes() for n in sorted(part))\n"
        "    print(hashlib.sha256(drawn).hexdigest())"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == lasts


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("oceans", {}, "no dataset 'oceans'; give one of ocean, gfs, radar, array"),
        ("ocean", {"steps": 0}, "steps=0; give a whole number of at least 1"),
        ("gfs", {"seed": -1}, "seed=-1; give a whole number of at least 0"),
        ("gfs", {"meso": float("nan")}, "meso=nan; give a number of at least 0"),
        ("radar", {"tile": "tile3"}, "tile='tile3': give one of tile1, tile2, tile4"),
        ("array", {"shape": (3, 0)}, "give one or more lengths of at least 1"),
        ("array", {"dtype": "c8"}, "dtype='c8': give i2, i4"),
    ],
)
def test_impossible_parameters_are_named(name, given, says):
    with pytest.raises(ValueError, match=says):
        data_gen.dataset(name, **given)


def test_the_physics_hold():
    assert [check for check in checks(1) if not check.low <= check.value <= check.high] == []
