"""A bench of real files: what it measures, what it verifies, what it leaves."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import made_files
import numpy as np
import pytest

from hyperslab.tune.bench import engine as module
from hyperslab.tune.bench.engine import bench
from hyperslab.tune.report.text import notes
from hyperslab.tune.bench.trial import Trial
from hyperslab.tune.copy_plan import MemoryLimitError
from hyperslab.tune.source import SourceError
from hyperslab.tune.specs.patterns import Pattern
from hyperslab.tune.specs.target import Choice, Target

MIB = 2**20
COPY = Target("copy")
WHOLE = Pattern("whole")


def of(frame, **wanted):
    for column, value in wanted.items():
        frame = frame[frame[column] == value]
    return frame


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return made_files.nested(tmp_path_factory.mktemp("bench") / "nested.nc")


@pytest.fixture(scope="module")
def frame(file):
    targets = [
        COPY,
        Target("zlib", "netcdf4", Choice("default", "deflate", 1)),
        Target("classic model", "hdf5", Choice("default", "deflate"), cache_bytes=2 * MIB),
    ]
    before = file.read_bytes()
    made = bench(
        file, targets, patterns=[Pattern("row"), WHOLE], repeats=2, workdir=file.parent / "work"
    )
    assert file.read_bytes() == before
    assert list((file.parent / "work").iterdir()) == []
    return made


def test_each_layout_has_every_phase_in_every_block(frame):
    samples = of(frame, experiment="bench")
    assert set(samples["case"]) == {"copy", "zlib", "classic model"}
    assert set(samples["status"]) == {"ok"}
    assert samples["verified"].all()
    counts = samples.groupby(["case", "phase", "cache_state"]).size()
    phases = {phase for _, phase, _ in counts.index}
    assert phases == {
        "meta_read", "data_read", "meta_write", "data_write", "sync", "close", "meta_reread",
        "data_reread", "pattern:row", "pattern:whole",
    }  # fmt: skip
    assert set(counts["zlib"]) == {2}
    assert set(counts["copy"]) == {4}  # twice in a block, for the noise
    assert set(of(samples, case="copy")["aa"]) == {"A", "B"}


def test_counts_say_what_was_moved(frame):
    values = 768
    for phase in ("data_read", "data_write", "data_reread", "pattern:whole"):
        rows = of(frame, experiment="bench", phase=phase)
        assert set(rows["useful_bytes"]) == {values}, phase
        assert (rows["wall_s"] > 0).all()
    assert (of(frame, phase="data_write")["wchar"] >= 0).all()
    closed = of(frame, experiment="bench", phase="close")
    assert (closed["file_bytes"] > values).all()
    assert set(of(frame, case="classic model", phase="close")["cache_bytes"]) == {2 * MIB}


def test_the_source_is_described(frame):
    rows = of(frame, experiment="source", phase="stat").set_index("case")
    assert rows.loc["", "file_bytes"] == 16_332
    assert rows.loc["ocean/deep/salt", "chunks"] == "2x12"
    assert rows.loc["names", "status"] == "holds text of any length"
    said = notes(frame)
    assert "names is left out: it holds text of any length." in said
    assert not [text for text in said if "lost" in text]


def test_a_store_with_shards_in_processes_of_their_own(tmp_path):
    path = made_files.sharded(tmp_path / "a.zarr")
    targets = [Target("copy", "zarr3"), Target("netcdf", "netcdf4", Choice("default", "zstd"))]
    frame = bench(
        path, targets, variables=["sst"], patterns=[WHOLE], repeats=1, workdir=tmp_path / "w"
    )
    samples = of(frame, experiment="bench")
    assert set(samples["status"]) == {"ok"}
    assert set(of(samples, phase="data_reread")["useful_bytes"]) == {50 * 60 * 4}
    assert of(frame, experiment="source", case="sub/n")["status"].tolist() == ["not chosen"]


def test_a_url_is_never_cold(tmp_path):
    made_files.packed(tmp_path / "a.nc")
    with made_files.served(tmp_path) as address:
        frame = bench(f"{address}/a.nc", [COPY], repeats=1, workdir=tmp_path / "w")
    assert set(of(frame, experiment="bench")["status"]) == {"ok"}
    assert set(of(frame, phase="data_read")["cache_state"]) == {""}


def test_bm_files_copy_has_bm_files_bytes(tmp_path):
    path = made_files.square(tmp_path / "a.nc")
    target = Target("128x128", "netcdf4", Choice((128, 128)))
    frame = bench(path, [target], repeats=1, workdir=tmp_path / "w")
    sizes = of(frame, experiment="bench")["file_bytes"].dropna()
    assert set(sizes) == {made_files.BM_FILE_BYTES}


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        ({"targets": []}, ValueError, "no layouts to try"),
        ({"targets": [COPY, COPY]}, ValueError, "two layouts are called copy"),
        ({"repeats": 0}, ValueError, "repeats is 0: give at least 1"),
        ({"variables": ["b"]}, SourceError, "no variable 'b': take of depth"),
        ({"variables": ["records"]}, SourceError, "records cannot be copied: it holds records"),
        ({"memory_bytes": 100 * MIB}, MemoryLimitError, r"copy: copying .* allow at least 1\d\d M"),
        ({"targets": [Target("long", "netcdf4", Choice((41,)))], "variables": ["depth"]},
         ValueError, "dimension x of depth has length 40, and a chunk of 41"),
        ({"targets": [Target("old", "netcdf3")]}, ValueError, "old: .* lie in groups"),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_said_before_anything_is(file, tmp_path, words, kind, said):
    options = {"targets": [COPY], "workdir": tmp_path / "w"} | words
    with pytest.raises(kind, match=said) as error:
        bench(file, options.pop("targets"), **options)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize(
    ("status", "kind"),
    [("NoRoomError: the disk is full", OSError), ("the process ended early", RuntimeError)],
)
def test_when_all_samples_are_lost_the_first_says_why(file, tmp_path, monkeypatch, status, kind):
    lost = [{"case": "copy", "status": status, "phase": "lost", "verified": False}]
    monkeypatch.setattr(module, "measure", lambda *words, **options: lost)
    with pytest.raises(kind, match=status.rpartition(": ")[2]):
        bench(file, [COPY], workdir=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_samples_that_were_lost_and_files_that_changed_are_noted(file, tmp_path, monkeypatch):
    path = tmp_path / "a.nc"
    path.write_bytes(file.read_bytes())
    rows = [
        {"case": "copy", "status": "OSError: no luck", "phase": "lost"},
        {"case": "copy", "status": "ok", "phase": "data_read", "experiment": "bench"},
    ]

    def measured(*words, **options):
        os.utime(path, (1, 1))
        return rows

    monkeypatch.setattr(module, "measure", measured)
    monkeypatch.setattr(module, "peak_bytes", lambda: 300 * MIB)
    said = notes(bench(path, [COPY], workdir=tmp_path / "w"))
    assert "copy: samples were lost: no luck" in said
    assert "the file changed while it was measured: do not trust the numbers." in said
    assert any(
        text.startswith("the program itself, which copies nothing, took 300") for text in said
    )


@dataclass(frozen=True)
class Killed:
    """A sample that is killed half-way, once."""

    path: Path
    trial: Trial

    def __call__(self, watch):
        mark = self.path.with_suffix(".mark")
        if not mark.exists():
            mark.touch()
            self.path.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
        self.trial(watch)


def test_a_sample_that_was_killed_spoils_no_other(file, tmp_path, monkeypatch):
    make = module._case

    def killed(*words, **options):
        case = make(*words, **options)
        return replace(case, run=Killed(case.run.path, case.run))

    monkeypatch.setattr(module, "_case", killed)
    frame = bench(file, [COPY], repeats=2, workdir=tmp_path / "w")
    status = of(frame, experiment="bench").groupby(["block", "aa"])["status"].first()
    assert sorted(status)[:3] == ["ok"] * 3
    assert "SIGKILL" in sorted(status)[3]
    assert any("samples were lost: the process ended early" in text for text in notes(frame))


RUN = """
import sys
from hyperslab.tune.bench.engine import bench
from hyperslab.tune.specs.target import Target
bench(sys.argv[1], [Target("copy")], repeats=1000, workdir=sys.argv[2])
"""


def test_what_a_killed_bench_left_goes_with_the_next(tmp_path):
    path, work = made_files.packed(tmp_path / "a.nc"), tmp_path / "w"
    process = subprocess.Popen([sys.executable, "-c", RUN, str(path), str(work)])
    try:
        end = time.monotonic() + 30
        while not list(work.glob(".bench.*/journal.jsonl")):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert len(list(work.iterdir())) == 1
    bench(path, [COPY], repeats=1, workdir=work)
    assert list(work.iterdir()) == []


def test_values_survive_the_big_endian(tmp_path):
    path = made_files.packed(tmp_path / "a.nc")
    target = Target("big", "netcdf4", Choice("default", "deflate"), byteorder="big")
    samples = of(bench(path, [target], repeats=1, workdir=tmp_path / "w"), experiment="bench")
    assert set(samples["byteorder"]) == {"big"}
    assert samples["verified"].all()
    assert np.isfinite(of(samples, phase="close")["file_bytes"]).all()
