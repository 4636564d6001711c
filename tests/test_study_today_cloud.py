"""Layouts on a server: the same values, counts that repeat, words in each direction."""

import numpy as np
import pytest

from hyperslab.access import reader, readers
from hyperslab.measure.processes import Processes
from hyperslab.measure.records import frame_of
from hyperslab.measure.worker import Job
from hyperslab.network import Link
from hyperslab.study.today import cloud, cloud_advice_words, cloud_results, cloud_words
from hyperslab.study.today.cloud_files import STORES, CloudFiles

LINK = Link(12.5e6, 0.02)
EXACT = ("array/series/index", "array/map/netcdf", "many/open/paged")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    made = CloudFiles(tmp_path_factory.mktemp("cloud"), 5, 8, 2, 3, 2**16)
    made.make()
    return made


def test_every_store_holds_the_array(files):
    truth = np.load(files.truth)
    for store in STORES["array"]:
        library = "zarr" if store[:2] in ("za", "sh") else "h5py"
        with reader(library).open(files.path("array", store), "data") as opened:
            assert np.array_equal(opened.read(), truth), store


def test_sizes_and_objects(files):
    rows = {row["case"]: row for row in files.stored()}
    assert rows["array/netcdf"]["requests"] == 1
    # A group, an array, and two shards along time, as one of them holds four maps.
    assert rows["array/shards"]["requests"] == 4 < rows["array/zarr3"]["requests"]
    assert rows["array/paged"]["file_bytes"] % files.page_bytes == 0
    assert rows["many/netcdf/index"]["file_bytes"] < rows["many/netcdf"]["file_bytes"]


def test_all_read_what_was_written_and_counts_repeat(files):
    with (
        cloud.laid(files, 0.0, drawing=False) as far,
        Processes(cloud.MODULES) as processes,
    ):
        cases = far.cases()
        seen = {}
        for case in cases:
            outcome = processes.run(Job(case))
            assert outcome.status == "ok", f"{case.name}: {outcome.status}"
            seen[case.name] = _counts(outcome)
        again = {case.name: processes.run(Job(case)) for case in cases if case.name in EXACT}
        assert sorted(again) == sorted(EXACT)
        assert {name: _counts(outcome) for name, outcome in again.items()} == {
            name: seen[name] for name in EXACT
        }
        right = np.load(files.truth)[files.selections["series"]]
        assert cases[0].check(right) and not cases[0].check(right + 1)
    # A file's own references and its index tell where chunks lie in a request or two.
    if "kerchunk" in readers(place="http"):
        assert seen["array/series/references"][0] < seen["array/series/netcdf-bare"][0]


def _counts(outcome):
    return [outcome.rows[-1][name] for name in ("requests", "wire_bytes")]


def test_few_cases_and_blocks(files):
    with cloud.laid(files, 0.0, drawing=True) as nothing:
        assert nothing.cases() == []
    with cloud.laid(files, 0.0, drawing=False) as far:
        many = {case.name: case for case in far.cases(1)}
        few = [case.name for case in far.cases(1, few=True)]
    assert sum(case.aa for case in many.values()) == 1
    assert many["array/series/netcdf"].most_blocks == 0
    assert many["array/map/netcdf"].most_blocks == 1
    assert set(few) < set(many) and cloud.AA in few


def records(speed, blocks=7):
    rows = []
    for panel in cloud_results.PANELS:
        for way in cloud.OPENINGS if panel == "many/open" else cloud.WAYS:
            for block in range(blocks):
                common = {
                    "case": f"{panel}/{way}", "block": block, "status": "ok", "link": "http",
                    "pattern": cloud_results.PANELS[panel], "latency_s": 0.02, "user_s": 0.01,
                    "sys_s": 0.0, "stages": 3, "idle_stages": 3, "handshakes": 1, "connections": 2,
                    "size": "12" if panel == "many/open" else "8x40x80",
                }  # fmt: skip
                wall = 0.1 * (1 + 0.01 * block) / speed.get(way, 1.0)
                requests = {"netcdf-bare": 90, "shards": 20}.get(way, 9)
                stages = {"stages": 18} if way == "shards" else {}
                for phase, share in (("open", 0.4), ("read", 0.6)):
                    if panel != "many/open" or phase == "open":
                        rows.append(
                            common | stages
                            | {"phase": phase, "wall_s": wall * share, "requests": requests,
                               "wire_bytes": 1e5}
                        )  # fmt: skip
    return frame_of(rows)


STORED = frame_of(
    [
        {"case": f"{kind}/{store}", "phase": "stored", "file_bytes": size, "requests": objects,
         "chunks": "1x20x40", "status": "ok"}
        for kind in STORES for store, size, objects in (
            ("netcdf", 1e6, 1), ("paged", 2e6, 1), ("large", 1e6, 1), ("zarr2", 1e6, 34),
            ("zarr3", 1e6, 34), ("shards", 1e6, 4), ("netcdf/kerchunk", 1e4, 1),
            ("netcdf/index", 2e4, 1), ("large/index", 2e4, 1),
        )
    ]
)  # fmt: skip


def test_words_follow_the_records():
    quick = records({"index": 4.0, "references": 2.0, "shards": 0.5})
    found = cloud_results.table(quick, LINK)
    said = cloud_words.summary(quick, found)
    assert "For a series, netCDF-4, our index took the least time" in said
    assert "4× faster than netCDF-4, as it comes" in said
    assert "not told apart" not in said
    told = cloud_advice_words.advice(quick, found, STORED)
    assert "**Reference what you may not change**" in told
    assert "hurts, not for speed**" in told
    assert "**Page files of many variables" in told
    assert "asks for the chunks of a shard in turn" in cloud_words.why(found)
    assert len(cloud_words.rows(found, STORED)) == len(cloud.WAYS)
    assert len(cloud_words.rows_open(found, STORED)) == len(cloud.OPENINGS)
    assert "32 chunks of 1×20×40 values" in cloud_words.taken(quick, found, STORED)
    assert "6 interleaved" not in cloud_words.caption_times(found)


def test_words_in_the_other_direction():
    slow = records({"index": 0.5, "references": 0.5, "shards": 2.0})
    told = cloud_advice_words.advice(slow, cloud_results.table(slow, LINK), STORED)
    assert "**An index did not pay for a series here**" in told
    assert "**References did not pay for a series here**" in told
    assert "**Shard: fewer objects, and faster reads**" in told
    even = records({})
    found = cloud_results.table(even, LINK)
    said = cloud_words.summary(even, found)
    assert "netCDF-4, as it comes took the least time" in said
    assert "not told apart from netCDF-4, as it comes: netCDF-4, no read-ahead" in said
    once = records({"index": 4.0}, blocks=1)
    told = cloud_advice_words.advice(once, cloud_results.table(once, LINK), STORED)
    assert "**An index was not told apart for a series**" in told
    assert "4× faster than netCDF-4, as it comes (read once)" in told


def test_counts_that_change_are_named():
    linked = records({})
    assert cloud_results.changing(linked) == []
    found = cloud_results.table(linked, LINK)
    assert "the same requests and bytes each time" in cloud_words.taken(linked, found, STORED)
    row = (linked["case"] == "array/map/zarr2") & (linked["block"] == 3)
    linked.loc[row, "requests"] += 1
    assert cloud_results.changing(linked) == ["array/map/zarr2"]
    assert "`array/map/zarr2`" in cloud_words.taken(linked, found, STORED)


def test_what_is_not_installed_is_left_out():
    linked = records({})
    linked = linked[~linked["case"].str.contains("references|virtual")]
    found = cloud_results.table(linked, LINK)
    told = cloud_advice_words.advice(linked, found, STORED)
    assert "Reference" not in told and "by references" not in told
    assert len(cloud_words.rows(found, STORED)) == len(cloud.WAYS) - 2
