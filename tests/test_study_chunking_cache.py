"""The page on the chunk cache: the library asked, small sweeps counted, sentences from records."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.io.work import NAME
from hyperslab.measure.records import frame_of, save
from hyperslab.measure.worker import Job, perform
from hyperslab.storage.chunk_cache import RULES, ChunkCache
from hyperslab.study import claims
from hyperslab.study.chunking import (
    cache,
    cache_figures,
    cache_words,
    edges,
    gap_words,
    remedies_words,
    sweep_costs,
    sweeps,
)
from hyperslab.study.chunking.remedies import ANEW, LIBRARIES, REMEDIES
from hyperslab.study.chunking.wide import Arrays, Wide, arrays, make_file, stored_chunk_bytes
from hyperslab.study.style import STYLES, styled

MIB = 2**20
STORED = 25_000  # bytes of a chunk as stored, in made-up records


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """What the library says, and what is counted, as the notebook keeps it."""
    folder = tmp_path_factory.mktemp("asked")
    granted = frame_of({"run_id": "r", "status": "ok"} | row for row in cache.granted(folder))
    found = {
        "granted": granted,
        "modelled": frame_of(cache.modelled(granted)),
        "own": frame_of(cache.granted(folder, cache.OWN_BYTES)),
        "edges": frame_of({"status": "ok"} | row for row in edges.edges(folder)),
        "slots": frame_of({"status": "ok"} | row for row in edges.slots(folder)),
    }
    assert not list(folder.iterdir())
    return found


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Arrays of the page in small, beyond only the default cache of h5py."""
    made = Arrays(
        tmp_path_factory.mktemp("arrays"),
        Wide(256, 4),
        (Wide(256, 2),),
        Wide(8448, 1),
        Wide(512, 4),
    )
    made.make()
    return made


def swept(experiment, found, blocks=7, counted=True):
    """Records of sweeps, of: milliseconds, chunks fetched, KiB of a chunk, cache and library."""
    for number, (case, (ms, fetched, kib, nbytes, library)) in enumerate(found.items()):
        for block in range(blocks):
            for aa in ("A", "B") if case in ("64MB", "fitting") else ("",):
                yield {
                    "run_id": "run-1", "profile": "quick", "notebook": "chunking_cache",
                    "experiment": experiment, "case": case, "aa": aa, "cache_state": "warm",
                    "phase": "read", "block": block, "order": 2 * number + (aa == "B"),
                    "status": "ok", "wall_s": ms / 1000 * (1 + block / 1000), "others_cpu": 0.0,
                    "user_s": ms / 1000, "chunks": f"32x{8 * kib}", "pattern": "3 rows",
                    "library": library, "predicted_reads": fetched, "cache_bytes": nbytes,
                    "chunk_bytes": STORED, "useful_bytes": 1.0,
                    "rchar": fetched * STORED + 900 if counted else float("nan"),
                }  # fmt: skip


def page(slower=10.0, counted=True, reopens=True):
    """All sweeps of the page; a fetched chunk takes a millisecond, or what makes it slower."""
    by_cache = {
        f"{mib:g}MB": (slower * 10 if mib < 4 else 10, 512 if mib < 4 else 16, 256, mib * MIB, "n")
        for mib in sweeps.SWEPT_MIB
    }
    by_size = {}
    for kib in (256, 65536):
        by_size[f"default/{kib / 1024:g} MiB"] = (slower, 6 if kib > 256 else 2, kib, 64 * MIB, "n")
        by_size[f"fitting/{kib / 1024:g} MiB"] = (1, 2, kib, 2048 * kib, "n")
    in_gap = {
        "default": (3 * slower, 3, 65792, 64 * MIB, "n"),
        "fitting": (10, 1, 65792, 65792 * 1024, "n"),
        "as 4.6.2": (5, 4, 12288, 64 * MIB, "n"),
        "as 4.7.4": (slower, 12, 12288, 16 * MIB, "n"),
        "as 4.9.3": (5, 4, 12288, 64 * MIB, "n"),
    }
    by_remedy = {}
    for library in LIBRARIES:
        lost = reopens and "h5netcdf" in library
        by_remedy[f"small/{library}"] = (1, 6 if lost else 2, 256, 8 * MIB, library)
        by_remedy[f"{library}/default"] = (3 * slower, 3, 65792, 8 * MIB, library)
    for remedy in REMEDIES:
        kept = remedy.kept or (not reopens and remedy.name != ANEW)
        found = (10, 1) if kept else (3 * slower, 3)
        by_remedy[f"{remedy.library}/{remedy.name}"] = (*found, 65792, 128 * MIB, remedy.library)
    parts = {"row-sweep": by_cache, "chunk-sizes": by_size, "gap": in_gap, "remedies": by_remedy}
    return {name: frame_of(swept(name, found, counted=counted)) for name, found in parts.items()}


def test_the_library_grants_what_the_rule_of_its_build_says(asked):
    for name in ("modelled", "own"):
        assert (asked[name]["cache_bytes"] == asked[name]["predicted_bytes"]).all(), name
    sizes = asked["granted"]["useful_bytes"]
    assert sizes.min() == 250_000 and sizes.max() == 100_000_000
    assert cache.build_rule() in RULES.values()


def test_another_default_is_put_back():
    before = cache.library_cache("netcdf4")
    with pytest.raises(KeyError), cache.default_cache(MIB):
        assert cache.library_cache("netcdf4").nbytes == MIB
        raise KeyError
    with cache.default_cache(None):
        assert cache.library_cache("netcdf4") == before
    assert cache.library_cache("netcdf4") == before


def test_the_default_cache_ends_where_the_model_says(asked):
    found = asked["edges"]
    assert (found["useful_bytes"] == found["predicted_bytes"]).all()
    assert found["syscr"].tolist() == [0, 1, 0, 10]
    assert (asked["slots"]["syscr"] == asked["slots"]["predicted_reads"]).all()
    assert set(cache_words.table_edges(found)["model"]) == {"the same"}


@given(st.integers(1, 999), st.integers(-5, 1005))
def test_the_edge_is_found_whatever_is_guessed(edge, guess):
    asked = []

    def stays(size):
        asked.append(size)
        return size <= edge

    assert edges.last_staying(stays, 1, 1000, guess) == edge
    assert len(asked) == len(set(asked)) <= 14


def test_without_counts_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(edges, "COUNTS", tmp_path / "nothing")
    ends, slots = (frame_of(make(tmp_path)) for make in (edges.edges, edges.slots))
    assert ends["status"][0].startswith("no ") and slots["status"][0].startswith("no ")
    assert cache_words.table_edges(ends).empty and cache_words.slots(slots) == ""
    cost = sweep_costs.counted(page()["remedies"])
    assert "netCDF-C here" not in remedies_words.advice(cost, ends)


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 40))
def test_rows_are_the_first_of_a_larger_array(steps, across, rows):
    array = Wide(256 * steps, across, 64)
    values = array.values(rows)
    assert values.shape == (rows, array.shape[1])
    assert np.array_equal(values, array.values()[:rows])
    assert array.row_bytes * 64 == 32 * array.values().nbytes
    assert array.fetched(rows, ChunkCache(array.row_bytes)) == across * -(-rows // 32)
    assert array.fetched(rows, ChunkCache(array.row_bytes), kept=False) == across * rows


def test_files_hold_the_values(tmp_path):
    import netCDF4

    array = Wide(256, 3, 64)
    make_file(array, tmp_path / "new" / "a.nc")
    with netCDF4.Dataset(tmp_path / "new" / "a.nc") as file:
        assert np.array_equal(file[NAME][:].data, array.values())
        assert tuple(file[NAME].chunking()) == array.chunks
    assert 10_000 < stored_chunk_bytes(tmp_path / "new" / "a.nc") < 256 * 1024 / 5


def test_arrays_lie_beyond_what_the_build_grants(tmp_path):
    most = cache.build_rule().most_bytes
    made = arrays(tmp_path, 16, 96, most)
    assert most < made.beyond.row_bytes <= most + 2**18
    assert [array.chunk_kib for array in made.sizes][::4] == [256, 97792]
    short = RULES["4.7.4"].short()
    assert short[0] <= made.within.chunk_kib * 1024 <= short[1]
    everything = {made.small, *made.sizes, made.beyond, made.within}
    assert len({made.path(array) for array in everything}) == len(everything)


def test_sweeps_fetch_the_chunks_that_were_predicted(small):
    made = {
        "row-sweep": sweeps.row_sweep(small, 32),
        "chunk-sizes": sweeps.fitting_pairs(small, 3),
        "gap": sweeps.gap(small, 3),
        "remedies": sweeps.remedied(small, 3),
    }
    for experiment, cases in made.items():
        assert len({case.name for case in cases}) == len(cases)
        rows = []
        for case in cases:
            outcome = perform(Job(case))
            assert outcome.status == "ok" and outcome.verified, (case.name, outcome.status)
            common = {"case": case.name, "status": "ok", "block": 0}
            rows += [common | dict(case.columns) | row for row in outcome.rows]
        cost = sweep_costs.counted(frame_of(rows))
        agree = cost["fetched"].isna() | (cost["fetched"] == cost["predicted"])
        assert agree.all(), (experiment, cost[~agree][["case", "fetched", "predicted"]])
    fetched = dict(zip(cost["case"], cost["predicted"], strict=True))
    assert fetched["h5py/default"] == 3 and fetched["h5py/rdcc_nbytes"] == 1


@pytest.mark.parametrize("remedy", REMEDIES, ids=lambda remedy: f"{remedy.library}-{remedy.name}")
def test_the_line_a_user_is_given_runs(remedy, small, monkeypatch):
    import h5netcdf
    import h5py
    import netCDF4
    import xarray as xr

    path, before = small.path(small.sizes[0]), netCDF4.get_chunk_cache()
    names = {"path": path, "n": MIB, "i": 0, "h5py": h5py, "netCDF4": netCDF4, "xr": xr}
    names["h5netcdf"] = h5netcdf
    code = remedy.code.replace('"t"', f'"{NAME}"')
    if code.startswith("driver_kwds"):
        code = f"xr.open_dataset(path, engine='h5netcdf', phony_dims='access', {code}).close()"
    with netCDF4.Dataset(path) as nc, h5py.File(path) as f:
        try:
            exec(code, names | {"nc": nc, "f": f})
            if "set_var_chunk_cache" in code:
                assert nc[NAME].get_var_chunk_cache()[0] == MIB
            if "set_chunk_cache" in code:
                assert netCDF4.get_chunk_cache()[0] == MIB
        finally:
            netCDF4.set_chunk_cache(*before)


@pytest.mark.parametrize(("slower", "said"), [(10.0, "10× slower"), (0.5, "2× faster")])
def test_directions_come_from_the_records(asked, slower, said):
    records = page(slower)
    cost = sweep_costs.counted(records["row-sweep"])
    text = cache_words.summary(
        asked["granted"], asked["modelled"], asked["edges"], records["row-sweep"], cost
    )
    assert said in text and "5 of 5 sweeps" in text
    assert "less than the document promises in 0 of them" in text
    other = asked["granted"].copy()
    other.loc[0, "cache_bytes"] = 1.0
    cost.loc[0, "fetched"] += 1
    text = cache_words.summary(other, asked["modelled"], asked["edges"], records["row-sweep"], cost)
    assert "got 1 to 67,108,864 bytes" in text and "promises in 1 of them" in text
    assert "4 of 5 sweeps" in text
    assert f"{3 * slower / 10:.1f} [" in gap_words.beyond(
        sweep_costs.counted(records["gap"]), records["gap"]
    )


def test_the_page_tells_what_too_small_a_cache_costs():
    cost = sweep_costs.counted(page()["row-sweep"])
    assert sweep_costs.row_bytes(cost) == 4 * MIB
    text = cache_words.why(cost)
    assert "saves nothing" in text and "a chunk costs 0.18 ms" in text
    cost.loc[cost["case"] == "2MB", "fetched"] = 100
    assert "100 to 512 chunks" in cache_words.why(cost)
    assert cache_words.why(sweep_costs.counted(page(counted=False)["row-sweep"])) == ""


@pytest.mark.parametrize("reopens", [True, False])
def test_only_what_helped_is_advised(asked, reopens):
    cost = sweep_costs.counted(page(reopens=reopens)["remedies"])
    table = remedies_words.table_remedies(cost)
    assert (table["helps"] == "no").sum() == (2 if reopens else 0)
    text = remedies_words.advice(cost, asked["edges"])
    assert ("h5netcdf.File(path" not in text) == reopens
    assert text.count("set_chunk_cache(n)") == 1
    assert ("does not last" in remedies_words.reopened(cost)) == reopens
    assert remedies_words.reopened(cost[~cost["case"].str.startswith("small/")]) == ""


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("counted", [True, False])
def test_the_page_draws_whatever_was_measured(asked, style, counted):
    records = page(counted=counted)
    cost = {name: sweep_costs.counted(frame) for name, frame in records.items()}
    with styled(style):
        for draw in (
            partial(cache_figures.figure_granted, asked["granted"]),
            partial(cache_figures.figure_sweep, cost["row-sweep"]),
            partial(cache_figures.figure_sizes, cost["chunk-sizes"], 64.0 * MIB),
        ):
            figure = draw()
            figure.canvas.draw()
            assert all(axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes)
            plt.close(figure)
    assert len(gap_words.table_gap(cost["gap"])) == len(RULES)
    assert "419,431 to 4,194,304" in gap_words.gap()
    assert "3 of 3 sizes" in cache_words.own_default(asked["own"])
    assert "8 of 8 cases" in cache_words.slots(asked["slots"])
    assert cache_words.caption_granted(asked["granted"]) and cache_words.caption_edges()
    assert "12 MiB" in gap_words.caption_gap(cost["gap"], records["gap"])
    assert "256 KiB" in cache_words.caption_sweep(cost["row-sweep"], records["row-sweep"])
    assert "0.25 to 64" in cache_words.caption_sizes(cost["chunk-sizes"], records["chunk-sizes"])
    caption = remedies_words.caption_remedies(cost["remedies"], records["remedies"])
    assert ("(counted)" in caption) == counted
    assert len(remedies_words.table_remedies(cost["remedies"])) == len(REMEDIES) - 1


@pytest.mark.parametrize(("slower", "verdict"), [(10.0, "refuted"), (10 / 3, "holds")])
def test_the_claims_find_their_cases(asked, tmp_path, slower, verdict):
    granted = asked["granted"].assign(
        experiment="granted", run_id="run-1", profile="quick", block=0
    )
    rows = [row for frame in page(slower).values() for row in frame.to_dict("records")]
    save(frame_of([*rows, *granted.to_dict("records")]), tmp_path / "chunking_cache.parquet")
    chosen = [claim for claim in claims.load() if claim.id.startswith("chunking-cache")]
    judged = {j.claim.id: j for j in claims.evaluate(chosen, tmp_path)}
    parts = {part.name: part.verdict for j in judged.values() for part in j.parts}
    assert parts["row by row"] == parts["bytes read"] == "holds"
    assert parts["cache granted"] == "obsolete"
    assert parts["time in the gap"] == verdict
    assert parts["in the gap of 4.7.4"] == "refuted"
