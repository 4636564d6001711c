"""What a notebook's result depends on besides its code, and what is kept of a whole one."""

import json
from pathlib import Path

import pytest

from hyperslab.study.job import Job, measures
from hyperslab.study.options import Options
from hyperslab.study.profile import Entry

ONE = Entry("one", "One", {"quick": {"blocks": 3}})
BOARD = Entry("board", "Board", {"quick": {"draws": True, "beside": "results"}})


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """Two templates; the first takes a place from a variable."""
    (tmp_path / "notebooks").mkdir()
    for name, code in {"one": "os.environ['HYPERSLAB_S3_URL']", "board": ""}.items():
        cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": code}
        notebook = {"cells": [cell], "metadata": {}, "nbformat": 4}
        (tmp_path / f"notebooks/{name}.ipynb").write_text(json.dumps(notebook))
    return tmp_path


def inputs(item: Entry, top: Path, options: Options | None = None) -> dict[str, str]:
    wanted = Job.of(item, options or Options(), top).wanted
    return {name: mark for name, mark in wanted.items() if name.startswith(("input", "settings"))}


def records(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "one.parquet").write_bytes(b"PAR1")


def test_what_measures_depends_on_its_settings_and_not_on_records(top: Path) -> None:
    before = inputs(ONE, top)
    assert list(before) == ["settings"]
    records(top / "build/results/quick")
    assert inputs(ONE, top) == before
    assert inputs(Entry("one", "One", {"quick": {"blocks": 4}}), top) != before


def test_what_draws_depends_on_the_records_it_draws_from(top: Path) -> None:
    assert measures(ONE, Options())
    assert not measures(ONE, Options(records="results/here"))
    assert not measures(BOARD, Options())
    records(top / "results/here")
    assert set(inputs(ONE, top, Options(records="results/here"))) == {"input one.parquet"}


def test_another_machine_makes_the_page_run_again(top: Path) -> None:
    records(top / "build/results/quick")
    alone = inputs(BOARD, top)
    assert set(alone) == {"input one.parquet"}
    records(top / "results/reference")
    beside = inputs(BOARD, top)
    assert set(beside) - set(alone) == {"input reference/one.parquet"}
    assert alone.items() <= beside.items()


def test_a_place_elsewhere_counts_by_a_mark_that_does_not_tell_it(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERSLAB_S3_URL", "http://store.example:9000")
    first = inputs(ONE, top)["input HYPERSLAB_S3_URL"]
    monkeypatch.setenv("HYPERSLAB_S3_URL", "http://other.example:9000")
    second = inputs(ONE, top)["input HYPERSLAB_S3_URL"]
    assert first != second
    assert "example" not in first + second
    monkeypatch.setenv("HYPERSLAB_S3_URL", "no address")
    assert inputs(ONE, top)["input HYPERSLAB_S3_URL"] == "none"


def test_current_is_what_was_kept_whole(top: Path) -> None:
    job = Job.of(ONE, Options(), top)
    job.target.parent.mkdir(parents=True)
    job.keep(1.5)
    assert not job.current, "the notebook itself is missing"
    job.target.write_text("{}")
    assert job.current
    assert job.kept()["seconds"] == 1.5
    assert not Job.of(Entry("one", "One", {"quick": {}}), Options(), top).current
    job.target.with_suffix(".json").write_text("{")
    assert not job.current, "cut short"
    job.forget()
    assert list(job.target.parent.iterdir()) == []


def test_only_what_draws_a_page_changed(top: Path) -> None:
    job = Job.of(ONE, Options(), top)
    old = job.wanted | {"prose": "other"}
    assert not job.redraws(old), "no records to draw from"
    records(job.records.parent)
    assert job.redraws(old)
    assert not job.redraws(old | {"settings": "{}"})
