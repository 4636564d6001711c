"""bm_file's examples: the files, what is asked of the benchmark, and what is kept of it."""

import netCDF4
import numpy as np
import pytest
from made_bench import bench_frame

from hyperslab import claims
from hyperslab.experiments import chunking_bench as bm_file
from hyperslab.measure.records import frame_of, save
from hyperslab.study.page import document
from hyperslab.tune.report.summary import BM_COLUMNS, BM_RATES, summary


@pytest.fixture
def asked(monkeypatch):
    """What the benchmark was asked; it answers from made-up records."""
    words = []

    def measured(given):
        words.append(list(given))
        return bench_frame(times={"1x5": 1.0}).assign(chunks="128x128")

    monkeypatch.setattr(bm_file, "measured", measured)
    return words


def test_files_are_as_the_documents(tmp_path):
    path = bm_file.integers(tmp_path / "new" / "a.nc", (8, 4, 4), "i4")
    with netCDF4.Dataset(path) as file:
        assert file.data_model == "NETCDF3_CLASSIC"
        assert list(file.dimensions) == ["z", "y", "x"]
        values = next(iter(file.variables.values()))[:]
    assert 0 <= values.min() <= values.max() < 255
    again = bm_file.integers(tmp_path / "b.nc", (8, 4, 4), "i4")
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.usefixtures("asked")
def test_records_of_a_benchmark_lose_only_what_the_session_gives():
    rows = list(bm_file.rows(["a.nc"], dimensions="3"))
    assert not {"run_id", "experiment"} & set(rows[0])
    assert {row["dimensions"] for row in rows} == {"3"}
    assert all(row["layout"] == row["case"] for row in rows)
    assert len(rows) == (bench_frame(times={"1x5": 1.0})["experiment"] == "bench").sum() + 1


def test_shorts_are_measured_by_dimension(asked, tmp_path):
    rows = list(bm_file.shorts(tmp_path, [90, 9, 4], 3, ["--workdir", str(tmp_path)]))
    assert [words[-1][-5:] for words in asked] == ["1d.nc", "2d.nc", "3d.nc"]
    assert all(words[-3:-1] == ["-c", f"0:-1:0:{n}"] for words, n in zip(
        asked, ("90", "9:9", "4:4:4"), strict=True))  # fmt: skip
    assert list(dict.fromkeys(row["dimensions"] for row in rows)) == ["1", "2", "3"]
    theirs = document("netcdf2018chunking", "bm_file, shorts").unstack("column")
    assert list(theirs.index) == list("123456")
    assert theirs["file"].between(1e5, 2.2e5).all() and theirs["write"].between(1e-4, 2e-2).all()


@pytest.mark.usefixtures("asked")
def test_bm_file_itself_makes_copies_where_it_is_given(tmp_path):
    prints = ("output size, data write time, data reread time", "208240, 319, 123")
    works = f'touch "$8" "tst_copy_$8"; printf "%s\\n" "{prints[0]}" "{prints[1]}"'
    given = {"": ""}
    for name, does in {"bm_file": works, "broken": "echo no such file >&2; exit 2"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}")
        (tmp_path / name).chmod(0o755)
        given[name] = bm_file.program(str(tmp_path / name))
    rows = {}
    for name, program in given.items():
        made = bm_file.shorts(tmp_path, [90], 3, ["--workdir", str(tmp_path)], program)
        rows[name] = [row for row in made if row["layout"] == "bm_file"]
    (untried,), (failed,), (size, write, reread) = rows[""], rows["broken"], rows["bm_file"]
    assert untried["status"].startswith("missing: bm_file") and "no such file" in failed["status"]
    assert (size["file_bytes"], write["wall_s"], reread["wall_s"]) == (208240, 319e-6, 123e-6)
    assert {path.name for path in tmp_path.iterdir()} == {"bm_file", "broken", "shorts-1d.nc"}
    with pytest.raises(ValueError, match="bm_file='nowhere': give the path"):
        bm_file.program("nowhere")


@pytest.mark.usefixtures("asked")
def test_copies_say_real_and_predicted_sizes(tmp_path):
    _, row = bm_file.copies(tmp_path, 64, [128], ["--workdir", str(tmp_path)])
    assert row["layout"] == "128x128" and row["file_bytes"] == 1e6 and row["verified"]
    assert row["useful_bytes"] == 4 * 64**2 < row["predicted_bytes"]
    assert not list(tmp_path.iterdir())


def test_every_column_is_tried_by_itself():
    frame = bench_frame()
    rows = list(bm_file.columns(frame, frame.assign(dimensions="1")))
    assert [row["column"] for row in rows] == list(BM_COLUMNS)
    assert {row["status"] for row in rows} == {"ok"}
    table = summary(frame)
    worse = table.drop(columns="enddianness").assign(**{"read rate": 1.0, "output size": 1})
    worse["deflate"] = np.nan
    found = {name: bm_file.fault(worse, name) for name in BM_COLUMNS}
    assert "no column" in found["enddianness"] and "not filled" in found["deflate"]
    assert "over 'data read time'" in found["read rate"] and set(BM_RATES) < set(found)
    assert "not the size" in found["output size"] and not found["shuffle"]


@pytest.mark.parametrize(("size", "verdict"), [(40_997_536, "holds"), (40_997_544, "refuted")])
def test_the_claim_is_judged_by_columns_and_sizes(tmp_path, size, verdict):
    common = {"run_id": "r", "profile": "quick", "notebook": "chunking_bench", "status": "ok"}
    common |= {"block": 0, "verified": True}
    rows = [
        {"experiment": "copies", "layout": layout, "phase": "size", "file_bytes": nbytes}
        for layout, nbytes in {"128x128": size, "bm_file": 40_997_536}.items()
    ]
    rows += [{"experiment": "columns", "column": name, "case": name} for name in BM_COLUMNS]
    theirs = document("netcdf2018chunking", "bm_file, shorts").unstack("column")["file"]
    rows += [
        {"experiment": "shorts", "dimensions": n, "case": n, "file_bytes": nbytes, **of}
        for n, nbytes in theirs.items()
        for of in ({"layout": n, "phase": "close"}, {"layout": "bm_file", "phase": "size"})
    ]
    frame = frame_of([{**row, **common} for row in rows], ["layout", "column", "dimensions"])
    save(frame, tmp_path / "chunking_bench.parquet")
    (chosen,) = (one for one in claims.load() if one.id == "chunking-bm")
    (judged,) = claims.evaluate([chosen], tmp_path)
    assert [part.verdict for part in judged.parts] == [*["holds"] * 3, verdict, verdict]
