"""The page on S3: reads and tries at a real server, words, figure and verdicts."""

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from hyperslab.measure.case import Stopwatch
from hyperslab.measure.records import about, frame_of, load, save
from hyperslab.network import Endpoint, serving
from hyperslab.study import claims, profile
from hyperslab.study.options import Options
from hyperslab.study.penard import (
    link_model,
    s3,
    s3_figures,
    s3_reads,
    s3_words,
    summary_seconds,
)
from hyperslab.study.penard.local_files import LocalFiles
from hyperslab.study.stale import Page
from hyperslab.study.style import STYLES, styled

ROOT = Path(__file__).parents[1]
KEY, SECRET = "AKCANARYCANARYCANARY", "canary-that-nobody-may-see"
BUCKET, FOLDER = "canary-bucket", "canary-top/canary-folder"


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
        for kind, read, way, store in s3_reads._cells("paper", today=today):
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
                    **({"stages": 3, "handshakes": 1, "idle_stages": 3,
                        "wire_bytes": size, "requests": 9}
                       if phase == "read" else {}),
                }  # fmt: skip


def test_what_cannot_be_done_is_tried(files):
    found = {row["case"]: row for row in s3.tries(files)}
    assert found["netcdf4/http"]["status"] == "ok" and found["netcdf4/http"]["verified"]
    assert found["nczarr/deflate"]["status"] == "ok"
    status = found["netcdf4/s3"]["status"]
    assert status == "ok" or ("127.0.0.1" not in status and "Error" in status)
    words = s3_words.tried(frame_of({"experiment": "tries", **row} for row in found.values()))
    assert words.count("it works") + words.count("it fails") == 5
    for case in ("nczarr/http", "nczarr/s3"):  # the library's own words, or the truth
        status = found[case]["status"]
        assert status == "ok" or ("NetCDF: " in status and status in words)
        assert "127.0.0.1" not in status


def test_reads_from_s3_are_true_and_counted(files):
    with s3_reads.laid(files, s3.links(), drawing=False) as far:
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
    assert "0.1 s, not 0.44 s (10 MB against 44 MB)" in words
    table = s3_words.table(timed)
    assert "0.4 s / 9 / 40 MB" in set(table["ocean, series"])
    assert "over 6 interleaved blocks" in s3_words.caption_10(timed, beside=False)
    once = link_model.table(s3.links(), frame_of(rows(blocks=1)))
    caption = s3_words.caption_10(once, beside=False)
    assert "no range, of 1 interleaved block," in caption and "blocks" not in caption
    assert "on this machine" in s3_words.setting(timed) and s3_words.advice()
    for style, theirs in product(STYLES, ({}, s3_words.TABLE_3)):
        with styled(style):
            plt.close(s3_figures.figure_10(timed, theirs))


def abroad(link="endpoint", **changed):
    """Records of a store that keeps no log for us."""
    counts = ("stages", "handshakes", "wire_bytes", "requests", "latency_s")
    for row in rows(**changed):
        yield {**{k: v for k, v in row.items() if k not in counts}, "link": link}


def test_of_a_store_that_others_run_only_the_seconds_are_told(tmp_path):
    records = frame_of(abroad(h5py_on=40))
    timed = link_model.table(s3.links(), records)
    assert timed["round_trip_s"].eq(0).all() and timed["requests"].isna().all()
    words = s3_words.summary(timed) + s3_words.caption_10(timed, beside=False)
    assert "0.4 s against 0.1 s;" in words and "MB" not in words and "nobody" not in words
    assert "that others run" in s3_words.setting(timed) and "nan" not in words
    assert s3_words.table(timed)["ocean, series"].str.fullmatch(r"0\.[14] s").all()
    assert drawn(timed) == {"a store that others run"}
    assert summary_seconds._label("s3", records) == "S3 of others"
    save(records, tmp_path / "penard_s3.parquet")
    (claim,) = [claim for claim in claims.load() if claim.id == "penard-10"]
    (judged,) = claims.evaluate([claim], tmp_path)
    assert [part.verdict for part in judged.parts] == ["holds", "not measured", "not measured"]


def drawn(timed):
    """What the marks of Figure 10 are said to be."""
    with styled(STYLES[0]):
        figure = s3_figures.figure_10(timed, {})
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    plt.close(figure)
    return set(texts) - set(s3_figures._KINDS.values())


def test_a_store_on_this_machine_is_never_called_a_stores_speed():
    records = frame_of(abroad(link=s3_reads.NEAR, h5py_on=40))
    timed = link_model.table(s3.links(), records)
    caption, setting = s3_words.caption_10(timed, beside=False), s3_words.setting(timed)
    assert "from S3 on this machine" in caption and "not the speed of anybody's store" in caption
    assert "listens on this machine" in setting and "seconds are nobody's" in setting
    assert "seconds are those of that store" not in setting and "others run" not in caption
    assert drawn(timed) == {"S3 on this machine"}
    assert summary_seconds._label("s3", records) == "S3 on this machine"
    assert "0.4 s against 0.1 s;" in s3_words.summary(timed)
    assert s3_words.table(timed)["ocean, series"].str.fullmatch(r"0\.[14] s").all()


def variables(server, secret=SECRET):
    """An environment with the keys of a server, and no others."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    told = {"ENDPOINT_URL": server.endpoint, "REGION": "us-east-1", "ACCESS_KEY_ID": KEY}
    return kept | {f"AWS_{name}": value for name, value in told.items()} | {
        "AWS_SECRET_ACCESS_KEY": secret
    }  # fmt: skip


def executed(tmp_path, environment):
    """Run the notebook on a store, by papermill alone, and leave its journal there."""
    words = [sys.executable, "-m", "papermill", "penard_s3.ipynb", str(tmp_path / "out.ipynb")]
    for name, value in {"profile": "smoke", "workdir": tmp_path}.items():
        words += ["-p", name, str(value)]
    told = {s3.WHERE: f"s3://{BUCKET}/{FOLDER}"}
    return subprocess.run(
        words, cwd=ROOT / "notebooks", env=environment | told, capture_output=True, text=True
    )


def test_a_store_that_refuses_is_told_without_its_name_and_keys(files, tmp_path, monkeypatch):
    monkeypatch.setattr("hyperslab.network.server.BUCKET", BUCKET)
    place = f"s3://{BUCKET}/{FOLDER}"
    with serving(tmp_path, "s3", keys=(KEY, SECRET), writable=True) as server:
        for name, value in variables(server, secret=f"{SECRET}-not").items():
            monkeypatch.setenv(name, value)
        with (
            pytest.raises(OSError, match="the signature is not that of") as caught,
            s3.laid(files, place, drawing=False),
        ):
            pass
    assert not leaked(str(caught.value), server)
    with s3.laid(files, place, drawing=True) as far:
        assert not far.servers


def leaked(text, server):
    """Which of the names that nobody may see stand in a text."""
    hidden = (KEY, SECRET, BUCKET, *FOLDER.split("/"), f"127.0.0.1:{server.port}")
    return [name for name in hidden if name.lower() in text.lower()]


def test_a_real_store_gets_the_files_and_no_secret_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("hyperslab.network.server.BUCKET", BUCKET)
    served, work = tmp_path / "served", tmp_path / "work"
    served.mkdir()
    work.mkdir()
    with serving(served, "s3", keys=(KEY, SECRET), writable=True) as server:
        done = executed(work, variables(server))
        assert done.returncode == 0, done.stderr[-2000:]
        requests = server.requests()
    put = {request.path for request in requests if request.method == "PUT"}
    assert put and all(path.startswith(f"/{BUCKET}/{FOLDER}/") for path in put)
    frame = load(work / "results/smoke/penard_s3.parquet")
    read = frame[frame["experiment"] == "s3"]
    assert (read["status"] == "ok").all() and (read["link"] == s3_reads.NEAR).all()
    page = (work / "out.ipynb").read_text()
    assert "not the speed of anybody's store" in page and "listens on this machine" in page
    assert np.isnan(read["requests"].astype(float)).all()
    assert not leaked(done.stdout + done.stderr, server)
    kept = {path for path in work.rglob("*") if path.is_file()}
    assert {path.suffix for path in kept} >= {".ipynb", ".parquet", ".json", ".svg"}
    # Neither in the files nor in what a compressed page of a record holds.
    texts = {path: path.read_bytes().decode("latin-1") for path in kept}
    texts["records"] = frame.to_csv()
    assert not {path: found for path, text in texts.items() if (found := leaked(text, server))}
    mark = Endpoint.of(f"s3://{BUCKET}/{FOLDER}", variables(server)).mark
    assert mark in json.dumps(about(work / "results/smoke/penard_s3.parquet"))


def test_another_store_is_another_run(monkeypatch):
    for name in (s3.WHERE, *(name for name in os.environ if name.startswith("AWS_"))):
        monkeypatch.delenv(name, raising=False)
    item = profile.entry("penard_s3", ROOT)

    def seen():
        return json.dumps(Page.of(item, Options(), ROOT).experiment), s3.mark(s3.given())

    found = [seen()]
    for name, value in (
        (s3.WHERE, "s3://canary/one"),
        (s3.WHERE, "s3://canary/two"),
        ("AWS_DEFAULT_REGION", "canary-1"),
        ("AWS_REGION", "canary-2"),
        ("AWS_ENDPOINT_URL", "http://canary.example:9000"),
        ("AWS_ENDPOINT_URL", "http://canary.example:9001"),
        ("AWS_ENDPOINT_URL_S3", "http://canary.example:9002"),
    ):
        monkeypatch.setenv(name, value)
        found.append(seen())
    for kept in zip(*found, strict=True):  # what is run again, and what a journal goes on with
        assert len(set(kept)) == len(found) and "canary" not in str(kept)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    assert seen() == found[-1]
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(ValueError, match="AWS_SECRET_ACCESS_KEY is not set"):
        s3.mark(s3.given())  # what the notebook says
    assert Page.of(item, Options(), ROOT).experiment


@pytest.mark.parametrize(("moved", "verdict"), [(40, "holds"), (400, "refuted")])
def test_the_order_of_magnitude_is_judged(tmp_path, moved, verdict):
    save(frame_of(rows(h5py_on=moved)), tmp_path / "penard_s3.parquet")
    (claim,) = [claim for claim in claims.load() if claim.id == "penard-10"]
    (judged,) = claims.evaluate([claim], tmp_path)
    assert judged.verdict == judged.parts[1].verdict == verdict
    assert judged.parts[2].verdict == "holds"
