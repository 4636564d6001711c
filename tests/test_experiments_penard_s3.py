"""Reads from S3: what cannot be done, a real store without its secrets, verdicts."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import yaml
from forked_servers import forking
from made_claims import timed
from made_claims import verdicts as judged
from made_store import KEY, SECRET, store, variables

from hyperslab.io.far import ABROAD, NEAR, serve
from hyperslab.measure.records import about, load
from hyperslab.network import Endpoint, Link
from hyperslab.study import profile
from hyperslab.study.options import Options, executed_folder
from hyperslab.study.run import run
from hyperslab.study.stale import Page

forked = pytest.fixture(scope="module", autouse=True)(forking)

ROOT = Path(__file__).parents[1]
BUCKET, FOLDER = "canary-bucket", "canary-top/canary-folder"
STORE = f"s3://{BUCKET}/{FOLDER}"
URL = "HYPERSLAB_S3_URL"


def leaked(text, server):
    """Which of the names that nobody may see stand in a text."""
    hidden = (KEY, SECRET, BUCKET, *FOLDER.split("/"), f"127.0.0.1:{server.port}")
    return [name for name in hidden if name.lower() in text.lower()]


def test_a_store_that_refuses_is_told_without_its_name_and_keys(tmp_path, monkeypatch):
    (tmp_path / "a.nc").write_bytes(b"a")
    with store(tmp_path, BUCKET) as server:
        for name, value in variables(server, key=f"{KEY}-not").items():
            monkeypatch.setenv(name, value)
        with (
            pytest.raises(OSError, match="access denied") as caught,
            serve(tmp_path, {"s3": Link(1e9, 0)}, "s3", STORE),
        ):
            pass
    assert not leaked(str(caught.value), server)


def study_of_few_reads(top):
    """The study, but for the reads that are as any other."""
    (top / "notebooks").mkdir(parents=True)
    for name in ("_config.yml", "book", "notebooks/penard_s3.ipynb"):
        (top / name).symlink_to(ROOT / name)
    settings = {**profile.entry("penard_s3", ROOT).settings["smoke"], "ocean_steps": 1}
    settings["leave_out"] += [
        {"read": ["temperature series", "temperature map"]},
        {"reader": "chunkindex"},
        {"layout": "NCZarr"},
        {"experiment": "s3-today", "layout": ["netCDF-4", "HDF5 in pages", "Zarr 3, shards"]},
    ]
    entry = {"name": "penard_s3", "title": "", "profiles": {"smoke": settings}}
    (top / "notebooks/study.yml").write_text(yaml.safe_dump({"notebooks": [entry]}))
    return top


def test_a_real_store_gets_the_files_and_no_secret_is_kept(tmp_path, monkeypatch, capsys):
    served, work = tmp_path / "served", tmp_path / "work"
    served.mkdir()
    monkeypatch.chdir(study_of_few_reads(tmp_path / "study"))
    for name in (name for name in os.environ if name.startswith("AWS_")):
        monkeypatch.delenv(name)
    with store(served, BUCKET) as server:
        for name, value in (variables(server) | {URL: STORE}).items():
            monkeypatch.setenv(name, value)
        (done,) = run(["penard_s3"], Options("smoke", workdir=str(work), repeats=1))
        assert done.state == "done", done.message
        put = {request.path for request in server.requests() if request.method == "PUT"}
    assert put and all(path.startswith(f"/{BUCKET}/{FOLDER}/") for path in put)
    frame = load(work / "results/smoke/penard_s3.parquet")
    over_web, *tried = frame["status"][frame["experiment"] == "tries"]
    assert over_web == "ok"
    for status in tried:  # the library's own words, or the truth
        assert status == "ok" or ("NetCDF: " in status and "127.0.0.1" not in status)
    read = frame[frame["experiment"] == "s3"]
    assert (read["status"] == "ok").all() and (read["link"] == NEAR).all()
    assert np.isnan(read["requests"].astype(float)).all()
    made = executed_folder(work, "smoke") / "penard_s3.ipynb"
    assert "this is no store's speed" in made.read_text()
    kept = {path for path in work.rglob("*") if path.is_file()}
    assert {path.suffix for path in kept} >= {".ipynb", ".parquet", ".json", ".svg"}
    # Neither in the files nor in what a compressed page of a record holds.
    texts = {path: path.read_bytes().decode("latin-1") for path in kept}
    texts |= {"printed": "".join(capsys.readouterr()), "records": frame.to_csv()}
    assert not {path: found for path, text in texts.items() if (found := leaked(text, server))}
    mark = Endpoint.of(STORE).mark
    assert mark in json.dumps(about(work / "results/smoke/penard_s3.parquet"))


def test_another_store_is_another_run(monkeypatch):
    for name in (URL, *(name for name in os.environ if name.startswith("AWS_"))):
        monkeypatch.delenv(name, raising=False)
    item, found = profile.entry("penard_s3", ROOT), []
    for name, value in (
        (URL, "s3://canary/one"), (URL, "s3://canary/two"), ("AWS_REGION", "canary-2"),
        ("AWS_ENDPOINT_URL", "http://canary.example:9000"), ("AWS_ACCESS_KEY_ID", KEY),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET if name.endswith("ID") else "")
        found.append(json.dumps(Page.of(item, Options(), ROOT).experiment))
    assert len(set(found)) == 4 and found[-1] == found[-2]  # other keys are the same store
    assert "canary" not in str(found)


@pytest.mark.parametrize(("moved", "link", "verdicts"), [
    (40, "s3", ["holds", "holds", "holds", "holds"]),
    (400, "s3", ["refuted", "refuted", "refuted", "holds"]),
    (40, ABROAD, ["holds", "holds", "not measured", "not measured"]),
])  # fmt: skip
def test_the_order_of_magnitude_is_judged(tmp_path, moved, link, verdicts):
    ways = [("s3", "netCDF-4, shuffle", "h5py", moved), ("s3", "Zarr, Blosc", "zarr", 10)]
    ways += [("s3-today", "netCDF-4", "h5py, no read-ahead", 10)]
    rows = []
    for name, layout, reader, size in ways:
        row = {"experiment": name, "link": link, "phase": "read", "user_s": 0.0, "sys_s": 0.0}
        row |= {"read": "ocean map", "layout": layout, "reader": reader}
        row |= {"wire_bytes": size * 1e6} if link == "s3" else {}
        rows += timed(size / 200, pair=True, **row)
    found = judged(tmp_path, "penard_s3", rows, ["read", "layout", "reader"])
    assert [part.verdict for part in found["penard-10"].parts] == verdicts
