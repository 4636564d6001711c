"""What holds for all tests."""

import fcntl
import gc
import os
from contextlib import ExitStack, contextmanager, suppress

import pytest
from book_turns import MAKES, NEEDS, Turns
from hypothesis import settings

from hyperslab.cli import OK, main
from hyperslab.measure.lock import BusyError, measuring

# How long an example takes says more of the machine than of the code.
settings.register_profile("here", deadline=None)
settings.load_profile("here")

_HELD = pytest.StashKey[ExitStack]()


def pytest_configure(config):
    """Hold the machine for all workers, so that tests that measure do not refuse each other."""
    gc.set_threshold(200_000, 20, 50)  # of what tests make nearly nothing is a circle
    if os.environ.get("PYTEST_XDIST_WORKER", "gw0") != "gw0":
        os.nice(5)  # `Turns` gives gw0 the whole run first, which the last tests wait for
    if not config.getoption("numprocesses", None):
        return
    config.stash[_HELD] = ExitStack()
    with suppress(BusyError):  # then they say so themselves
        config.stash[_HELD].enter_context(measuring())


def pytest_unconfigure(config):
    if _HELD in config.stash:
        config.stash[_HELD].close()


def pytest_collection_modifyitems(items):
    """Begin with what takes longest, and end with what needs its result."""
    places = {MAKES: 0, **dict.fromkeys(NEEDS, 2)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], 1))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Let workers take that last part as soon as its result is there."""
    return Turns(config, log) if config.getvalue("dist") == "loadscope" else None


@contextmanager
def _alone(folder):
    """Let one worker at a time work in a folder that all of them share."""
    with folder.with_suffix(".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def canary():
    """What a variable of the environment holds while the book is rendered."""
    return "a-token-of-the-environment"


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """The folder of a whole run at smoke size, made by the first worker that asks."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "whole"
    with _alone(folder):
        if not (folder / "results/smoke/claims.json").exists():
            assert main(["run", "--profile", "smoke", "--workdir", str(folder)]) == OK
    return folder


@pytest.fixture(scope="session")
def book(whole, canary):
    """The folder of the book rendered from that run."""
    with _alone(whole), pytest.MonkeyPatch.context() as patch:
        patch.setenv("CANARY_TOKEN", canary)
        assert main(["book", "--profile", "smoke", "--workdir", str(whole)]) == OK
    return whole / "html"
