"""The page on local reads: what is read on toys, what is inflated, words and verdicts."""

from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pytest

from hyperslab import claims
from hyperslab.access import chunkindex_layout, reader, readers
from hyperslab.measure.processes import Processes
from hyperslab.measure.records import frame_of, save
from hyperslab.measure.worker import Job
from hyperslab.study.penard import (
    local,
    local_cold_words,
    local_figures,
    local_results,
    local_unpacked,
    local_why_words,
    local_words,
)
from hyperslab.study.penard.local_files import LocalFiles
from hyperslab.study.style import STYLES, styled

CHUNKS = {"cmems": "1x380x1287", "gfs": "1x13x721x1440"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Toys: one frame of each, the temperature on a sixteenth of its grid."""
    made = LocalFiles(
        tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("run"), "smoke", 1, 1
    )
    made.make()
    return made


def seconds(case, equal_codec=1.0, cached=1.0, chunkindex=1.0):
    """How long a read takes: as the document has it, but for what is given."""
    kind, read, way = case.split("/")
    name, _ = local_figures.split(way)
    unit = 0.3 if kind == "cmems" else 4.0
    unit *= 1 if read.startswith("series") else 0.05
    if way.endswith("MB"):
        return unit * (cached if way.endswith("16MB") else 1)
    share = {
        "zarr": 0.1, "nczarr": 0.08, "zarr-deflate": 1 / equal_codec, "subchunk": 0.02,
        "chunkindex": (2 if kind == "cmems" else 0.25) * chunkindex,
        "xarray": 1.2, "xarray-netcdf4": 1.2,
    }  # fmt: skip
    if read == "frame" and name == "chunkindex":
        return unit * 3 * chunkindex
    return unit * share.get(name, 1)


def rows(blocks=7, counted=True, chunks=CHUNKS, states=("warm", "cold"), **changes):
    """Records of all experiments but what is decompressed."""
    for experiment, ways in (("reads", local.WAYS), ("cold", local.WAYS), ("others", local.OTHERS)):
        state = "cold" if experiment == "cold" else "warm"
        if state not in states:
            continue
        for kind, read, way, store in local.every(ways):
            case = way.case(kind, read, store)
            yield from sample(experiment, case, state, blocks, counted, chunks, changes)
    for kind, size in product(local_results.CHUNKS, local.CACHES):
        case = f"{kind}/series/netcdf4-{size}"
        yield from sample("cache", case, "warm", blocks, counted, chunks, changes)
    yield from sample("first", "cmems/frame/xarray-on", "warm", blocks, counted, chunks, changes)


def sample(experiment, case, state, blocks, counted, chunks, changes):
    kind, read, way = case.split("/")
    touched = (12 if kind == "cmems" else 2) if read.startswith("series") else 1
    aa = ("A", "B") if way in ("h5py-on", "netcdf4-16MB", "h5netcdf-on") else ("",)
    for block, label, phase in product(range(blocks), aa, ("open", "read")):
        spent = seconds(case, **changes) * (0.1 if phase == "open" else 0.9)
        yield {
            "run_id": "run-1", "profile": "quick", "notebook": "penard_local", "aa": label,
            "experiment": experiment, "case": case, "cache_state": state, "block": block,
            "order": hash((case, label)) % 1000, "phase": phase, "status": "ok", "verified": True,
            "wall_s": spent, "user_s": spent, "sys_s": 0.0, "chunks": chunks[kind],
            "predicted_reads": touched, "stages": 12 if kind == "cmems" else 2,
            "others_cpu": 0.0, "format": "netcdf4", "codec": "deflate",
            **{name: (1e6 if counted else float("nan")) for name in ("rchar", "syscr")},
        }  # fmt: skip


def unpacked():
    return frame_of(
        {"case": way.case(kind, read, store), "phase": "decompress",
         "predicted_bytes": 0 if way.name == "nczarr" else 54e6}
        for kind, read, way, store in local.every((*local.WAYS, *local.OTHERS))
    )  # fmt: skip


def experiments(**changes):
    frame = frame_of(rows(**changes))
    return dict(iter(frame.groupby("experiment")))


def test_every_library_reads_the_truth_in_a_forked_process(files, tmp_path):
    copies = LocalFiles(files.data, tmp_path, "smoke", 1, 1, source=files.scratch)
    copies.make()
    assert not any(path.is_symlink() for path in tmp_path.iterdir())
    kept = [case for case in local.read_cases(files) if case.name.startswith("gfs/")]
    kept += [case for case in local.cache_cases(files) if case.name.startswith("gfs/")]
    kept += local.other_cases(files) + local.first_cases(files)
    with Processes(local.modules()) as processes:
        for case in (*kept, *local.cold_cases(copies)):
            outcome = processes.run(Job(case, 60.0))
            assert (case.label, outcome.status, outcome.verified) == (case.label, "ok", True)
            assert {"open", "read"} <= {row["phase"] for row in outcome.rows}


def test_cases_are_those_that_the_claims_name(files):
    names = {case.name for case in local.read_cases(files)}
    panels = [f"{kind}/{read}" for kind in ("cmems", "gfs") for read in local.READS]
    for way in ("xarray-netcdf4-on", "netcdf4-on", "xarray-on", "h5py-on", "chunkindex-on", "zarr"):
        assert {f"{panel}/{way}" for panel in panels} <= names
    apart = {case.name for case in local.other_cases(files)} & names
    assert not apart  # each is measured once
    large = LocalFiles(files.data, files.scratch, "quick", 12, 2)
    both = [case.name for case in (*local.read_cases(large), *local.other_cases(large))]
    assert set(both) == {
        way.case(kind, read, store)
        for kind, read, way, store in local.every((*local.WAYS, *local.OTHERS))
        if way.library in readers()
    }


def test_the_full_profile_reads_all_of_it_cold(files):
    large = LocalFiles(files.data, files.scratch, "full", 1, 1)
    warm = [*local.read_cases(large), *local.other_cases(large)]
    cold = local.cold_cases(large)
    assert {case.name for case in cold} == {case.name for case in warm}
    assert len({case.name for case in cold}) == len(cold)
    few = local.cold_cases(LocalFiles(files.data, files.scratch, "quick", 1, 1))
    assert {case.name for case in few} < {case.name for case in local.read_cases(large)}
    assert not any(case.name.endswith("-off") for case in few)


def test_what_was_not_read_cold_is_named():
    found = experiments()
    timed = local_results.times(found["reads"], found["others"], found["cold"])
    words = local_cold_words.left_out(timed)
    assert "hidefix" in words and "without shuffle" not in words
    off = (timed["state"] == "cold") & timed["way"].str.endswith("-off")
    assert "the files without shuffle" in local_cold_words.left_out(timed[~off])
    ocean = (timed["state"] == "warm") | timed["panel"].eq("cmems/frame")
    assert "temperature, series" in local_cold_words.left_out(timed[ocean])
    assert local_cold_words.left_out(timed[timed["state"] == "warm"]) == ""
    lacking = ~timed["way"].isin(set(timed[timed["state"] == "cold"]["way"]))
    assert local_cold_words.left_out(timed[~lacking]) == ""


def test_bytes_inflated_are_those_that_the_documents_reader_inflates(files, monkeypatch):
    inflated = []
    real = chunkindex_layout.inflate_from

    def counting(*arguments, **options):
        found = real(*arguments, **options)
        inflated.append(len(found))
        return found

    monkeypatch.setattr(chunkindex_layout, "inflate_from", counting)
    for name, read in product(files.names, local.READS):
        inflated.clear()
        chosen = files.pixels(name)[0] if read == "series" else files.frame(name)
        with reader("chunkindex_layout").open(files.path(name), files.variable(name)) as opened:
            opened.read(chosen)
        assert local_unpacked.inflated(files, name, read, ours=False) == sum(inflated)
        ours = local_unpacked.inflated(files, name, read, ours=True)
        assert 0 < ours <= 4 * np.prod(files.shapes[name][1:])


def test_uncompressed_chunks_are_not_decompressed(files):
    found = {row["case"]: row["predicted_bytes"] for row in local_unpacked.decompressed(files)}
    assert found["gfs/frame/nczarr"] == 0
    assert found["gfs/frame/zarr"] == found["gfs/series/h5py-on"] == 4 * 13 * 180 * 360


def test_words_and_figures_are_of_the_records():
    found = experiments()
    timed = local_results.times(found["reads"], found["others"], found["cold"])
    counted = local_results.counts(timed, unpacked())
    assert "10× faster from Zarr as the document" in local_words.summary(found["reads"], timed)
    assert local_words.absent(timed) == ""
    lacking = timed[~timed["way"].str.startswith("hidefix")]
    assert local_words.absent(lacking).endswith("read: hidefix.")
    assert "12 of the 72 chunks" in local_words.taken(found["reads"])
    assert "document 0.917" in str(local_words.table_8(timed).to_dict())
    assert "54 MB decompressed" in local_why_words.why(counted, found["reads"])
    assert "Both pass the same 2 MB" in local_why_words.cache(found["cache"], unpacked())
    words = local_why_words.opening(found["reads"], found["first"], timed)
    assert words.count("20 % slower than h5py") == 4
    assert "50× faster than h5py without" in local_words.advice(found["reads"])
    assert local_words.caption_8(timed, found["reads"]) and local_why_words.caption_counts(counted)
    for style, draw in product(
        STYLES,
        (
            partial(local_figures.figure_8, timed),
            partial(local_figures.figure_counts, counted),
            partial(local_figures.figure_opening, timed),
        ),
    ):
        with styled(style):
            plt.close(draw())


def test_page_stands_without_counts_and_without_cold_reads():
    found = experiments(counted=False, states=("warm",), blocks=2)
    timed = local_results.times(found["reads"], found["others"])
    counted = local_results.counts(timed, unpacked())
    assert "nothing could be read cold" in local_words.caption_8(timed, found["reads"])
    assert "read, " not in local_why_words.why(counted, found["reads"]).partition("All")[0]
    assert "Both pass" not in local_why_words.cache(found["cache"], unpacked())
    plt.close(local_figures.figure_counts(counted))
    plt.close(local_figures.figure_8(timed))


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        ({}, {"penard-8a": "holds", "penard-8b": "holds", "penard-8b-why": "refuted",
              "penard-8c": "holds", "penard-xarray": "holds"}),
        ({"cached": 4.0}, {"penard-8b-why": "holds"}),
        ({"chunkindex": 0.1}, {"penard-8c": "refuted"}),
    ],
)  # fmt: skip
def test_verdicts_follow_the_records(tmp_path, changes, verdicts):
    save(frame_of(rows(**changes)), tmp_path / "penard_local.parquet")
    wanted = [claim for claim in claims.load() if claim.notebook == "penard_local"]
    found = {judged.claim.id: judged for judged in claims.evaluate(wanted, tmp_path)}
    assert {name: found[name].verdict for name in verdicts} == verdicts
