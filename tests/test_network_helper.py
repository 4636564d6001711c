"""Nothing that a context started outlives it, however the process that entered it ends."""

import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from urllib.request import urlopen

import numpy as np
import pytest
from samples import Spin, living, until

from hyperslab import subchunk
from hyperslab.io import Layout, readers, write_array
from hyperslab.measure.case import Case
from hyperslab.measure.child import HELPERS
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job
from hyperslab.network import HelperError, serving
from hyperslab.network.helper import helping

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="lists processes as Linux has them")
RUN = """
import os, signal, sys, time
from contextlib import ExitStack
from hyperslab.io import reader
from hyperslab.network import Link, serving

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
with ExitStack() as stack:
    servers = [stack.enter_context(serving(".", program=name)) for name in sys.argv[2:]]
    link = stack.enter_context(Link(2e5, 0.01).to(servers[0].port))
    if sys.argv[1] == "fork" and os.fork() == 0:
        time.sleep(60)  # holds the pipes to the helpers open
        os._exit(0)
    print(*[server.port for server in servers], link, flush=True)
    if sys.argv[1] == "fork":
        time.sleep(60)
    with reader(sys.argv[1]).open(servers[0].through(link).address("a.nc"), "data") as opened:
        opened.read()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file that takes long over the link, with its index."""
    folder = tmp_path_factory.mktemp("far")
    noise = np.random.default_rng(1).normal(size=(3, 18_000))
    write_array(folder / "a.nc", noise, Layout("netcdf4", (1, 18_000), "deflate", 1))
    subchunk.build(folder / "a.nc")
    return folder


@pytest.mark.parametrize("ended", ["fork", "netcdf4", "h5py-none", "subchunk-obstore"])
def test_nothing_is_left_by_who_is_killed_or_interrupted_in_a_read(folder, ended):
    """Killed, it leaves a fork. Libraries of C and Rust may end the read in hand first."""
    if ended not in ("fork", *readers(place="http")):
        pytest.skip(f"{ended} is not installed")
    programs = ["aiohttp", *["lighttpd"] * (shutil.which("lighttpd") is not None)]
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, ended, *programs],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )

    def helpers():
        """Return the processes that know whom they work for, and what they started."""
        ours = (f"owner = \\d+, {run.pid}\\b", re.escape(str(folder)))
        return [words for words in living().values() if re.search("|".join(ours), words)]

    try:
        assert len(run.stdout.readline().split()) == len(programs) + 1
        assert len(helpers()) == 2 * len(programs)  # a link too, and lighttpd with who keeps it
        if ended == "fork":
            run.kill()
        else:
            time.sleep(1)  # it reads
            assert run.poll() is None, run.stderr.read().decode()
            os.killpg(run.pid, signal.SIGINT)  # as Ctrl-C does
            assert "\nKeyboardInterrupt\n" in run.communicate(timeout=60)[1].decode()
        run.wait(timeout=20)
        until(lambda: not helpers())
    finally:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)  # what it forked
        run.stdout.close()
        run.stderr.close()


def test_who_knows_the_token_asks(tmp_path):
    (tmp_path / "a.nc").write_bytes(bytes(1000))
    with serving(tmp_path) as server:
        visited = pickle.loads(pickle.dumps(server))  # as the process of a sample has it
        assert visited == server
        urlopen(visited.address("a.nc")).close()
        assert [request.path for request in visited.requests()] == ["/a.nc"]
        visited.forget()
        assert server.requests() == []
        assert visited._helper.token not in repr(visited._helper)
        with pytest.raises(HelperError):
            replace(visited._helper, token="guessed").ask("requests")
    with pytest.raises(HelperError, match="is gone"):
        visited.requests()


def test_a_helper_that_cannot_start_is_named():
    why = pytest.raises(HelperError, match=r"No module named 'hyperslab\.network\.none'")
    with why, helping("hyperslab.network.none", {}):
        pass


def test_a_sample_does_not_outlast_its_server(tmp_path):
    with serving(tmp_path), Processes() as processes:
        *_, server = HELPERS.modules
        words = ("sh", "-c", f"kill -9 {server.process.pid}; exec sleep 60")
        outcome = processes.run(Job(Case("a", words)))
    assert outcome.status == "HelperError: the process of hyperslab.network.answers is gone"


def test_a_server_of_another_thread_may_end_while_a_sample_runs(tmp_path):
    with Processes() as processes, ThreadPoolExecutor(1) as other:
        theirs = serving(tmp_path)
        other.submit(theirs.__enter__).result()
        processes.start()
        ending = other.submit(lambda: (time.sleep(0.1), theirs.__exit__(None, None, None)))
        assert processes.run(Job(Case("a", Spin(0.3)))).status == "ok"
        ending.result()
