"""Marks for what a test of several ranks needs."""

import pytest

from hyperslab.parallel.found import find

FOUND = find()


def needs(library):
    """Skip a test where a library is not here, with the reason."""
    why = FOUND.missing.get(library, "")
    return pytest.mark.skipif(library not in FOUND.programs, reason=f"{library}: {why}")


EACH = [pytest.param(name, marks=needs(name)) for name in ("hdf5", "pnetcdf", "mpiio")]
C = [pytest.param(name, marks=needs(name)) for name in ("hdf5", "pnetcdf")]
