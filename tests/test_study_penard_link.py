"""The page on slow links: real reads over them, the model, words, figures and verdicts."""

from functools import partial
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperslab.measure.case import Stopwatch
from hyperslab.measure.records import frame_of, save
from hyperslab.network import Link
from hyperslab.study import claims
from hyperslab.study.penard import (
    link,
    link_candidates,
    link_carried,
    link_figures,
    link_map,
    link_map_figures,
    link_map_words,
    link_model,
    link_question_words,
    link_words,
)
from hyperslab.study.penard.local_files import LocalFiles
from hyperslab.study.style import STYLES, styled

SHAPES = {"cmems": "1x380x1287", "gfs": "1x13x721x1440"}
LINKS = link.links()
DELAY = LINKS["delay"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Toys: one frame of each, the temperature on a sixteenth of its grid."""
    made = LocalFiles(
        tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("run"), "smoke", 1, 1
    )
    made.make()
    return made


def rows(*, frames=(6, 1), profile="quick", blocks=6, **changed):
    """Made-up records: 5 + 1 round trips, 1 MB and 10 ms of CPU time, as the model has it."""
    for today in (False, True):
        for kind, read, way, store in link._cells("paper", "http", today=today):
            name = way.way(store)
            stages = changed.get(name.replace("-", "_"), 5)
            labels = ("A", "B") if (kind, read, name) == ("cmems", "series", "h5py-off") else ("",)
            phases = (("open", 0.25), ("read", 0.75))
            for block, aa, (phase, share) in product(range(blocks), labels, phases):
                yield {
                    "run_id": "run-1", "profile": profile, "notebook": "penard_link",
                    "experiment": "delay-today" if today else "delay", "link": "delay",
                    "latency_s": 0.1, "aa": aa, "others_cpu": 0.0, "phase": phase,
                    "case": f"{kind}/{read}{'-today' * today}/{name}",
                    "block": block, "status": "ok", "verified": True, "chunks": SHAPES[kind],
                    "wall_s": share * (DELAY.seconds(stages, 1, 1e6, 0.01) + block / 1e4),
                    "user_s": share * 0.01, "sys_s": 0.0,
                    "predicted_reads": 1 if read == "frame" else frames[kind == "gfs"],
                    **({"stages": stages, "handshakes": 1, "idle_stages": stages,
                        "wire_bytes": 1e6, "requests": 9, "connections": 1}
                       if phase == "read" else {}),
                }  # fmt: skip


def observed(records):
    """The same seconds, as if they had been measured over 100 Mbit/s."""
    names = records["experiment"].str.replace("delay", "observed")
    return records.assign(experiment=names, link="observed")


def judgeable(moved):
    """What one read moves, as if it were what each of those that are judged moves."""
    one = moved[moved["case"] == moved["case"].iloc[0]]
    names = {case.replace("-today", "") for case in {*link.JUDGED["http"], *moved["case"]}}
    names |= {"gfs/frame/zarr", "cmems/frame/h5py-on"}
    return pd.concat([one.assign(case=name) for name in sorted(names)])


def test_a_read_over_a_link_is_true_and_takes_what_the_model_says(files):
    wanted = {"gfs/series/h5py-off", "gfs/series/zarr", "gfs/series-today/subchunk-off"}
    with link.laid(files, LINKS, drawing=False) as far:
        cases = [*far.cases("delay"), *far.today_cases("delay")]
        chosen = [case for case in cases if case.name in wanted]
        assert len(chosen) == 3 and len({case.name for case in cases}) == len(cases)
        assert [case.aa for case in far.cases("delay")].count(True) == 1
        found = []
        for case in chosen:
            for _ in range(2):  # what is imported at the first read is not the link's
                watch = Stopwatch()
                case.prepare()
                assert case.check(case.run(watch))
            found += [
                {**row, **case.columns, "case": case.name, "status": "ok", "block": 0}
                for row in watch.rows()
            ]
        table = link_model.table(LINKS, frame_of(found)).set_index("case")
        assert (table["stages"] >= 1).all() and (table["wire_bytes"] > 0).all()
        least = DELAY.round_trip_s * (table["stages"] + table["handshakes"])
        assert "stages" not in chosen[0].columns  # it would stand for those that are counted
        assert (table["seconds"] > 0.9 * least).all()  # fewer would be stages that are none
        moved = frame_of(found)
        quick = far.stated_cases(moved, 0.0)
        assert len(quick) == 1 and quick[0].aa
        judged = far.judged_cases("observed", judgeable(moved), 0.0, ranked_blocks=1)
        assert {case.name for case in judged} == set(link.JUDGED["http"])
        assert [case.aa for case in judged].count(True) == 1
        assert all(case.most_blocks == 0 for case in judged)
        more = far.judged_cases("observed", judgeable(moved), 1e9, ranked_blocks=1)
        assert len(more) > len(judged) and {case.most_blocks for case in more} == {0, 1}
        assert len(far.stated_cases(moved, 1e9)) == 3
        beside = far.quick_cases(far.today_cases("observed"), "observed", moved, 1e9)
        assert [case.name for case in beside] == ["gfs/series-today/subchunk-off"]


def test_the_rate_of_the_delay_alone_is_of_a_plain_request(files):
    with link.laid(files, LINKS, drawing=False) as far:
        (case,) = link_carried.cases(far)
        watch = Stopwatch()
        case.prepare()
        read = case.run(watch)
        assert case.check(read) and not case.check(read[:-1]) and case.aa
        (row,) = watch.rows()
        assert row["wire_bytes"] == len(read) == case.run.size
        assert len(far.servers["delay"].requests()) == 1
    sample = {"aa": "A", "status": "ok", "phase": "read", "case": case.name, "wire_bytes": 3e8}
    times = [(0.6, 0.1), (0.55, 0.05), (9.0, 0.1)]  # the last was disturbed
    rest = {"sys_s": 0.0, "notebook": "penard_link"}
    records = frame_of(sample | rest | {"wall_s": wall, "user_s": cpu} for wall, cpu in times)
    known = link_carried.with_rates(LINKS, records)
    assert known["delay"].bytes_per_s == pytest.approx(1e9)
    assert {**known, "delay": DELAY} == LINKS
    at_once = link_carried.with_rates(LINKS, records.assign(wall_s=0.2))
    assert at_once == LINKS


def test_nothing_is_served_for_drawing(files):
    with link.laid(files, LINKS, drawing=True) as far:
        assert not far.servers
        assert far.cases("delay") == far.today_cases("delay") == link_carried.cases(far) == []
        nothing = frame_of([])
        assert far.stated_cases(nothing, 1.0) == far.judged_cases("observed", nothing, 1.0) == []


def test_the_model_is_that_of_its_counts():
    records = frame_of(rows(h5py_off=20))
    table = link_model.table(LINKS, records)
    assert table["error"].abs().max() < 1e-3
    expected = link_model.predictions(records, Link(1e5, 0.1)).set_index("case")["seconds"]
    assert expected["gfs/series/h5py-off"] == pytest.approx(21 * 0.1 + 10 + 0.01)
    assert expected["cmems/frame-today/subchunk-off"] == pytest.approx(6 * 0.1 + 10 + 0.01)


@given(
    st.lists(
        st.tuples(*[st.floats(0, 100)] * 2, st.floats(0, 1e9), st.floats(0, 5), st.floats(0, 100)),
        min_size=1,
    ),
    st.floats(1e-3, 0.3),
    st.floats(1e4, 1e8),
)
def test_the_grid_has_the_times_of_each_link(reads, trip, rate):
    found = pd.DataFrame(
        reads, columns=["stages", "handshakes", "wire_bytes", "cpu_s", "idle_stages"]
    )
    expected = link_model.grid(found, np.array([trip]), np.array([rate]))
    assert expected.shape == (len(reads), 1, 1)
    assert expected.ravel().tolist() == pytest.approx(
        [Link(rate, trip).seconds(*read) for read in reads]
    )


def test_the_map_says_who_leads_and_by_how_much():
    shards = {"zarr3_shards": 3, "zarr3_shards_obstore": 4}
    timed = link_model.table(LINKS, frame_of(rows(**shards)))
    ground = link_map.grounds(timed)["gfs/series"]
    assert ground.shares() == {"zarr3-shards": 1.0}
    trips, rates = link_map.axes_of()
    slow = Link(rates[0] * 1e6 / 8, trips[-1] / 1e3)
    # The same file through another library's requests is no rival; what reads another file is.
    assert ground.lead[0, -1] == pytest.approx(
        slow.seconds(5, 1, 1e6, 0.01) / slow.seconds(3, 1, 1e6, 0.01)
    )
    alone = timed[timed["way"] == "zarr3-shards"]
    assert np.isinf(link_map.grounds(alone)["gfs/series"].lead).all()


def test_the_map_names_what_it_lacks():
    timed = link_model.table(LINKS, frame_of(rows(zarr3_shards=3)))
    assert "Not timed" not in link_map_words.where(timed)
    missing = (timed["panel"] == "gfs/frame") & (timed["way"] == "zarr3-shards")
    told = link_map_words.where(timed[~missing])
    assert "the ocean's map: 100 % Zarr 3, zstd, shards." in told
    assert "the map: Zarr 3, zstd, shards (the temperature's map)." in told
    assert "temperature, series: 100 % Zarr 3, zstd, shards" in link_map_words.alt(timed)
    caption = link_map_words.caption(timed)
    assert "over the delay of 100 ms alone (6 blocks" in caption


def test_reads_that_are_spared_are_named():
    records = frame_of(rows(zarr3_shards=3))
    timed, stated = (
        link_model.table(LINKS, records),
        link_model.predictions(records, LINKS["stated"]),
    )
    assert link_map_words.spared(timed, stated, 5.0) == ""
    assert link_map_words.spared(timed, stated, 10.5).endswith("too: Zarr 3, zstd, shards.")
    there = timed[timed["way"] == "zarr3-shards"].assign(link="stated")
    assert link_map_words.spared(there, stated, 10.5) == ""


def test_what_the_map_needs_is_timed():
    """By the model these lead over half of some maps; the smallest profile has our index alone."""
    for profile, there in (("quick", True), ("full", True), ("smoke", False)):
        ways = {
            (kind, read, way.way(store))
            for kind, read, way, store in link._cells(profile, "http", today=True)
        }
        for way in ("zarr3-shards", "zarr3-shards-obstore", "subchunk-on"):
            assert (("gfs", "series", way) in ways) == there
        assert ("gfs", "series", "h5py-on-nocache") not in ways
    with_shuffle = {store for *_, store in link._cells("quick", "s3", today=True)}
    assert "on" not in with_shuffle and "zarr3-shards" in with_shuffle


def test_words_are_of_the_records():
    records = frame_of(rows(h5py_off=20, subchunk_off=2))
    timed = link_model.table(LINKS, records)
    model = {name: link_model.predictions(records, known) for name, known in LINKS.items()}
    for program, said in (("lighttpd", "by lighttpd, as"), ("aiohttp", "is not installed")):
        assert said in link_words.served(records.assign(mode=program))
    words = link_words.summary(timed, model)
    assert "took h5py 2.19 s (by the model), the document's kind of index 0.69 s (by" in words
    assert "12.1 s (by the model), 10.6 s (by the model) and 10.3 s (by" in words
    there = link_model.table(LINKS, observed(records))
    words = link_words.summary(there, model)
    assert "took h5py 2.11 s, the document's kind of index 0.61 s and ours, by fsspec" in words
    assert "6 of the 72 chunks of the ocean" in link_words.taken(records)
    assert not link_words.whole(records)
    assert "(median) and 0 % at most" in link_words.model(timed, LINKS)
    carried = LINKS | {"delay": Link(1.24e9, 0.1)}
    assert "1.2 GB/s by a plain request" in link_words.model(timed, carried)
    assert "60.6 kB/s" in link_question_words.bytes_of(timed, whole=True)  # 1 MB in 16.51 s
    assert "at least 1 MB" in link_question_words.bytes_of(timed, whole=False)
    known = link_candidates.candidates(LINKS)
    expected = {candidate.words: candidate.seconds(records) for candidate in known}
    assert link_question_words.compared(expected, whole=False).empty
    beside = link_question_words.compared(expected, whole=True)
    assert len(beside) == 12 and list(beside["document, s"])[:2] == ["16.49", "16.51"]
    nearest = link_question_words.nearest(expected, whole=True)
    assert "worst is least with as stated" in nearest and "delay alone: 8.8 (45)" in nearest
    assert "worst is least" not in link_question_words.nearest(expected, whole=False)
    assert "by fsspec in 0.39 s by the model" in link_words.best(timed, model["observed"])
    best = link_words.best(there, model["observed"])
    assert "by fsspec in 0.31 s and by obstore in" in best and "takes 0.61 s, 1.97" in best
    assert "2 to 20 requests" in link_words.advice(timed)
    assert "at 100 ms that is 0.2 to 2 s before" in link_words.advice(timed)
    table = link_words.table_model(timed)
    assert len(table) == len(timed) and "5 (5) + 1" in set(table["round trips"])
    assert "6 interleaved blocks" in link_words.caption_9(timed, 8.0, beside=False)
    whole = frame_of(rows(frames=(72, 13)))
    assert link_words.whole(whole) and not link_words.taken(whole)


@pytest.mark.parametrize("whole", [False, True])
def test_figures_are_drawn_in_both_styles(whole):
    records = frame_of(rows(h5py_off=20, subchunk_off=2))
    timed = link_model.table(LINKS, records, observed(records))
    model = {name: link_model.predictions(records, known) for name, known in LINKS.items()}
    for style, draw in product(
        STYLES,
        (
            partial(link_figures.figure_9, timed, model, whole=whole),
            partial(link_map_figures.figure_map, timed),
        ),
    ):
        with styled(style):
            plt.close(draw())


@pytest.mark.parametrize(
    ("stages", "verdict"), [({"chunkindex_off": 5}, "reversed"), ({"chunkindex_off": 1}, "holds")]
)
def test_verdicts_are_of_the_seconds(tmp_path, stages, verdict):
    made = observed(frame_of(rows(h5py_on=3, **stages)))
    known = {claim.id: claim for claim in claims.load()}
    save(made.assign(profile="full"), tmp_path / "penard_link.parquet")
    assert claims.evaluate([known["penard-9b"]], tmp_path)[0].verdict == verdict
    save(made.assign(profile="quick"), tmp_path / "penard_link.parquet")  # of smaller files
    judged = claims.evaluate([known["penard-9b"], known["penard-9"]], tmp_path)
    assert judged[0].verdict == judged[1].parts[2].verdict == "not measured"


def test_seconds_are_judged_for_whole_files(tmp_path):
    whole = frame_of(rows(frames=(72, 13), profile="full", h5py_off=160, h5py_on=270))
    save(observed(whole), tmp_path / "penard_link.parquet")
    (claim,) = [claim for claim in claims.load() if claim.id == "penard-9"]
    (judged,) = claims.evaluate([claim], tmp_path)
    assert judged.parts[2].verdict in ("holds", "refuted")
