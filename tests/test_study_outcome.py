"""What `make book` says last: notebooks, claims by verdict, where the book is."""

import json
from pathlib import Path

import pytest

from hyperslab.study import outcome


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in ("executed", "results"):
        (tmp_path / folder).mkdir()
    for name in ("a", "b"):
        (tmp_path / f"executed/{name}.ipynb").touch()
    return tmp_path


def test_it_counts_notebooks_and_verdicts_and_says_where_the_book_is(made: Path) -> None:
    rows = [{"verdict": "holds"}, {"verdict": "refuted"}, {"verdict": "holds"}]
    (made / "results/claims.json").write_text(json.dumps(rows))
    text = outcome.summary(made / "executed", {}, made / "results", made / "html")
    assert text.splitlines() == [
        "2 notebooks ran",
        "3 claims: 2 holds, 1 refuted",
        "the book: html/index.html",
    ]


def test_it_tells_placeholders_and_no_claims_where_none_were_judged(made: Path) -> None:
    missing = {"c": "its notebook failed"}
    text = outcome.summary(made / "executed", missing, made / "results", made / "html")
    assert text.splitlines() == [
        "2 notebooks ran, 1 with a placeholder page",
        "the book: html/index.html",
    ]
