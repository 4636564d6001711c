"""The page on S3: reads and tries at a real server, words, figure and verdicts."""

from itertools import product

import matplotlib.pyplot as plt
import pytest

from hyperslab.measure.case import Stopwatch
from hyperslab.measure.records import frame_of, save
from hyperslab.study import claims
from hyperslab.study.penard import link, link_figures, link_model, s3, s3_words
from hyperslab.study.penard.local_files import LocalFiles
from hyperslab.study.style import STYLES, styled


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Toys: one frame of each, the temperature on a sixteenth of its grid."""
    made = LocalFiles(
        tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("run"), "smoke", 1, 1
    )
    made.make()
    return made


def rows(blocks=6, **changed):
    """Made-up records: 100 ms and 10 MB, but for the megabytes given by the way's name."""
    for today in (False, True):
        for kind, read, way, store in link._cells("full", "s3", today=today):
            name = way.way(store)
            size = changed.get(name.replace("-", "_"), 10) * 1e6
            labels = ("A", "B") if (kind, read, name) == ("cmems", "series", "h5py-off") else ("",)
            for block, aa, phase in product(range(blocks), labels, ("open", "read")):
                yield {
                    "run_id": "run-1", "profile": "quick", "notebook": "penard_s3", "link": "s3",
                    "experiment": "s3-today" if today else "s3", "status": "ok", "verified": True,
                    "case": f"{kind}/{read}{'-today' * today}/{name}", "phase": phase, "aa": aa,
                    "block": block, "wall_s": size / 2e8 + block / 1e5, "user_s": 0.0,
                    "sys_s": 0.0, "others_cpu": 0.0, "predicted_reads": 1, "latency_s": 0.02,
                    **({"stages": 3, "handshakes": 1, "wire_bytes": size, "requests": 9}
                       if phase == "read" else {}),
                }  # fmt: skip


def test_what_cannot_be_done_is_tried(files):
    found = {row["case"]: row for row in s3.tries(files)}
    assert found["netcdf4/http"]["status"] == "ok" and found["netcdf4/http"]["verified"]
    assert found["nczarr/deflate"]["status"] == "ok"
    status = found["netcdf4/s3"]["status"]
    assert status == "ok" or ("127.0.0.1" not in status and "Error" in status)
    words = s3_words.tried(frame_of({"experiment": "tries", **row} for row in found.values()))
    assert words.count("it works") + words.count("it fails") == 3


def test_reads_from_s3_are_true_and_counted(files):
    with link.laid(files, s3.links(), drawing=False, kind="s3") as far:
        wanted = {"gfs/frame/h5py-on", "gfs/frame/zarr"}
        for case in [case for case in far.cases("s3") if case.name in wanted]:
            watch = Stopwatch()
            case.prepare()
            assert case.check(case.run(watch))
            row = watch.rows()[1]
            assert row["phase"] == "read" and row["requests"] >= 2 and row["wire_bytes"] > 1e5


def test_words_and_figure_are_of_the_records():
    timed = link_model.table(s3.links(), frame_of(rows(h5py_on=40, h5py_off=44)))
    words = s3_words.summary(timed)
    assert "the ocean's series 0.4 s against 0.1 s (40 MB against 10 MB)" in words
    assert "10 MB and 0.1 s, not 44 MB and 0.44 s" in words
    table = s3_words.table(timed)
    assert "0.4 s / 9 / 40 MB" in set(table["ocean, series"])
    assert "6 interleaved blocks" in s3_words.caption_10(timed, beside=False)
    assert s3_words.setting() and s3_words.advice()
    for style, theirs in product(STYLES, ({}, s3_words.TABLE_3)):
        with styled(style):
            plt.close(link_figures.figure_10(timed, theirs))


@pytest.mark.parametrize(("moved", "verdict"), [(40, "holds"), (400, "refuted")])
def test_the_order_of_magnitude_is_judged(tmp_path, moved, verdict):
    save(frame_of(rows(h5py_on=moved)), tmp_path / "penard_s3.parquet")
    (claim,) = [claim for claim in claims.load() if claim.id == "penard-10"]
    (judged,) = claims.evaluate([claim], tmp_path)
    assert judged.verdict == judged.parts[1].verdict == verdict
    assert judged.parts[2].verdict == "holds"
