"""What goes wrong on the way: the server does it as told, and clients say what it was."""

from functools import partial

import aiohttp
import fsspec
import pytest
from forked_servers import forking

from hyperslab.measure.case import Case
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job
from hyperslab.network import Fault, HelperError, Link, serving

forked = pytest.fixture(scope="module", autouse=True)(forking)
DATA = bytes(range(250)) * 4000
START, STOP = 10, 600_010


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / "a.nc").write_bytes(DATA)
    return folder


def read(server):
    """Read a range as fsspec does."""
    files, path = fsspec.url_to_fs(
        server.address("a.nc"), **server.storage_options, skip_instance_cache=True
    )
    return files.cat_file(path, start=START, end=STOP)


def read_once(server, watch):
    """A sample that reads from a server."""
    with watch("read"):
        return read(server)


# What fsspec makes of each, over HTTP, where it asks only once.
ERRORS = {
    "403": (aiohttp.ClientResponseError, "403, message='Forbidden'"),
    "404": (FileNotFoundError, "a.nc"),
    "500": (aiohttp.ClientResponseError, "500, message='Internal Server Error'"),
    "cut": (aiohttp.ClientPayloadError, "payload is not completed"),
}


def test_faults_reach_the_reader_and_the_log(folder):
    with pytest.raises(ValueError, match="take one of gone, cut"):
        Fault("418")
    faults = [Fault(kind, first=n) for n, kind in enumerate((*ERRORS, "whole", "short"))]
    with serving(folder, faults=faults) as server:
        for error, words in ERRORS.values():
            with pytest.raises(error, match=words):
                read(server)
        # fsspec hands these two on as they are: a reader that trusts it reads something else.
        assert read(server) == DATA
        assert read(server) == DATA[START : START + (STOP - START) // 2]
        assert read(server) == DATA[START:STOP]
        log, size = server.requests(), STOP - START
    assert [request.status for request in log] == [403, 404, 500, 206, 200, 206, 206]
    sent = [request.body_bytes for request in log]
    assert sent[3:] == [size // 2, len(DATA), size // 2, size]


def test_a_server_gone_in_the_middle_is_gone_for_all(folder):
    with (
        serving(folder, faults=[Fault("gone")]) as server,
        Link(50e6, 0.01).to(server.port) as far,
    ):
        with pytest.raises(aiohttp.ClientPayloadError, match="payload is not completed"):
            read(server.through(far))
        for port in (server.port, far):
            with pytest.raises((aiohttp.ClientError, ConnectionError)):
                read(server.through(port))
        with pytest.raises(HelperError, match=r"network\.answers is gone"):
            server.requests()


def test_an_s3_client_asks_again_after_errors_and_a_sample_does_not_outlast_its_server(folder):
    """An S3 client alone asks again for half a minute, and calls it an error of the connection."""
    pytest.importorskip("s3fs")
    faults = [Fault("500"), Fault("gone", first=2)]
    with serving(folder, "s3", faults=faults) as server, Processes() as processes:
        assert read(server) == DATA[START:STOP]
        assert [request.status for request in server.requests()] == [500, 206]
        outcome = processes.run(Job(Case("a", partial(read_once, server))))
    assert outcome.status == "HelperError: the process of hyperslab.network.answers is gone"
