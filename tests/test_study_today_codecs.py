"""Fields in every codec: read back, bounds kept, words in each direction."""

import dataclasses

import numpy as np
import pytest

from hyperslab.measure.records import frame_of
from hyperslab.measure.worker import Job, perform
from hyperslab.storage import Layout
from hyperslab.study.today import codecs, codecs_results, codecs_words
from hyperslab.study.today.codecs_files import CODECS, FIELDS, CodecFiles, check_bound


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    made = CodecFiles(tmp_path_factory.mktemp("codecs"), 2, 8)
    made.make()
    return made


def test_every_file_holds_its_field(files):
    for case in codecs.cases(files):
        outcome = perform(Job(dataclasses.replace(case, cache_state="", files=())))
        assert outcome.status == "ok", f"{case.name}: {outcome.status}"


def test_other_values_are_noticed(files):
    case = codecs.cases(files)[0]
    kept = np.load(files.truth("ocean", "none"))[case.check.selection]
    assert case.check(kept)
    assert not case.check(kept + 1)


def test_sizes_are_those_of_the_files(files):
    rows = list(files.written())
    assert [row["case"] for row in rows] == [f"{f}/{c}" for f in FIELDS for c in CODECS]
    sizes = {row["case"]: row["file_bytes"] for row in rows}
    assert sizes["air/bitround-8"] < sizes["air/bitround-12"] < sizes["air/shuffle-deflate-1"]
    assert sizes["air/none"] >= rows[0]["useful_bytes"] > 0


def test_land_stays_land(files):
    exact = np.load(files.truth("ocean", "none"))
    rounded = np.load(files.truth("ocean", "bitround-8"))
    land = exact == files.fill("ocean")
    assert land.any() and np.array_equal(rounded == files.fill("ocean"), land)
    assert (rounded != exact).any()


def test_rounding_beyond_its_bound_is_refused():
    values = np.array([1.0, 2.0], "f4")
    layout = Layout(chunks=(2,), quantize=("bitround", 8))
    check_bound(values, values * np.float32(1.001), layout, None)
    with pytest.raises(ValueError, match=r"changed a value by 0\.01"):
        check_bound(values, values * np.float32(1.01), layout, None)


def records(speed):
    rows = []
    for field in FIELDS:
        for pattern in ("series", "map"):
            for codec in CODECS:
                for block in range(7):
                    common = {"case": f"{field}/{pattern}/{codec}", "block": block, "status": "ok"}
                    wall = 0.01 * (1 + 0.01 * block) / speed.get(codec, 1.0)
                    rows.append(common | {"phase": "open", "wall_s": 0.0, "user_s": 0, "sys_s": 0})
                    rows.append(
                        common | {"phase": "read", "wall_s": wall, "user_s": wall, "sys_s": 0}
                    )
    return frame_of(rows)


def written(smaller):
    return frame_of(
        {
            "case": f"{field}/{codec}", "useful_bytes": 100.0, "user_s": 0.1,
            "file_bytes": 50.0 / smaller.get(codec, 1.0),
        }
        for field in FIELDS for codec in CODECS
    )  # fmt: skip


def test_words_follow_the_records(files):
    rounded = codecs_results.rounding(frame_of(files.fidelities()))
    found = codecs_results.table(records({"zstd": 4.0}), written({"bzip2": 2.0, "zstd": 0.5}))
    assert codecs_results.best(found, "air", "map") == "zstd"
    assert codecs_results.best(found, "air", "map", library="zarr-").startswith("zarr-")
    said = codecs_words.summary(found, rounded)
    assert "from zstd, 4× faster, in a file 100% larger" in said
    assert "the smallest file, by bzip2, was 50% smaller" in said
    assert "exactly: zstd" in codecs_words.advice(found, rounded)
    even = codecs_results.table(records({}), written({}))
    assert "not told apart from it" in codecs_words.summary(even, rounded)
    assert "will do" in codecs_words.advice(even, rounded)
    assert len(codecs_words.rows(found)) == len(CODECS)
    assert len(codecs_words.rows_rounding(found, rounded)) == len(rounded) == 2 * 6
    assert "CPU time" in codecs_words.why(found)


def test_the_reference_is_not_compared_with_itself(files):
    rounded = codecs_results.rounding(frame_of(files.fidelities()))
    found = codecs_results.table(records({codecs.REFERENCE: 4.0}), written({}))
    said = codecs_words.summary(found, rounded)
    assert "was read fastest from just that; the smallest" in said
    assert codecs_words.why(found).count("from shuffle, deflate 4") == 2  # once a field


def test_a_codec_that_ships_with_hdf5_needs_no_plugin(files):
    rounded = codecs_results.rounding(frame_of(files.fidelities()))
    for codec, needs in (("shuffle-deflate-1", False), ("blosc-zstd", True)):
        found = codecs_results.table(records({codec: 4.0}), written({}))
        assert ("Readers need the plugin" in codecs_words.advice(found, rounded)) == needs


def test_what_was_read_once_is_not_named_as_fastest(files):
    reads = records({"bzip2": 9.0, "zstd": 4.0})
    once = reads["case"].str.endswith("/bzip2") & (reads["block"] > 0)
    found = codecs_results.table(reads[~once], written({}))
    assert codecs_results.best(found, "ocean", "map") == "zstd"
    assert "fewer than 6" in codecs_words.caption_sizes(found)
    few = {c.name.split("/")[2] for c in codecs.cases(files, 1) if c.most_blocks == 1}
    assert few == set(CODECS) - set(codecs.COMPARED)


def test_bytes_and_requests_are_medians_of_the_read_alone():
    found = records({})
    reads = found["phase"] == "read"
    found["rchar"] = np.where(reads, 2e6 + found["block"] % 2, 4e6)
    found["syscr"] = np.where(reads, 8, 15)
    counted = codecs_results.counts(found)
    assert len(counted) == 4 * len(CODECS)
    assert set(codecs_words.rows_counts(counted).iloc[0][1:]) == {"2,000", "8"}
    nothing = codecs_words.rows_counts(codecs_results.counts(records({})))  # as on macOS
    assert set(nothing.iloc[0][1:]) == {"-"}
