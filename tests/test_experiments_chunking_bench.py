"""bm_file's examples: the program itself where it is given, its columns, and the verdicts."""

import numpy as np
import pytest
from made_bench import bench_frame
from made_claims import verdicts

from hyperslab.experiments import chunking_bench as bm_file
from hyperslab.study.page import document
from hyperslab.tune.report.summary import BM_COLUMNS, Findings


def test_bm_file_itself_makes_copies_where_it_is_given(tmp_path, monkeypatch):
    answer = bench_frame(times={"1x5": 1.0}).assign(chunks="128x128")
    monkeypatch.setattr(bm_file, "measured", lambda words, **how: answer)
    prints = ("output size, data write time, data reread time", "208240, 319, 123")
    works = f'touch "$8" "tst_copy_$8"; printf "%s\\n" "{prints[0]}" "{prints[1]}"'
    given = {"": ""}
    for name, does in {"bm_file": works, "broken": "echo no such file >&2; exit 2"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}")
        (tmp_path / name).chmod(0o755)
        given[name] = bm_file.program(str(tmp_path / name))
    rows = {}
    for name, program in given.items():
        made = bm_file.shorts(tmp_path, [90], 3, 0, program)
        rows[name] = [row for row in made if row["layout"] == "bm_file"]
    (untried,), (failed,), (size, write, reread) = rows[""], rows["broken"], rows["bm_file"]
    assert untried["status"].startswith("missing: bm_file") and "no such file" in failed["status"]
    assert (size["file_bytes"], write["wall_s"], reread["wall_s"]) == (208240, 319e-6, 123e-6)
    assert {path.name for path in tmp_path.iterdir()} == {"bm_file", "broken", "shorts-1d.nc"}
    with pytest.raises(ValueError, match="bm_file='nowhere': give the path"):
        bm_file.program("nowhere")


def test_every_column_is_tried_by_itself():
    frame = bench_frame()
    rows = list(bm_file.columns(frame, frame.assign(dimensions="1")))
    assert [(row["column"], row["status"]) for row in rows] == [(name, "ok") for name in BM_COLUMNS]
    wrong = Findings(frame).table.assign(**{"read rate": 1.0, "output size": 1, "deflate": np.nan})
    found = {name: bm_file.fault(wrong, name) for name in BM_COLUMNS}
    assert "over 'data read time'" in found["read rate"] and "not filled" in found["deflate"]
    assert "not the size" in found["output size"] and not found["shuffle"]


@pytest.mark.parametrize(("size", "verdict"), [(40_997_536, "holds"), (40_997_544, "refuted")])
def test_the_claim_is_judged_by_columns_and_sizes(tmp_path, size, verdict):
    theirs = document("netcdf2018chunking", "bm_file, shorts").unstack("column")["file"]
    copies = {"experiment": "copies", "phase": "size"}
    rows = [
        {**copies, "layout": "128x128", "file_bytes": size},
        {**copies, "layout": "bm_file", "file_bytes": 40_997_536},
        *({"experiment": "columns", "column": name} for name in BM_COLUMNS),
    ]
    for n, nbytes in theirs.items():
        short = {"experiment": "shorts", "dimensions": n, "case": n, "file_bytes": nbytes}
        rows += [{**short, "layout": n, "phase": "close"}]
        rows += [{**short, "layout": "bm_file", "phase": "size"}]
    found = verdicts(tmp_path, "chunking_bench", rows, ["layout", "column", "dimensions"])
    parts = found["chunking-bm"].parts
    assert [part.verdict for part in parts] == [*["holds"] * 3, verdict, verdict]
