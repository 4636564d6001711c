"""The script that walks the history of the claims: what is a change, and that each is recorded."""

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from made_claims import RATIO, claim, part, written

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import rules

LATEST = 8


@pytest.fixture
def change(tmp_path, monkeypatch):
    """Write a claim, change it a few days later, and return what is not recorded of that."""

    def git(*words, day="2026-11-20"):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        when = {f"GIT_{one}_DATE": f"{day}T12:00:00Z" for one in ("AUTHOR", "COMMITTER")}
        env = {"PATH": os.environ["PATH"], **when}
        done = subprocess.run(["git", *who, *words], cwd=tmp_path, capture_output=True, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().strip()

    def changed(old, new, *, on="", renamed=False):
        place = tmp_path / "book"
        place.mkdir()
        git("init", "-q")
        for item, day in ((old, "2026-11-20"), (new, "2026-11-24")):
            written(place, item)
            git("add", ".")
            git("commit", "-q", "-m", "a", day=day)
        entry = {"date": date.fromisoformat(on or "2026-11-01"), "reason": "It was mended."}
        names = {"date": date(2026, 11, 24), "commits": git("rev-parse", "HEAD"), "reason": "r"}
        written(place, new | {"changes": [entry]}, renames=[names] if renamed else [])
        return [line.split(" ", 2)[2] for line in rules.unrecorded()]

    monkeypatch.setattr(rules, "ROOT", tmp_path)
    return changed


OLD = claim(part(rule={"kind": "effect", "document": "8 / 2"}))
FILTERED = part(measure={**RATIO, "of": {"case": "c"}})


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (claim(part(rule={"kind": "effect", "document": 4.0})), []),
        (claim(part(name="seconds")), []),
        (claim(FILTERED), ['time: of {"case": "a"} → {"case": "c"}']),
        (claim(part(name="b", measure={**RATIO, "value": "cpu_s"})), ["b: added", "time: gone"]),
    ],
)
def test_a_change_that_is_not_recorded_is_named(change, new, said):
    assert change(OLD, new) == [f"lee-x, {line}" for line in said]


@pytest.mark.parametrize(("day", "said"), [("2026-11-25", 0), ("2026-11-22", 1)])
def test_an_entry_within_a_day_records_it(change, day, said):
    assert len(change(OLD, claim(FILTERED), on=day)) == said


def test_a_commit_of_names_may_rename_filters_and_nothing_else(change):
    new = claim(FILTERED | {"rule": {"kind": "effect", "document": 5}})
    assert change(OLD, new, renamed=True) == ["lee-x, time: rule: document 4.0 → 5.0"]


def test_every_change_of_a_rule_is_recorded():
    """Of the latest commits: those before have been looked at, and reading all takes long."""
    try:
        shallow = rules.git("rev-parse", "--is-shallow-repository").strip() == "true"
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no checkout: it has no history of book/claims.yml")
    if shallow:
        pytest.skip("a shallow clone has no history of book/claims.yml")
    assert list(rules.unrecorded(LATEST)) == []
    assert list(rules.misremembered()) == []
