"""A file that memory cannot hold: its records on the page, and the command that makes them."""

import json
import re

import pytest

from hyperslab.measure.records import frame_of, save, save_machines
from hyperslab.study.jones import beyond
from hyperslab.study.profile import root

FACTS = {"memory_bytes": 2**35, "memory_limit_bytes": 2**30, "file_system": "ext4"}


def rows(file_bytes=2**32, seconds=10.0, blocks=2):
    for block in range(blocks):
        for reader in ("c-fread", "python-read"):
            for pattern in ("sequential", "strided", "random"):
                yield {
                    "run_id": "run-1", "notebook": "jones_baseline", "experiment": "patterns",
                    "case": f"{reader}/{pattern}/1MiB", "cache_state": "cold", "block": block,
                    "phase": "read", "status": "ok", "verified": True, "stages": 50,
                    "useful_bytes": 50 * 2**20, "wall_s": seconds, "file_bytes": file_bytes,
                    "read_bytes": 100 * 2**20, "rchar": 50 * 2**20, "syscr": 50, "minflt": 0,
                    "user_s": 0.0, "sys_s": 0.0, "peak_bytes": 60e6,
                }  # fmt: skip


def put(folder, facts=FACTS, **changed):
    folder.mkdir(exist_ok=True)
    save(frame_of(rows(**changed)), folder / "jones_baseline.parquet")
    save_machines(folder, {"run-1": facts})
    return beyond.read(str(folder))


def test_without_records_the_command_is_named(tmp_path):
    for none in (beyond.read(""), beyond.read(str(tmp_path / "none"))):
        assert none is None and "sec-beyond-memory" in beyond.told(none)
        assert beyond.table(none).empty and beyond.caption(none) == ""


def test_records_are_told_with_file_memory_and_time(tmp_path):
    said = beyond.told(put(tmp_path))
    assert "A file of 4.295 GB, 4 times the 1.074 GB of memory" in said
    assert "in 12 samples, in 2 blocks, the longest for 10 s; 12 stopped because" in said
    assert "Reading took 120 s in all" in said and "more than 60 MB" in said
    assert "took over" not in said and "nothing of the kind" not in said
    said = beyond.told(put(tmp_path, FACTS | {"resumed_blocks": 1}, file_bytes=100 * 2**20))
    assert "took over 1 finished block." in said
    assert "; 4 stopped because" in said  # of the others 50 reads are all or more


def test_a_file_that_memory_could_hold_is_named_as_such(tmp_path):
    assert "this shows nothing of the kind" in beyond.told(put(tmp_path, file_bytes=2**29))
    unbounded = {"memory_bytes": 2**35}
    assert "this shows nothing of the kind" in beyond.told(put(tmp_path, unbounded))


def test_the_table_has_each_pattern_and_what_the_device_gave(tmp_path):
    found = put(tmp_path)
    shown = beyond.table(found)
    assert shown["pattern"].tolist() == ["sequential", "strided", "random"]
    assert set(shown["C: from the device, B/B"]) == {"2"} and set(shown["C: reads"]) == {"50"}
    assert shown["Python, MB/s"].tolist()[0] == "5.24 [5.24, 5.24]"
    assert "ext4" in beyond.caption(found)


def test_a_folder_without_such_records_is_refused(tmp_path):
    put(tmp_path)
    save_machines(tmp_path, {})
    with pytest.raises(ValueError, match="holds no patterns of jones_baseline"):
        beyond.read(str(tmp_path))


def test_the_command_of_the_book_has_parameters_of_the_notebook():
    text = (root() / "book" / "cluster.md").read_text(encoding="utf-8")
    part = text.partition("(sec-beyond-memory)=")[2].partition("\n## ")[0]
    asked = re.findall(r"-p (\w+) ", part.partition("```bash")[2].partition("```")[0])
    notebook = json.loads((root() / "notebooks" / "jones_baseline.ipynb").read_text())
    (cell,) = (c for c in notebook["cells"] if "parameters" in c["metadata"].get("tags", []))
    source = "".join(cell["source"])
    known = re.findall(r"(?m)^(\w+): ", source)
    assert len(asked) == 6 and set(asked) <= set(known)
    assert f'beyond: str = "{re.search(r"`(results/[a-z-]+)`", part)[1]}"' in "".join(
        cell["source"]
    )
