"""What holds for all tests."""

from contextlib import ExitStack, suppress

import pytest
from hypothesis import settings

from hyperslab.measure.lock import BusyError, measuring

# How long an example takes says more of the machine than of the code.
settings.register_profile("here", deadline=None)
settings.load_profile("here")

_HELD = pytest.StashKey[ExitStack]()


def pytest_configure(config):
    """Hold the machine for all workers, so that tests that measure do not refuse each other."""
    if not config.getoption("numprocesses", None):
        return
    config.stash[_HELD] = ExitStack()
    with suppress(BusyError):  # then they say so themselves
        config.stash[_HELD].enter_context(measuring())


def pytest_unconfigure(config):
    if _HELD in config.stash:
        config.stash[_HELD].close()


def pytest_collection_modifyitems(items):
    """Begin with what takes longest, which one of two workers does alone."""
    items.sort(key=lambda item: item.path.name != "test_whole.py")
