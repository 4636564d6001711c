"""The page that explores the results: every case in a table that works without a network."""

import re
from itertools import product

import pytest

from hyperslab.measure.records import frame_of, save
from hyperslab.study import explorer
from hyperslab.study.listing import markup


def rows(*, blocks=6, **more):
    ways = product(("h5py", "zarr"), ("series", "map"), range(blocks), ("open", "read"))
    for way, read, block, phase in ways:
        yield {
            "run_id": "r", "profile": "quick", "status": "ok", "notebook": "penard_local",
            "experiment": "reads", "case": f"{read}, {way}", "block": block, "phase": phase,
            "wall_s": (2.0 if way == "zarr" else 1.0) / 2 + block / 1e3, "rchar": 3e6,
            "cache_state": "warm", "library": way,
        } | more  # fmt: skip


@pytest.fixture
def found(tmp_path):
    save(frame_of(rows()), tmp_path / "penard_local.parquet")
    save(frame_of(rows(wall_s=float("nan"))), tmp_path / "penard_wire.parquet")
    return explorer.gathered(profile="quick", records=str(tmp_path))


def test_each_phase_of_each_case_is_a_row(found):
    assert len(found) == 8 and set(found["blocks"]) == {6}
    row = found[(found["case"] == "series, zarr") & (found["phase"] == "open")].iloc[0]
    assert row["time, ms"] == pytest.approx(1002.5) and row["from, ms"] == 1000
    assert row["MB read"] == 3
    assert found["time, ms"].dtype == "f8"  # else the page sorts it as text


def test_what_was_lost_has_no_row_and_without_records_it_says_what_makes_them(tmp_path):
    assert explorer.summaries(frame_of(rows(status="the process ended")), "P").empty
    with pytest.raises(FileNotFoundError, match="hyperslab run --profile quick"):
        explorer.gathered(profile="quick", records=str(tmp_path))


def test_the_table_asks_no_other_host_and_what_is_in_it_breaks_out_of_nothing(found):
    table = markup(found, "samples")
    assert "series, zarr" in table and table == markup(found, "samples")
    assert not re.search(r'(?:src|href)="?https?://(?!itables\.org|datatables\.net)', table)
    risky = found.assign(case="<script>alert(1)</script>")
    table = markup(risky, "samples", links={"case": ['a.html#"><b>'] * len(risky)})
    assert "<script>alert(1)" not in table and '#"><b>' not in table and "a.html#" in table
