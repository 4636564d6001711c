"""The page on benchmarking one's own file: what is asked, and what is said of it."""

from functools import partial

import matplotlib.pyplot as plt
import netCDF4
import numpy as np
import pandas as pd
import pytest
from made_bench import bench_frame

from hyperslab.advise.report.summary import BM_COLUMNS, summary
from hyperslab.measure.records import frame_of
from hyperslab.study.chunking import bench, bench_figures, bench_why_words, bench_words
from hyperslab.study.style import STYLES, styled

ELENA = {"copy": 1.0, "256x4x64": 4.0, "256x64x64": 2.0}


def made(times=None, asked=None, **changes):
    """A benchmark that remembers what it was asked, and answers from made-up records."""

    def measure(words):
        if asked is not None:
            asked.append(list(words))
        return bench_frame(times=times or ELENA, **changes)

    return measure


def kept(rows):
    return frame_of([{"run_id": "run-1", "status": "ok", **row} for row in rows])


def test_the_document_is_quoted_whole():
    table = bench.document()
    assert table.shape == (6, 14)
    assert bench.COLUMNS == BM_COLUMNS
    for rate, time in bench.RATES.items():
        useful = np.array([n**d * 2 for d, n in bench.SHORTS.items()])
        assert np.allclose(useful / table[time], table[rate], rtol=1e-4), rate


@pytest.mark.parametrize("divisor", [1, 2, 4, 8])
def test_the_six_commands_keep_their_proportions(divisor):
    shape, chunks = bench.elena(divisor)
    assert len(chunks) == 6
    assert all(c <= n for one in chunks for c, n in zip(one, shape, strict=True))


def test_a_command_names_every_layout(tmp_path):
    words = bench.words(tmp_path / "a.nc", bench.ELENA_CHUNKS, "-f", "3")
    assert words.count("-c") == 6
    assert words[-1].endswith("a.nc")
    lines = bench_words.command(words, "a.nc").splitlines()
    assert all(len(line) < 90 for line in lines)
    assert all(line.endswith("\\") for line in lines[:-1])
    assert bench_words.command(words, "a.nc").count("-c 0:-1:0:") == 6


def test_files_are_as_the_documents(tmp_path):
    path = bench.make_integers(tmp_path / "new" / "a.nc", (8, 4, 4), "i4")
    with netCDF4.Dataset(path) as file:
        assert file.data_model == "NETCDF3_CLASSIC"
        assert list(file.dimensions) == ["z", "y", "x"]
        values = next(iter(file.variables.values()))[:]
    assert 0 <= values.min() <= values.max() < 255
    currents = bench.make_currents(tmp_path / "c.nc", 3, 20, 40)
    with netCDF4.Dataset(currents) as file:
        assert file["uo"].chunking() == [1, 20, 40]


def test_records_of_a_benchmark_lose_only_what_the_session_gives():
    rows = list(bench.rows(made(), ["a.nc"], size="3D"))
    assert not {"run_id", "experiment"} & set(rows[0])
    assert {row["size"] for row in rows} == {"3D"}
    whole = bench_frame(times=ELENA)
    assert len(frame_of(rows)) == (whole["experiment"] == "bench").sum() + 1


def test_shorts_are_measured_by_dimension(tmp_path):
    asked = []
    records = kept(bench.shorts(made({"1x5": 1.0}, asked), tmp_path, 3))
    assert [words[-1][-5:] for words in asked] == [
        "1d.nc",
        "2d.nc",
        "3d.nc",
        "4d.nc",
        "5d.nc",
        "6d.nc",
    ]
    assert "0:-1:0:17:17:17:17" in asked[3]
    table = bench.shorts_table(records, summary)
    assert list(table.index) == [1, 2, 3, 4, 5, 6]
    text = bench_words.shorts(table, bench.document())
    assert "488.998" in text
    assert "times its read rate" in text
    printed = bench_words.printed(table).splitlines()
    assert printed[0].startswith("input format, output_format, input size, ")
    assert printed[0].endswith("chunksize[2], chunksize[3]")
    assert {line.count(",") for line in printed} == {19}
    assert len(bench_words.shorts_rows(table, bench.document())) == 6
    assert "medians of 7" in bench_words.caption_shorts(table)


def test_copies_say_real_and_predicted_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "SIDE", 64)
    frame = bench_frame(times={"128x128": 1.0}).assign(chunks="128x128")
    records = kept(bench.copies(lambda _: frame, tmp_path, [128]))
    assert records["file_bytes"].tolist() == [1e6]
    assert bench_words.sizes(records)["bm_file"].tolist() == ["40,997,536"]
    assert not list(tmp_path.iterdir())


def test_every_column_is_tried_by_itself():
    table = summary(bench_frame())
    assert {row["status"] for row in bench.columns([table])} == {"ok"}
    worse = table.drop(columns="enddianness").assign(**{"read rate": 1.0, "output size": 1})
    worse["deflate"] = np.nan
    found = {row["case"]: row["status"] for row in bench.columns([table, worse])}
    assert len(found) == 20
    assert "no column" in found["enddianness"]
    assert "not filled" in found["deflate"]
    assert "over 'data read time'" in found["read rate"]
    assert "not the size" in found["output size"]
    assert found["shuffle"] == "ok"
    listed = bench_words.missing(kept(bench.columns([worse])))
    assert listed.count("\n") == 3


@pytest.mark.parametrize(
    ("size", "said"), [(bench.COPY_BYTES, "to the byte"), (bench.COPY_BYTES + 8, "+8 bytes")]
)
def test_the_summary_follows_the_records(size, said):
    rated = bench.rates(bench_frame(times=ELENA))
    columns = kept(bench.columns([summary(bench_frame())]))
    copied = frame_of([{"case": "128x128", "file_bytes": size}])
    text = bench_words.summary(columns, copied, rated)
    assert said in text
    assert "20 of the 20 columns" in text
    assert "256 × 64 × 64 were written fastest" in text
    assert "more than any" in text
    turned = bench.rates(bench_frame(times={"copy": 2.0, "256x4x64": 1.0, "64x64x64": 3.0}))
    text = bench_words.summary(columns, copied, turned)
    assert "256 × 4 × 64 were written fastest" in text
    assert "less than the fastest" in text
    alone = bench_words.summary(columns, copied, turned[turned["case"] != "copy"])
    assert "classic" not in alone


def test_rates_are_the_datas():
    rated = bench.rates(bench_frame(times=ELENA, spread=0.0)).set_index(["case", "step"])
    assert rated.loc[("copy", "put"), "rate"] == pytest.approx(4.1472)
    assert rated.loc[("copy", "write"), "rate"] == pytest.approx(4.1472 / 4)
    frame = bench_frame(times=ELENA)
    assert "read again" not in set(bench.rates(frame[frame["phase"] != "data_reread"])["step"])


@pytest.mark.parametrize("calls", [[10, 20, 30], [30, 20, 10], [5, 5, 5]])
def test_the_reasons_follow_the_counts(calls):
    rated = bench.rates(bench_frame(times={"copy": 9.0, "a": 1.0, "b": 2.0, "c": 3.0}))
    for column in ("wchar", "syscw", "minflt"):
        rated[column] = 1e6
    rated["syscw"] = rated["case"].map({"copy": 7, **dict(zip("abc", calls, strict=True))})
    text = bench_why_words.why(rated)
    assert ("calls are the slower ones" in text) == (calls == [10, 20, 30])
    assert ("All take 5 write calls" in text) == (calls == [5, 5, 5])
    assert "not one of bytes" in text
    assert "classic file hands over 1.00 MB in 7 calls" in text
    assert "touch as much new memory" in text
    rated["minflt"] = rated["syscw"]
    rated.loc[rated["case"] == "a", "wchar"] = 2e6
    text = bench_why_words.why(rated[rated["step"] == "write"])
    assert "differ by 100 %" in text
    assert ("more are the slower ones" in text) == (calls == [10, 20, 30])
    rated["syscw"] = np.nan
    assert "stays open" in bench_why_words.why(rated)


def test_what_noise_may_do_is_no_result():
    times = {"copy": 1.001, "256x4x64": 1.0, "256x64x64": 1.003, "64x64x64": 1.002}
    rated = bench.rates(bench_frame(times=times, spread=0.02))
    for calls in ([1, 2, 3, 4], [4, 3, 2, 1]):
        rated["syscw"] = rated["case"].map(dict(zip(times, calls, strict=True)))
        rated["minflt"] = rated["wchar"] = 1e6
        text = bench_why_words.why(rated)
        assert "which the rates do not show" in text
        assert "slower" not in text and "not one of bytes" not in text
    columns = kept(bench.columns([summary(bench_frame())]))
    copied = frame_of([{"case": "128x128", "file_bytes": 1.0}])
    text = bench_words.summary(columns, copied, rated)
    assert text.count("none is told apart") == 2
    assert "fastest, at" not in text
    assert "not told apart from the fastest" in text
    example = bench_words.example(bench.reads(bench_frame(times=times, spread=0.02)))
    assert "is not told apart from the file as it is" in example


@pytest.mark.parametrize("times", [{"copy": 4.0, "a": 1.0, "b": 2.0}, {"copy": 1.0, "a": 2.0}])
def test_the_example_follows_the_records(times):
    frame = bench_frame(times=times, spread=0.0)
    table = bench.reads(frame)
    text = bench_words.example(table)
    assert ("no layout beats" in text) == (times["copy"] == 1.0)
    assert "100 kB" in text
    assert "one layout" in bench_words.advice(table)
    mixed = frame.copy()
    mixed.loc[(mixed["case"] == "a") & (mixed["pattern"] == "map"), "wall_s"] *= 9
    mixed.loc[(mixed["case"] == "copy") & (mixed["pattern"] == "map"), "wall_s"] /= 9
    if times["copy"] == 4.0:
        assert "no layout was the quickest" in bench_words.advice(bench.reads(mixed))


def test_reads_without_counts_or_cold_caches():
    frame = bench_frame()
    frame = frame[frame["cache_state"] != "cold"]
    frame = frame.assign(rchar=np.nan)
    text = bench_words.example(bench.reads(frame))
    assert "warm" in text
    assert "kB" not in text
    assert bench_words.advice(bench.reads(frame))


@pytest.mark.parametrize("style", STYLES)
def test_the_figures_draw(style):
    frame = bench_frame(times=ELENA)
    each = [frame.assign(size=f"{n}D") for n in bench.SHORTS]
    table = bench.shorts_table(pd.concat(each, ignore_index=True), summary)
    assert (table["read rate low"] <= table["read rate"]).all()
    assert (table["read rate"] <= table["read rate high"]).all()
    with styled(style):
        for draw in (
            partial(bench_figures.figure_elena, bench.rates(frame)),
            partial(bench_figures.figure_shorts, table, bench.document()),
            partial(bench_figures.figure_reads, bench.reads(frame)),
        ):
            figure = draw()
            figure.canvas.draw()
            assert all(axes.get_xlabel() for axes in figure.axes)
            plt.close(figure)


def test_captions_and_blocks():
    frame = bench_frame(times=ELENA)
    assert "run-1" in bench_words.caption_elena(bench.rates(frame), frame)
    assert "4.1 MB" in bench_words.caption_reads(frame, bench.reads(frame))
    assert bench_words.block("a", "b\n\n") == "```text\n$ a\n\nb\n```"
    assert "own size" in bench_words.elena(1)
    assert "divided by 4: 4.2 MB" in bench_words.elena(4)
