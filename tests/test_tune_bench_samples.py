"""Samples of a bench: what they measure, what they verify, what they leave."""

import os
import signal
import sys
from dataclasses import replace
from functools import partial

import made_files
import numpy as np
import pytest
from contracts.readers import selected
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_bench import PHASES

from hyperslab.io import Layout, write_array
from hyperslab.io import by_netcdf4 as netcdf
from hyperslab.io.opening import open_source
from hyperslab.io.source import SourceVariable
from hyperslab.io.writing import remove
from hyperslab.measure.case import Case, Stopwatch
from hyperslab.measure.processes import Processes
from hyperslab.measure.worker import Job
from hyperslab.tune.bench import bench_run
from hyperslab.tune.bench import trial as sampling
from hyperslab.tune.bench.bench_run import bench, prepare
from hyperslab.tune.bench.trial import PIECE_BYTES, Truth, pieces
from hyperslab.tune.copy_plan import Slabs
from hyperslab.tune.partial import part_name
from hyperslab.tune.report.differences import WrongValuesError
from hyperslab.tune.report.text import notes
from hyperslab.tune.specs.axes import named
from hyperslab.tune.specs.target import Choice, Target

MIB = 2**20
COPY = Target("copy")


def of(frame, **values):
    frame = frame[frame["aa"] != "discarded"]
    for column, expected in values.items():
        frame = frame[frame[column] == expected]
    return frame


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return made_files.nested(tmp_path_factory.mktemp("bench") / "nested.nc")


def read_in(path, variables=None):
    with open_source(path) as source:
        return named(["row", "whole"], source.variables, source.choose(variables))


def test_each_layout_has_every_phase_in_every_block(file, tmp_path):
    targets = [
        COPY,
        Target("classic model", "hdf5", Choice("default", "deflate"), cache_bytes=2 * MIB),
        *(Target(name, name, Choice("default", "deflate", 1)) for name in ("zarr3", "nczarr")),
    ]
    before = file.read_bytes()
    left = tmp_path / "work" / part_name("bench", 2**22)  # by a process that was killed
    left.mkdir(parents=True)
    frame = bench(file, targets, reads=read_in(file), repeats=2, workdir=tmp_path / "work")
    assert (file.read_bytes(), list((tmp_path / "work").iterdir())) == (before, [])
    samples = of(frame, experiment="bench")
    assert set(samples["status"]) == {"ok"} and samples["verified"].all()
    counts = samples.groupby(["case", "phase", "cache_state"]).size()
    assert {phase for _, phase, _ in counts.index} == {*PHASES, "pattern:row", "pattern:whole"}
    # the copy twice in a block, for the noise
    twice = {target.name: {4 if target is COPY else 2} for target in targets}
    assert {name: set(counts[name]) for name in twice} == twice
    assert set(of(samples, case="copy")["aa"]) == {"A", "B"}
    by = samples.groupby("phase")
    assert set(by.get_group("data_read")["useful_bytes"]) == set(
        by.get_group("data_reread")["useful_bytes"]
    )
    assert (by.get_group("close")["file_bytes"] > 0).all()
    assert (by.get_group("data_write")["peak_bytes"] > MIB).all()
    source = of(frame, experiment="source", phase="stat").set_index("case")
    assert source.loc["", "file_bytes"] == 16_332
    sentences = notes(frame)
    assert "names is left out: it holds text of any length." in sentences
    assert not [text for text in sentences if "lost" in text]


def test_a_url_is_never_cold(tmp_path):
    made_files.packed(tmp_path / "a.nc")
    with made_files.served(tmp_path) as address:
        frame = bench(f"{address}/a.nc", [COPY], repeats=1, workdir=tmp_path / "w")
    assert set(of(frame, experiment="bench")["status"]) == {"ok"}
    assert set(of(frame, phase="data_read")["cache_state"]) == {""}


def test_samples_that_were_lost_and_files_that_changed_are_noted(file, tmp_path, monkeypatch):
    lost = [{"case": "copy", "status": "NoRoomError: disk full", "phase": "lost"}]
    monkeypatch.setattr(bench_run, "measure", lambda *words, **options: lost)
    with pytest.raises(RuntimeError, match=r"^disk full"):
        bench(file, [COPY], workdir=tmp_path / "w")
    assert list((tmp_path / "w").iterdir()) == []
    path = tmp_path / "a.nc"
    path.write_bytes(file.read_bytes())
    lost += [{"case": "copy", "status": "ok", "phase": "data_read", "experiment": "bench"}]

    def measured(*words, **options):
        os.utime(path, (1, 1))
        return lost

    monkeypatch.setattr(bench_run, "measure", measured)
    sentences = notes(bench(path, [COPY], workdir=tmp_path / "w"))
    assert "copy: samples were lost: disk full" in sentences
    assert "the file changed while it was measured: do not trust the numbers." in sentences


def kill_once(trial, watch):
    """Run a sample that is killed half-way, once."""
    mark = trial.path.with_suffix(".mark")
    if not mark.exists():
        mark.touch()
        trial.path.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
    trial(watch)


def test_a_sample_that_was_killed_spoils_no_other(file, tmp_path, monkeypatch):
    make = bench_run._case

    def killed(*words, **options):
        case = make(*words, **options)
        return replace(case, run=partial(kill_once, case.run))

    monkeypatch.setattr(bench_run, "_case", killed)
    frame = bench(file, [COPY], repeats=1, workdir=tmp_path / "w")
    status = of(frame, experiment="bench").groupby(["block", "aa"])["status"].first()
    ok, killed = sorted(status, key="ok".__ne__)
    assert ok == "ok" and "SIGKILL" in killed
    assert any("samples were lost: the process ended early" in text for text in notes(frame))


def trial(path, out, target=COPY, variables=None):
    """A sample that may take what there is, since the tests' own process is large."""
    with open_source(path) as source:
        chosen, reads = source.choose(variables), read_in(path, variables)
        prepared = prepare(source, chosen, target, reads, 256 * MIB)
    return replace(prepared.trial, path=out, memory_bytes=2**40)


def rows(sample):
    watch = Stopwatch()
    sample(watch)
    return watch.rows()


@pytest.mark.skipif(sys.platform != "linux", reason="counts page faults as Linux does")
def test_reading_again_touches_the_same_new_memory_whatever_was_written(tmp_path):
    path = tmp_path / "a.nc"
    values = np.random.default_rng(0).integers(0, 255, (256, 64, 64)).astype("i4")
    write_array(path, values, Layout("netcdf3"))
    faults: dict[str, list[float]] = {}
    for chunks in ((256, 4, 64), (64, 64, 64)):
        sample = trial(path, tmp_path / "out.nc", Target("t", "netcdf4", Choice(chunks)))
        case = Case("t", sample, cleanup=partial(remove, tmp_path / "out.nc"))
        with Processes([sampling.__name__, "hyperslab.io.by_netcdf4"]) as running:
            outcome = running.run(Job(case))
        assert outcome.status == "ok"
        for row in outcome.rows:
            faults.setdefault(str(row["phase"]), []).append(float(row["minflt"]))
    for phase in ("meta_reread", "data_reread"):
        assert max(faults[phase]) <= 1.2 * min(faults[phase]), (phase, faults[phase])


def test_one_wrong_value_spoils_a_sample(tmp_path, monkeypatch):
    path = made_files.classic(tmp_path / "a.nc")
    rounded = Target("q", "netcdf4", Choice("default", "deflate", quantize=("bitround", 6)))
    rows(trial(path, tmp_path / "right.nc", rounded, variables=["sst"]))
    write = netcdf.NetCDFWriter.write

    def wrong(self, name, selection, values):
        write(self, name, selection, np.where(values == values.max(), 0, values))

    monkeypatch.setattr(netcdf.NetCDFWriter, "write", wrong)
    for target in (COPY, rounded):
        message = r"sst of the copy is wrong in \[0:7.*1 of 315 values"
        with pytest.raises(WrongValuesError, match=message):
            rows(trial(path, tmp_path / f"{target.name}.nc", target, variables=["sst"]))


def unstrided(chosen):
    """What patterns read: a run of each axis, or an index."""
    shape, given = chosen
    return shape, tuple(i if isinstance(i, int) else slice(i.start, i.stop, 1) for i in given)


def lengths(shape):
    return st.tuples(*(st.integers(1, n) for n in shape))


@settings(max_examples=40)
@given(st.data(), selected(30).map(unstrided), st.integers(8, 4000))
def test_pieces_read_what_the_selection_reads(data, chosen, most):
    shape, selection = chosen
    chunks = data.draw(st.none() | lengths(shape))
    values = np.arange(np.prod(shape)).reshape(shape)
    expected = values[selection]
    variable = SourceVariable("a", tuple("xyz"[: len(shape)]), shape, "i8")
    sampling.PIECE_BYTES = most
    try:
        cut = list(pieces(selection, variable, Layout("netcdf4", chunks)))
    finally:
        sampling.PIECE_BYTES = PIECE_BYTES
    read = [values[piece] for piece in cut]
    assert all(array.nbytes <= most or array.size == expected.size for array in read)
    assert sorted(np.concatenate([np.ravel(array) for array in read])) == sorted(np.ravel(expected))


@settings(max_examples=40)
@given(st.data(), selected(9).map(unstrided))
@example(None, ((), ()))
def test_what_was_shown_in_pieces_is_known_whole(data, chosen):
    shape, selection = chosen
    values = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    variable = SourceVariable("a", tuple("xyz"[: len(shape)]), shape, "i4")
    truth = Truth({"p": {"a": selection}}, [variable], 10**6)
    see = truth.watcher("a")
    for slab in Slabs(shape, data.draw(lengths(shape))) if shape else [()]:
        see(slab, values[slab])
    box = np.asarray(values[selection])
    truth.check(("p", "a"), selection, box, Layout())
    assert truth.nbytes == box.nbytes
    with pytest.raises(WrongValuesError, match=f"p of a was read wrong: {box.size} of {box.size}"):
        truth.check(("p", "a"), selection, box + 1, Layout())
