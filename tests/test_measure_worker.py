"""A file that does not stay in memory is no warm read, and its message says what to do."""

import pytest

from hyperslab.measure import worker
from hyperslab.measure.case import Case


@pytest.fixture
def case(tmp_path):
    path = tmp_path / "values"
    path.write_bytes(bytes(8192))
    return Case("read", run=worker.run_nothing, files=(path,), cache_state="warm")


def test_a_file_that_never_stays_is_lost_with_what_to_do(case, monkeypatch):
    read = []
    monkeypatch.setattr(worker, "warm", read.append)
    monkeypatch.setattr(worker, "resident_fraction", lambda files: 0.998)
    outcome = worker.perform(worker.Job(case, sweeps=False))
    assert len(read) == worker.WARMINGS and not outcome.rows
    assert "only 99.8% of the file is in the page cache after it was read 3 times" in outcome.status
    assert "took pages back" in outcome.status and "too small" not in outcome.status
    assert "run again, or give a smaller file (file_mib) or more memory" in outcome.status


def test_a_file_that_stays_at_last_is_read(case, monkeypatch):
    shares = iter((0.5, 0.998, 1.0))
    monkeypatch.setattr(worker, "resident_fraction", lambda files: next(shares))
    assert worker.perform(worker.Job(case, sweeps=False)).status == "ok"
