"""The page on many small hyperslabs: tiny samples, exact counts, and sentences from records."""

from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_gen import arrays
from hyperslab.kernels import KernelError
from hyperslab.measure.records import frame_of, save
from hyperslab.measure.worker import Job, perform
from hyperslab.study import claims
from hyperslab.study.lee import (
    hyperslabs,
    hyperslabs_counts,
    hyperslabs_figures,
    hyperslabs_rates,
    hyperslabs_why_words,
    hyperslabs_words,
    numbered,
    strided,
    strided_words,
)
from hyperslab.study.lee.hyperslabs_blocks import Blocks, HoldsNumbered, Lasts, Numbered
from hyperslab.study.profile import entry
from hyperslab.study.style import STYLES, styled

SIDE, BYTES = 3162, 4.0 * 3162**2
# Seconds of everything and of its rows, by way.
SECONDS = {
    "c": (0.005, 0.020), "hdf5-c": (0.005, 0.010), "hdf5-c-made": (0.005, 0.018),
    "hdf5-c-nosieve": (0.005, 0.009), "c-nofill": (0.005, 0.018), "python": (0.010, 0.250),
    "python-plain": (0.010, 0.120), "h5py": (0.010, 0.030),
}  # fmt: skip
OPENED = {"dataspaces": 2, "property lists": 1, "datatypes": 0, "datasets": 0, "functions": 50}


def made(experiment, cases, blocks=7):
    """Records of cases, each with its phases and their columns."""
    for case, phases in cases:
        pair = ("A", "B") if case == "c/contiguous/rows" else ("",)
        for block, aa in product(range(blocks), pair):
            for phase, columns in phases:
                yield {
                    "run_id": "run-1", "profile": "quick", "notebook": "lee_hyperslabs",
                    "experiment": experiment, "case": case, "aa": aa, "block": block,
                    "phase": phase, "status": "ok", "user_s": 0.01, "sys_s": 0.0, "minflt": 10.0,
                    "others_cpu": 0.0, **columns,
                }  # fmt: skip


def counted_columns(counted, **columns):
    return {k: float(v) if counted else float("nan") for k, v in columns.items()}


def whole(experiment, in_c=True, counted=True, scale=1.0):
    """One call and rows of every way and layout; ``scale`` is on the time of the rows."""
    chosen = {
        "read": [w for w in SECONDS if w != "c-nofill"],
        "write": ["c", "hdf5-c", "c-nofill", "python", "h5py"],
    }[experiment]
    for way in chosen:
        if hyperslabs.WAYS[way].in_c and not in_c:
            continue
        for layout in ("contiguous", "chunked"):
            for mode, seconds in zip(("one", "rows"), SECONDS[way], strict=True):
                seconds *= scale if mode == "rows" else 1
                columns = {"wall_s": seconds, "useful_bytes": BYTES, "cache_state": "warm"}
                columns["cache_bytes"] = 2.0**26 if way in ("c", "python") else 2.0**20
                columns |= counted_columns(counted, syscr=633, rchar=41e6, syscw=670, wchar=81e6)
                phases = [(experiment, columns)]
                if experiment == "write":
                    close = {"wall_s": 0.001} | counted_columns(counted, wchar=4e7)
                    phases.append(("close", close))
                yield f"{way}/{layout}/{mode}", phases


def swept(in_c=True, cost_us=40.0):
    """A sweep in which a call costs so much, and its bytes 5 GB/s."""
    for way in hyperslabs.SWEPT:
        if in_c or not hyperslabs.WAYS[way].in_c:
            phases = []
            for size in hyperslabs.swept(SIDE):
                calls, each = len(size.starts()), 4.0 * np.prod(size.count)
                seconds = calls * (1e-6 * cost_us + each / 5e9)
                columns = {"wall_s": seconds, "useful_bytes": calls * each, "stages": calls}
                phases.append(("read", columns))
            yield way, phases


def stepping(in_c=True, counted=True, slow=0.3):
    for layout, ways in (("contiguous", strided.STRIDED), ("chunked", strided.CHUNKED)):
        for way in ways:
            if hyperslabs.WAYS[way].in_c and not in_c:
                continue
            phases = []
            for pattern in strided.PATTERNS:
                columns = {"wall_s": slow if way == "python-pieces" else 0.002, "pattern": pattern}
                columns |= {"useful_bytes": 1e6, "cache_bytes": 2.0**20}
                columns |= counted_columns(counted, syscr=120 if way != "h5py" else 1000, rchar=8e6)
                phases.append(("read", columns))
            yield f"{way}/{layout}", phases


def piece_rows(library_version="1.7.4 (netCDF-C 4.9.3)"):
    for pattern in strided.PATTERNS:
        for way, calls in (("python-plain", 1), ("python-pieces", 25281)):
            for phase in ("read", "write"):
                yield {
                    "case": way, "pattern": pattern, "phase": phase, "stages": calls,
                    "library_version": library_version,
                }  # fmt: skip


def opened_rows(in_c=True):
    for way in ("c", "python", "python-plain", "h5py"):
        for phase in ("read", "write"):
            for kind, number in OPENED.items():
                if in_c or way != "c":
                    yield {"case": way, "phase": phase, "pattern": kind, "stages": number}


def page(in_c=True, counted=True, scale=1.0):
    return {
        "read": frame_of(made("read", whole("read", in_c, counted, scale))),
        "written": frame_of(made("write", whole("write", in_c, counted, scale))),
        "calls": frame_of(made("calls", swept(in_c))),
        "steps": frame_of(made("strided", stepping(in_c, counted))),
        "pieces": frame_of(piece_rows()),
        "opened": frame_of(opened_rows(in_c)),
    }


@pytest.fixture
def without_c(monkeypatch):
    def none():
        raise KernelError("no compiler: apt install gcc")

    monkeypatch.setattr(hyperslabs, "kernel", none)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    hyperslabs.make_files(20, partial(arrays.values, (20, 20)), folder)
    return folder


@given(st.tuples(st.integers(1, 12), st.integers(1, 12)), st.data())
def test_blocks_are_what_a_user_writes(shape, data):
    high = data.draw(st.integers(1, shape[0]))
    wide = shape[1] if high > 1 else data.draw(st.integers(1, shape[1]))
    most = data.draw(st.none() | st.integers(1, 200))
    blocks, array = Blocks(shape, (high, wide), most), np.arange(np.prod(shape)).reshape(shape)
    starts, indices = blocks.starts(), blocks.indices()
    assert len(starts) == len(indices) == min(most or 200, (shape[0] // high) * (shape[1] // wide))
    for (row, column), index in zip(starts, indices, strict=True):
        taken = array[row : row + high, column : column + wide]
        assert np.array_equal(np.reshape(array[index], taken.shape), taken)
    assert Lasts([blocks])().tolist() == taken[-1].tolist()


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_one_wrong_value_is_noticed(rows, columns, data):
    array = np.arange(rows * columns, dtype="i4").reshape(rows, columns)
    check = Numbered(array.shape)
    assert check(array) and check(np.ma.masked_array(array))
    assert not check(array[:-1]) and not check(None)
    array[data.draw(st.integers(0, rows - 1)), data.draw(st.integers(0, columns - 1))] += 1
    assert not check(array)


def test_large_arrays_are_compared_to_their_end(monkeypatch):
    monkeypatch.setattr(numbered, "_PIECE", 7)
    array = np.arange(60).reshape(4, 15)
    assert Numbered((4, 15))(array)
    array[3, 14] = 0
    assert not Numbered((4, 15))(array)


def test_samples_of_every_way_hold_the_array(files, tmp_path):
    values = partial(arrays.values, (20, 20))
    reads = hyperslabs.read_cases(20, files)
    writes = hyperslabs.write_cases(20, values, tmp_path)
    for case in reads + writes:
        outcome = perform(Job(case))
        assert outcome.status == "ok", (case.label, outcome.status)
        found = {row["phase"]: row for row in outcome.rows}
        moved = found["read" if case.cache_state else "write"]
        assert moved["useful_bytes"] == 1600 and moved["wall_s"] > 0
        assert moved["cache_bytes"] > 0
    for marked in (reads, writes):
        assert [case.name for case in marked if case.aa] == ["c/contiguous/rows"]
    assert not list(tmp_path.iterdir())


def test_sweeps_and_strided_samples_read_what_they_say(files):
    cases = hyperslabs.sweep_cases(20, files)
    cases += strided.cases(20, partial(arrays.values, (20, 20)), files)
    for case in cases:
        outcome = perform(Job(case))
        assert outcome.status == "ok", (case.label, outcome.status)
    sizes = hyperslabs.swept(20)
    rows = [row for row in perform(Job(cases[0])).rows if row["phase"] == "read"]
    assert [row["stages"] for row in rows] == [len(size.starts()) for size in sizes]
    assert rows[-1]["useful_bytes"] == 1600 and sizes[-1].count == (20, 20)


def test_what_is_wrong_in_a_file_is_noticed(files, tmp_path):
    hyperslabs.make_files(20, partial(np.zeros, (20, 20), "i4"), tmp_path)
    assert HoldsNumbered(files / "chunked.nc", "h5py", (20, 20))(None)
    assert not HoldsNumbered(tmp_path / "chunked.nc", "h5py", (20, 20))(None)
    assert "wrong values" in perform(Job(hyperslabs.read_cases(20, tmp_path)[0])).status


@pytest.mark.usefixtures("without_c")
def test_without_a_compiler_python_is_measured(files, tmp_path):
    assert hyperslabs.missing() == "no compiler: apt install gcc"
    values = partial(arrays.values, (20, 20))
    for cases, pairs in (
        (hyperslabs.read_cases(20, files), 1),
        (hyperslabs.write_cases(20, values, tmp_path), 1),
        (hyperslabs.sweep_cases(20, files), 0),
        (strided.cases(20, values, files), 0),
    ):
        assert {case.columns["library"] for case in cases} == {"netCDF4", "h5py"}
        assert sum(case.aa for case in cases) == pairs
    kinds = {row["pattern"] for row in hyperslabs_counts.per_call(tmp_path)}
    assert kinds == {hyperslabs_counts.FUNCTIONS}


def test_descriptors_of_each_call_are_counted(tmp_path):
    rows = list(hyperslabs_counts.per_call(tmp_path))
    found = {(row["case"], row["phase"], row["pattern"]): row["stages"] for row in rows}
    for phase in ("read", "write"):
        for kind in hyperslabs_counts.DESCRIPTORS:
            assert found["hdf5-c", phase, kind] == 0
            assert found["c", phase, kind] == found["python-plain", phase, kind]
        assert found["c", phase, "datasets"] == 0, "the variable is opened once"
        assert found["c", phase, "dataspaces"] >= 1
        for way in hyperslabs_counts.IN_PYTHON:
            assert found[way, phase, "functions"] > 1
    assert not list(tmp_path.iterdir())


def test_pieces_are_counted_in_the_library(files, tmp_path):
    rows = list(strided.pieces(files, tmp_path))
    found = {(row["case"], row["phase"], row["pattern"]): row["stages"] for row in rows}
    assert len(rows) == len(found) == 12
    assert strided_words._version(frame_of(rows)).startswith("4.")
    for phase in ("read", "write"):
        assert found["python-pieces", phase, "both"] == 4
        assert found["python-pieces", phase, "columns"] == 2
    assert not list(tmp_path.iterdir())


def test_rates_and_costs_are_those_of_the_records():
    records = page()
    rated = hyperslabs_rates.rates(records["read"], ("read",)).set_index(["way", "layout", "mode"])
    assert rated.loc[("c", "contiguous", "one"), "rate"] == pytest.approx(BYTES / 0.005 / 1e6)
    extra = hyperslabs_rates.extra_us(
        records["read"], "read", "c/contiguous/rows", "c/contiguous/one", SIDE
    )
    assert extra.value == pytest.approx(1e6 * 0.015 / SIDE)
    closed = hyperslabs_rates.compared(
        records["written"], ("write", "close"), "c/chunked/rows", "c/chunked/one"
    )
    assert closed.value == pytest.approx(21 / 6)
    assert hyperslabs_rates.compared(records["read"], ("read",), "c/nothing/one", "x") is None


@settings(max_examples=20, deadline=None)
@given(st.floats(0.5, 1000))
def test_half_the_rate_is_where_the_bytes_take_as_long_as_the_call(cost_us):
    calls = frame_of(made("calls", swept(cost_us=cost_us), blocks=1))
    found = hyperslabs_rates.affordable(calls)["c"].value
    total = BYTES / 5e9 + 1e-6 * cost_us
    exact = 1e-6 * cost_us / (2 * total / BYTES - 1 / 5e9)
    smallest, largest = 4 * (SIDE // 64), BYTES
    if exact < smallest:
        assert found == smallest
    elif exact < largest / 4:
        assert 0.7 < found / exact < 1.5, "interpolated between sizes four times apart"


def test_the_versions_that_are_compared_as_text():
    assert not strided.compares_as_text("4.9.3")
    assert strided.compares_as_text("4.10.1")
    old, new = (
        strided_words.found(strided.times(page()["steps"]), frame_of(piece_rows(version)))
        for version in ("1.7.4 (netCDF-C 4.9.3)", "1.7.5 (netCDF-C 4.10.1)")
    )
    assert "4.9.3, with which the comparison as text makes one call" in old
    assert "4.10.1, with which the comparison as text takes the selection apart" in new


@pytest.mark.parametrize(("scale", "said"), [(1.0, "4× slower"), (0.125, "2× faster")])
def test_the_direction_of_a_sentence_follows_the_records(scale, said):
    records = page(scale=scale)
    text = hyperslabs_words.summary(records["read"], records["written"], records["calls"], SIDE)
    assert f"netCDF-C, from C: reads {said}" in text and f"writes {said}" in text
    assert "in the document: reads 1.54× slower and writes 2.58× slower; and once" in text
    assert "its handles open, reads 22 % faster and writes 2.2× slower\n" in text
    assert "(The document's array" not in text
    toys = hyperslabs_words.summary(records["read"], records["written"], records["calls"], 256)
    assert "(The document's array has 3,162 × 3,162.)" in toys


def test_what_the_noise_hides_has_no_direction():
    records = page()
    read, rows = records["read"], "hdf5-c/contiguous/rows"
    plain = read["case"] == "hdf5-c-nosieve/contiguous/rows"
    noisy = 0.010 * np.where(read["block"] % 2, 1.05, 0.96)
    read = read.assign(wall_s=read["wall_s"].mask(plain, noisy))
    assert hyperslabs_rates.compared(read, ("read",), rows, "hdf5-c-nosieve/contiguous/rows")
    text = hyperslabs_why_words.why(read, records["written"], records["opened"], SIDE)
    assert "with it the rows were not told apart from without [0.96, 1.05]." in text


def test_the_advice_holds_with_masking_too():
    records = page()
    slow = records["calls"]["case"] == "python"
    cost = 1e-6 * 200 * records["calls"]["stages"].where(slow, 0)
    calls = records["calls"].assign(wall_s=records["calls"]["wall_s"] + cost)
    sizes = hyperslabs_rates.affordable(calls)
    text = hyperslabs_words.advice(records["read"], records["written"], calls)
    assert sizes["python"].value > 2**20 > sizes["python-plain"].value
    assert "take 2 MiB or more a call" in text


def test_the_chunked_array_may_be_left_to_c(files, tmp_path):
    values = partial(arrays.values, (20, 20))
    for cases in (
        hyperslabs.read_cases(20, files, python_chunked=False),
        hyperslabs.write_cases(20, values, tmp_path, python_chunked=False),
    ):
        chunked = {case.name.split("/")[0] for case in cases if "/chunked/" in case.name}
        assert chunked == {"c", "hdf5-c"}
        assert {"python", "h5py"} <= {case.name.split("/")[0] for case in cases}
    read = page()["read"]
    kept = read[~read["case"].str.contains("^(?:python|h5py)/chunked")]
    captions = (
        hyperslabs_words.caption_rates(part, hyperslabs_rates.rates(part, ("read",)))
        for part in (read, kept)
    )
    assert ["from C only" in caption for caption in captions] == [False, True]


def test_a_call_is_held_against_the_documents():
    records = page()
    text = hyperslabs_why_words.why(records["read"], records["written"], records["opened"], SIDE)
    assert "closes 2 dataspaces and 1 property list, and no datatype and no dataset." in text
    assert "cost 16.5 µs more" in text  # 12,648 bytes at 268.05 and at 412.78 MB/s
    assert "leave its rows 13 % slower than its one call" in text  # 4.74 µs beside 30.6
    assert "it measured 22 % faster" in text


@pytest.mark.parametrize(
    ("style", "in_c", "counted"), [(STYLES[0], True, True), (STYLES[1], False, False)]
)
def test_the_page_is_drawn_whatever_was_measured(style, in_c, counted):
    records = page(in_c, counted)
    read, written, calls = records["read"], records["written"], records["calls"]
    timed = strided.times(records["steps"])
    rated = hyperslabs_rates.rates(read, ("read",))
    put = hyperslabs_rates.rates(written, ("write",))
    with styled(style):
        for draw in (
            partial(hyperslabs_figures.figure_rates, rated, put),
            partial(hyperslabs_figures.figure_calls, hyperslabs_rates.swept(calls)),
            partial(hyperslabs_figures.figure_strided, timed),
        ):
            figure = draw()
            figure.canvas.draw()
            assert figure.axes[-1].get_xlabel()
            plt.close(figure)
    ways = 4 if in_c else 2
    assert len(hyperslabs_words.table_rates(rated, put)) == 4 * (1 + ways)
    assert ("633" in hyperslabs_words.table_counts(read, written).to_string()) == counted
    why = hyperslabs_why_words.why(read, written, records["opened"], SIDE)
    assert ("sieve buffer" in why) == counted and "**Python.**" in why
    assert bool(hyperslabs_words.left_out(read)) != in_c
    assert ("from C" in strided_words.found(timed, records["pieces"])) == in_c
    assert bool(strided_words.chunked(timed)) == counted
    assert "Read blocks" in hyperslabs_words.advice(read, written, calls)
    assert "use_nc_get_vars(True)" in strided_words.advice(timed)
    assert "7 interleaved blocks" in hyperslabs_words.caption_rates(read, rated)
    assert "netCDF4-python, unmasked: from" in hyperslabs_words.afforded(calls)


def test_the_claims_find_their_cases(tmp_path):
    rows = [*made("read", whole("read")), *made("write", whole("write"))]
    save(frame_of(rows), tmp_path / "lee_hyperslabs.parquet")
    wanted = ("lee-8", "lee-8-hdf5", "lee-8-fix")
    chosen = [claim for claim in claims.load() if claim.id in wanted]
    judged = {found.claim.id: found for found in claims.evaluate(chosen, tmp_path)}
    assert set(judged) == set(wanted)
    assert {part.verdict for part in judged["lee-8"].parts} <= {"holds", "stronger"}
    assert [part.verdict for part in judged["lee-8-hdf5"].parts] == ["holds"] * 3
    assert [part.verdict for part in judged["lee-8-fix"].parts] == ["refuted"] * 2
    writes = next(part for part in judged["lee-8-hdf5"].parts if part.name == "C writes")
    assert writes.measured == pytest.approx(0.018 / 0.010), "both without filling"
    rows = [*made("read", whole("read", scale=0.2)), *made("write", whole("write"))]
    save(frame_of(rows), tmp_path / "lee_hyperslabs.parquet")
    fixed = next(c for c in claims.evaluate(chosen, tmp_path) if c.claim.id == "lee-8-fix")
    assert [part.verdict for part in fixed.parts] == ["holds"] * 2


@pytest.mark.parametrize("profile", ["quick", "full", "paper"])
def test_the_chunk_of_the_strided_array_exceeds_the_default_cache(profile):
    side = entry("lee_hyperslabs").settings[profile]["strided_side"]
    assert 4 * side**2 > 2**23, "HDF5 2's default; else the page has nothing to show of it"
