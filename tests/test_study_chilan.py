"""The pages on parallel writing: real jobs of two ranks, words, figures and verdicts."""

from itertools import product

import matplotlib.pyplot as plt
import pytest
from made_parallel import FOUND, needs

from hyperslab.measure.case import Stopwatch
from hyperslab.measure.records import frame_of, save
from hyperslab.parallel import Found, find
from hyperslab.parallel import found as looking
from hyperslab.study import claims
from hyperslab.study.chilan import (
    cache_words,
    flash_figures,
    flash_words,
    here_words,
    jobs,
    latency_words,
    patterns_figures,
    patterns_words,
    results,
)
from hyperslab.study.chilan.flash import TIMED, Flash
from hyperslab.study.chilan.patterns import HINTED, WAYS, Patterns, latencies
from hyperslab.study.style import STYLES, styled

COUNTS = {"rowwise": 32768, "independent": 32775, "collective": 8}
SHAPES = {"interleaved": "8192x8", "rows": "2048x256", "overhang": "2048x256", "within": "32768x32"}


def row(library, pattern, mode, **more):
    """One made-up row, with the counts of interleaved columns as they were seen."""
    alike = pattern in ("rows", "within")
    writes = (
        11 if alike else COUNTS[mode] if library != "pnetcdf" else 17 if mode != "collective" else 2
    )
    return {
        "run_id": "r", "profile": "quick", "case": f"{library}/{pattern}/{mode}", "block": 0,
        "library": library, "pattern": pattern, "mode": mode, "ranks": 4, "hints": "",
        "latency_s": 0.0,
        "size": SHAPES.get(pattern, "16"), "phase": "write", "status": "ok", "verified": True,
        "requests": writes, "syscr": 18 if writes == 17 else 0, "stages": writes // 4 or 1,
        "wchar": 1e6, "useful_bytes": 2e6, "library_version": "HDF5 1.10.8, Open MPI v4.1.4",
    } | more  # fmt: skip


def counted(**more):
    return [
        row(library, pattern, mode, experiment="requests", ranks=ranks, **more)
        for ranks in (4, 8)
        for pattern, (library, mode) in product(SHAPES, WAYS)
        if ranks == 4 or pattern == "interleaved"
    ]


def hinted():
    return [
        row(library, name, mode, experiment="hints",
            hints=" ".join(f"{k}={v}" for k, v in hints.items()),
            **({"requests": 32769} if "disable" in str(hints) else {}))
        for library in ("hdf5", "pnetcdf") for name, mode, hints in HINTED
    ]  # fmt: skip


def slow(blocks=6, independent_s=1.0, collective_s=0.01):
    return [
        row(library, pattern, mode, experiment="latency", ranks=2, latency_s=latency_s, block=block,
            aa=aa, stages=256 if mode != "collective" else 1, others_cpu=0.0,
            wall_s=(collective_s if mode == "collective" else independent_s) * (1 + block / 1e3)
            * (1 if latency_s else 0.1))
        for block in range(blocks) for latency_s in (0.0, 0.003)
        for pattern, (library, mode) in product(SHAPES, WAYS)
        for aa in (("A", "B") if (library, pattern, mode) == PAIR else ("",))
    ]  # fmt: skip


PAIR = ("hdf5", "rows", "collective")
ALL = ("hdf5", "pnetcdf", "mpiio")
SOME = [ALL, ("mpiio",), ("pnetcdf", "mpiio"), ("hdf5",)]


def frames(libraries):
    """Records of both pages, of these libraries alone."""
    whole = [
        frame_of(r for r in rows if r["library"] in libraries)
        for rows in (counted(), hinted(), slow())
    ]
    sizes = whole[0].assign(chunk_bytes=64.0, phase="write")
    return (*whole, sizes)


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


def files():
    return [
        row("hdf5", file, "collective", experiment="files", size=str(side), chunk_bytes=6e7,
            case=f"{file}/{side}")
        for side in (8, 16) for file in ("checkpoint", "centres", "corners")
    ]  # fmt: skip


def flashed(hint=31):
    ways = [way for way in WAYS if way[1] != "rowwise"]
    found = [
        row(library, "checkpoint", mode, experiment="requests", size="16", ranks=ranks,
            requests=30 * ranks + 43, case=f"{library}/{mode}/16")
        for ranks in (1, 2, 4, 8) for library, mode in ways
    ]  # fmt: skip
    more = {"size": "8", "experiment": "requests"}
    for library in ALL:
        case = f"{library}/collective/8"
        found.append(row(library, "checkpoint", "collective", **more, case=case, requests=163))
        hints = {"hints": "romio_cb_write=enable", "requests": hint}
        found.append(row(library, "checkpoint", "collective", **more | hints, case=case))
    return found


def rates(even=1.0, independent=2.0, turned=1.0, rest=1.0):
    """Seconds of HDF5 are `even` times PnetCDF's; without turning these are over `turned`."""
    slower = {"hdf5": even, "pnetcdf": 1.0, "as bytes": 1 / turned * rest}

    def one(library, mode, ranks, block, aa="", how=""):
        case = f"{library}/{mode}/16{' ' * bool(how)}{how}"
        kind = "checkpoint" + " as bytes" * bool(how)
        seconds = 0.01 * ranks * (1 + block / 1e3) * slower[how or library]
        return row(
            library, kind, mode, experiment="checkpoint", size="16", ranks=ranks, block=block,
            case=case, others_cpu=0.0, aa=aa, useful_bytes=8e6 * ranks, user_s=seconds / 9,
            wall_s=seconds * (independent if mode == "independent" else 1),
        )  # fmt: skip

    return [
        one(library, mode, ranks, block, aa)
        for block in range(6) for ranks in (1, 2, 8)
        for library, mode in TIMED
        for aa in (("A", "B") if (ranks, mode) == (1, "independent") else ("",))
    ] + [one("pnetcdf", "collective", 2, block, how="as bytes") for block in range(6)]  # fmt: skip


def in_sizes(requests):
    """Sizes of the writes, all of them in one bin."""
    return requests.assign(chunk_bytes=262144.0, phase="write")


def cached(parallel=4097):
    found = {"serial": (5, 1), "parallel": (parallel, 4), "parallel, read only": (5, 4)}
    return [
        row("hdf5", "", "independent", experiment="cache", case=case, phase="read", stages=each,
            requests=each * ranks, ranks=ranks)
        for case, (each, ranks) in found.items()
    ]  # fmt: skip


def test_what_sets_the_libraries_apart_is_told_as_far_as_it_was_seen():
    sizes = in_sizes(frame_of(flashed()))

    def said(**more):
        return flash_words.apart(frame_of(rates(**more)), sizes)

    assert "as many requests, of the same sizes" in said()
    assert "So turning them is what sets the two apart" in said(even=0.8, turned=1.25)
    assert "not explained here" in said(even=0.5, turned=1.25)
    tail = said(even=1.0, turned=1.0)
    assert "explained" not in tail and "sets the two apart." in tail[:40]
    other = sizes.assign(requests=sizes["requests"] + (sizes["library"] == "hdf5"))
    assert "another number" in flash_words.apart(frame_of(rates()), other)
    alone = frame_of(r for r in rates() if r["library"] == "hdf5")
    assert flash_words.apart(alone, sizes) == flash_words.apart(frame_of([]), sizes) == ""


def test_the_requests_of_flash_are_told_by_phase_and_size():
    requests = frame_of(flashed())
    said = flash_words.why(requests, in_sizes(requests))
    assert "for 30 datasets. By phase and size: 283 in the write (283 of 256 to 512 KiB)" in said
    alone = requests[requests["ranks"] == 8]
    assert "more for each rank" not in flash_words.why(alone, frame_of([]))


@pytest.mark.parametrize("wrong", ["3ms", "", "-1", "2000"])
def test_a_latency_that_is_none_is_named(wrong):
    with pytest.raises(ValueError, match=f"latency_ms is {wrong!r}: give milliseconds"):
        latencies(wrong)


def test_other_latencies_and_none_are_for_all_patterns(tmp_path, monkeypatch):
    four = Patterns(tmp_path, 4, 8, 2, 4, 1, 128)

    def timed(told, **more):
        tasks = four.latency_tasks(told, **more)
        return {(t.job.latency_s, t.case) for t in tasks if t.job.library == "hdf5"}

    assert len(timed("0")) == 8 and {latency for latency, _ in timed("0")} == {0.0}
    assert len(timed("0 5", wide=1)) == 8 + 2 and len(timed("0 5", wide=4)) == 16
    rows = {t.job.latency_s: dict(t.described)["size"] for t in four.latency_tasks("0 3")[:10]}
    assert rows[0.003] == "32768x32" or rows[0.003].startswith("128")
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
    assert "with nothing added" in said and "longer" not in said
    times = results.timed(rows)
    assert latency_words.line(times) == ""
    assert "with nothing added to each request" in latency_words.caption_latency(times)
    assert latency_words.local(rows).count("\n- ") == 12
    assert latency_words.local(frame_of(r for r in slow() if r["latency_s"])) == ""


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


@pytest.mark.parametrize("libraries", SOME, ids="-".join)
def test_the_page_on_flash_is_written_whatever_is_here(libraries):
    requests, checkpoint = (
        frame_of(r for r in rows if r["library"] in libraries) for rows in (flashed(), rates())
    )
    times = results.timed(checkpoint)
    for text in (
        flash_words.summary(requests, checkpoint),
        flash_words.why(requests, in_sizes(requests)),
        flash_words.advice(requests, frame_of([])),
        flash_words.caption(requests, times, checkpoint),
    ):
        assert len(text) > 40 and "nan" not in text
    assert "283" in flash_words.summary(requests, checkpoint)
    assert (
        len(flash_words.table_requests(requests))
        == requests.groupby(["library", "mode", "size", "hints"]).ngroups
    )
    assert (
        len(flash_words.table_rates(times)) == times[["library", "mode"]].drop_duplicates().shape[0]
    )
    assert list(flash_words.table_files(frame_of(files()))["document"])[:4] == [
        "about 8", "–", "–", "about 60",
    ]  # fmt: skip
    for style in STYLES:
        with styled(style):
            plt.close(flash_figures.figure_ranks(requests, times))


def test_the_cache_and_the_hint_are_told_as_they_were_counted():
    past, kept = (
        cache_words.cache(rows, rows.assign(chunk_bytes=1024.0))
        for rows in (frame_of(cached(n)) for n in (4097, 5))
    )
    assert "4 ranks each read the same 4 chunks of 128 × 128 doubles, 8 times" in past
    assert "16,388 of 1 to 2 KiB" in past
    assert "for reading and writing the file is read past the chunk cache" in past
    assert "past the chunk cache" not in kept and "used as ever" in kept
    assert "not here" in cache_words.cache(frame_of([]), frame_of([]))
    useful = flash_words.advice(frame_of(flashed()), frame_of(cached()))
    useless = flash_words.advice(frame_of(flashed(hint=163)), frame_of(cached(5)))
    assert "romio_cb_write" in useful and "H5F_ACC_RDONLY" in useful
    assert "leave it as it comes" in useless and "H5F_ACC_RDONLY" not in useless


def test_what_is_missing_is_one_line_with_what_installs_it(monkeypatch):
    monkeypatch.setenv(looking.HIDDEN, "hdf5,pnetcdf")
    seen = frame_of(jobs.here())
    line = here_words.missing(seen)
    assert "\n" not in line and "apt-get install" in line and "PnetCDF (hidden" in line
    assert set(jobs.present(seen)) <= {"mpiio"}
    nothing = frame_of(jobs.here(lambda: Found({}, {})))
    assert here_words.missing(nothing) == ""


def judged(tmp_path, name, rows):
    save(frame_of({**r, "notebook": name, "order": n} for n, r in enumerate(rows)),
         tmp_path / f"{name}.parquet")  # fmt: skip
    wanted = [claim for claim in claims.load() if claim.notebook == name]
    return {item.claim.id: item for item in claims.evaluate(wanted, tmp_path)}


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


def test_the_verdicts_of_flash_can_come_out(tmp_path):
    known = judged(tmp_path, "chilan_flash", [*flashed(), *rates(), *cached()])
    assert known["chilan-flash"].verdict == "holds"
    assert known["chunking-parallel"].verdict == "holds"
    parts = {part.name: part for part in known["chilan-flash"].parts}
    mode = parts["rate, independent and collective"]
    assert mode.verdict == "holds" and mode.reason.startswith("8 ranks, blocks of 16³")
    reason = known["chunking-parallel"].headline.reason
    assert "of a rank where 4 ranks have the file open" in reason
    alike = judged(tmp_path, "chilan_flash", [*flashed(), *rates(independent=1.0)])
    assert {p.name: p for p in alike["chilan-flash"].parts}[mode.name].verdict == "weaker"
    known = judged(tmp_path, "chilan_flash", [*flashed(), *rates(even=2.0), *cached(5)])
    assert known["chilan-flash"].verdict != "holds"
    assert known["chunking-parallel"].verdict != "holds"


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
@needs("hdf5")
def test_counted_rows_are_records(tmp_path, monkeypatch):
    monkeypatch.setenv(looking.HIDDEN, "pnetcdf")
    four = Patterns(tmp_path, 2, 1, 2, 1, 256, 8)
    frame = frame_of(four.requests())
    assert results.requests(frame, "hdf5/interleaved/independent", 2) >= 64
    assert results.requests(frame, "mpiio/interleaved/collective", 2) == 1
    sizes = frame_of(four.sizes())
    assert sizes.groupby("case")["requests"].sum()["mpiio/interleaved/rowwise"] == 64
    flash = Flash(tmp_path, 1, 1, 1, 1)
    reads = frame_of(flash.cache()).set_index(["case", "phase"])["requests"]
    assert reads["parallel", "read"] > reads["serial", "read"]
    assert not list(tmp_path.iterdir())


def test_whatever_is_here_is_found():
    assert find().programs.keys() == FOUND.programs.keys()
