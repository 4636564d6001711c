"""What a user may change: strided reads in every way, their gains, and the words on them."""

import threading
from contextlib import ExitStack
from itertools import product

import numpy as np
import pandas as pd
import pytest

from hyperslab.measure.case import Stopwatch
from hyperslab.measure.records import frame_of
from hyperslab.study.jones import advice, advice_words, quarter
from hyperslab.study.jones.files import Files, make_files
from hyperslab.study.jones.plan import size_bytes

PIECES = 64  # of 4 KiB, one in four: 1 MiB in all
CELLS = ("netcdf4-python", "netcdf4-python-plain", "h5py")
SIZES = ("4KiB", "64KiB", "1MiB")
SLOW_CALL = {"netcdf4-python": 1e-4, "netcdf4-python-plain": 4e-5, "h5py": 5e-6}
GOOD = {"pieces": 1.0, "contiguous": 4.0, "threads": 2.0}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    made = Files(tmp_path_factory.mktemp("a b"), 2**20 // 8)
    make_files(made, ["netcdf4"])
    return {"cold": made, "warm": made}


def test_every_way_reads_the_same_pieces(files):
    cases = quarter.cases(files, PIECES)
    assert [case.aa for case in cases].count(True) == 2 and len(cases) == 16
    seen = {}
    for case in cases[:8]:
        watch = Stopwatch()
        assert case.check(case.run(watch))
        (read,) = [row for row in watch.rows() if row["phase"] == "read"]
        assert read["useful_bytes"] == PIECES * quarter.PIECE_BYTES
        seen[case.name] = read["stages"]
    assert seen["netcdf4-python/pieces"] == seen["h5py/threads"] == PIECES
    assert seen["h5py/contiguous"] == 1


def test_what_was_read_wrong_is_seen(files):
    case = quarter.cases(files, PIECES)[0]
    out, done = case.run(Stopwatch())
    assert case.check((out, done)) and not case.check((out, []))
    out[-1] += 1
    assert not case.check((out, done))


def test_a_strided_read_stops_in_time_and_counts_what_it_read(tmp_path):
    files = Files(tmp_path, 2**23 // 8)
    make_files(files, ["netcdf4"])
    path, runs = files.path("netcdf4"), 8
    for library, manner in quarter.WAYS:
        for limit_s, most in ((0.0, 0), (60.0, runs)):
            watch = Stopwatch()
            sample = quarter.Quarter(path, library, manner, runs * quarter.RUN, limit_s)
            _, done = sample(watch)
            assert done == list(range(0, most * quarter.RUN, quarter.RUN))
            (read,) = [row for row in watch.rows() if row["phase"] == "read"]
            assert read["useful_bytes"] == most * quarter.RUN * quarter.PIECE_BYTES
            assert read["voluntary_switches"] >= 0 and read["forced_switches"] >= 0


def test_out_of_memory_pread_reads_long_enough_for_its_threads(tmp_path):
    files = Files(tmp_path, 2**25 // 8)
    pieces = {case.label: case.run.pieces for case in quarter.cases({"warm": files}, PIECES)}
    assert pieces["pread/threads, warm"] == pieces["pread/pieces, warm"] == 2048
    assert pieces["h5py/threads, warm"] == PIECES
    large = quarter.cases({"warm": Files(tmp_path, 2**35)}, PIECES)
    assert max(case.run.pieces for case in large) == quarter.MANY


def test_threads_run_before_they_are_timed():
    with ExitStack() as held:
        pool = quarter.started(3, held)
        names = {thread.name for thread in threading.enumerate()}
        assert len([name for name in names if name.startswith("ThreadPoolExecutor")]) >= 3
        assert pool.submit(len, "ab").result() == 2


@pytest.mark.parametrize("pieces", [PIECES + 1, 4 * PIECES])
def test_pieces_that_do_not_fit_are_refused(files, pieces):
    with pytest.raises(ValueError, match="give a multiple of 64 that the variable has room for"):
        quarter.cases(files, pieces)


def rows(call=SLOW_CALL, good=GOOD, states=("cold", "warm")):
    """Made-up records: each reader at 1 GB/s and what a call costs, each manner at its factor."""
    common = {"run_id": "run-1", "phase": "read", "status": "ok", "verified": True, "rchar": 1}
    common |= {"user_s": 0.0, "sys_s": 0.0, "minflt": 0, "syscr": 1, "stages": 1}
    for state, block in product(states, range(6)):
        for reader, size in product(CELLS, SIZES):
            nbytes = size_bytes(size)
            yield common | {
                "experiment": "patterns", "case": f"{reader}/sequential/{size}", "block": block,
                "cache_state": state, "useful_bytes": nbytes,
                "wall_s": (nbytes / 1e9 + call[reader]) * (1 + block / 1e4),
            }  # fmt: skip
        for library, manner in quarter.WAYS:
            yield common | {
                "experiment": "quarter", "case": f"{library}/{manner}", "block": block,
                "cache_state": state, "useful_bytes": 2**20,
                "wall_s": 1e-3 / good[manner] * (1 + block / 1e4),
            }  # fmt: skip


def parts(**changed):
    frame = frame_of(rows(**changed))
    return [part for _, part in frame.groupby("experiment", sort=False)]


def test_gains_are_paired_by_block():
    found = advice.gains(*parts())
    assert set(found["name"]) == {change.name for change in advice.CHANGES}
    assert len(found) == 2 * len(advice.CHANGES)
    once = advice.gain(found, "contiguous", "cold")
    assert once.value == pytest.approx(4) and once.low == pytest.approx(once.high)
    mask = advice.gain(found, "mask-64k", "warm")
    assert mask.value == pytest.approx((65536e-9 + 1e-4) / (65536e-9 + 4e-5))
    assert advice.gain(found, "contiguous", "none") is None


def test_changes_are_known_by_their_names():
    names = [change.name for change in advice.CHANGES]
    assert len(set(names)) == len(names) == len({change.what for change in advice.CHANGES})


def quarters(*, slower=1.0, waits=0.0, cpu=0.0):
    """Records in which threads take a time, waits and CPU time, all in reads of 1 ms."""
    common = {"run_id": "r", "experiment": "quarter", "status": "ok", "rchar": 4096, "syscr": 1}
    common |= {"stages": 1, "useful_bytes": 4096, "sys_s": 0.0, "forced_switches": 0}
    for state, block, manner in product(("cold", "warm"), range(6), ("pieces", "threads")):
        several = manner == "threads"
        row = common | {"cache_state": state, "block": block, "case": f"pread/{manner}"}
        if several:
            yield row | {"phase": "start", "wall_s": 2e-4}
        yield row | {
            "phase": "read", "wall_s": 1e-3 * (slower if several else 1),
            "user_s": cpu if several else 0.0, "voluntary_switches": waits if several else 0.0,
        }  # fmt: skip


def test_counts_go_with_the_threads():
    said = advice_words.threads(frame_of(quarters()))
    assert said.count("- os.pread: 1 and 1 read calls") == 2 and "nan" not in said
    assert "To start 4 threads takes 200 µs from the device and 200 µs from memory" in said
    assert "Threads are" not in said
    cold = frame_of(row for row in quarters() if row["phase"] == "none")
    assert advice_words.threads(cold) == ""


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({"waits": 0.4}, "interpreter's lock"),
        ({"cpu": 9e-4}, "more of CPU time"),
        ({}, "unexplained"),
    ],
)
def test_threads_that_are_slower_have_a_count_or_are_unexplained(known, words):
    said = advice_words.threads(frame_of(quarters(slower=2.0, **known)))
    assert words in said and said.count("Threads are 2× slower here, by 1 ms a read") == 1


def test_words_follow_the_gains_in_either_direction():
    patterns, quarters = parts()
    found = advice.gains(patterns, quarters)
    words = advice_words.today(found)
    first = words.splitlines()[2]
    assert "**h5py, and reads of 1 MiB, not 4 KiB**" in first and "`h5py.File" in first
    assert "**one of four: read on, and pick**: 4× faster from the device" in words
    assert "or with a loss, here: one of four: h5py and one of four: os.pread." in words
    judged = advice_words.judged(found, patterns)
    assert "of netCDF4-python's sizes, 1 MiB is fastest" in judged and "2× faster" in judged
    shown = advice_words.table(found)
    assert len(shown) == len(advice.CHANGES) and "4.00 [4.00, 4.00]" in set(
        shown["gain from memory"]
    )
    worse = {"netcdf4-python": 1e-6, "netcdf4-python-plain": 1e-4, "h5py": 1e-4}
    patterns, quarters = parts(call=worse, good={name: 1 / x for name, x in GOOD.items()})
    found = advice.gains(patterns, quarters)
    words = advice_words.today(found)
    assert "**one of four" not in words and "masking and scaling off, reads of 64 KiB" in words
    assert "Without a sure gain, or with a loss, here: masking" in words
    assert "4× slower" in advice_words.judged(found, patterns)


def noisy(far):
    """Records in which the A/A pair of "quarter" strays by a factor, in either direction."""
    patterns, quarters = parts()
    pair = quarters[quarters["case"] == "netcdf4-python/pieces"]
    stray = np.where(pair["block"] % 2, far, 1 / far)
    pairs = [pair.assign(aa="A"), pair.assign(aa="B", wall_s=pair["wall_s"] * stray)]
    rest = quarters[quarters["case"] != "netcdf4-python/pieces"]
    return patterns, pd.concat([*pairs, rest], ignore_index=True)


def test_a_gain_within_the_noise_of_its_experiment_is_none():
    for far, sure in ((1.5, True), (6.0, False)):
        patterns, quarters = noisy(far)
        found = advice.gains(patterns, quarters)
        aa = advice.noise(found, "contiguous", "cold")
        assert aa.low == pytest.approx(1 / far) and aa.high == pytest.approx(far)
        assert ("**one of four: read on, and pick**" in advice_words.today(found)) == sure
        judged = advice_words.judged(found, patterns)
        assert ("(not told from noise, A/A of rates [0.17, 6.00])" in judged) == (not sure)
        table = advice_words.table(found).set_index("change")["gain from memory"]
        assert table["one of four: read on, and pick"].endswith("(noise)") == (not sure)
        assert "Noise: the gain lies" in advice_words.caption(found, quarters)
    assert "Noise" not in advice_words.caption(advice.gains(*parts()), quarters)
    assert advice.noise(advice.gains(*parts()), "contiguous", "cold") is None


def test_noise_is_of_rates_where_samples_stop_in_time():
    _, quarters = noisy(3.0)
    stopped = quarters.assign(useful_bytes=quarters["useful_bytes"] / quarters["wall_s"], wall_s=1)
    found = advice.noises(stopped)["cold"]
    assert found.low == pytest.approx(1 / 3) and found.high == pytest.approx(3)


def test_threads_that_are_slower_within_the_noise_have_no_cause():
    slow = frame_of(quarters(slower=2.0, waits=0.4))
    again = slow[slow["case"] == "pread/pieces"]
    far = np.where(again["block"] % 2, 3.0, 1 / 3.0)
    pair = [
        again.assign(aa="A", case="netcdf4-python/pieces"),
        again.assign(aa="B", case="netcdf4-python/pieces", wall_s=again["wall_s"] * far),
    ]
    assert "interpreter's lock" in advice_words.threads(slow)
    said = advice_words.threads(pd.concat([slow, *pair], ignore_index=True))
    assert "- os.pread" in said and "Threads are" not in said


def test_what_to_do_today_begins_with_the_reader_that_is_used():
    patterns, quarters = parts()
    slow = quarters["case"].isin(("pread/pieces", "h5py/pieces"))
    late = quarters.assign(wall_s=quarters["wall_s"] * np.where(slow, 10, 1))
    found = advice.gains(patterns, late)
    # Against themselves in one thread 20 times as fast, but a user of netCDF4-python gains two.
    assert advice.gain(found, "threads-pread", "cold").value == pytest.approx(20)
    words = advice_words.today(found)
    assert "**one of four: os.pread, 4 threads**: 2× faster from the device" in words
    assert "20×" not in words and "from os.pread on" not in words
    assert "20× faster" in advice_words.judged(found, patterns)
    begun = {change.before.split("/")[0] for change in advice.CHANGES if change.for_users}
    assert begun == {"netcdf4-python"}


def test_nothing_that_gains_is_said_so():
    same = dict.fromkeys(SLOW_CALL, 0.0)
    found = advice.gains(*parts(call=same, good=dict.fromkeys(GOOD, 1.0)))
    assert "Nothing that we tried makes a sure difference" in advice_words.today(found)


def test_one_state_alone_is_enough():
    patterns, quarters = parts(states=("warm",))
    found = advice.gains(patterns, quarters)
    assert set(advice_words.table(found)["gain from the device"]) == {"–"}
    assert "from the device" not in advice_words.judged(found, patterns)
    assert "run-1" in advice_words.caption(found, quarters)
