"""The page on the four patterns: real jobs of two ranks, words, figures and verdicts."""

import matplotlib.pyplot as plt
import pytest
from made_chilan import ALL, SOME, counted, frames, hinted, judged, row, slow
from made_parallel import FOUND, needs

from hyperslab.measure.case import Stopwatch
from hyperslab.measure.records import frame_of
from hyperslab.parallel import Found, find
from hyperslab.parallel import found as looking
from hyperslab.study.chilan import (
    flash_words,
    here_words,
    jobs,
    latency_words,
    patterns_figures,
    patterns_words,
    results,
)
from hyperslab.study.chilan.patterns import WAYS, Patterns, latencies
from hyperslab.study.style import STYLES, styled


@pytest.mark.parametrize("libraries", SOME, ids="-".join)
def test_the_page_on_patterns_is_written_whatever_is_here(libraries):
    requests, hints, latency, sizes = frames(libraries)
    times = results.timed(latency)
    said = patterns_words.summary(requests, latency)
    assert "383×" in said and "nan" not in said
    assert results.NAMES[results.lead(requests)] in said
    for text in (
        patterns_words.why(requests, sizes),
        latency_words.line(times),
        patterns_words.advice(requests),
        patterns_words.caption_requests(requests),
        latency_words.caption_latency(times),
    ):
        assert len(text) > 80 and "nan" not in text
    assert len(patterns_words.table_requests(requests)) == sum(w[0] in libraries for w in WAYS)
    assert len(latency_words.table_latency(times, latency)) == 8 * len(libraries)
    assert len(patterns_words.table_hints(hints)) == len(hints)
    assert bool(patterns_words.hinted(hints)) == bool(len(hints))
    for style in STYLES:
        with styled(style):
            plt.close(patterns_figures.figure_requests(requests))
            plt.close(patterns_figures.figure_latency(times))


def test_the_words_follow_the_counts_in_either_direction():
    def advice(**more):
        return patterns_words.advice(frame_of(counted(**more)))

    assert "So write collectively" in advice()
    assert "Count the requests" in advice(requests=5)
    fewer = frame_of([row("hdf5", "overhang", "independent", requests=44)])
    still = frame_of([row("hdf5", "overhang", "independent", requests=8200)])
    none = frame_of([])
    assert "fewer than a request for each row" in patterns_words.why(fewer, none)
    assert "a request for each row still" in patterns_words.why(still, none)
    quick, late = (
        patterns_words.summary(frame_of(counted()), frame_of(slow(independent_s=seconds)))
        for seconds in (0.001, 1.0)
    )
    assert "writing independently is 100× slower than writing collectively" in late
    assert "writing independently is 10× faster" in quick
    assert "nothing was measured" in patterns_words.summary(none, none)


@pytest.mark.parametrize("wrong", ["3ms", "", "-1", "2000"])
def test_a_latency_that_is_none_is_named(wrong):
    with pytest.raises(ValueError, match=f"latency_ms is {wrong!r}: give milliseconds"):
        latencies(wrong)


def test_other_latencies_and_none_are_for_all_patterns(tmp_path):
    four = Patterns(tmp_path, 4, 8, 2, 4, 1, 128)

    def timed(told, **more):
        tasks = four.latency_tasks(told, **more)
        return {(t.job.latency_s, t.case) for t in tasks if t.job.library == "hdf5"}

    assert len(timed("0")) == 8 and {latency for latency, _ in timed("0")} == {0.0}
    assert len(timed("0 5", wide=1)) == 8 + 2 and len(timed("0 5", wide=4)) == 16
    assert dict(four.latency_tasks("0 3")[0].described)["size"] == "128x8"
    none = [t for t in four.latency_tasks("0") if t.case == "hdf5/interleaved/collective"]
    assert dict(none[0].described)["size"] == "8192x8"  # as many as where requests are counted
    few = four.latency_tasks("0 1 3", wide=4, other_blocks=3)
    kept = {(t.case, t.job.latency_s) for t in few if not t.most_blocks}
    assert ("hdf5/rows/collective", 0.003) in kept and ("hdf5/rows/collective", 0.0) not in kept
    assert ("hdf5/interleaved/independent", 0.0) in kept
    assert {t.job.latency_s for t in four.document_tasks(16384, "0")} == {0.0}
    assert four.document_tasks(0, "3") == []


def test_the_words_follow_the_latency_that_was_asked_for():
    rows = frame_of(r for r in slow() if r["latency_s"] == 0)
    said = patterns_words.summary(frame_of(counted()), rows)
    assert "with nothing added" in said and "longer" not in said and "grows" not in said
    times = results.timed(rows)
    assert latency_words.line(times) == ""
    assert "with nothing added to each request" in latency_words.caption_latency(times)
    assert latency_words.local(rows).count("\n- ") == 12
    assert latency_words.local(frame_of(r for r in slow() if r["latency_s"])) == ""


def test_a_direction_on_the_local_disk_has_blocks_or_requests_behind_it():
    def said(blocks, alike, **seconds):
        rows = [r for r in slow(blocks, **seconds) if not r["latency_s"]]
        rows = [r | {"stages": 1} for r in rows] if alike else rows
        return latency_words.local(frame_of(rows)).splitlines()[2:]

    assert all("too few blocks (3) to tell a direction" in line for line in said(3, True))
    assert not any("slower" in line or "faster" in line for line in said(3, True))
    assert all("the ratio of the times is 100.00." in line for line in said(1, True))
    for line in said(3, False):
        assert "slower" in line and line.endswith("256 requests in turn against 1.")
        assert "explain" not in line
    for rows in (said(7, True), said(7, False, independent_s=0.001)):
        assert all("which its requests do not explain" in line for line in rows)
    near = said(7, False, independent_s=0.01)
    assert not any("explain" in line for line in near)


def test_the_ratios_stand_beside_those_of_the_best_of_three():
    def shown(rows):
        latency = frame_of(rows)
        times = results.timed(latency)
        return latency_words.table_latency(times, latency), latency_words.caption_table(times)

    quicker = {1: 0.5, 4: 0.1}  # the fifth block is the best of all, and not of the first three
    rows = [
        r | {"wall_s": r["wall_s"] * (quicker.get(r["block"], 1) if r["stages"] > 1 else 1)}
        for r in slow()
    ]
    table, caption = shown(rows)
    assert set(table["best of three"]) == {"50"} and ". Best of three" in caption
    assert all(ratio.startswith("100 ") for ratio in table["ratio"])
    table, caption = shown(slow(2))
    assert "best of three" not in table and "est of three" not in caption
    assert latency_words.caption_table(results.timed(frame_of([]))) == ""


def test_the_claims_ranks_are_counted_beside_those_asked_for(tmp_path):
    def whole(ranks, most):
        tasks = Patterns(tmp_path, ranks, most, 2, 4, 64, 8).tasks()
        found = {}
        for task in tasks:
            found.setdefault(task.job.plan.ranks, set()).add(task.case)
        return {ranks for ranks, cases in found.items() if len(cases) == 4 * len(WAYS)}

    assert whole(32, 64) == {4, 32} and whole(4, 8) == {4} and whole(2, 2) == {2}
    frame = frame_of([*counted(), *(r | {"ranks": 32} for r in counted() if r["ranks"] == 4)])
    assert results.most_ranks(frame) == 32


def test_where_nothing_writes_in_parallel_nothing_empty_is_shown():
    requests, hints, latency, _ = frames(())
    assert patterns_words.caption_requests(requests) == ""
    assert latency_words.caption_latency(results.timed(latency)) == ""
    assert patterns_words.table_requests(requests).empty
    assert patterns_words.table_hints(hints).empty and patterns_words.advice(requests) == ""
    assert "Nothing can write" in patterns_words.summary(requests, latency)
    assert flash_words.caption(requests, results.timed(latency), latency) == ""


def test_a_ratio_grows_with_the_rows_only_where_each_is_a_request():
    for libraries, grows in ((ALL, True), (("pnetcdf", "mpiio"), False)):
        requests, _, latency, _ = frames(libraries)
        said = patterns_words.summary(requests, latency)
        assert ("a request for each row" in said) is grows
    assert "H5Pset" not in patterns_words.advice(frames(("mpiio",))[0])


def test_what_is_missing_is_one_line_with_what_installs_it(monkeypatch):
    monkeypatch.setenv(looking.HIDDEN, "hdf5,pnetcdf")
    seen = frame_of(jobs.here())
    line = here_words.missing(seen)
    assert "\n" not in line and "apt-get install" in line and "PnetCDF (hidden" in line
    assert set(jobs.present(seen)) <= {"mpiio"}
    nothing = frame_of(jobs.here(lambda: Found({}, {})))
    assert here_words.missing(nothing) == ""


def test_the_verdicts_of_the_patterns_can_come_out(tmp_path):
    known = judged(tmp_path, "chilan_patterns", [*counted(), *hinted(), *slow()])
    assert known["chilan-1"].verdict == "holds"
    assert known["chilan-hints"].verdict == "holds"
    reason = known["chilan-1"].headline.reason
    assert reason.startswith("2 ranks, 8192 × 8 doubles of each") and "256 and 1 requests" in reason
    assert known["chilan-types"].verdict == "refuted"
    assert {part.verdict for part in known["chilan-2"].parts} >= {"holds"}
    mine = [r for r in [*counted(), *slow()] if r["library"] == "mpiio"]
    known = judged(tmp_path, "chilan_patterns", mine)
    assert known["chilan-1"].verdict == "not measured"


def test_the_libraries_are_compared_where_their_files_have_one_layout(tmp_path):
    def parts(**times):
        rows = [
            r | {"wall_s": r["wall_s"] * times.get(r["pattern"], 1)}
            if r["library"] == "hdf5" and r["mode"] == "collective"
            else r
            for r in slow()
        ]
        claim = judged(tmp_path, "chilan_patterns", rows)["chilan-same"]
        return claim.verdict, {
            part.name.partition(",")[0]: part.verdict for part in claim.parts[2:]
        }

    verdict, known = parts(overhang=0.5)
    assert verdict == "holds"
    assert known["a chunk that overhangs"] == "refuted" and known["within a chunk"] == "holds"
    assert parts(rows=2.0)[0] == "refuted" and parts(within=2.0)[1]["within a chunk"] == "refuted"


@needs("mpiio")
def test_samples_and_counts_are_of_the_ranks(tmp_path):
    four = Patterns(tmp_path, 2, 2, 2, 1, 256, 8)
    tasks = [t for t in four.latency_tasks("3 0") if t.job.library == "mpiio" and t.job.latency_s]
    cases = jobs.cases(tasks)
    assert [case.aa for case in cases] == [True, False]
    assert {case.columns["case"] for case in cases} == {
        "mpiio/interleaved/rowwise", "mpiio/interleaved/collective",
    }  # fmt: skip
    watch = Stopwatch()
    cases[0].prepare()
    cases[0].run(watch)
    assert cases[0].check(None)
    cases[0].cleanup()
    assert not list(tmp_path.iterdir())
    (write,) = [r for r in watch.rows() if r["phase"] == "write"]
    assert write["requests"] == 16 and write["stages"] == 8 and write["wall_s"] > 8 * 0.003
    frame_of({**r, **cases[0].columns} for r in watch.rows())


@needs("mpiio")
def test_a_counted_file_that_differs_comes_with_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "holds", lambda *_: False)
    tasks = [*Patterns(tmp_path, 2, 1, 2, 1, 256, 8).tasks()]
    mine = [task for task in tasks if task.case == "mpiio/interleaved/collective"][:1]
    with pytest.raises(ValueError, match=r"collective, 2 ranks: the file differs .* --workdir"):
        list(jobs.observe(mine))


@needs("mpiio")
@needs("hdf5")
def test_counted_rows_are_records(tmp_path, monkeypatch):
    monkeypatch.setenv(looking.HIDDEN, "pnetcdf")
    four = Patterns(tmp_path, 2, 1, 2, 1, 256, 8)
    frame = frame_of(four.requests())
    assert results.requests(frame, "hdf5/interleaved/independent", 2) >= 64
    assert results.requests(frame, "mpiio/interleaved/collective", 2) == 1
    sizes = frame_of(four.sizes())
    assert sizes.groupby("case")["requests"].sum()["mpiio/interleaved/rowwise"] == 64
    assert not list(tmp_path.iterdir())


def test_whatever_is_here_is_found():
    assert find().programs.keys() == FOUND.programs.keys()
