"""Whether machine.json says all that a reader needs of the machine, and nothing private."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from hyperslab.measure.machine import PACKAGES
from hyperslab.measure.records import MACHINES, machines

from .problem import Problem
from .tables import private

IDENTITY = frozenset({"architecture", "cores", "cpu", "memory_gib", "system"})
NEEDED = ("identity", "versions", "kernel", "file_system", "profile", "notebook", "seed")
KNOWN = frozenset(NEEDED) | {
    "read_ahead_kib", "memory_bytes", "memory_limit_bytes", "host_takes_freed_memory",
    "git_revision", "lock_sha256", "resumed_blocks", "rules",
}  # fmt: skip
_VERSION = re.compile(r"[\w.+!-]*\d[\w.+!-]*")
_KERNEL = re.compile(r"\w+ [\d.]+")
_AGAIN = "measure again, or take over machine.json as the run wrote it"
_COMMIT = "commit what was changed, and measure again in a clone of the repository"
_NOT_PUBLIC = "take it out: only what hyperslab/measure/machine.py gives is public"


def facts_problems(
    folder: Path, frames: Mapping[str, pd.DataFrame], scrub: Callable[[str], str]
) -> Iterator[Problem]:
    """Yield what is wrong with the facts of a folder's runs."""
    if not (folder / MACHINES).is_file():
        where = "copy it from the folder of results, where each run writes it"
        yield Problem(MACHINES, "is missing", where)
        return
    try:
        known = machines(folder)
    except ValueError as error:
        yield Problem(MACHINES, f"is no JSON ({error.__cause__})", _AGAIN)
        return
    if not isinstance(known, dict) or not all(isinstance(run, dict) for run in known.values()):
        yield Problem(MACHINES, "is no mapping of runs to facts", _AGAIN)
        return
    for run_id, facts in known.items():
        yield from _shape(run_id, facts)
        for place, text in _texts(facts):
            if what := private(text, scrub):
                yield Problem(MACHINES, what, _NOT_PUBLIC, f"{run_id} {place}", True)
    for notebook, frame in frames.items():
        yield from _fits(f"{notebook}.parquet", notebook, frame, known)
    named = {str(run_id) for frame in frames.values() for run_id in frame["run_id"].unique()}
    of_files = [facts for run_id, facts in known.items() if run_id in named]
    seen = {
        "profile": {str(name) for frame in frames.values() for name in frame["profile"].unique()},
        "machine": {_shown(facts.get("identity")) for facts in of_files},
        "versions": {_shown(facts.get("versions")) for facts in of_files},
    }
    if apart := [name for name, values in seen.items() if len(values) > 1]:
        shown = ", ".join(sorted(seen[apart[0]]))
        what = _differing(of_files) or f"records differ in {apart[0]} ({shown})"
        remedy = "add each machine, version and profile under its own name"
        yield Problem(MACHINES, what, remedy, "", publishing=len(seen["machine"]) == 1)


def _shown(fact: object) -> str:
    return json.dumps(fact, sort_keys=True)


def _differing(runs: Iterable[Mapping[str, object]]) -> str:
    """Return the packages of which runs have several versions, with these; "" for none."""
    tables = [run["versions"] for run in runs if isinstance(run.get("versions"), dict)]
    table = pd.DataFrame(tables).fillna("none").astype(str)
    seen = {name: sorted(set(table[name])) for name in sorted(map(str, table))}
    told = [f"{name} {' and '.join(found)}" for name, found in seen.items() if len(found) > 1]
    return f"runs have several versions: {', '.join(told)}" if told else ""


def _shape(run_id: str, facts: Mapping[str, object]) -> Iterator[Problem]:
    """Yield what is wrong with the facts of one run."""

    def problem(name: str, what: str, remedy: str = _AGAIN, publishing: bool = False) -> Problem:
        return Problem(MACHINES, what, remedy, f"{run_id} {name}", publishing)

    for name in NEEDED:
        if name not in facts:
            yield problem(name, "is missing")
    for name in sorted(set(facts) - KNOWN):
        yield problem(name, "is no fact of a machine", _NOT_PUBLIC, True)
    identity = facts.get("identity", {})
    if not isinstance(identity, dict) or set(identity) != IDENTITY:
        yield problem("identity", f"must have {', '.join(sorted(IDENTITY))}")
        identity = {}
    for name in {"cores", "memory_gib"} & set(identity):
        if type(identity[name]) is not int or identity[name] < 1:
            yield problem(f"identity {name}", f"is {identity[name]!r}, and no whole number from 1")
    versions = facts.get("versions", {})
    if not isinstance(versions, dict) or not {"python", "numpy"} <= set(versions):
        yield problem("versions", "must map packages to versions, python and numpy among them")
        versions = {}
    for name, version in versions.items():
        if not isinstance(version, str) or not _VERSION.fullmatch(version):
            yield problem(name, f"{version!r} is no version")
    if not re.fullmatch(r"[0-9a-f]+", revision := str(facts.get("git_revision", ""))):
        what = f"is {revision!r}, and no commit: nobody else can see what was measured"
        yield problem("git_revision", what, _COMMIT, True)
    if not _KERNEL.fullmatch(kernel := str(facts.get("kernel", "Linux 0"))):
        what = f"{kernel!r} is more than a system and numbers"
        yield problem("kernel", what, "leave what follows the numbers out", True)


def _fits(
    file: str, notebook: str, frame: pd.DataFrame, known: Mapping[str, Mapping[str, object]]
) -> Iterator[Problem]:
    """Yield where a table and the facts of its run contradict each other."""

    def problem(column: str, what: str, remedy: str = _AGAIN) -> Problem:
        return Problem(file, what, remedy, column)

    for run_id in frame["run_id"].unique():
        if (facts := known.get(run_id)) is None:
            remedy = "copy the machine.json that was written with it"
            yield problem("run_id", f"{run_id!r} is not in {MACHINES}", remedy)
            continue
        for name, here in (("notebook", notebook), ("profile", str(frame["profile"].iloc[0]))):
            if facts.get(name) != here:
                what = f"is {here!r}, and {facts.get(name)!r} in {MACHINES} for this run"
                yield problem(name, what)
        versions = facts.get("versions")
        if not isinstance(versions, dict):
            continue
        measured = set(frame.loc[frame["status"] == "ok", "library"]) & set(PACKAGES)
        for library in sorted(measured - set(versions)):
            what = f"the version of {library}, which was measured, is not in {MACHINES}"
            yield problem("library", what)
        for library in sorted(measured & set(versions)):
            rows = frame[(frame["library"] == library) & frame["library_version"].ne("")]
            of_rows = {str(version).split()[0] for version in rows["library_version"]}
            if wrong := sorted(of_rows - {versions[library]}):
                what = f"{library} is {wrong[0]} here, and {versions[library]} in {MACHINES}"
                yield problem("library_version", what)


def _texts(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of nested facts with its place; keys are texts too."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            here = f"{place} {name}".strip()
            yield here, str(name)
            yield from _texts(inner, here)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, place)
    elif isinstance(value, str):
        yield place, value
