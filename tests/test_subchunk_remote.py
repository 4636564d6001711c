"""Files and indexes behind URLs: the same values, few requests, and messages that help."""

import pickle
import shutil
import subprocess
import sys
from contextlib import nullcontext
from itertools import product

import fsspec
import h5py
import numpy as np
import pytest
import subchunk_files as files
import xarray as xr
from forked_servers import forking
from range_server import Fault, at_once, faulty, serving

from hyperslab import network, subchunk
from hyperslab.io.urls import Remote
from hyperslab.subchunk.errors import UnfitFileError
from hyperslab.subchunk.fetch import RemoteFile

forked = pytest.fixture(scope="module", autouse=True)(forking)
WAYS = [("http", "fsspec"), ("s3", "fsspec")] + [("http", "obstore")] * (not files.NO_OBSTORE)
DELAY_S = 0.3
SHAPE, CHUNKS = (12, 400, 500), (1, 400, 500)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A file whose chunks are far larger than what is read of them, with and without index."""
    folder = tmp_path_factory.mktemp("remote")
    rng = np.random.default_rng(5)
    values = np.cumsum(rng.normal(size=SHAPE), axis=2).astype("f4")
    with h5py.File(folder / "data.nc", "w") as file:
        file.create_dataset("data", data=values, chunks=CHUNKS, compression=1, shuffle=True)
        file.create_dataset("plain", data=values[0], chunks=(40, 500), compression="lzf")
        file.attrs["title"] = "far away"
    shutil.copy(folder / "data.nc", folder / "bare.nc")
    (folder / "elsewhere").mkdir()
    index = subchunk.build(folder / "data.nc", spacing=16384)
    shutil.copy(index, folder / "elsewhere/other.subchunk")
    return folder, values


@pytest.fixture(params=files.BACKENDS)
def options(request):
    """Storage options that name a backend."""
    fsspec.filesystem("http").clear_instance_cache()
    return {"storage_options": {"backend": request.param}}


def test_a_read_takes_few_stages_and_bytes(pair, options, monkeypatch):
    """A stage is what must be answered before the next requests can be sent."""
    folder, values = pair
    stages = []
    for name in ("ranges", "identity"):
        true = getattr(RemoteFile, name)
        noted = lambda *args, name=name, true=true: stages.append(name) or true(*args)  # noqa: E731
        monkeypatch.setattr(RemoteFile, name, noted)
    with (
        serving(folder, delay_s=DELAY_S) as (address, log),
        # Whatever the threads, which only decode.
        subchunk.open(f"{address}/data.nc", **options, threads=1) as file,
    ):
        assert sorted(stages) == ["identity", "ranges"], "size and tag, and the index"
        assert at_once(list(log), DELAY_S) == 2
        stages.clear()
        assert np.array_equal(file["data"][:, 200, 250], values[:, 200, 250])
        assert stages in (["ranges"], ["ranges"] * 2), "windows where far, then data"
        data = [request for request in log if request.path == "/data.nc" and request.sent]
        size = (folder / "data.nc").stat().st_size
        assert sum(request.method == "HEAD" for request in log) == 1
        assert len(data) > 10 and at_once(data, DELAY_S) > 5
        assert sum(request.sent for request in data) < size / 4
        assert sum(request.sent for request in log) < size / 3
        log.clear()
        assert np.array_equal(file["data"][1::3], values[1::3])
        assert len(log) > 2 and at_once(log, DELAY_S) == len(log)


def test_the_index_may_lie_anywhere_or_nowhere(pair, options):
    folder, values = pair
    for absent in (404, 403):
        with serving(folder, absent=absent) as (address, _):
            for path, index_folder in product((folder, address), repeat=2):
                both = f"{path}/data.nc", f"{index_folder}/elsewhere/other.subchunk"
                with subchunk.open(*both, **options) as file:
                    assert not file["data"].plain
                    assert np.array_equal(file["data"][3, 7:50:9, -2], values[3, 7:50:9, -2])
            with subchunk.open(f"{address}/bare.nc", **options) as file:
                assert file["data"].plain == "the file has no index"
                assert np.array_equal(file["data"][2, 10, :5], values[2, 10, :5])
                assert np.array_equal(file["plain"][...], values[0])
            with xr.open_dataset(f"{address}/data.nc", engine="subchunk", **options) as data:
                assert data.attrs["title"] == "far away"
                again = pickle.loads(pickle.dumps(data["data"][:, 3, 4]))
                assert np.array_equal(again.values, values[:, 3, 4])


def test_what_cannot_be_had_is_named(pair, options):
    folder, _ = pair
    with serving(folder, ranges=False) as (address, _):
        why = rf"{address}.*does not support ranges; copy the file"
        with pytest.raises(subchunk.SubchunkError, match=why):
            subchunk.open(f"{address}/data.nc", **options)["data"][0, 0, 0]
    with serving(folder) as (address, _):
        for path, index in (
            ("absent.nc", None),
            ("data.nc", f"{address}/absent.subchunk"),
            ("absent.nc", folder / "data.nc.subchunk"),
        ):
            with pytest.raises(FileNotFoundError, match=r"/absent\.\w+ is not there"):
                subchunk.open(f"{address}/{path}", index, **options)["data"]
    waits = options["storage_options"]["backend"] == "obstore"  # and tries again what is 503
    for status in ("401", "403", "503")[: 2 if waits else 3]:
        faults = [Fault(status, count=99)]
        with serving(folder, faults=faults, heads=faults) as (address, _):
            fsspec.filesystem("http").clear_instance_cache()
            kind = subchunk.SubchunkError if status == "403" else UnfitFileError
            with pytest.raises(kind, match=rf"{address}/data.nc .*{status}|not for you"):
                subchunk.build(f"{address}/data.nc", folder / "new.subchunk", **options)
    with pytest.raises(subchunk.SubchunkError, match=r"'curl': give 'fsspec' or 'obstore'"):
        subchunk.open("http://127.0.0.1/x", storage_options={"backend": "curl"})


OPEN = """
import gc, os, sys
from hyperslab import subchunk

options = {"storage_options": {"backend": sys.argv[2]}}
file = subchunk.open(sys.argv[1], **options)
assert not file["x"].plain and file["x"][3, 5] == 305
"""
BY_XARRAY = """
import xarray
data = xarray.open_dataset(sys.argv[1], engine="subchunk", **options)
assert data["x"][4, 7].item() == 407
"""
FORK = """
child = os.fork()
if not child:
    {}
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert file["x"][{}, 13] == {}13
"""
REFUSED = """
    try:
        file["x"][9, 9]
    except subchunk.SubchunkError as error:
        assert "forked from one that used obstore: start processes by spawn" in str(error)
        sys.exit(7)
    sys.exit(1)
"""
FORKS = {
    "fsspec": (
        'assert file["x"][9, 9] == 909',
        "file.close(); del file; gc.collect()",
        "import fsspec; fsspec.filesystem('http').clear_instance_cache(); gc.collect()",
        "",
    ),
    "obstore": (REFUSED.strip(),),
}


@pytest.mark.parametrize("backend", files.BACKENDS)
def test_forks_leave_the_parent_its_connections_and_the_end_is_silent(tmp_path, backend):
    """What obstore would hang at is refused."""
    values = np.arange(20)[:, None] * 100 + np.arange(20_000)
    files.write_one(tmp_path / "x.h5", values, chunks=(1, 20_000))
    subchunk.build(tmp_path / "x.h5", spacing=16384)
    forks = [FORK.format(what, row, row) for row, what in enumerate(FORKS[backend], 11)]
    # Python 3.12 warns of forks where there are threads.
    strict = ["-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    with serving(tmp_path) as (address, _):
        words = ["-c", OPEN + "".join(forks) + BY_XARRAY, f"{address}/x.h5", backend]
        done = subprocess.run(
            [sys.executable, *strict, *words], capture_output=True, text=True, timeout=60
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture
def quoted(tmp_path):
    files.write_far(tmp_path / "a b.h5")
    subchunk.build(tmp_path / "a b.h5", spacing=4096)
    return tmp_path


@pytest.mark.parametrize("token", ["", "token=a%2Fb&c=d"])
def test_quoted_names_and_queries(quoted, options, token):
    with serving(quoted, token=token) as (address, log):
        url = f"{address}/a%20b.h5" + (f"?{token}" if token else "")
        for index in (None, quoted / "a b.h5.subchunk"):
            with subchunk.open(url, index, **options) as file:
                assert file.index and file["data"][1, 70] == 30070
        assert any("h5.subchunk" in request.path for request in log)


def test_a_server_that_answers_whatever_is_asked(quoted, options):
    shutil.copy(quoted / "a b.h5", quoted / "bare.h5")
    with serving(quoted, soft=b"<p>" * 200_000) as (address, _):
        secret = address.replace("//", "//me:canary@")
        with pytest.warns(UserWarning, match=rf"{address}/bare\.h5 is read .*subchunk is") as warns:
            file = subchunk.open(f"{secret}/bare.h5", **options)
        assert "canary" not in str(warns[0].message)
        with file:
            assert "without an index" in repr(file) and file["data"][2, 8] == 60008


def test_file_urls_and_relative_paths_that_hold_in_other_folders(quoted, monkeypatch):
    url, path = f"file://{quoted}/a%20b.h5", quoted / "a b.h5"
    monkeypatch.chdir(quoted)
    monkeypatch.setenv("HOME", str(quoted))
    own = (path.name, "a b.h5.subchunk"), ("~/a b.h5", None)
    for source, index in ((url, None), (path, f"{url}.subchunk"), *own):
        with subchunk.open(source, index) as file:
            pickled = pickle.dumps(file)
        with monkeypatch.context() as elsewhere:
            elsewhere.chdir("/")
            with pickle.loads(pickled) as again:
                assert again.index and again["data"][1, 70] == 30070 and again["small"][1] == 1
                assert repr(again) == (
                    f"<hyperslab.subchunk.File '{path}' index='{path}.subchunk'>"
                )


def opens(way):
    """The kind of server, or "" for a file on this machine, and what opens a file on it."""
    kind, backend = way

    def opened(server, name):
        fsspec.filesystem("http").clear_instance_cache()
        options = server.storage_options
        if backend == "obstore":
            options = Remote(server.url, options).obstore()
        return subchunk.open(server.address(name), storage_options={"backend": backend} | options)

    return kind, opened if kind else lambda folder, name: subchunk.open(folder / name)


def again(act):
    """What it gives, at the third time at the latest: each of the two faults is named."""
    for _ in range(2):
        try:
            return act()
        except subchunk.SubchunkError as error:
            assert "data.nc" in str(error)
    return act()


@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("fault", ["403", "500", "cut", "short", "whole"])
def test_one_fault_gives_right_values_or_an_error_by_name(pair, way, fault):
    """While it is opened and while it is read; what went wrong once does not stay."""
    (folder, values), (kind, opened) = pair, opens(way)
    firsts = [0] * (fault in ("500", "cut")) + [4, 24]
    faults = [Fault(fault, first=first) for first in firsts]
    with (
        faulty(folder, kind, faults) as (server, log),
        again(lambda: opened(server, "data.nc")) as file,
    ):
        for _ in range(2):
            assert np.array_equal(again(lambda: file["data"][..., 7, 9]), values[..., 7, 9])
            assert again(lambda: file["plain"][7, 9]) == values[0, 7, 9]
        assert not file["data"].plain and len(log) > 24


@pytest.mark.parametrize("way", [("", "file"), *WAYS], ids="-".join)
@pytest.mark.parametrize("indexed", [True, False], ids=["indexed", "bare"])
def test_values_of_two_files_are_never_mixed(way, tmp_path, indexed):
    """By what was open, nor by a pickle of it, where size and place of all are the same."""
    (kind, opened), path, new = opens(way), tmp_path / "a.h5", tmp_path / "new.h5"
    values = np.random.default_rng(3).random((4, 90_000))

    def write(add):
        files.write_one(new, values + add, chunks=(1, 90_000), compression=0)
        with h5py.File(new, "a") as file:
            file["plain"], file["small"] = values[0] + add, add
            how = {"chunks": (30_000,), "compression": 0, "fillvalue": add}
            file.create_dataset("bare", (90_000,), "f8", **how)[:3] = add
        new.replace(path)

    write(0)
    size = path.stat().st_size
    if indexed:
        subchunk.build(path)
    served = network.serving(tmp_path, kind) if kind else nullcontext(tmp_path)
    with served as server, opened(server, path.name) as file:
        pickled = pickle.dumps(file)
        assert file["x"][0, 0] == values[0, 0]
        if indexed:
            assert file["plain"][0] == values[0, 0]
        write(1000)
        assert path.stat().st_size == size
        # What the index alone tells of a file far away is of the file that it was built of.
        kept_by_index = [] if kind else [("small", ()), ("bare", -1)]
        for name, key in (("x", -1), ("plain", np.s_[80_000:]), *kept_by_index):
            with pytest.raises(subchunk.StaleIndexError, match=r"a\.h5"):
                file[name][key]
        if not kind:
            with pytest.raises(subchunk.StaleIndexError, match=r"not the file that was|not belong"):
                pickle.loads(pickled)
