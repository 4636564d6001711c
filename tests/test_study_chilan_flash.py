"""The page on the FLASH checkpoint: words, figures and verdicts, and real jobs of two ranks."""

import matplotlib.pyplot as plt
import pytest
from made_chilan import SOME, cached, files, flashed, in_sizes, judged, rates
from made_parallel import needs

from hyperslab.measure.records import frame_of
from hyperslab.parallel import FILES
from hyperslab.parallel.found import HIDDEN
from hyperslab.study.chilan import (
    cache_words,
    flash_figures,
    flash_rates_words,
    flash_words,
    results,
)
from hyperslab.study.chilan.flash import Flash
from hyperslab.study.style import STYLES, styled


def test_what_sets_the_libraries_apart_is_told_as_far_as_it_was_seen():
    sizes = in_sizes(frame_of(flashed()))

    def said(**more):
        return flash_rates_words.apart(frame_of(rates(**more)), sizes)

    assert "as many requests, of the same sizes" in said()
    assert "So turning them is what sets the two apart" in said(even=0.8, turned=1.25)
    assert "not explained here" in said(even=0.5, turned=1.25)
    assert "So turning them" not in said(even=1.25, turned=1.25)  # PnetCDF turns, and is faster
    tail = said(even=1.0, turned=1.0)
    assert "explained" not in tail and "sets the two apart." in tail[:40]
    other = sizes.assign(requests=sizes["requests"] + (sizes["library"] == "hdf5"))
    assert "another number" in flash_rates_words.apart(frame_of(rates()), other)
    alone = frame_of(r for r in rates() if r["library"] == "hdf5")
    assert (
        flash_rates_words.apart(alone, sizes) == flash_rates_words.apart(frame_of([]), sizes) == ""
    )


def test_the_requests_of_flash_are_told_by_phase_and_size():
    requests = frame_of(flashed())
    said = flash_words.why(requests, in_sizes(requests))
    assert "for 30 datasets. By phase and size: 283 in the write (283 of 256 to 512 KiB)" in said
    assert "HDF5 without the 6 datasets of the tree of blocks, 4 ranks" in said
    assert "Of the 32 that are gone 24 are a request of each rank" in said
    alone = requests[requests["ranks"] == 8]
    assert "more for each rank" not in flash_words.why(alone, frame_of([]))


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
        == requests[requests["pattern"] == "checkpoint"]
        .groupby(["library", "mode", "size", "hints"])
        .ngroups
    )
    assert (
        len(flash_rates_words.table_rates(times))
        == times[["library", "mode"]].drop_duplicates().shape[0]
    )
    table = flash_words.table_files(frame_of(files()))
    assert list(table["document"])[::2] == list(table["document"])[1::2]
    assert list(table["document"])[::2][:4] == ["about 8", "–", "–", "about 60"]
    assert list(table["library"])[:2] == ["HDF5", "PnetCDF"]
    for style in STYLES:
        with styled(style):
            plt.close(flash_figures.figure_ranks(requests, times))


def test_the_rates_stand_beside_the_best_of_three():
    def shown(blocks, ranks=(1, 2, 8)):
        rows = [r for r in rates() if r["block"] < blocks and r["ranks"] in ranks]
        times = results.timed(frame_of(r for r in rows if r["library"] == "hdf5"))
        table = flash_rates_words.table_rates(times).set_index("mode")
        return table.loc["collective"], flash_rates_words.caption_rates(times)

    table, caption = shown(6)
    assert table.iloc[-1] == "800 / 800 / 800 MB/s" and table["1 rank"].startswith("798 [")
    assert table.index[-1] == "best of three of 1 / 2 / 8 ranks"
    assert "medians with 95 % intervals over 6 interleaved blocks. Best of three" in caption
    few = frame_of(r for r in rates() if r["mode"] == "collective" or not r["block"])
    table = flash_rates_words.table_rates(results.timed(few)).groupby("mode")[table.index[-1]]
    assert set(table.get_group("independent")) == {"–"}
    assert table.get_group("collective").str.endswith(" MB/s").all()
    table, caption = shown(2)
    assert table.index[-1] == "8 ranks" and "est of three" not in caption
    assert "ranges over 2 interleaved blocks, too few for an interval" in caption
    assert flash_rates_words.caption_rates(results.timed(frame_of([]))) == ""


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
    turned = judged(tmp_path, "chilan_flash", [*flashed(), *rates(even=0.75, turned=4 / 3)])
    parts = {part.name: part for part in turned["chilan-flash"].parts}
    assert parts["rate, collective"].verdict == turned["chilan-flash"].verdict == "refuted"
    assert parts["rate, collective, nothing to turn"].verdict == "holds"
    same = flash_words.summary(frame_of(flashed()), frame_of(rates(even=0.75)))
    assert "HDF5 is 33 % faster than PnetCDF" in same  # the page's number is the verdict's
    assert "HDF5 against PnetCDF 33 % faster" in parts["rate, collective"].reason
    known = judged(tmp_path, "chilan_flash", [*flashed(), *rates(even=2.0), *cached(5)])
    assert known["chilan-flash"].verdict != "holds"
    assert known["chunking-parallel"].verdict != "holds"


@needs("hdf5")
@needs("pnetcdf")
def test_what_a_claim_compares_is_timed_in_all_blocks(tmp_path):
    tasks = Flash(tmp_path, 16, 80, 10).checkpoint_tasks(16, other_blocks=1)
    kept = {(task.case, task.job.plan.ranks) for task in tasks if not task.most_blocks}
    compared = {"hdf5/independent/16", "hdf5/collective/16"}
    both = {"hdf5/collective/16", "pnetcdf/collective/16", "pnetcdf/collective/16 as bytes"}
    assert kept >= {(case, 8) for case in compared} | {(case, 2) for case in both}
    assert sum("as bytes" in task.case for task in tasks) == 1
    (turned,) = (task for task in tasks if "as bytes" in task.case)
    same = next(t for t in tasks if t.case == "pnetcdf/collective/16" and t.job.plan.ranks == 2)
    assert turned.job.plan.nbytes == same.job.plan.nbytes

    alone = {(t.job.mode, t.job.plan.ranks) for t in tasks if t.case == "pnetcdf/independent/16"}
    assert alone == {("independent", ranks) for ranks in (1, 2, 4, 8, 16)}
    assert all(t.most_blocks == 1 for t in tasks if t.case == "pnetcdf/independent/16")


@needs("hdf5")
@needs("pnetcdf")
def test_each_file_is_written_by_each_library_and_read_back(tmp_path):
    rows = frame_of(Flash(tmp_path, 2, 1, 1, 1).files())
    assert list(rows["library"]) == ["hdf5", "pnetcdf"] * 3
    assert list(rows["pattern"]) == [name for name in FILES for _ in range(2)]
    assert rows["case"].is_unique and (rows["requests"] >= rows["stages"]).all()
    for _, both in rows.groupby("pattern"):
        assert both["useful_bytes"].nunique() == both["chunk_bytes"].nunique() == 1
    assert not list(tmp_path.iterdir())


@needs("mpiio")
def test_the_files_are_written_by_mpi_io_where_nothing_else_is_here(tmp_path, monkeypatch):
    monkeypatch.setenv(HIDDEN, "hdf5,pnetcdf")
    rows = frame_of(Flash(tmp_path, 2, 1, 1, 1).files())
    assert list(rows["library"]) == ["mpiio"] * 3 and list(rows["requests"]) == [120, 16, 16]


@needs("hdf5")
def test_chunks_are_read_again_by_several_ranks(tmp_path):
    flash = Flash(tmp_path, 2, 1, 1, 1)
    rows, sizes = frame_of(flash.cache()), frame_of(flash.cache_sizes())
    reads = rows[rows["phase"] == "read"].set_index("case")
    assert list(reads["ranks"]) == [1, 2, 2]
    assert reads["stages"]["parallel"] > reads["stages"]["serial"] > 0
    summed = sizes[sizes["phase"] == "read"].groupby("case")["requests"].sum()
    assert summed.to_dict() == reads["requests"].to_dict()
    assert not list(tmp_path.iterdir())
