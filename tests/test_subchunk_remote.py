"""Files and indexes behind URLs: the same values, few requests, and messages that help."""

import importlib.util
import pickle
import shutil
import subprocess
import sys

import fsspec
import h5py
import numpy as np
import pytest
import xarray as xr
from forked_servers import forking
from range_server import at_once, serving

from hyperslab import subchunk
from hyperslab.subchunk.engine import SubchunkEntrypoint
from hyperslab.subchunk.errors import MissingFileError
from hyperslab.subchunk.fetch import RemoteFile, source

forked = pytest.fixture(scope="module", autouse=True)(forking)


NO_OBSTORE = importlib.util.find_spec("obstore") is None


BACKENDS = [
    "fsspec",
    pytest.param("obstore", marks=pytest.mark.skipif(NO_OBSTORE, reason="needs obstore")),
]


DELAY_S = 0.3


SHAPE, CHUNKS = (12, 400, 500), (1, 400, 500)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file whose chunks are far larger than what is read of them, with and without index."""
    folder = tmp_path_factory.mktemp("remote")
    rng = np.random.default_rng(5)
    values = np.cumsum(rng.normal(size=SHAPE), axis=2).astype("f4")
    with h5py.File(folder / "data.nc", "w") as file:
        file.create_dataset("data", data=values, chunks=CHUNKS, compression=1, shuffle=True)
        file.create_dataset("plain", data=values[0], chunks=(40, 500), compression="lzf")
        file.attrs["title"] = "far away"
    (folder / "bare.nc").write_bytes((folder / "data.nc").read_bytes())
    subchunk.build(folder / "data.nc", spacing=16384)
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/other.subchunk").write_bytes((folder / "data.nc.subchunk").read_bytes())
    return folder, values


@pytest.fixture(params=BACKENDS)
def options(request):
    """Storage options that name a backend."""
    fsspec.filesystem("http").clear_instance_cache()
    return {"backend": request.param}


def test_a_series_takes_few_stages_and_bytes(folder, options, monkeypatch):
    """A stage is what must be answered before the next requests can be sent."""
    folder, values = folder
    stages = []
    read, ask = RemoteFile.ranges, RemoteFile.identity
    monkeypatch.setattr(
        RemoteFile, "ranges", lambda *given: stages.append("ranges") or read(*given)
    )
    monkeypatch.setattr(RemoteFile, "identity", lambda *given: stages.append("head") or ask(*given))
    with serving(folder, delay_s=DELAY_S) as (address, log):
        with subchunk.open(f"{address}/data.nc", storage_options=options) as file:
            assert sorted(stages) == ["head", "ranges"], "what tells size and tag, and the index"
            assert at_once(list(log), DELAY_S) == 2
            stages.clear()
            found = file["data"][:, 200, 250]
            assert np.array_equal(found, values[:, 200, 250])
            assert stages in (["ranges"], ["ranges"] * 2), "windows where far, then data"
        data = [request for request in log if request.path == "/data.nc" and request.sent]
        size = (folder / "data.nc").stat().st_size
        assert sum(request.method == "HEAD" for request in log) == 1
        assert len(data) > 10 and at_once(data, DELAY_S) > 5
        assert sum(request.sent for request in data) < size / 4
        assert sum(request.sent for request in log) < size / 3


def test_whole_chunks_are_asked_for_at_once(folder, options):
    """Whatever the threads, which only decode."""
    folder, values = folder
    with serving(folder, delay_s=DELAY_S) as (address, log):
        with subchunk.open(f"{address}/data.nc", storage_options=options, threads=1) as file:
            assert np.array_equal(file["data"][1::3], values[1::3])
        data = [request for request in log if request.path == "/data.nc" and request.sent]
        assert len(data) > 2 and at_once(data, DELAY_S) == len(data)


def test_the_index_may_lie_anywhere(folder, options):
    folder, values = folder
    with serving(folder) as (address, _):
        local = folder / "data.nc", folder / "elsewhere/other.subchunk"
        remote = f"{address}/data.nc", f"{address}/elsewhere/other.subchunk"
        for path in (local[0], remote[0]):
            for index in (local[1], remote[1]):
                with subchunk.open(path, index, storage_options=options) as file:
                    assert not file["data"].plain
                    assert np.array_equal(file["data"][3, 7:50:9, -2], values[3, 7:50:9, -2])


def test_without_an_index_it_is_read_all_the_same(folder, options):
    folder, values = folder
    for absent in (404, 403):
        with (
            serving(folder, absent=absent) as (address, _),
            subchunk.open(f"{address}/bare.nc", storage_options=options) as file,
        ):
            assert file["data"].plain == "the file has no index"
            assert np.array_equal(file["data"][2, 10, :5], values[2, 10, :5])
            assert np.array_equal(file["plain"][...], values[0])


def test_xarray_and_processes(folder, options):
    folder, values = folder
    with serving(folder) as (address, _):
        kept = {"storage_options": options, "engine": SubchunkEntrypoint}
        with xr.open_dataset(f"{address}/data.nc", **kept) as data:
            assert data.attrs["title"] == "far away"
            again = pickle.loads(pickle.dumps(data["data"][:, 3, 4]))
            assert np.array_equal(again.values, values[:, 3, 4])


def test_a_server_without_ranges_is_named(folder, options):
    folder, _ = folder
    with (
        serving(folder, ranges=False) as (address, _),
        pytest.raises(subchunk.SubchunkError, match=r"does not support ranges; copy the file") as e,
    ):
        subchunk.open(f"{address}/data.nc", storage_options=options)["data"][0, 0, 0]
    assert address in str(e.value)


def test_what_is_not_there_is_named(folder, options):
    folder, _ = folder
    with serving(folder) as (address, _):
        with pytest.raises(FileNotFoundError, match=r"/absent\.nc is not there"):
            subchunk.open(f"{address}/absent.nc", storage_options=options)["data"]
        with pytest.raises(MissingFileError, match=r"/absent\.subchunk is not there"):
            subchunk.open(
                f"{address}/data.nc", f"{address}/absent.subchunk", storage_options=options
            )
        with pytest.raises(FileNotFoundError, match=r"/absent\.nc is not there"):
            subchunk.open(
                f"{address}/absent.nc", folder / "data.nc.subchunk", storage_options=options
            )


def test_an_unknown_backend_is_named():
    with pytest.raises(subchunk.SubchunkError, match=r"'curl': give 'fsspec' or 'obstore'"):
        source("http://127.0.0.1/x", {"backend": "curl"})


OPEN = """
import gc, os, sys
from hyperslab import subchunk

file = subchunk.open(sys.argv[1], storage_options={"backend": sys.argv[2]})
assert not file["x"].plain and file["x"][3, 5] == 305
"""


BY_XARRAY = """
import xarray
kept = {"backend": sys.argv[2]}
data = xarray.open_dataset(sys.argv[1], engine="subchunk", storage_options=kept)
assert data["x"][4, 7].item() == 407
"""


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
def exit_address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exit")
    values = np.arange(20)[:, None] * 100 + np.arange(20_000)
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(1, 20_000), compression=4)
    subchunk.build(folder / "x.h5", spacing=16384)
    with serving(folder) as (exit_address, _):
        yield f"{exit_address}/x.h5"


def run(code, *arguments):
    """Exit code and what was printed, but for the slow steps that asyncio tells in this mode."""
    # Python 3.12 warns of forks where there are threads.
    strict = ["-X", "dev", "-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    command = [sys.executable, *strict, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    said = [line for line in done.stderr.splitlines() if not line.startswith("Executing <")]
    return done.returncode, done.stdout + "\n".join(said)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_end_is_silent(exit_address, backend):
    assert run(OPEN + BY_XARRAY, exit_address, backend) == (0, "")


def test_a_fork_leaves_the_parent_its_connections(exit_address):
    forks = [FORK.format(what, row, row) for row, what in enumerate(FORKS, 11)]
    assert run(OPEN + "".join(forks), exit_address, "fsspec") == (0, "")


def test_a_fork_that_obstore_would_hang_is_refused(exit_address):
    pytest.importorskip("obstore")
    refused = """
    try:
        file["x"][9, 9]
    except subchunk.SubchunkError as error:
        assert "forked from one that used obstore: start processes by spawn" in str(error)
        sys.exit(7)
    """
    assert run(OPEN + FORK.format(refused.strip(), 11, 11), exit_address, "obstore") == (0, "")


def write_far(path, offset=0.0):
    """Write a file whose size does not tell its content."""
    with h5py.File(path, "w") as file:
        data = file.create_dataset(
            "data", data=np.arange(9e4).reshape(3, -1), chunks=(1, 30000), compression=4
        )
        data.attrs["scale"] = 1.0 + offset
        file["small"] = np.arange(5.0) + offset


@pytest.fixture
def quoted(tmp_path):
    write_far(tmp_path / "a b.h5")
    subchunk.build(tmp_path / "a b.h5", spacing=4096)
    return tmp_path


@pytest.mark.parametrize("token", ["", "token=a%2Fb&c=d"])
def test_quoted_names_and_queries(quoted, options, token):
    with serving(quoted, token=token) as (address, log):
        url = f"{address}/a%20b.h5" + (f"?{token}" if token else "")
        for index in (None, quoted / "a b.h5.subchunk"):
            with subchunk.open(url, index, storage_options=options) as file:
                assert file.index and file["data"][1, 70] == 30070
        assert any("h5.subchunk" in request.path for request in log)


def test_a_server_that_answers_whatever_is_asked(quoted, options):
    shutil.copy(quoted / "a b.h5", quoted / "bare.h5")
    with serving(quoted, soft=b"<p>" * 200_000) as (address, _):
        secret = address.replace("//", "//me:canary@")
        with pytest.warns(UserWarning, match=rf"{address}/bare\.h5 is read .*subchunk is") as told:
            file = subchunk.open(f"{secret}/bare.h5", storage_options=options)
        assert "canary" not in str(told[0].message)
        with file:
            assert "without an index" in repr(file) and file["data"][2, 8] == 60008


def test_file_urls(quoted):
    url = f"file://{quoted}/a%20b.h5"
    for path, index in ((url, None), (quoted / "a b.h5", f"{url}.subchunk")):
        with subchunk.open(path, index) as file:
            assert file.index and not file["data"].plain
            assert file["data"][1, 70] == 30070 and file["small"][1] == 1
            assert repr(file) == (
                f"<hyperslab.subchunk.File '{quoted}/a b.h5' index='{quoted}/a b.h5.subchunk'>"
            )


def test_relative_paths_hold_in_other_folders(quoted, tmp_path, monkeypatch):
    monkeypatch.chdir(quoted)
    with subchunk.open("a b.h5", "a b.h5.subchunk") as file:
        kept = pickle.dumps(file)
        monkeypatch.chdir("/")
        with pickle.loads(kept) as again:
            assert again.index and again["data"][1, 70] == 30070


def test_a_server_that_is_not_there_is_named(quoted):
    """By fsspec; obstore tries again for minutes."""
    options = {"backend": "fsspec"}
    url = "http://127.0.0.1:9/a.h5"
    for index in (None, quoted / "a b.h5.subchunk"):
        with pytest.raises(subchunk.SubchunkError, match=r":9/a.* cannot be read: .*onnect"):
            subchunk.open(url, index, storage_options=options)
    with pytest.raises(subchunk.SubchunkError, match=r"cannot be read: .*onnect"):
        subchunk.build(url, quoted / "a.subchunk", storage_options=options)
