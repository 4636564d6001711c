"""What goes wrong on the way, over HTTP and S3."""

import shutil

import fsspec
import h5py
import numpy as np
import pytest
import subchunk_files as files
from forked_servers import forking

from hyperslab import subchunk
from hyperslab.io.urls import Remote
from hyperslab.network import Fault, serving

VALUES = np.cumsum(np.random.default_rng(3).normal(size=(4, 300, 300)), axis=2)
WAYS = [("http", "fsspec"), ("s3", "fsspec")] + [("http", "obstore")] * (not files.NO_OBSTORE)
forked = pytest.fixture(scope="module", autouse=True)(forking)


def write(path, add=0.0):
    with h5py.File(path, "w") as file:
        how = {"chunks": (1, 300, 300), "compression": 1, "shuffle": True}
        file.create_dataset("z", data=VALUES + add, **how)
        file.create_dataset("plain", data=VALUES[0] + add)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = tmp_path_factory.mktemp("served")
    write(made / "x.h5")
    subchunk.build(made / "x.h5", spacing=32768)
    return made


@pytest.fixture(params=WAYS, ids="-".join)
def way(request):
    """The kind of server, and what opens a file on it."""
    kind, backend = request.param

    def opened(server):
        fsspec.filesystem("http").clear_instance_cache()
        options = server.storage_options
        if backend == "obstore":
            options = Remote(server.url, options).obstore()
        return subchunk.open(server.address("x.h5"), storage_options={"backend": backend} | options)

    return kind, opened


def again(act):
    """What it gives; where one fault is named, at the second time."""
    try:
        return act()
    except subchunk.SubchunkError as error:
        assert "x.h5" in str(error)
    return act()


@pytest.mark.parametrize("fault", ["403", "500", "cut", "short", "whole"])
def test_one_fault_gives_right_values_or_an_error_by_name(way, served, fault):
    """While it is opened and while it is read; what went wrong once does not stay."""
    kind, opened = way
    places = [0] * (fault in ("500", "cut")) + [4, 24]
    faults = [Fault(fault, first=place) for place in places]
    with (
        serving(served, kind, faults=faults) as server,
        again(lambda: opened(server)) as file,
    ):
        for _ in range(2):
            assert np.array_equal(again(lambda: file["z"][..., 7, 9]), VALUES[..., 7, 9])
            assert again(lambda: file["plain"][7, 9]) == VALUES[0, 7, 9]
        assert not file["z"].plain and len(server.requests()) > 24


@pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "bare"])
def test_an_object_that_is_replaced_is_refused(way, served, tmp_path, indexed):
    kind, opened = way
    for each in ("x.h5", "x.h5.subchunk")[: 1 + indexed]:
        shutil.copy2(served / each, tmp_path)
    with serving(tmp_path, kind) as server, opened(server) as file:
        assert file["z"][0, 0, 0] == VALUES[0, 0, 0]
        if indexed:
            assert file["plain"][0, 0] == VALUES[0, 0, 0]
        write(tmp_path / "new.h5", add=1000.0)
        with (tmp_path / "new.h5").open("ab") as other:  # of the same size
            other.truncate((tmp_path / "x.h5").stat().st_size)
        (tmp_path / "new.h5").replace(tmp_path / "x.h5")
        for name in ("z", "plain"):
            with pytest.raises(subchunk.StaleIndexError, match=r"x\.h5"):
                file[name][-1, 250:]
