"""The page on netCDF: its cases, what claims need of them, words, figures and verdicts."""

from dataclasses import replace
from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import yaml

from hyperslab import claims
from hyperslab.measure.case import Stopwatch
from hyperslab.measure.machine import memory_bytes
from hyperslab.measure.records import frame_of, save
from hyperslab.measure.stats import Interval
from hyperslab.study.jones import (
    baseline,
    chunked,
    counts,
    from_device,
    model,
    netcdf,
    netcdf_figures,
    netcdf_why_words,
    netcdf_words,
    plan,
    slow_words,
)
from hyperslab.study.jones.plan import size_bytes
from hyperslab.study.profile import root
from hyperslab.study.style import STYLES, styled

SETTINGS = {"file_mib": 64, "chunk_mib": 32, "read_ms": 20, "others": 1, "other_blocks": 0}
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
                    * (small_faults if counts.SMALL_PAGES in case.name else 1),
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
    found = inputs(tmp_path)
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


def test_what_no_claim_compares_can_do_with_fewer_blocks(tmp_path):
    found = inputs(tmp_path, other_blocks=4).pattern_cases()
    blocks = {case.label: case.most_blocks for case in found}
    assert blocks["netcdf4-python/sequential/4KiB, cold"] == 0
    assert blocks["h5py/sequential/1MiB, cold"] == 0
    assert blocks["netcdf-c/random/512B, warm"] == 7
    assert blocks["h5py/sequential/4KiB, cold"] == blocks["h5netcdf/sequential/64KiB, cold"] == 7
    plain = blocks["netcdf4-python-plain/sequential/4KiB, cold"]
    assert plain == blocks["zarr/sequential/1MiB, warm"] == 4
    assert not any(case.most_blocks for case in found if case.aa)


def test_cold_files_lie_where_they_are_told_and_may_be_larger_than_memory(tmp_path):
    kept = tmp_path / "striped"
    found = netcdf.Inputs.of(
        tmp_path, "paper", (SETTINGS | {"file_mib": 4096}).__getitem__, str(kept)
    )
    assert found.files["cold"].folder == kept and found.files["cold"].nbytes == 2**32
    assert found.files["warm"].nbytes == 2**31 and found.sizes[-1] == "1GiB"
    readers = {(case.name.split("/")[0], case.cache_state) for case in found.pattern_cases()}
    assert ("zarr", "warm") in readers and ("zarr", "cold") not in readers
    assert (
        netcdf.Inputs.of(tmp_path, "paper", (SETTINGS | {"file_mib": 0}).__getitem__)
        .files["cold"]
        .nbytes
        > 2 * memory_bytes()
    )


def test_cold_rates_are_predicted_from_costs_and_what_the_device_takes(made):
    patterns = of(frame_of(made()), "patterns")
    costs = model.fit(model.samples(patterns))
    found = from_device.predicted(model.samples(patterns, "cold"), costs)
    assert set(found["pattern"]) == {"sequential", "strided", "random"}
    assert not {"c-fread"} & set(found["reader"])
    # In these records a cold read takes 20 µs more than a warm one, in every reader.
    on_top, _ = from_device.errors(found)
    assert on_top < 0.05 and (found["hidden"] >= found["on_top"] * (1 - 1e-9)).all()
    near = from_device.between(found)
    assert near >= len(found) - 1
    words = netcdf_words.predicted_6(found)
    assert f"Of {len(found)} cold rates {near} lie in it" in words
    other = found.assign(measured=found["hidden"])
    assert "read-ahead lets the device work" in netcdf_words.predicted_6(other)
    assert from_device.between(other.assign(measured=found["hidden"] * 1.5)) == 0
    assert netcdf_words.predicted_6(found[:0]) == ""


def test_a_device_that_was_slow_is_told_by_equal_counts(made):
    patterns = of(frame_of(made()), "patterns").assign(read_bytes=lambda t: t["useful_bytes"])
    assert slow_words.slow(patterns) == ""
    late = (patterns["block"] == 3) & patterns["case"].str.startswith("netcdf-c/sequential/1MiB")
    slow = patterns.assign(wall_s=patterns["wall_s"] * np.where(late, 5, 1))
    said = slow_words.slow(slow)
    assert "In 1 of 59 kinds" in said and "In 1 of these 1 the two" in said
    assert "the device was slow for a while" in said and "CPU time" not in said
    more = slow.assign(read_bytes=slow["read_bytes"] * np.where(late, 2, 1))
    assert "In 0 of these 1 the two" in slow_words.slow(more)
    memory = slow.assign(sys_s=slow["sys_s"] + np.where(late, 0.8 * slow["wall_s"], 0))
    assert "In 1 of the 1 most of the time" in slow_words.slow(memory)
    assert "the device was slow for a while" not in slow_words.slow(memory)
    large = patterns["case"].str.startswith("c-fread/sequential/64MiB")
    long = patterns.assign(wall_s=patterns["wall_s"] * np.where(large, 9, 1))
    assert "Plain C in buffers of 64 MiB takes" in slow_words.slow(
        long.assign(wall_s=long["wall_s"] * np.where(late, 5, 1))
    )
    assert slow_words.slow(patterns.assign(read_bytes=np.nan)) == ""


def test_huge_pages_can_be_kept_away():
    from numpy._core import multiarray

    before = multiarray._get_madvise_hugepage()
    try:
        counts.SmallPages()()
        assert not multiarray._get_madvise_hugepage()
    finally:
        multiarray._set_madvise_hugepage(before)


def test_words_follow_the_records_in_either_direction(made):
    def said(**changed):
        frame = frame_of(made(**changed))
        patterns, more = of(frame, "patterns"), of(frame, "counts")
        table = baseline.rates(patterns)
        counted = baseline.rates(netcdf.all_counts(patterns, more))
        return " ".join(
            [
                netcdf_words.summary(patterns, table), netcdf_words.method(patterns, table),
                netcdf_why_words.sieve(counted), netcdf_why_words.sieve_time(patterns, table),
                netcdf_why_words.faults(counted, table), netcdf_words.caption_7(),
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
    table = netcdf_why_words.bytes_read(counted).set_index("reader")
    assert table.loc["netCDF-C", "512B"] == "128" and table.loc["C fread", "512B"] == "1"
    assert table.loc["h5py", "4KiB"] == "16" and table.loc["Zarr", "512B"] == "1"
    found = chunked.by_chunk(of(frame, "chunk-sizes"))
    assert tuple(found["chunk"]) == chunked.CHUNKS
    words = netcdf_words.chunks(found, of(frame, "chunk-sizes"))
    assert "is fastest" in words and "are not told apart from it" in words
    assert "In chunks of 4 KiB and 16 MiB a MiB takes 1 and 1 read calls" in words
    assert "each MiB: 1 with the smallest, 1 with" in netcdf_words.caption_chunks(found, frame)
    assert "sample stopped" not in words and "its beginning, 1 MiB at a time" in words
    found.loc[0, "least"] /= 2
    assert "After 10 s of reading a sample stopped" in netcdf_words.chunks(
        found, of(frame, "chunk-sizes")
    )
    rated = baseline.rates(of(frame, "patterns"))
    assert "6 interleaved blocks" in netcdf_words.caption_6(rated, frame)
    assert "95 % intervals over 6" in netcdf_words.caption_warm(rated)
    few = rated.assign(n=3)
    assert "ranges over 3 interleaved blocks" in netcdf_words.caption_warm(few)
    assert "ranges over 3 interleaved blocks" in netcdf_words.caption_patterns(few, frame)


def test_who_is_read_how_is_said_and_all_are_read_where_there_is_time(tmp_path):
    for profile, jumps in (("quick", 2), ("full", 7)):
        found = inputs(tmp_path, profile)
        frame = frame_of({**row, "profile": profile} for row in rows(found))
        part = of(frame, "patterns")
        table = baseline.rates(part)
        cold = table[(table["state"] == "cold") & (table["pattern"] == "random")]
        assert cold["reader"].nunique() == jumps
        said, shown = netcdf_words.method(part, table), netcdf_words.patterns(table)
        assert ("xarray" in shown.get("reader", pd.Series()).tolist()) == (profile == "full")
        assert ("Within the minutes of this profile" in said) == (profile == "quick")
        jumping = said.partition("strided and at random by ")[2].split(".")[0]
        assert jumping.startswith("netCDF-C") and ("h5py" in jumping) == (profile == "full")
        alone = said.partition("From memory alone are read: ")[2].split(". ")[0]
        assert ("xarray" in alone) == (profile == "quick")
    blocks = {c.label: c.most_blocks for c in inputs(tmp_path, "full").pattern_cases()}
    assert blocks["xarray/random/1MiB, cold"] == netcdf.JUMP_BLOCKS
    assert blocks["netcdf4-python/random/1MiB, cold"] == 0
    cold = {"cold": inputs(tmp_path).files["cold"]}
    large = {"cold": replace(cold["cold"], values=2**40)}
    names = {c.name for c in netcdf.pattern_cases(large, plan.BUFFERS["paper"], 0.1)}
    assert "h5py/strided/4KiB" in names and "zarr/strided/4KiB" not in names


def test_zarr_that_jumps_is_not_predicted_from_reads_of_less():
    costs = [
        model.Costs(name, *[Interval(ns, ns, ns, 7) for ns in (1e3, 1e2, 0.0)])
        for name in ("netcdf-c", "zarr", "h5py")
    ]
    kinds = product(("netcdf-c", "zarr", "h5py"), ("sequential", "random"))
    taken = pd.DataFrame(
        {"reader": reader, "pattern": pattern, "size": "4KiB", "nbytes": 4096, "block": 0,
         "calls": 1 / 4096, "kB": 1e-3, "faults": 0.0, "seconds": 1e-8}
        for reader, pattern in kinds
    )  # fmt: skip
    found = from_device.predicted(taken, costs)
    assert set(found.loc[found["pattern"] == "random", "reader"]) == {"h5py"}


def test_figures_are_drawn_in_both_styles(made):
    frame = frame_of(made())
    patterns = of(frame, "patterns")
    table, taken = baseline.rates(patterns), model.samples(patterns)
    costs = model.fit(taken)
    predicted = model.rates(taken, costs)
    cold = from_device.predicted(model.samples(patterns, "cold"), costs)
    draws = (
        partial(netcdf_figures.figure_6, table, cold),
        partial(netcdf_figures.figure_6, table, cold[:0]),
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
