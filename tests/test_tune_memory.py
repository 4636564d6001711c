"""What this process takes of the memory."""

import subprocess
import sys

import pytest

from hyperslab.tune.memory import mib, peak_bytes, resident_bytes

SCRIPT = """
from hyperslab.tune.memory import peak_bytes, resident_bytes
before = resident_bytes()
block = b"x" * (60 * 2**20)
held = resident_bytes()
del block
print(before, held, resident_bytes(), peak_bytes())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_that_was_freed_stays_in_the_peak():
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, held, after, peak = map(int, done.stdout.split())
    assert held - before >= 59 * 2**20
    assert after < held - 50 * 2**20
    assert peak > held - 2**20  # the kernel counts a few pages late
    assert peak < held + 8 * 2**20


def test_of_a_system_that_says_nothing_the_peak_is_known(monkeypatch):
    before = peak_bytes()
    monkeypatch.setattr("pathlib.Path.read_text", _refuse)
    assert peak_bytes() >= before // 2
    assert resident_bytes() == peak_bytes()


def _refuse(self, *words, **options):
    raise OSError("no such file")


def test_mebibytes_are_rounded_up():
    assert [mib(n) for n in (0, 1, 2**20, 5e9)] == ["0 MiB", "1 MiB", "1 MiB", "4,769 MiB"]
