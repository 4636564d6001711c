"""The page on netCDF: its cases, what claims need of them, words, figures and verdicts."""

from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import pytest
import yaml

from hyperslab.measure.case import Stopwatch
from hyperslab.measure.records import frame_of, save
from hyperslab.study import claims
from hyperslab.study.jones import (
    baseline,
    chunked,
    model,
    netcdf,
    netcdf_figures,
    netcdf_words,
    plan,
)
from hyperslab.study.jones.plan import size_bytes
from hyperslab.study.profile import root
from hyperslab.study.style import STYLES, styled

SETTINGS = {"file_mib": 64, "chunk_mib": 32, "read_ms": 20, "others": 1}
SIEVE = 2**16


def inputs(folder, profile="quick", **changed):
    return netcdf.Inputs.of(folder, profile, (SETTINGS | changed).__getitem__)


def seconds(reader, pattern, nbytes, state, slow):
    """A made-up time of one read: 1 GB/s, and what each call costs."""
    return nbytes / 1e9 + slow.get(reader, 1e-6) + 20e-6 * (state == "cold")


def rows(found, *, slow=None, asked=1.0, share=0.5, small_faults=32.0):
    """Made-up records of every case of the page."""
    experiments = {
        "patterns": found.pattern_cases(),
        "counts": found.count_cases(),
        "chunk-sizes": found.chunk_cases(),
    }
    slow = {"netcdf4-python": 1e-4, "netcdf4-python-plain": 4e-5} if slow is None else slow
    for experiment, cases in experiments.items():
        for case, block in product(cases, range(1 if experiment == "counts" else 6)):
            if experiment == "chunk-sizes":
                nbytes, reader, pattern = 2**20, "netcdf4-python", "sequential"
            else:
                cell = plan.Cell.named(case.name)
                nbytes, reader, pattern = size_bytes(cell.size), cell.reader, cell.pattern
            hdf5 = reader in (*netcdf.NETCDF, "netcdf4-python-plain", "h5py")
            fetched = max(nbytes, SIEVE) * asked if hdf5 and pattern == "random" else nbytes
            took = seconds(reader, pattern, nbytes, case.cache_state, slow) * (1 + block / 1e4)
            for aa in ("A", "B") if case.aa else ("",):
                yield {
                    "run_id": "run-1", "notebook": "jones_netcdf", "experiment": experiment,
                    "case": case.name, "aa": aa, "block": block, "phase": "read", "status": "ok",
                    "verified": True, "others_cpu": 0.0, "cache_state": case.cache_state,
                    **{k: v for k, v in case.columns.items() if k != "useful_bytes"},
                    "stages": 10, "syscr": 10, "useful_bytes": 10 * nbytes, "rchar": 10 * fetched,
                    "minflt": 10 * (nbytes // 4096 if nbytes >= 2**20 else 0)
                    * (small_faults if netcdf.SMALL_PAGES in case.name else 1),
                    "wall_s": 10 * took, "user_s": 10 * took * share, "sys_s": 0.0,
                }  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    found = inputs(tmp_path_factory.mktemp("made"))
    return partial(rows, found)


def of(frame, experiment):
    return frame[frame["experiment"] == experiment].reset_index(drop=True)


def test_every_case_that_a_claim_names_is_measured(tmp_path):
    found = inputs(tmp_path)
    here = {
        (experiment, case.cache_state): []
        for experiment, cases in (
            ("patterns", found.pattern_cases()), ("chunk-sizes", found.chunk_cases()),
        ) for case in cases
    }  # fmt: skip
    for experiment, cases in (
        ("patterns", found.pattern_cases()),
        ("chunk-sizes", found.chunk_cases()),
    ):
        for case in cases:
            here[experiment, case.cache_state].append(case.name)
    text = (root() / "book" / "claims.yml").read_text(encoding="utf-8")
    mine = [c for c in yaml.safe_load(text)["claims"] if c["notebook"] == "jones_netcdf"]
    wanted = []
    for measure in (part["measure"] for claim in mine for part in claim["parts"]):
        where = measure["where"]
        for side in ("of", "to", "cells"):
            named = measure.get(side, {}).get("case", [])
            for name in [named] if isinstance(named, str) else named:
                wanted.append((where["experiment"], where["cache_state"], name))
    assert len(mine) == 9 and len(wanted) > 25
    for experiment, state, name in wanted:
        head, star, _ = name.partition("*")
        names = here[experiment, state]
        assert any(n == name or (star and n.startswith(head)) for n in names), name


def test_each_state_has_one_pair_and_names_are_unique(tmp_path):
    found = inputs(tmp_path, others=2)
    for cases in (found.pattern_cases(), found.count_cases(), found.chunk_cases()):
        labels = [case.label for case in cases]
        paired = [case.cache_state for case in cases if case.aa]
        assert sorted(paired) == sorted({case.cache_state for case in cases})
        if cases[0].cache_state != "warm":
            assert len(set(labels)) == len(labels)
    assert "hyperslab.study.jones.quarter" in found.modules
    less = inputs(tmp_path, "smoke", file_mib=1, others=0)
    assert len(less.pattern_cases()) < 70 and less.sizes[-1] == "1MiB"


def test_files_in_chunks_are_read_right(tmp_path):
    found = inputs(tmp_path, "smoke", file_mib=1, chunk_mib=1, others=0)
    found.make()
    cases = found.chunk_cases()
    assert [case.name.partition("/")[2] for case in cases] == ["4KiB", "64KiB", "256KiB", "1MiB"]
    for case in (*cases, *found.pattern_cases()[:2]):
        watch = Stopwatch()
        assert case.check(case.run(watch))
        (read,) = [row for row in watch.rows() if row["phase"] == "read"]
        assert read["useful_bytes"] > 0 and read["stages"] >= 1


def test_huge_pages_can_be_kept_away():
    from numpy._core import multiarray

    before = multiarray._get_madvise_hugepage()
    try:
        netcdf.SmallPages()()
        assert not multiarray._get_madvise_hugepage()
    finally:
        multiarray._set_madvise_hugepage(before)


def test_words_follow_the_records_in_either_direction(made):
    def said(**changed):
        frame = frame_of(made(**changed))
        patterns, counts = of(frame, "patterns"), of(frame, "counts")
        table = baseline.rates(patterns)
        counted = baseline.rates(netcdf.all_counts(patterns, counts))
        return " ".join(
            [
                netcdf_words.summary(patterns, table), netcdf_words.method(patterns, table),
                netcdf_words.sieve(counted), netcdf_words.sieve_time(patterns, table),
                netcdf_words.faults(counted, table), netcdf_words.caption_7(),
            ]
        ).replace("\n", " ")  # fmt: skip

    slow = said(share=0.95)
    assert "netCDF4-python 8.5 % slower than netCDF-C" in slow
    assert "limits netCDF4-python's cold reads in buffers of every size" in slow
    assert "faster from memory, over all sizes" in slow
    assert "is among them: it is the sieve buffer" in slow
    assert "so they do not explain it" in slow and "32 and 32 times as many" in slow
    quick = said(slow={"netcdf4-python": 1e-7}, asked=0.5, small_faults=1)
    assert "netCDF4-python 0.084 % faster than netCDF-C" in quick
    assert "in buffers of no size" in quick and "slower from memory, over all sizes" in quick
    assert (
        "is among them" not in quick
        and "Huge pages play no part in numpy.fromfile and netCDF4-python" in quick
    )


def test_tables_and_chunks_are_of_the_records(made):
    frame = frame_of(made())
    counted = baseline.rates(netcdf.all_counts(of(frame, "patterns"), of(frame, "counts")))
    table = netcdf_words.bytes_read(counted).set_index("reader")
    assert table.loc["netCDF-C", "512B"] == "128" and table.loc["C, fread", "512B"] == "1"
    assert table.loc["h5py", "4KiB"] == "16" and "Zarr" not in table.index
    found = chunked.by_chunk(of(frame, "chunk-sizes"))
    assert tuple(found["chunk"]) == chunked.CHUNKS
    words = netcdf_words.chunks(found)
    assert "within 10 % of that are 4KiB, 64KiB, 256KiB, 1MiB, 4MiB and 16MiB" in words
    assert "10" in netcdf_words.caption_chunks(found, frame)
    assert "6 interleaved blocks" in netcdf_words.caption_6(
        baseline.rates(of(frame, "patterns")), frame
    )


def test_figures_are_drawn_in_both_styles(made):
    frame = frame_of(made())
    patterns = of(frame, "patterns")
    table, taken = baseline.rates(patterns), model.samples(patterns)
    predicted = model.rates(taken, model.fit(taken))
    draws = (
        partial(netcdf_figures.figure_6, table),
        partial(netcdf_figures.figure_warm, table, predicted),
        partial(netcdf_figures.figure_7, table),
        partial(netcdf_figures.figure_8, table),
        partial(netcdf_figures.figure_faults, table),
        partial(netcdf_figures.figure_chunks, chunked.by_chunk(of(frame, "chunk-sizes"))),
    )
    for style, draw in product(STYLES, draws):
        with styled(style):
            plt.close(draw())


def judged(frame, folder):
    save(frame, folder / "jones_netcdf.parquet")
    mine = [claim for claim in claims.load() if claim.notebook == "jones_netcdf"]
    return {found.claim.id: found for found in claims.evaluate(mine, folder)}


def test_verdicts_can_come_out_either_way(made, tmp_path):
    slow = judged(frame_of(made(share=0.95)), tmp_path)
    other = judged(
        frame_of(made(slow={"netcdf4-python-plain": 1e-4}, asked=0.5, share=0.2)), tmp_path
    )
    assert not [name for name, found in slow.items() if found.verdict == "not measured"]
    expected = {
        "jones-c": ("holds", "holds"),
        "jones-slow": ("holds", "weaker"),
        "jones-cpu": ("holds", "refuted"),
        "jones-64k": ("holds", "refuted"),
        "jones-64k-why": ("refuted", "holds"),
        "jones-h5": ("refuted", "holds"),
        "jones-mask": ("holds", "reversed"),
    }
    assert {name: (slow[name].verdict, other[name].verdict) for name in expected} == expected
    assert slow["jones-1mib"].verdict != "not measured"
