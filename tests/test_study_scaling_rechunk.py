"""A store rewritten by each engine: the same values, memory that is seen, words from records."""

import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.advise.copying.copy import copy
from hyperslab.advise.specs.target import Choice, Target
from hyperslab.cli import main
from hyperslab.measure.case import Case, Stopwatch
from hyperslab.measure.processes import Processes
from hyperslab.measure.records import frame_of
from hyperslab.measure.worker import Job
from hyperslab.study.scaling import rechunk, rechunk_results, rechunk_words
from hyperslab.study.scaling.rechunk import COPY, CUBED, P2P, THREADS
from hyperslab.study.scaling.rechunk_files import Maps

MIB = 2**20


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    found = Maps(tmp_path_factory.mktemp("my maps"), 16, 64, 64, 32 * MIB)
    found.make()
    return found


@pytest.fixture(scope="module")
def own(maps):
    return partial(copy, target=Target("series", "zarr3", Choice(maps.series)), verify="none")


def test_every_engine_rewrites_every_value_and_leaves_nothing(maps, own):
    cases = rechunk.cases(maps, own)
    assert {case.name for case in cases} == set(rechunk.engines())
    before = set(maps.scratch.iterdir())
    with Processes(rechunk.MODULES) as running:
        for case in cases:
            outcome = running.run(Job(case, 60))
            assert outcome.status == "ok", f"{case.name}: {outcome.status}"
            assert [row["phase"] for row in outcome.rows] == ["start", "rewrite"]
            assert outcome.rows[-1]["file_bytes"] > 0
            assert case.columns["library_version"][0].isdigit()
            assert outcome.rows[-1]["wchar"] >= outcome.rows[-1]["file_bytes"] * 0.9
    assert set(maps.scratch.iterdir()) == before
    assert not list(maps.scratch.parent.glob("*%20*")), "written beside a folder with a space"


def test_what_was_taken_and_given_back_is_seen():
    """In a process of its own: this one may have memory left from before."""
    code = """if True:
        from hyperslab.study.scaling.rechunk import peak, reset_peak
        before = reset_peak()
        some = bytearray(b"x") * 2**26
        del some
        print(peak() - before)
        again = reset_peak()
        print(peak() - again)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    taken, later = map(int, done.stdout.split())
    assert 60 * MIB < taken < 200 * MIB
    assert later < 20 * MIB, "the mark of before is gone"


def test_an_engine_that_takes_more_is_told_so(maps, own):
    greedy = rechunk.Rewrite(maps, COPY, partial(_greedily, own))
    greedy.clear()
    with Processes() as running:
        outcome = running.run(Job(Case("greedy", greedy), 60))
    greedy.clear()
    assert outcome.status == "ok"
    assert outcome.rows[-1]["peak_bytes"] > 60 * MIB


def _greedily(own, *words, **options):
    held = np.ones(64 * MIB // 8)
    own(*words, **options)
    return held


def test_other_values_and_other_chunks_are_noticed(maps, own, tmp_path):
    import zarr

    out = tmp_path / "series.zarr"
    own(maps.source, out, memory_bytes=maps.allowed_bytes)
    assert maps.same(out)
    array = zarr.open_group(str(out))["uo"]
    array[5, 60, 60] = 7
    assert not maps.same(out)
    assert not maps.same(maps.source), "its chunks are maps"


def test_without_a_copy_of_its_own_it_says_so(maps):
    work = rechunk.Rewrite(maps, COPY)
    with pytest.raises(ValueError, match="nothing was given that copies"):
        work(Stopwatch())
    work.clear()


@given(steps=st.integers(1, 3000), rows=st.integers(1, 600), columns=st.integers(1, 600))
def test_series_have_all_steps_and_no_more_values_than_a_map(steps, rows, columns):
    first, high, wide = Maps(Path("s"), steps, rows, columns, 1).series
    assert first == steps
    assert 1 <= high <= rows and 1 <= wide <= columns
    assert high * wide * steps <= max(rows * columns, steps)


STORES = frame_of([{"case": "source", "file_bytes": 60e6}])


def records(seconds, peaks, engines=(COPY, CUBED, THREADS, P2P)):
    rows = []
    for engine in engines:
        for block in range(7):
            common = {"case": engine, "mode": engine, "block": block, "status": "ok"}
            rows.append(common | {"phase": "start", "wall_s": 0.01})
            rows.append(
                common
                | {"phase": "rewrite", "wall_s": seconds.get(engine, 2.0) * (1 + 0.01 * block),
                   "peak_bytes": peaks.get(engine, 20) * MIB, "rchar": 120e6, "wchar": 30e6,
                   "file_bytes": 10e6, "user_s": 1.0, "sys_s": 0.1}
            )  # fmt: skip
    return frame_of(rows)


BIG = Maps(Path("s"), 128, 512, 512, 32 * MIB)


def told(found):
    table = rechunk_results.table(found, STORES, BIG.allowed_bytes)
    return table, rechunk_words.summary(found, table, BIG), rechunk_words.advice(found, table, BIG)


def test_the_fastest_within_its_memory_is_picked():
    found = records({COPY: 5.0, CUBED: 3.0, THREADS: 1.0}, {THREADS: 270, P2P: 400})
    table, said, advice = told(found)
    assert rechunk_results.pick(found, table) == rechunk_results.Picked(CUBED, within=True)
    assert "cubed did it in 3.09 s and at most 20 MiB" in said
    assert "hyperslab took 20 MiB, within what it was given, and was 1.67× slower than" in said
    assert "dask, threads took 270 MiB, 8.4 times what it was given, and was 3× faster" in said
    assert "import cubed" in advice and "(128, 32, 64)" in advice
    assert "With memory for 2.1 times the values" in advice and "3× faster than cubed" in advice
    assert rechunk_results.one(table, CUBED)["reads"] == pytest.approx(2.0)
    assert rechunk_results.one(table, CUBED)["writes"] == pytest.approx(3.0)


def test_another_engine_can_be_picked():
    found = records({COPY: 1.0, CUBED: 3.0}, {THREADS: 270, P2P: 400})
    _, said, advice = told(found)
    assert "hyperslab did it in" in said and "cubed took" in said
    assert "hyperslab advise maps.zarr" in advice and "By way of a temporary store, cubed" in advice
    assert "compares every value" in advice and "not in the times here" in advice
    for engine in (THREADS, P2P):
        _, said, advice = told(records({engine: 0.5}, {}))
        assert "the fastest one that kept" in said
        assert "import xarray as xr" in advice


def test_the_command_makes_what_was_timed(tmp_path, monkeypatch):
    maps = Maps(tmp_path, 16, 64, 64, 32 * MIB)
    maps.make()
    monkeypatch.chdir(tmp_path)
    found = records({COPY: 1.0}, {}, engines=(COPY,))
    table = rechunk_results.table(found, STORES, maps.allowed_bytes)
    block = rechunk_words.advice(found, table, maps).split("```")[1].strip()
    assert main(shlex.split(block)[1:]) == 0
    assert maps.same(tmp_path / "series.zarr")
    made = zarr.open_array("series.zarr", path="uo", mode="r")
    source = zarr.open_array(str(maps.source), path="uo", mode="r")
    assert made.compressors == source.compressors


def test_engines_not_told_apart_are_said_to_be():
    found = records({}, {THREADS: 270, P2P: 400})
    table, said, advice = told(found)
    assert rechunk_results.pick(found, table).alike in ((CUBED,), (COPY,))
    assert "not told apart by time from" in said and "quickest by median" in advice


def test_none_within_its_memory_is_said_so():
    _, said, advice = told(records({}, {COPY: 50, CUBED: 40, THREADS: 270, P2P: 400}))
    assert "No engine kept to them; cubed came closest, with 40 MiB" in said
    assert "Allow more than you think" in advice and "the fastest" not in advice


def test_an_engine_that_is_not_here_is_named():
    found = records({COPY: 5.0}, {THREADS: 270}, engines=(COPY, THREADS))
    table, said, advice = told(found)
    assert "Not installed here, and so not measured: cubed and dask, p2p." in said
    assert "hyperslab advise" in advice and "import cubed" not in advice
    assert "cubed" not in rechunk_words.why(table, BIG)
    assert len(rechunk_words.rows(table)) == 2
    with pytest.raises(KeyError, match="no cubed among the records"):
        rechunk_results.one(table, CUBED)
    with pytest.raises(KeyError, match="no cubed among the records"):
        rechunk_results.ratio(found, CUBED, COPY)


def test_why_goes_by_the_counts():
    table, *_ = told(records({}, {THREADS: 270}))
    said = rechunk_words.why(table, BIG)
    assert "wrote each byte 3.0 times and read each 2.0 times" in said
    assert "2.1 times the values" in said
    table["written"] = table["copy"] + BIG.nbytes
    said = rechunk_words.why(table, BIG)
    assert "laid them out in a plain file" in said and "134.2 MB beside the copy" in said


def test_engines_that_are_not_installed_take_no_part(monkeypatch, maps, own):
    monkeypatch.setattr(rechunk, "find_spec", lambda name: None if name == "cubed" else True)
    assert rechunk.engines() == (COPY, THREADS, P2P)
    assert CUBED not in {case.name for case in rechunk.cases(maps, own)}


def test_one_pair_shows_the_noise(monkeypatch, maps, own):
    cases = rechunk.cases(maps, own)
    assert sum(case.aa for case in cases) == 1
    monkeypatch.setattr(rechunk, "engines", lambda: (COPY, THREADS))
    assert [case.name for case in rechunk.cases(maps, own) if case.aa] == [COPY]
    assert not any(case.pinned for case in cases)
