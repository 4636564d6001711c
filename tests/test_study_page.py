"""What notebooks are written with: a session, cases, files, comparisons, sentences, figures."""

import errno
import json
import os
import re
import subprocess
import sys
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from samples import Append

from data_gen import arrays
from hyperslab.analysis.compare import compare, paired
from hyperslab.io import reader
from hyperslab.io.experiment import modules
from hyperslab.measure.case import Case as PlainCase
from hyperslab.measure.case import Stopwatch
from hyperslab.measure.noise import Disturbed, judge
from hyperslab.measure.records import TEXT, frame_of, labels_of, load, save
from hyperslab.study import Array, Case, Create, Dots, Layout, Overwrite, Read, begin, show
from hyperslab.study.page import said, say
from hyperslab.study.pages import clean
from hyperslab.study.pictures import ColumnInFile
from hyperslab.study.pictures.style import styled
from hyperslab.text import Interval

COLUMN = np.s_[:, 7]
ARRAY = Array(partial(arrays.values, (64, 32)), (64, 32), "i4")
LAYOUTS = {"plain": Layout("netcdf3"), "chunked": Layout("netcdf4", chunks=(16, 1))}


def rows(seconds=(("plain", 0.8), ("chunked", 0.1)), states=("cold", "warm"), blocks=7, **more):
    for state, (layout, second), block in product(states, seconds, range(blocks)):
        yield {
            "run_id": "r", "experiment": "e", "layout": layout, "case": layout,
            "cache_state": state, "block": block, "phase": "read", "status": "ok",
            "wall_s": second * (1 + 0.01 * block), "useful_bytes": 1e6, "rchar": 5.0,
        } | more  # fmt: skip


def measured(*lost):
    """Records of two layouts; of the states in `lost` no sample succeeded."""
    states = [state for state in ("cold", "warm") if state not in lost]
    none = rows(states=lost, status="no way to evict", phase="lost")
    return frame_of([*rows(states=states), *none], ["layout"])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_a_case_reads_and_writes_is_compared_with_the_array(tmp_path, layout):
    run = begin("lee_access", profile="smoke", workdir=str(tmp_path))
    (file,) = run.write(ARRAY, {f"{layout}, of it": LAYOUTS[layout]}).values()
    assert file.path.stem == f"array-{layout}-of-it"
    with reader("netcdf4").open(file.path, "data") as opened:
        assert np.array_equal(opened.read(...), ARRAY.make())
    cold, warm = (Case({"layout": layout}, Read(file, COLUMN)).ready(s) for s in ("cold", "warm"))
    assert cold.files != warm.files and warm.files[0].read_bytes() == file.path.read_bytes()
    assert cold.columns["chunks"] == LAYOUTS[layout].record()["chunks"]
    assert cold.columns["library"] == "netCDF4" and cold.name == layout
    for case in (cold, warm, *(Case({}, w(file, COLUMN)).ready() for w in (Overwrite, Create))):
        if case.prepare:
            case.prepare()
        watch = Stopwatch()
        assert case.check(case.run(watch))
        assert {row["phase"] for row in watch.rows()} >= {"close"}
        if case.cleanup:
            case.cleanup()
            assert not case.run.path.exists()
    assert not cold.check(ARRAY[:, 8])
    assert {"netCDF4", "hyperslab.io.by_netcdf4"} <= set(modules([cold]))


def cases_of(run, *paired):
    return [
        Case({"layout": name}, Read(file, COLUMN), aa=name in paired)
        for name, file in run.write(ARRAY, LAYOUTS).items()
    ]


def test_labels_are_columns_of_records_in_the_order_of_the_cases(tmp_path):
    run = begin("lee_access", profile="smoke", workdir=str(tmp_path), repeats=2)
    cases = cases_of(run, "plain")
    frame = run.measure("e", cases, cache=("warm",))
    run.finish()
    kept = load(run.results / "lee_access.parquet")
    assert labels_of(kept) == ["layout"] and set(kept["case"]) == set(LAYOUTS)
    assert list(frame["layout"].cat.categories) == list(LAYOUTS)
    place = str(run.results)
    again = begin("lee_access", profile="smoke", workdir=str(tmp_path), records=place)
    assert list(compare(again.measure("e", cases), "wall_s", "layout").index) == list(LAYOUTS)
    with pytest.raises(ValueError, match="records have layout chunked, which this notebook"):
        again.measure("e", cases[:1])
    with pytest.raises(ValueError, match="have no label 'reader'"):
        again.measure("e", [Case({"reader": "x"}, cases[0].work)])


def test_a_profile_leaves_cases_out_or_measures_them_less_by_their_labels(tmp_path):
    rules = [{"layout": ["chunked"], "experiment": "e"}]
    run = begin("lee_access", profile="smoke", workdir=str(tmp_path), repeats=1)
    run.settings = {**run.settings, "leave_out": rules}  # as notebooks/study.yml has them
    cases = cases_of(run, *LAYOUTS)
    assert set(run.measure("e", cases)["layout"]) == {"plain"}
    found = run.measure("f", cases, only=lambda left: left[1:])
    assert set(found["layout"]) == {"chunked"}
    run = begin("lee_access", profile="smoke", workdir=str(tmp_path), repeats=3)
    rules = [{"blocks": most, "layout": "chunked"} for most in (2, 9)]
    rules.append({"blocks": 1, "layout": "chunked", "cache_state": "warm", "experiment": "g"})
    run.settings = {**run.settings, "fewer": rules}
    found = run.measure("g", cases_of(run, *LAYOUTS), cache=("cold", "warm"))
    blocks = found.groupby(["layout", "cache_state"], observed=True)["block"].nunique()
    assert blocks.to_dict() == {
        ("plain", "cold"): 3, ("plain", "warm"): 3, ("chunked", "cold"): 2, ("chunked", "warm"): 1,
    }  # fmt: skip
    run.settings = {**run.settings, "fewer": [{"blocks": 1, "experiment": "h", "layuot": "plain"}]}
    with pytest.raises(ValueError, match=r"no case of h has 'layuot': they have .*layout"):
        run.measure("h", cases_of(run, *LAYOUTS))
    with pytest.raises(ValueError, match="no reader 'netcdf5'; give one of"):
        Case({}, Read(cases[0].work.file, COLUMN, "netcdf5")).ready()


def test_ratios_are_paired_within_blocks_and_in_favour_of_the_row():
    plain = {"layout": "plain"}
    table = compare(measured(), "wall_s", ["layout", "cache_state"], against=plain)
    assert table.ratio["chunked", "cold"].value == pytest.approx(8)
    assert table.ratio["plain", "warm"].value == 1
    assert table.value["chunked", "warm"].n == 7
    less = measured()
    less = less[(less["block"] != 2) | (less["layout"] != "plain")]
    table = compare(less, "wall_s", "layout", against=plain, cache_state="cold")
    assert (table.value["chunked"].n, table.ratio["chunked"].n) == (7, 6)
    rate = compare(measured(), "rate", "layout", against=plain, cache_state="cold")
    assert rate.ratio["chunked"].value == pytest.approx(8)
    assert rate.value["chunked"].value == pytest.approx(1e6 / 0.103)
    table = compare(measured("cold"), "wall_s", ["layout", "cache_state"], against=plain)
    assert table.value["plain", "cold"].n == 0, "unknown, and not left out"
    assert f"{table.ratio['chunked', 'cold']:faster}" == "not measured"
    uncounted = compare(measured().assign(rchar=np.nan), "rchar", "layout", cache_state="cold")
    assert uncounted.value["plain"].n == 0


def test_pairs_are_of_the_blocks_that_both_sides_have():
    of, to = (pd.DataFrame({"": values}) for values in ([1.0, np.nan, 3.0, 4.0], [5.0, 6.0, 7.0]))
    assert [(a.tolist(), b.tolist()) for a, b in paired(of, to)] == [([1.0, 3.0], [5.0, 7.0])]


def test_comparisons_that_make_no_sense_are_refused():
    for how, error in (
        ({"by": "reader"}, "no column 'reader'"),
        ({"by": "layout", "against": {"layout": "x"}, "cache_state": "cold"}, "nothing has"),
        ({"by": "layout"}, "several cache_state"),
    ):
        with pytest.raises((KeyError, ValueError), match=error):
            compare(measured(), "wall_s", **how)


def test_figures_show_what_was_measured_in_its_order():
    table = compare(measured("cold"), "wall_s", ["layout", "cache_state"])
    with styled():
        drawn = Dots(
            table, "layout", "It says so", "time", "ms", "cache_state",
            document={"chunked": 0.2, "other": 1.0}, bound=0.05, bound_name="memory copy",
        )()  # fmt: skip
        (axes,) = drawn.axes
        assert [text.get_text() for text in axes.get_yticklabels()] == ["plain", "chunked"]
        assert axes.get_xlabel() == "time, ms" and axes.get_title(loc="left") == "It says so"
        assert set(axes.get_legend_handles_labels()[1]) == {"warm", "document", "memory copy"}
        (dots,) = (line for line in axes.lines if line.get_label() == "document")
        assert dots.get_xydata().tolist() == [[200.0, 1]]
        for figure in (drawn, ColumnInFile(LAYOUTS, (64, 32), 7, "Where")()):
            figure.canvas.draw()
            plt.close(figure)


def test_panels_have_their_own_dots_and_what_was_not_timed_is_hollow():
    table = compare(measured(), "wall_s", ["layout", "cache_state"])
    keys = [("plain", "warm"), ("chunked", "cold"), ("modelled", "cold")]
    index = pd.MultiIndex.from_tuples(keys, names=table.index.names)
    drawn = Dots(
        table, ["layout"], "It says so", "time", "s", panel="cache_state",
        hollow=pd.Series([0.3, 0.2, 0.1], index), document=pd.Series([9.0], index[:1]),
    )()  # fmt: skip
    titles = {axes.get_title(loc="left"): axes for axes in drawn.axes}
    assert set(titles) == {"cold", "warm"}
    hollow = [line for line in titles["cold"].lines if "model" in str(line.get_label())]
    assert hollow[0].get_xydata().tolist() == [[0.2, 1], [0.1, 2]]
    theirs = [line for line in titles["warm"].lines if line.get_label() == "document"]
    assert theirs[0].get_xydata().tolist() == [[9.0, 0]]
    plt.close(drawn)


def test_the_answer_comes_right_below_the_title():
    def cell(source, *tags):
        return {"cell_type": "markdown", "metadata": {"tags": list(tags)}, "source": source}

    cells = [cell("# T"), cell("how"), cell("## What"), cell("found", "answer"), cell("## Why\nso")]
    page = clean({"cells": cells, "metadata": {}}, str)
    assert [cell["source"] for cell in page["cells"]] == ["# T", "found", "how", "## Why\nso"]
    page = clean({"cells": [*cells[:4], cell("a table"), cells[4]], "metadata": {}}, str)
    assert [cell["source"] for cell in page["cells"]][3:] == ["## What", "a table", "## Why\nso"]


def test_a_line_with_a_value_that_was_not_measured_is_left_out():
    values = {"a": Interval(2.0, 1.5, 2.5, 7), "b": Interval(np.nan, np.nan, np.nan, 0)}
    shown = "It was 2 × [1.5, 2.5] faster.\n*What was not measured here is left out.*"
    assert said("It was {a:faster}.\nIt was {b:faster}.", **values) == shown


def test_a_value_is_escaped_in_prose_and_not_in_code():
    assert said("`v{part}` of {part}", part="[::2]`") == "`v[::2]'` of \\[::2]\\`"


def test_newer_records_are_refused(tmp_path):
    save(frame_of([{"case": "a"}]), tmp_path / "x.parquet", {"schema": 99})
    with pytest.raises(ValueError, match="schema 99, and this release reads up to 2"):
        load(tmp_path / "x.parquet")


@pytest.mark.parametrize(
    ("blocks", "other", "of_value", "shown"),
    [
        (7, 0.8, 7, "2 × [1.5, 3] faster. **Do.** Buy."),
        (5, 0.8, 7, "faster. **Do.** No"),
        (7, 0.8, 5, "(1.5 to 3, the range of 5 blocks) faster. **Do.** No"),
        (7, 0.9, 7, "Nothing is said of times: one configuration, measured twice"),
    ],
)
def test_few_blocks_give_no_advice_and_void_times_nothing(
    monkeypatch, blocks, other, of_value, shown
):
    texts = []
    monkeypatch.setattr("hyperslab.study.show.text", texts.append)
    pair = rows((("A", 0.8), ("B", other)), ("warm",), blocks)
    frame = frame_of([row | {"aa": row["case"], "case": "p"} for row in pair], ["layout"])
    gain = Interval(2.0, 1.5, 3.0, of_value)
    say("**Found.** {gain:faster}. **Do.** Buy.", rests_on=[frame], gain=gain)
    assert shown in texts[0] and ("Buy" in texts[0]) == shown.endswith("Buy.")


def test_a_figure_is_drawn_for_light_and_for_dark_pages(monkeypatch, tmp_path):
    seen, others = [], plt.get_fignums()
    monkeypatch.setattr(show, "_display", lambda *given: seen.append(given))
    place = SimpleNamespace(results=tmp_path, notebook="one")

    def draw():
        figure, axes = plt.subplots()
        axes.bar(range(8), range(8), color=[f"C{n}" for n in range(8)])
        return figure

    show.figure(place, draw, "a-name", "What it shows.", "A  line.")
    light, dark = (
        set(re.findall("#[0-9a-f]{6}", (tmp_path / f"figures/one/a-name.{style}.svg").read_text()))
        for style in ("light", "dark")
    )
    assert len(light) == len(dark) == 9 and light & dark == {"#e69f00", "#56b4e9"}
    ((data,),) = seen
    assert "<title>A line.</title>" in data["image/svg+xml"] and "#2b2b2b" in data["image/svg+xml"]
    assert ":alt: A line.\n" in data[show.MYST]
    assert plt.get_fignums() == others


@pytest.mark.parametrize(("blocks", "said"), [(1, "one block, no interval"), (4, "the range of 4")])
def test_few_blocks_of_an_aa_pair_have_no_interval(blocks, said):
    row = {"experiment": "e", "case": "a", "phase": "read"}
    rows = [row | {"aa": aa, "block": b, "wall_s": 1.0 + b} for b in range(blocks) for aa in "AB"]
    text = show.noise_text(judge(frame_of(rows)), Disturbed(9, 3, 2))
    assert said in text and "[" not in text and "2 of those" in text


EVIL = "<script>alert(3)</script> {{role}} {math}`x` | *a* \x07\x1b[31m\n```{raw} html\n# a"


def test_markup_in_records_is_shown_and_does_nothing(monkeypatch):
    seen = []
    monkeypatch.setattr(show, "_display", seen.append)
    show.table(pd.DataFrame({name: [EVIL] for name in TEXT}), "a-name", "Words.")
    row = seen[0][show.MYST].splitlines()[-2]
    assert row.count(" | ") == len(TEXT) - 1 and row.isprintable()
    assert not re.search(r"(?<!\\)[<{]", row) and "<script>" not in seen[0]["text/html"]
    evil = dict.fromkeys(("experiment", "cache_state", "case", "status"), EVIL)
    said = show.lost_text(frame_of([{**evil, "block": 0}]))
    assert said.count("# a") == 4 and said.count("```") == 2
    assert not re.search(r"(?<!\\)[<{]", said.removeprefix("```{"))


@pytest.fixture
def workdir(tmp_path):
    return str(tmp_path / "work")


def logged(workdir, log, **more):
    run = begin("lee_access", profile="smoke", workdir=workdir, **more)
    frame = run.measure("e", [PlainCase("a", Append(log, "a"), aa=True)])
    sizes = run.observe("sizes", lambda: [{"case": "x", "phase": "size", "file_bytes": 7}])
    assert sizes["file_bytes"].tolist() == [7]
    return run, frame


def test_records_and_machine_are_written_together_and_drawn_from_without_measuring(
    tmp_path, workdir
):
    log = tmp_path / "log"
    run, frame = logged(workdir, log)
    run.finish()
    kept = load(run.results / "lee_access.parquet")
    assert len(kept) == len(frame) + 1
    for name, value in (("run_id", run.run_id), ("profile", "smoke"), ("notebook", "lee_access")):
        assert set(kept[name]) == {value}
    facts = json.loads((run.results / "machine.json").read_text())
    assert list(facts) == [run.run_id]
    assert {"identity", "versions", "kernel", "file_system", "seed"} <= set(facts[run.run_id])
    before = log.read_text()
    drawn, again = logged(workdir, log, records=str(run.results))
    assert drawn.drawing and log.read_text() == before
    assert again["wall_s"].tolist() == frame["wall_s"].tolist()
    with pytest.raises(ValueError, match="hold no experiment 'other'"):
        drawn.observe("other", list)


def test_an_interrupted_notebook_goes_on_and_a_finished_one_measures_anew(tmp_path, workdir):
    log = tmp_path / "log"
    first, _ = logged(workdir, log, repeats=2)  # never finishes
    second, frame = logged(workdir, log, repeats=2)
    second.finish()
    assert second.run_id == first.run_id
    assert len(log.read_text()) == 2 * 2 and frame["block"].max() == 1
    third, _ = logged(workdir, log, repeats=2)
    third.finish()
    assert third.run_id != second.run_id
    facts = json.loads((third.results / "machine.json").read_text())
    assert list(facts) == [third.run_id], "facts of a run without records are kept"


def test_another_machines_results_are_refused(tmp_path, workdir):
    run, _ = logged(workdir, tmp_path / "log")
    run.finish()
    path = run.results / "machine.json"
    facts = json.loads(path.read_text())
    facts[run.run_id]["identity"]["cpu"] = "another processor"
    path.write_text(json.dumps(facts))
    with pytest.raises(ValueError, match=r"of another machine \(another processor.*choose another"):
        begin("lee_access", profile="smoke", workdir=workdir)


def test_what_a_killed_run_left_is_removed_and_a_living_ones_stays(workdir):
    dead = subprocess.Popen(["true"])
    dead.wait()
    run = begin("lee_access", profile="smoke", workdir=workdir)
    left = run.scratch.with_name(f"lee_formats-{dead.pid}")
    other = run.scratch.with_name(f"lee_access-{os.getppid()}")
    for folder in (left, other):
        folder.mkdir(parents=True)
    begin("lee_access", profile="smoke", workdir=workdir)
    assert not left.exists() and other.exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"profile": "fast"}, "no profile 'fast': choose from smoke, quick, full, paper"),
        ({"notebook": "nope"}, "no notebook 'nope' in the study: choose from"),
        ({"repeats": "abc"}, "repeats is 'abc': give a whole number from 0, 0 for the profile's"),
        ({"seed": True}, "seed is True: give a whole number from 0"),
        ({"workdir": "README.md/work"}, "README.md/work' cannot be written"),
        ({"records": "no/such/folder"}, "no such folder of records"),
        ({"workdir": "."}, "the work directory is '.': name a folder"),
        ({"workdir": "results/mine"}, "the work directory is 'results/mine': name a folder"),
        ({"file_mib": -1}, "file_mib is -1: give a whole number from 0"),
    ],
)
def test_a_bad_parameter_is_named_with_what_is_allowed(workdir, given, said):
    words = {"notebook": "lee_access", "profile": "smoke", "workdir": workdir} | given
    with pytest.raises(ValueError, match=re.escape(said)):
        begin(words.pop("notebook"), **words)


def test_a_full_disk_is_named_and_nothing_is_left_there(workdir):
    run = begin("lee_access", profile="smoke", workdir=workdir)

    def fill():
        (run.scratch / "half").write_bytes(b"x")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"the disk of the work directory is full, .* MiB are free"):
        run.make(fill)
    assert not run.scratch.exists()


def test_what_a_notebook_that_failed_had_in_scratch_is_removed(workdir):
    code = f"""from hyperslab.study import begin
run = begin('lee_access', profile='smoke', workdir={workdir!r})
run.make(lambda: (run.scratch / 'file').touch())
raise SystemExit(1)"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 1
    assert not list(Path(workdir, "scratch").glob("lee_access-*"))
