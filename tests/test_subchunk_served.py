"""What goes wrong on the way, over HTTP and S3, and URLs as they come."""

import importlib.util
import shutil

import fsspec
import h5py
import numpy as np
import pytest
from forked_servers import forking

from hyperslab import subchunk
from hyperslab.io.urls import Remote
from hyperslab.network import Fault, serving

VALUES = np.cumsum(np.random.default_rng(3).normal(size=(4, 300, 300)), axis=2)


WAYS = [
    (kind, backend)
    for kind, backend in (("http", "fsspec"), ("http", "obstore"), ("s3", "fsspec"))
    if backend == "fsspec" or importlib.util.find_spec("obstore")
]


PLAIN = VALUES[0]


def write(path, add=0.0):
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "z", data=VALUES + add, chunks=(1, 300, 300), compression=1, shuffle=True
        )
        file.create_dataset("plain", data=VALUES[0] + add)


forked = pytest.fixture(scope="module", autouse=True)(forking)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = tmp_path_factory.mktemp("served")
    write(made / "x.h5")
    subchunk.build(made / "x.h5", spacing=32768)
    return made


@pytest.fixture(scope="module", params=WAYS, ids="-".join)
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


@pytest.fixture(scope="module")
def before(way, served):
    """GET requests that opening takes."""
    kind, opened = way
    with serving(served, kind) as server, opened(server):
        return sum(request.method == "GET" for request in server.requests())


@pytest.mark.parametrize("fault", ["403", "500", "cut", "short", "whole"])
def test_one_fault_gives_right_values_or_an_error_by_name(way, served, before, fault):
    kind, opened = way
    faults = [Fault(fault, first=before), Fault(fault, first=before + 20)]
    with serving(served, kind, faults=faults) as server, opened(server) as file:
        for name in ("z", "plain"):
            for _ in range(2):  # what went wrong once does not stay
                try:
                    found = file[name][..., 7, 9]
                except subchunk.SubchunkError as error:
                    assert "x.h5" in str(error)
                else:
                    assert np.array_equal(found, VALUES[..., 7, 9] if name == "z" else PLAIN[7, 9])
        assert np.array_equal(file["z"][1, 200:, 8], VALUES[1, 200:, 8])


@pytest.mark.parametrize("fault", ["500", "cut"])
def test_a_fault_while_it_is_opened(way, served, fault):
    kind, opened = way
    with serving(served, kind, faults=[Fault(fault)]) as server:
        try:
            with opened(server) as file:
                assert np.array_equal(file["z"][2, 7], VALUES[2, 7])
        except subchunk.SubchunkError as error:
            assert "x.h5" in str(error)


@pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "bare"])
def test_an_object_that_is_replaced_is_refused(way, served, tmp_path, indexed):
    kind, opened = way
    for each in ("x.h5", "x.h5.subchunk")[: 1 + indexed]:
        shutil.copy2(served / each, tmp_path)
    with serving(tmp_path, kind) as server, opened(server) as file:
        assert file["z"][0, 0, 0] == VALUES[0, 0, 0]
        if indexed:
            assert file["plain"][0, 0] == VALUES[0, 0, 0]
        size = (tmp_path / "x.h5").stat().st_size
        write(tmp_path / "new.h5", add=1000.0)
        with (tmp_path / "new.h5").open("ab") as other:  # of the same size
            other.truncate(size)
        (tmp_path / "new.h5").replace(tmp_path / "x.h5")
        for name in ("z", "plain"):
            with pytest.raises(subchunk.StaleIndexError, match=r"x\.h5"):
                file[name][-1, 250:]
