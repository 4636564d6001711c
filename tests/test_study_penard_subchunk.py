"""The page on reading inside of chunks: samples on toys, places in chunks, words and verdicts."""

from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab import claims
from hyperslab.measure.records import frame_of, save
from hyperslab.measure.worker import Job, perform
from hyperslab.study.penard import (
    subchunk,
    subchunk_figures,
    subchunk_inside,
    subchunk_parts,
    subchunk_parts_words,
    subchunk_results,
    subchunk_windows,
    subchunk_words,
)
from hyperslab.study.penard.subchunk_files import DOCUMENT, PLANNED, Files
from hyperslab.study.style import STYLES, styled

# Milliseconds of a chunk and share of the index, by index; h5py has none.
TIMES = {"ours": (0.5, 0.018), "ours-64KiB": (0.3, 0.05), "ours-1024KiB": (2.0, 0.01),
         "planned": (4.0, 0.02), "document": (8.0, 0.02)}  # fmt: skip
CHUNK = "1x13x721x1440"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Toys: a sixteenth of the temperature, two frames of the ocean."""
    made = Files(tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("run"), "smoke", 2, 1)
    made.make()
    return made


@pytest.fixture(scope="module")
def inside(files):
    """What is observed of the toys, by experiment."""
    return {
        name: frame_of({"status": "ok", "verified": True, **row} for row in rows(files))
        for name, rows in (
            ("points", subchunk_inside.places),
            ("pieces", subchunk_inside.pieces),
            ("sections", subchunk_inside.sections),
            ("windows", subchunk_windows.windows),
            ("index-size", subchunk_windows.five_in_one),
            ("indexes", subchunk.index_sizes),
        )
    }


def read_rows(scale=1.0, blocks=7, counted=True, chunks=CHUNK):
    """Records in which ours takes ``scale`` of what it should."""
    for file in subchunk_results.FILES:
        for read in ("series", "frame"):
            for index, (ms, share) in TIMES.items():
                if read == "frame" and index not in ("ours", "document"):
                    continue
                larger = "-larger" if read == "series" and share > TIMES["document"][1] else ""
                ms *= scale if index.startswith("ours") else 1
                yield from sample(f"{file}/{read}{larger}/{index}", ms, blocks, counted, chunks)
            yield from sample(f"{file}/{read}-whole/h5py", 50.0, blocks, counted, chunks)


def sample(case, ms, blocks, counted, chunks):
    pair = ("A", "B") if case == "gfs-on/frame/ours" else ("",)
    for block, aa, phase in product(range(blocks), pair, ("open", "read")):
        yield {
            "run_id": "run-1", "profile": "quick", "notebook": "penard_subchunk",
            "experiment": "spacing", "case": case, "cache_state": "warm", "block": block,
            "order": hash((case, aa)) % 1000, "phase": phase, "status": "ok", "verified": True,
            "wall_s": ms / 1e3 * 6, "user_s": ms / 1e3 * 6, "sys_s": 0.0, "chunks": chunks,
            "predicted_reads": 12, "stages": 3 if case.startswith("gfs") else 16,
            "others_cpu": 0.0, "aa": aa, "mode": "" if case.endswith("h5py") else "zlib",
            **{name: (1e6 * ms if counted else float("nan")) for name in ("rchar", "syscr")},
        }  # fmt: skip


def size_rows():
    for file in subchunk_results.FILES:
        for index, (_, share) in TIMES.items():
            yield {
                "case": f"{file}/{index}", "phase": "size", "file_bytes": share * 1e7,
                "useful_bytes": 1e7, "points": 81, "stages": 3, "spacing_bytes": 2e6,
            }  # fmt: skip


def cost_rows(build=2.0):
    for file in subchunk_results.FILES:
        for case, seconds in ((f"{file}/build", build), (f"{file}/h5py", 1.0)):
            for block in range(6):
                yield {"case": case, "block": block, "phase": "build", "status": "ok",
                       "user_s": seconds, "sys_s": 0.0}  # fmt: skip


def part_rows(shard=2e4):
    sizes = {"zarr3/zstd": 8e5, "zarr3-shards/zstd": shard, "zarr3/blosc": 8e5, "zarr2/blosc": 8e5,
             "h5py/deflate": 8e5, "subchunk/deflate": 9e4}  # fmt: skip
    for case, size in sizes.items():
        for phase in ("open", "read"):
            yield {
                "run_id": "run-1", "notebook": "penard_subchunk", "experiment": "partial",
                "case": case, "phase": phase, "block": 0, "order": 1, "status": "ok",
                "verified": True, "rchar": size / 2, "syscr": 3, "useful_bytes": 1600,
            }  # fmt: skip


def page(scale=1.0, counted=True, chunks=CHUNK):
    reads = frame_of(read_rows(scale, counted=counted, chunks=chunks))
    timed = subchunk_results.times(reads)
    sized = subchunk_results.sizes(frame_of(size_rows()))
    return reads, timed, sized, subchunk_results.curves(timed, sized)


@given(st.data(), st.booleans())
def test_runs_are_the_bytes_of_a_box(data, shuffled):
    chunk = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    box = []
    for length in chunk:
        start = data.draw(st.integers(0, length - 1))
        box.append(range(start, data.draw(st.integers(start + 1, length))))
    wanted = np.zeros(chunk, bool)
    wanted[np.ix_(*box)] = True
    bytes_ = np.repeat(wanted.reshape(-1), 4)
    if shuffled:
        bytes_ = bytes_.reshape(-1, 4).T.reshape(-1)
    begins, ends = subchunk_inside.runs(tuple(box), chunk, shuffled)
    edges = np.diff(np.concatenate([[0], bytes_.astype(int), [0]]))
    assert begins.tolist() == np.flatnonzero(edges == 1).tolist()
    assert ends.tolist() == np.flatnonzero(edges == -1).tolist()


@given(st.data())
def test_sections_hold_what_is_wanted_and_begin_at_points(data):
    out = np.array(sorted(data.draw(st.sets(st.integers(1, 99), max_size=12)) | {0}))
    starts = np.array([True, *(data.draw(st.booleans()) for _ in out[1:])])
    stream = subchunk_inside.Stream(out, out * 2, starts, 100, 200)
    cuts = sorted(data.draw(st.sets(st.integers(0, 100), min_size=2, max_size=12)))
    begins, ends = np.array(cuts[:-1:2]), np.array(cuts[1::2])
    found = stream.sections(begins, ends)
    assert set(found[:, 0]) <= set(out[starts])
    assert (found[1:, 0] > found[:-1, 1]).all()
    for begin, end in zip(begins, ends, strict=True):
        assert ((found[:, 0] <= begin) & (end <= found[:, 1])).sum() == 1
    inner = found[found[:, 1] < 100]
    assert (found[:, 2] == 2 * found[:, 0]).all() and (inner[:, 3] == 2 * inner[:, 1]).all()


@pytest.mark.parametrize("chunk", [(13, 721, 1440), (13, 180, 360), (1, 20, 24)])
def test_row_patch_and_box_have_as_many_values(chunk):
    found = subchunk_inside.requests(chunk, (5, 7))
    assert list(found) == ["row", "patch", "box"]
    for box in found.values():
        assert np.prod([len(axis) for axis in box]) == chunk[-1]
        assert all(axis.start >= 0 and axis.stop <= n for axis, n in zip(box, chunk, strict=True))


def test_every_sample_reads_right_and_names_fit_the_claim(files):
    cases = [*subchunk.read_cases(files), *subchunk.build_cases(files)]
    for case in cases:
        outcome = perform(Job(case))
        assert outcome.status == "ok", (case.label, outcome.status)
    assert sum(case.aa for case in cases) == 2
    names = [case.name for case in cases]
    size = files.index_path("gfs-off", DOCUMENT).stat().st_size
    assert {"gfs/series/document", "gfs/series/planned", "gfs/series-whole/h5py"} <= set(names)
    for index in files.indexes("gfs-off"):
        small = files.index_path("gfs-off", index).stat().st_size <= size
        assert (f"gfs/series/{index.name}" in names) == small, index
    assert files.index_path("gfs-on", PLANNED) == files.index_path("gfs-on", DOCUMENT)
    assert not (files.scratch / "gfs-off.built.index").exists()


def test_cases_can_be_named_where_there_are_no_files(tmp_path):
    nowhere = Files(tmp_path, tmp_path, "smoke", 2, 1)
    assert len(subchunk.read_cases(nowhere)) == len({c.name for c in subchunk.read_cases(nowhere)})
    assert len(subchunk_parts.part_cases(nowhere)) == 6


def test_parts_of_chunks_are_read_right(files):
    subchunk_parts.make_parts(files)
    for case in subchunk_parts.part_cases(files):
        outcome = perform(Job(case))
        assert outcome.status == "ok", (case.label, outcome.status)
        assert outcome.rows[-1]["phase"] in ("read", "close")


def test_wrong_values_are_noticed(files):
    kept = subchunk.Kept(files.truth_path("cmems-on", "series"))
    truth = np.load(kept.path)
    assert kept(truth) and kept(truth[0])
    truth[0, 1] += 1
    assert not kept(truth) and not kept(truth[0])


def test_what_lies_inside_of_chunks_adds_up(inside):
    places, pieces = inside["points"], inside["pieces"].set_index("case")
    for _, rows in places.groupby("case"):
        assert (rows["out_at"].diff().dropna() > 0).all()
        assert (rows["stored_at"].diff().dropna() > 0).all()
        assert rows["phase"].tolist() == ["point"] * (len(rows) - 1) + ["end"]
    assert pieces["useful_bytes"].nunique() == 1
    assert pieces.loc["row/on", "predicted_reads"] == 4 * pieces.loc["row/off", "predicted_reads"]
    assert pieces.loc["ours/row/on", "requests"] == 4
    counted = inside["sections"].groupby(["case", "phase"]).size()
    for case, row in pieces.iterrows():
        assert counted[case, "section"] == row["requests"]
        assert counted[case, "run"] == row["predicted_reads"]
    sizes = inside["windows"].pivot(index="case", columns="phase", values="file_bytes")
    assert (sizes["sparse"] < sizes["packed"]).all()
    assert (sizes["referred"] < sizes["whole"]).all()
    five = inside["index-size"]
    assert five["file_bytes"].is_monotonic_decreasing
    assert five["file_bytes"].iloc[0] == 5 * 32768


def test_times_are_for_a_chunk_and_gains_against_h5py():
    _, timed, _, curves = page()
    row = subchunk_results.one(timed, file="gfs", read="series", index="ours")
    assert row["ms"] == pytest.approx(0.5) and row["gain"].value == pytest.approx(100)
    assert row["bytes"] == pytest.approx(2e6 * 0.5 / 12)
    assert curves["share"].is_monotonic_increasing
    costs = subchunk_results.costs(frame_of(cost_rows(3.0)))
    assert [cost.value for cost in costs["times"]] == [3.0] * 4


@pytest.mark.parametrize(("scale", "said"), [(1.0, "100× faster"), (1000.0, "10× slower")])
def test_directions_follow_the_records(scale, said):
    _, timed, sized, curves = page(scale)
    assert said in subchunk_words.summary(timed, sized)
    costs = subchunk_results.costs(frame_of(cost_rows()))
    assert said in subchunk_words.advice(timed, sized, costs)
    assert "8 ms a chunk, 4 ms when our reader" in subchunk_words.compromise(curves)
    assert ("16× faster" in subchunk_words.compromise(curves)) == (scale == 1)


def test_the_page_says_what_is_smaller_than_the_documents():
    assert "3 of the 13 chunks" in subchunk_words.taken(page()[0])
    assert "toy" not in subchunk_words.taken(page()[0])
    assert "toy" in subchunk_words.taken(page(chunks="1x13x180x360")[0])
    whole = page()[0].assign(stages=lambda t: np.where(t["case"].str.startswith("gfs"), 13, 72))
    assert subchunk_words.taken(whole) == ""


@pytest.mark.parametrize(("style", "counted"), list(zip(STYLES, (True, False), strict=True)))
def test_the_page_is_drawn_whatever_was_counted(inside, style, counted):
    reads, timed, _, curves = page(counted=counted)
    shares = subchunk_results.window_shares(inside["windows"])
    with styled(style):
        for draw in (
            partial(subchunk_figures.figure_points, inside["points"]),
            partial(subchunk_figures.figure_shuffle, inside["sections"]),
            partial(subchunk_figures.figure_boxes, inside["sections"]),
            partial(subchunk_figures.figure_windows, shares),
            partial(subchunk_figures.figure_spacing, curves, timed),
        ):
            figure = draw()
            figure.canvas.draw()
            assert any(axes.get_xlabel() for axes in figure.axes)
            plt.close(figure)
    assert ("read calls" in subchunk_words.why(timed)) == counted
    assert len(subchunk_words.table_spacing(curves, timed)) == 4 * (len(TIMES) + 1)
    assert len(subchunk_words.table_frames(timed)) == 4
    assert "7 interleaved blocks, warm, one core. Ours inflates with zlib," in (
        subchunk_words.caption_spacing(timed, reads)
    )
    assert "MB compressed" in subchunk_words.caption_points(inside["points"])
    assert "16 %" in subchunk_parts_words.windows(shares, inside["index-size"])
    assert "sections" in subchunk_parts_words.scatter(inside["pieces"])
    assert len(subchunk_parts_words.table_pieces(inside["pieces"])) == 6


def test_tables_of_costs_and_parts():
    costs = subchunk_results.costs(frame_of(cost_rows()))
    assert "of 6 blocks" in subchunk_parts_words.caption_costs(costs)
    assert set(subchunk_parts_words.table_costs(costs)["times"]) == {"2.00 [2.00, 2.00]"}
    records = frame_of(part_rows())
    assert len(subchunk_parts_words.table_parts(records)) == 6
    assert "40× less" in subchunk_parts_words.parts(records)
    assert "2× more" in subchunk_parts_words.parts(frame_of(part_rows(1.6e6)))
    lost = records.assign(rchar=float("nan"))
    assert subchunk_parts_words.parts(lost) == ""


def test_the_claims_find_their_cases(tmp_path, inside):
    observed = [
        inside[name].assign(experiment=name, run_id="run-1", block=0)
        for name in ("pieces", "index-size")
    ]
    frames = [page()[0], frame_of(part_rows()), *observed]
    rows = [row for frame in frames for row in frame.to_dict("records")]
    save(frame_of(rows), tmp_path / "penard_subchunk.parquet")
    wanted = ("penard-index", "penard-scatter", "penard-partial")
    chosen = [claim for claim in claims.load() if claim.id in wanted]
    judged = {j.claim.id: j for j in claims.evaluate(chosen, tmp_path)}
    five, parts = judged["penard-index"].parts[1], judged["penard-partial"].parts
    assert five.verdict == "holds" and five.measured == pytest.approx(0.15625)
    assert [part.verdict for part in parts] == ["obsolete", "holds"]
    best = judged["penard-index"].parts[0]
    assert best.measured == pytest.approx(16) and best.verdict == "refuted"
    assert all(part.verdict != "not measured" for part in judged["penard-scatter"].parts)
