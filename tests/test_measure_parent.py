"""Nothing that was started for a run outlives it, however the run ends."""

import os
import signal
import subprocess
import sys

import pytest
from samples import process_status, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")

RUN = """
import sys
from pathlib import Path
from samples import LogAndSleep
from hyperslab.measure.case import Case
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job

with Processes() as processes:
    processes.run(Job(Case("long", LogAndSleep(Path(sys.argv[1])))))
"""


def test_what_a_killed_run_was_measuring_ends_with_it(tmp_path):
    log = tmp_path / "pids"
    paths = os.pathsep.join(sys.path)
    words = [sys.executable, "-c", RUN, str(log)]
    run = subprocess.Popen(words, env=os.environ | {"PYTHONPATH": paths})
    try:
        until(lambda: log.exists() and log.read_text().endswith("\n"))
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    started = [int(pid) for pid in log.read_text().split()]
    assert len(started) == 2  # the sample's process, and what it came from
    until(lambda: not any(process_status(pid) for pid in started))


def test_a_parent_that_is_gone_already_is_noticed():
    code = "from hyperslab.measure.parent import die_with; die_with(1); print('alive')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
