"""The page that explores the results: every summary, and seconds by place, chunk and access."""

import json
import re
from itertools import product

import pytest

from hyperslab.measure.records import frame_of, save
from hyperslab.study import explorer, explorer_choices, explorer_html, explorer_words

RUN = {"run_id": "r", "profile": "quick", "status": "ok", "notebook": "penard_local"}


def rows(experiment="reads", ways=("h5py-off", "zarr"), *, blocks=6):
    for (way, read), block, phase in product(
        product(ways, ("series", "frame")), range(blocks), ("open", "read")
    ):
        yield {
            **RUN, "experiment": experiment, "case": f"gfs/{read}/{way}", "block": block,
            "phase": phase, "wall_s": (1 + ways.index(way)) / 2 + block / 1e3, "user_s": 0.0,
            "sys_s": 0.0, "format": "netcdf4" if way != "zarr" else "zarr2", "rchar": 3e6,
            "chunks": "1x13x721x1440", "predicted_reads": 1, "cache_state": "warm",
        }  # fmt: skip


@pytest.fixture
def found(tmp_path):
    save(frame_of(rows()), tmp_path / "penard_local.parquet")
    counted = frame_of({**row, "wall_s": float("nan")} for row in rows())
    save(counted, tmp_path / "penard_wire.parquet")
    (tmp_path / "machine.json").write_text("{}")
    return explorer.gathered(profile="quick", records=str(tmp_path))


def test_each_phase_of_each_case_is_a_row(found):
    table = found.summaries
    assert len(table) == 8 and set(table["blocks"]) == {6}
    row = table[(table["case"] == "gfs/series/zarr") & (table["phase"] == "open")].iloc[0]
    assert row["page"] == "Series and maps from a local disk"
    assert row["time, ms"] == pytest.approx(1002.5) and row["from, ms"] == 1000
    assert row["MB read"] == 3
    assert table["time, ms"].dtype == "f8"  # else the page sorts it as text
    assert "8 phases of 4 cases, from 1 pages" in explorer_words.summary(found)


def test_samples_that_are_lost_or_void_of_time_are_none():
    lost = [{**row, "status": "the process ended"} for row in rows(blocks=1)]
    untimed = [{**row, "wall_s": float("nan")} for row in rows(blocks=1)]
    assert explorer.summaries(frame_of([*lost, *untimed]), "P").empty


def test_choices_are_those_of_the_summary(found):
    table = found.choices
    assert set(table["place"]) == {"this machine's disk"} and set(table["chunk"]) == {
        "54 MB: 1x13x721x1440"
    }
    series = table[table["access"] == "a series"]
    assert list(series["way"]) == ["netCDF-4: h5py", "Zarr, Blosc: zarr"]  # the quickest first
    assert series["seconds"].iloc[0] == pytest.approx(1.005)
    assert "by the model" not in explorer_words.choice(found)
    assert set(table["data"]) == {"the temperature, series and maps"}
    assert explorer_choices.choices({"lee_access": frame_of(rows())}).empty


def modelled():
    for (library, layout, state), block, phase in product(
        (
            ("h5py", "ocean: deep, none", "warm"), ("zarr", "ocean: deep, none", "warm"),
            ("h5py", "ocean: deep, none", "cold"), ("h5py", "ocean: contiguous", "warm"),
        ),
        range(2), ("open", "read", "close"),
    ):  # fmt: skip
        yield {
            **RUN, "experiment": "reads", "case": f"{layout}/{library}/box", "block": block,
            "phase": phase, "wall_s": (2.0 if library == "zarr" else 1.0) + block, "pattern": "box",
            "size": layout, "library": library, "cache_state": state,
            "chunks": "" if "cont" in layout else "8x9x9",
        }  # fmt: skip


def test_reads_of_other_pages_are_offered_with_their_ranges():
    table = explorer_choices.choices({"cost_model": frame_of(modelled())})
    assert set(table["data"]) == {"the ocean, the cost of a read"}
    assert set(table["access"]) == {"a box"}
    assert set(table["chunk"]) == {"8x9x9", "no chunks"}
    assert set(table["place"]) == {"this machine's disk", "this machine's disk, cold"}
    slow = table.iloc[-1]
    assert slow["way"] == "zarr, deep, none"
    assert (slow["seconds"], slow["low"], slow["high"], slow["n"]) == (5, 4, 6, 2)  # no close


def test_cold_reads_are_a_place_of_their_own():
    cold = [{**row, "experiment": "cold", "cache_state": "cold"} for row in rows()]
    table = explorer_choices.choices({"penard_local": frame_of([*rows(), *cold])})
    assert list(table["place"].unique()) == ["this machine's disk", "this machine's disk, cold"]
    assert set(table["chunk"]) == {"54 MB: 1x13x721x1440"}


def test_what_was_not_measured_is_said(tmp_path):
    (tmp_path / "machine.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match="hyperslab run --profile quick"):
        explorer.gathered(profile="quick", records=str(tmp_path))
    save(frame_of(rows()), tmp_path / "lee_access.parquet")
    found = explorer.gathered(profile="quick", records=str(tmp_path))
    assert "hyperslab run penard_local" in explorer_words.choice(found)


def test_the_chart_holds_its_data_and_breaks_out_of_nothing(found):
    evil = found.choices.assign(way="</script><b>")
    made = explorer_html.chooser(evil)
    (data,) = re.findall(r'<script type="application/json">(.*?)</script>', made, re.DOTALL)
    assert json.loads(data)[0]["way"] == "</script><b>"
    assert json.loads(data)[0]["chunk"] == "54 MB: 1x13x721x1440" and made.count("<select") == 4


def test_the_table_asks_no_other_host_and_is_the_same_twice(found):
    table = explorer_html.table(found.summaries)
    assert "gfs/series/zarr" in table and table == explorer_html.table(found.summaries)
    assert not re.search(r'(?:src|href)="?https?://(?!itables\.org|datatables\.net)', table)
    risky = found.summaries.assign(case="<script>alert(1)</script>")
    assert "<script>alert(1)" not in explorer_html.table(risky)
