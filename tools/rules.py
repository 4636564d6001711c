"""Print each change of a claim's rule or measure, and each verdict, that is not recorded.

Commits of book/claims.yml are held beside their parents: what each part measures, by which rule,
and whether it is the headline. An entry of the claim under `changes`, dated within a day, records a
change. Filters that the commits under `renames` gave other names are not compared. Verdicts are
the first ones of claims that were changed, and those of all machines in results/, whose records
must be fit to be published.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from hyperslab import claims
from hyperslab.claims.bands import NOT_MEASURED
from hyperslab.claims.claim_fields import real
from hyperslab.study.results.checks import problems

ROOT = Path(__file__).parents[1]
FILE = claims.FILE.as_posix()
PAST = "results/reference/claims.json"
FILTERS = ("of", "to", "cells", "where", "over", "expect", "against", "ratios")
Parts = dict[str, dict[str, Any]]


def git(*words: str) -> str:
    """Return what git prints; the checkout may belong to another user."""
    return subprocess.check_output(["git", "-c", "safe.directory=*", *words], cwd=ROOT, text=True)


def plain(value: Any) -> Any:
    """Return a value as it is compared: a quotient worked out, a list of one as that one."""
    if isinstance(value, dict):
        return {str(key): plain(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list):
        return [plain(item) for item in value] if len(value) != 1 else plain(value[0])
    try:
        return real(value)
    except ValueError:
        return str(value)


@cache
def written(blob: str) -> dict[str, Parts]:
    """Return by what each part of each claim was judged in a version of the file."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    by_claim: dict[str, Parts] = {}
    for item in yaml.load(git("cat-file", "blob", blob), loader)["claims"]:
        for part in item["parts"]:
            fields = {"headline": part.get("headline", False), "notebook": item["notebook"]}
            fields |= part["measure"] | {f"rule: {name}": x for name, x in part["rule"].items()}
            fields.pop("counting" if fields["kind"] == "ratio" else "", "")  # of the reason alone
            by_claim.setdefault(item["id"], {})[part["name"]] = plain(fields)
    return by_claim


def blobs(commit: str) -> list[str]:
    """Return which version of the file a commit has, if any."""
    return [line.split()[2] for line in git("ls-tree", commit, FILE).splitlines()]


def changed(old: Parts, new: Parts, left_out: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield what differs between two versions of a claim, and from what to what."""
    gone = {name: part for name, part in old.items() if name not in new}
    for name, part in new.items():
        older = [old[name]] if name in old else [p for p in gone.values() if p == part]
        if not older:
            yield f"{name}: added", ""
        for field in sorted({*part, *older[0]} - {*left_out}) if older else ():
            before, after = (json.dumps(p.get(field), ensure_ascii=False) for p in (older[0], part))
            if before != after:
                yield f"{name}: {field}", f"{before} → {after}"
    yield from ((f"{name}: gone", "") for name, part in gone.items() if part not in new.values())


def unrecorded(most: int | None = None) -> Iterator[str]:
    """Yield a line for each change that is not recorded, oldest first; of the latest commits."""
    content = claims.read(ROOT / FILE)
    dated = [(claim.id, day) for claim in content.claims for day, _ in claim.changes]
    recorded = {(name, str(day + timedelta(near))) for name, day in dated for near in (-1, 0, 1)}
    log = git("log", "--reverse", "--date=short", "--format=%H %ad %P", "--", FILE)
    latest = log.splitlines()[-(most or 0) :]
    for commit, day, *parents in map(str.split, latest):
        now, *befores = [written(blob) for at in (commit, *parents) for blob in blobs(at)]
        left_out = FILTERS if commit.startswith(content.renames) else ()
        for name, parts in now.items() if befores else ():
            each = [dict(changed(before.get(name, parts), parts, left_out)) for before in befores]
            new = set(each[0]).intersection(*each) if (name, day) not in recorded else ()
            for what in sorted(new):
                yield f"{day} {commit[:7]} {name}, {what} {each[0][what]}".rstrip()


def misremembered() -> Iterator[str]:
    """Yield a line for each changed claim whose `first` is not its first verdict in `PAST`."""
    first: dict[str, tuple[str, str]] = {}
    log = git("log", "--reverse", "--date=short", "--format=%H %ad", "--diff-filter=AM", "--", PAST)
    for commit, day in map(str.split, log.splitlines()):
        content = json.loads(git("show", f"{commit}:{PAST}"))
        for item in content["claims"] if isinstance(content, dict) else content:
            if item["verdict"] != NOT_MEASURED:
                first.setdefault(item["id"], (day, item["verdict"]))
    for claim in claims.read(ROOT / FILE).claims:
        stated = claim.first and (str(claim.first[0]), claim.first[1])
        if claim.changes and stated != first.get(claim.id):
            yield f"{claim.id}: first is {stated}, and was {first.get(claim.id)}"


def misjudged() -> Iterator[str]:
    """Yield a line for each verdict in results/ that its records do not give, or are not fit to."""
    stated = claims.read(ROOT / FILE).claims
    for path in sorted(ROOT.glob("results/*/claims.json")):
        yield from (f"results/{path.parent.name}: {flaw}" for flaw in problems(path.parent, ROOT))
        recorded = {item["id"]: item["verdict"] for item in json.loads(path.read_text())}
        for item in claims.evaluate(stated, path.parent):
            if item.verdict != (there := recorded.get(item.claim.id)):
                yield f"results/{path.parent.name}: {item.claim.id} is {item.verdict}, not {there}"


if __name__ == "__main__":
    print(*(lines := [*unrecorded(), *misremembered(), *misjudged()]), sep="\n")
    sys.exit(bool(lines))
