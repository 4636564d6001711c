"""The page on the cost model: files, tables and sentences, on records made up here."""

import numpy as np
import pandas as pd
import pytest

from hyperslab.advise.model import Calibration
from hyperslab.advise.model.measured.held_out import cost_rows, held_out
from hyperslab.measure.records import frame_of
from hyperslab.storage import CODECS
from hyperslab.study.cost import figures, results, words
from hyperslab.study.cost.files import TrialFiles, layouts, patterns

COSTS = {"h5py/chunked:first": 1e-3, "h5py/chunked:chunk": 2e-5, "disk:extent": 1e-4}


def records(off, blind_off, *, codec="deflate"):
    """Eight reads, each measured thrice, and predicted too long by factors."""
    measured, predicted = [], []
    for n in range(8):
        common = {
            "case": f"ocean: {n}/h5py/map",
            "cache_state": "cold" if n % 2 else "warm",
            "library": "h5py",
            "format": "netcdf4",
            "codec": codec if n < 6 else "",
            "pattern": "map",
            "size": f"ocean: {n}",
            "phase": "read",
        }
        seconds = 1e-3 * 2**n
        for block in range(3):
            row = {"block": block, "status": "ok", "verified": True, "wall_s": seconds}
            measured.append(common | row)
        for mode, factor in (("probed", off), ("blind", blind_off)):
            row = {"mode": mode, "wall_s": seconds * factor, "hints": "decode", "status": "ok"}
            predicted.append(common | row)
    return frame_of(measured), frame_of(predicted)


def costs():
    made = Calibration(COSTS, {"": (0.9, 1.1)}, {}, {}, "", 900, 60.0)
    return frame_of(cost_rows(made))


def test_errors_and_pairs_are_those_that_were_made():
    found = results.table(*records(1.1, 0.5))
    by = results.errors(found).set_index("mode")
    assert by.loc["probed", "median"] == pytest.approx(0.1)
    assert by.loc["blind", "p90"] == pytest.approx(0.5)
    assert by.loc["blind", "bias"] == pytest.approx(-0.5)
    # Cold reads are compared with cold ones: of eight, two times six pairs.
    assert results.pairs(found, "probed", alike=True) == (12, 12)
    assert results.pairs(found, "probed", alike=False) == (28, 28)


def test_a_wrong_winner_is_counted():
    found = results.table(*records(1.0, 1.0))
    found["predicted"] = found["seconds"].max() - found["seconds"]
    assert results.pairs(found, "blind", alike=False) == (28, 0)


def test_sentences_follow_the_records():
    good, bad = results.table(*records(1.02, 1.3)), results.table(*records(2.0, 1.9))
    assert "as wanted: 15%" in words.summary(good, costs())
    assert "more than was wanted" not in words.summary(good, costs()).split("from sizes")[0]
    assert "more than was wanted: 15%" in words.summary(bad, costs())
    assert "brings that to 2%" in words.where_it_fails(good)
    assert "leaves it at" in words.where_it_fails(bad)
    assert "off by more than 25%" in words.where_it_fails(bad)
    assert "off by more than" not in words.where_it_fails(results.table(*records(1.0, 1.0)))


def test_no_pair_with_a_winner_is_said():
    found = results.table(*records(1.0, 1.0)).iloc[:2]
    assert "none (there are none)" in words.summary(found, costs())


def test_tables_and_figures_hold_every_library():
    found = results.table(*records(1.1, 1.5))
    table = words.table_errors(found, "library")
    assert list(table["library"]) == ["h5py"] and table["median, blind"][0] == "50%"
    assert len(words.table_worst(found)) == 8
    assert set(words.table_costs(costs())["unit"]) == {
        "µs, first call",
        "µs a chunk",
        "µs a stretch",
    }
    assert len(figures.scatter(found).axes) == len(figures.by_library(found).axes) == 2
    assert "8 reads" in words.caption_scatter(found)
    assert "16 predictions" in words.caption_errors(found)
    said = words.refused(pd.DataFrame([{"case": "a codec", "hints": "no"}]))
    assert "“no”" in said and "advise" in words.advice()


def test_trial_files_hold_what_is_read(tmp_path):
    files = TrialFiles(tmp_path, 2, 1, thin=16)
    assert files.totals == {} and list(held_out(files.files(), {}, ("h5py",))) == []
    files.make()
    made = files.files()
    assert {file.layout.codec for file in made} <= {None, *CODECS}
    assert all(file.path.exists() for file in made)
    reads = list(held_out(made, files.totals, ("h5py", "plain")))
    some = list(held_out(made, files.totals, ("h5py", "plain"), 5))
    assert len(reads) > 100 and 0 < len(some) < len(reads) / 2
    assert {one.reading.read.cache for one in reads} == {"warm", "cold"}
    coded = [file for file in made if file.layout.codec]
    assert all(file.chunk_bytes > 0 for file in coded)


def test_patterns_lie_inside_and_layouts_fit():
    for kind, shape in {
        "ocean": (24, 380, 1287),
        "gfs": (2, 13, 721, 1440),
        "radar": (1501, 2001),
    }.items():
        empty = np.lib.stride_tricks.as_strided(np.zeros(1, "i1"), shape, (0,) * len(shape))
        assert all(empty[chosen].size for chosen in patterns(shape).values())
        assert len(layouts(kind, shape)) >= 5
