"""Staging: what of a run reaches the pages, and what must not."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from hyperslab.study.book import fingerprint, listed, render, stage
from hyperslab.study.pages import clean, failure, placeholder
from hyperslab.study.privacy import scrubber


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project: one page of prose, one notebook, no extensions."""
    root = tmp_path / "secretproject"
    (root / "book").mkdir(parents=True)
    (root / "notebooks").mkdir()
    (root / "book/index.md").write_text("# Start\n\nTemperature by jones.\n")
    (root / "_toc.yml").write_text(
        "format: jb-book\nroot: book/index\nchapters: [{file: notebooks/one}]\n"
    )
    (root / "_config.yml").write_text(
        "title: t\nonly_build_toc_files: true\nexecute: {execute_notebooks: 'off'}\n"
    )
    return root


def cell(source: str, *outputs: dict[str, Any], tags: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": "a",
        "execution_count": 1,
        "source": source,
        "outputs": list(outputs),
        "metadata": {"tags": list(tags), "papermill": {"start_time": "now"}},
    }


def notebook(*cells: dict[str, Any]) -> dict[str, Any]:
    title = {"cell_type": "markdown", "id": "t", "metadata": {}, "source": ["(one)=\n", "# One"]}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "p"},
            "language_info": {"name": "python"},
            "papermill": {"a": 1},
        },
        "cells": [title, *cells],
    }


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": [text]}


def write_run(root: Path, *cells: dict[str, Any]) -> tuple[Path, Path]:
    executed, results = root / "build/executed", root / "build/results/quick"
    executed.mkdir(parents=True, exist_ok=True)
    results.mkdir(parents=True, exist_ok=True)
    (executed / "one.ipynb").write_text(json.dumps(notebook(*cells)))
    return executed, results


def staged_text(out: Path) -> str:
    return "\n".join(path.read_text() for path in sorted(out.rglob("*")) if path.is_file())


def test_private_text_does_not_reach_the_stage(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "homes/canaryuser"
    monkeypatch.setenv("HOME", str(home))
    for name in ("LOGNAME", "USER"):
        monkeypatch.setenv(name, "canaryuser")
    said = f"canaryuser@canaryhost: {home}/x.nc {project}/build/data/a.nc\n"
    html = {
        "output_type": "execute_result",
        "data": {"text/html": f"<b>{said}</b>"},
        "metadata": {},
    }
    executed, results = write_run(
        project, cell(f"workdir = '{project}/build'", stream(said), html, stream(said, "stderr"))
    )
    (results / "claims.json").write_text(json.dumps([{"id": "a", "reason": said}]))
    (results / "machine.json").write_text(json.dumps({"run": {"note": said}}))
    out = project / "build/book"
    assert stage(executed, results, out, root=project, hide={"canaryhost": "host"}) == {}
    text = staged_text(out)
    for name in ("canaryuser", "canaryhost", "secretproject", str(tmp_path), "papermill"):
        assert name not in text, name
    assert "workdir = 'build'" in text
    assert "user@host: ~/x.nc build/data/a.nc" in text


def test_a_user_called_like_a_word_of_the_book_does_not_change_the_book(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "jones")
    assert scrubber(project)("jones-order holds for jones") == "jones-order holds for jones"
    assert scrubber(project)("/home/jones/a.nc") == "~/a.nc"


def test_myst_output_becomes_markdown_only() -> None:
    data = {"image/png": "aGk=", "text/x-myst": ["```{figure} a.light.svg\n", "```\n"]}
    output = {"output_type": "display_data", "data": data, "metadata": {"image/png": {"alt": "a"}}}
    result = clean(notebook(cell("", output)))["cells"][1]["outputs"][0]
    assert result["data"] == {"text/markdown": ["```{figure} a.light.svg\n", "```\n"]}
    assert result["metadata"] == {}


def test_other_outputs_stay_and_stderr_goes() -> None:
    image = {"output_type": "display_data", "data": {"image/png": "aGk="}, "metadata": {}}
    cells = clean(notebook(cell("", image, stream("warning", "stderr"), stream("ok"))))["cells"]
    assert cells[1]["outputs"] == [image, stream("ok")]


def test_picture_data_is_not_scrubbed(project: Path) -> None:
    image = {"output_type": "display_data", "data": {"image/png": "abc/x/abc"}, "metadata": {}}
    cells = clean(notebook(cell("", image)), scrubber(project, {"x": "y"}))["cells"]
    assert cells[1]["outputs"][0]["data"]["image/png"] == "abc/x/abc"


def test_injected_parameters_are_folded() -> None:
    cells = clean(notebook(cell("a = 1", tags=("injected-parameters",))))["cells"]
    assert cells[1]["metadata"]["tags"] == ["hide-input", "injected-parameters"]
    assert cells[1]["metadata"]["mystnb"]["code_prompt_show"] == "Parameters of this run"


def test_failure_names_the_cell() -> None:
    error = {"output_type": "error", "ename": "OSError", "evalue": "", "traceback": []}
    assert failure(notebook(cell("", stream("ok")))) == ""
    assert failure(notebook(cell(""), cell("", error))) == "stopped in cell 3 with OSError"


def test_placeholder_keeps_title_and_labels(tmp_path: Path) -> None:
    template = tmp_path / "one.ipynb"
    template.write_text(json.dumps(notebook()))
    page = placeholder("one", template, "was not run")
    assert page.startswith("(one)=\n# One\n")
    assert "`hyperslab run one`" in page
    assert placeholder("two", tmp_path / "two.ipynb", "was not run").startswith("# two\n")


def test_a_missing_notebook_gets_a_placeholder(project: Path) -> None:
    out = project / "build/book"
    missing = stage(project / "none", project / "none", out, root=project)
    assert missing == {"one": "was not run"}
    assert (out / "notebooks/one.md").is_file()
    assert not (out / "notebooks/one.ipynb").exists()


def test_staging_again_replaces_the_whole_folder(project: Path) -> None:
    out = project / "build/book"
    stage(project / "none", project / "none", out, root=project)
    (out / "stale.md").write_text("stale")
    executed, results = write_run(project, cell("1"))
    stage(executed, results, out, root=project)
    assert not (out / "stale.md").exists()
    assert not (out / "notebooks/one.md").exists()
    left = {path.name for path in out.parent.iterdir()} - {"executed", "results"}
    assert left == {"book", ".book.lock"}


def test_figures_come_along(project: Path) -> None:
    executed, results = write_run(project, cell("1"))
    (results / "figures/one").mkdir(parents=True)
    (results / "figures/one/a.light.svg").write_text("<svg/>")
    stage(executed, results, project / "build/book", root=project)
    assert (project / "build/book/figures/one/a.light.svg").is_file()


def test_records_that_were_drawn_from_are_offered(project: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "lee_access.parquet").write_bytes(b"kept")
    out = project / "build/book"
    stage(project / "none", project / "none", out, records=tmp_path / "kept", root=project)
    assert (out / "records" / "lee_access.parquet").read_bytes() == b"kept"


def test_two_stagings_at_once_leave_one_whole_stage(project: Path) -> None:
    executed, results = write_run(project, cell("1"))
    out, errors = project / "build/book", []

    def work() -> None:
        try:
            for _ in range(5):
                stage(executed, results, out, root=project)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert (out / "notebooks/one.ipynb").is_file()


def test_the_fingerprint_follows_the_content(project: Path) -> None:
    executed, results = write_run(project, cell("1"))
    out = project / "build/book"
    stage(executed, results, out, root=project)
    first = fingerprint(out)
    stage(executed, results, out, root=project)
    assert fingerprint(out) == first
    (project / "book/index.md").write_text("# Other\n")
    stage(executed, results, out, root=project)
    assert fingerprint(out) != first


def test_no_book_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="clone of the repository"):
        stage(tmp_path, tmp_path, tmp_path / "out", root=tmp_path)


def test_listed_keeps_the_order(project: Path) -> None:
    assert listed(project) == {"one": ""}


def test_a_small_book_is_rendered_and_leaves_nothing_behind(project: Path) -> None:
    executed, results = write_run(project, cell("print('a')", stream("a\n")))
    build = project / "build"
    stage(executed, results, build / "book", root=project)
    assert render(build / "book", build / "html")
    made = (build / "html/index.html").stat().st_mtime_ns
    assert not render(build / "book", build / "html")
    assert (build / "html/index.html").stat().st_mtime_ns == made
    assert (build / "html/index.html").is_file()
    assert "Temperature by jones" in (build / "html/book/index.html").read_text()
    left = {path.name for path in build.iterdir()}
    assert left == {"book", "html", "executed", "results", "book.log", ".book.lock"}
