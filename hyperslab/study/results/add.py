"""Add a machine's records to `results/`: all of them, checked, or none."""

import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from ... import claims
from ...measure.records import MACHINES, about, load, machines, save, save_machines
from ..privacy import scrubber
from ..profile import put_in_place
from .checks import LASTING, Problem, noise_problems, private, problems, refuse

NAME = re.compile(r"[a-z0-9][a-z0-9-]{1,39}")
CLAIMS = "claims.json"
LARGEST_BYTES = 1_000_000


@dataclass(frozen=True)
class Added:
    """What was added, and where."""

    folder: Path
    notebooks: tuple[str, ...]  # of the folder as it is now
    changed: bool  # whether anything was written


def add(folder: Path, name: str, *, into: Path, top: Path, replace: bool = False) -> Added:
    """Check records and add them as ``into/name``; it appears whole or not at all."""
    if not folder.is_dir() or not any(folder.glob("*.parquet")):
        raise ValueError(f"{folder}: no folder with records (*.parquet, and machine.json)")
    refuse(problems(folder, top))
    name = name or name_of(machines(folder))
    if not NAME.fullmatch(name) or private(name, scrubber(top)):
        raise ValueError(
            f"--name {name!r}: give 2 to 40 of a to z, 0 to 9 and -, and no name of a host or user"
        )
    target = into / name
    for number in count(2):  # another run of the same machine is added beside the first
        if target.exists():
            _require_same(target, folder)
        if replace or not _another_run(target, folder):
            break
        target = into / f"{name}-{number}"
    _require_new(folder, target, into)
    refuse(_less(tables(target), tables(folder)))
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into, prefix=".add-") as staging:
        new = Path(staging, name)
        _stage(folder, target, new, top)
        refuse([*noise_problems(tables(new)), *_large(new)])
        changed = not target.exists() or _contents(new) != _contents(target)
        if changed:
            put_in_place(new, target)
    return Added(target, tuple(tables(target)), changed)


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    return {path.stem: load(path) for path in sorted(folder.glob("*.parquet"))}


def name_of(facts: Mapping[str, Mapping[str, object]]) -> str:
    """Return a name for a machine: its processor and cores."""
    who: Any = next(iter(facts.values()))["identity"]
    words = re.sub(r"\((?:r|tm)\)|@.*", " ", str(who["cpu"]).lower())
    pieces = [*re.findall(r"[a-z0-9]+", words)[:4], str(who["cores"]), "cores"]
    return "-".join(pieces)[:40].strip("-")


def lasting(folder: Path) -> list[dict[str, object]]:
    """Return what makes a folder's machine: identity, versions and profile, once each."""
    marks = [{name: run.get(name) for name in LASTING} for run in machines(folder).values()]
    return [mark for position, mark in enumerate(marks) if mark not in marks[:position]]


def _require_new(folder: Path, target: Path, into: Path) -> None:
    """Refuse runs that stand under another name: they are of no other machine."""
    for other in sorted(path for path in into.glob("*/") if path != target):
        there = machines(other).items()
        if any(run in there for run in machines(folder).items()):
            what = f"has runs that {other.name} has: they are no other machine's"
            refuse([Problem(MACHINES, what, f"add them with --name {other.name}")])


def _another_run(target: Path, folder: Path) -> bool:
    there, here = tables(target), tables(folder)
    common = there.keys() & here.keys()
    return any(set(there[name]["run_id"]) != set(here[name]["run_id"]) for name in common)


def _require_same(target: Path, folder: Path) -> None:
    there, here = lasting(target), lasting(folder)
    differ = [name for name in here[0] if [m[name] for m in there] != [m[name] for m in here]]
    if differ:
        what = f"the folder {target.name} has records of another {' and '.join(differ)}"
        refuse([Problem(MACHINES, what, "choose another --name")])


def _less(old: Mapping[str, pd.DataFrame], new: Mapping[str, pd.DataFrame]) -> Iterator[Problem]:
    """Yield where new records hold fewer experiments or blocks than those they would replace."""
    for name in sorted(old.keys() & new.keys()):
        blocks = [table[name].groupby("experiment")["block"].nunique() for table in (old, new)]
        for experiment, before in blocks[0].items():
            if (now := int(blocks[1].get(experiment, 0))) < before:
                what = f"{experiment} has {now} blocks, and {before} in the records there"
                yield Problem(f"{name}.parquet", what, "measure as many, or choose another --name")


def _stage(folder: Path, target: Path, new: Path, top: Path) -> None:
    """Lay out what the target is to be: what it has, and the new records small."""
    new.mkdir()
    for path in target.glob("*.parquet"):
        shutil.copy(path, new)
    for notebook, frame in tables(folder).items():
        path = new / f"{notebook}.parquet"
        save(frame, path, about(folder / path.name))
        pd.testing.assert_frame_equal(load(path), frame, check_exact=True)
    runs = machines(target) | machines(folder)
    named = {run for frame in tables(new).values() for run in frame["run_id"].unique()}
    save_machines(new, {run: facts for run, facts in runs.items() if run in named})
    content = claims.read(top / claims.FILE)
    claims.write_json(claims.evaluate(content.claims, new), new / CLAIMS)


def _large(folder: Path) -> Iterator[Problem]:
    for path in sorted(folder.iterdir()):
        if (size := path.stat().st_size) > LARGEST_BYTES:
            what = f"takes {size / 1e6:.1f} MB, where {LARGEST_BYTES / 1e6:.0f} MB are allowed"
            yield Problem(path.name, what, "publish it elsewhere, and draw from it with --records")


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
