"""Whether records may be published: their schema, their facts, noise, nothing private."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...measure.machine import PACKAGES
from ...measure.noise import VOID, Noise, judge
from ...measure.records import MACHINES, NUMBERS, TEXT, about, labels_of, load, machines
from ...text import ENOUGH, percent, printable
from ..privacy import revealed, scrubber
from ..profile import TOYS, entries

IDENTITY = frozenset({"architecture", "cores", "cpu", "memory_gib", "system"})
FACTS = {"identity", "versions", "kernel", "file_system", "profile", "notebook", "seed"}
LASTING = ("identity", "versions", "profile")
"""What makes a machine of a folder: all of its runs have the same."""
KNOWN = FACTS | {
    "read_ahead_kib", "memory_bytes", "memory_limit_bytes", "host_takes_freed_memory",
    "git_revision", "lock_sha256", "resumed_blocks", "rules",
}  # fmt: skip
MOST_VOID = 0.10
"""Share of a folder's A/A pairs that may be far from one, or measured beside busy programs."""
SLACK = 1.1
"""So many times what its cores can do may stand there: clocks of either are read one by one."""
_SHOWN = 12
_AGAIN = "measure again, or take over machine.json as the run wrote it"
_COMMIT = "commit what was changed, and measure again in a clone of the repository"
_NOT_PUBLIC = "take it out: only what hyperslab/measure/machine.py gives is public"


@dataclass(frozen=True)
class Problem:
    """One reason to refuse records, and what to do about it."""

    file: str
    what: str
    remedy: str
    column: str = ""  # of a table, or the fact of machine.json; "" for the whole file
    publishing: bool = False  # pages may be drawn from the records all the same

    def __str__(self) -> str:
        location = f"{self.file}, {self.column}" if self.column else self.file
        return printable(f"{location}: {self.what}; {self.remedy}")


class RefusedError(ValueError):
    """Records were not added, or not drawn from; the message has every reason."""

    def __init__(
        self, problems: Sequence[Problem], heading: str = "refused, nothing was written:"
    ) -> None:
        self.problems = tuple(problems)
        shown = [f"  {problem}" for problem in self.problems[:_SHOWN]]
        more = [f"  and {len(self.problems) - _SHOWN} more"] if len(self.problems) > _SHOWN else []
        super().__init__("\n".join([heading, *shown, *more]))


def problems(folder: Path, top: Path) -> list[Problem]:
    """Return every reason to refuse a folder of records; none when it may be published."""
    wrong, frames = _read(folder, top, scrubber(top))
    if all(problem.publishing for problem in wrong):
        wrong += noise_problems(frames)
    return wrong


def refuse(reasons: Iterable[Problem]) -> None:
    if reasons := list(reasons):
        raise RefusedError(reasons)


def require_sound(given: str, top: Path) -> None:
    """Refuse to draw from records that are missing, damaged, or do not belong together."""
    if not any((top / given).glob("*.parquet")):
        raise ValueError(f"--records {given}: no folder with records (*.parquet)")
    wrong, _ = _read(top / given, top, str)
    if unsound := [problem for problem in wrong if not problem.publishing]:
        raise RefusedError(unsound, "these records cannot be judged:")


def _read(
    folder: Path, top: Path, scrub: Callable[[str], str]
) -> tuple[list[Problem], dict[str, pd.DataFrame]]:
    """Return what is wrong with a folder of records, and those that are tables, by notebook."""
    notebooks = {item.name for item in entries(top)}
    wrong: list[Problem] = []
    frames = {}
    for path in sorted(folder.glob("*.parquet")):
        if path.stem not in notebooks:
            what = f"is named after no notebook of the study ({', '.join(sorted(notebooks))})"
            wrong.append(Problem(path.name, what, "leave it out, or name it after its notebook"))
            continue
        try:
            frames[path.stem] = load(path)
        except (ValueError, TypeError) as error:
            what = str(error).removeprefix(f"{path.name} ")
            wrong.append(Problem(path.name, what, _again(path.stem)))
        else:
            wrong += table_problems(path, frames[path.stem], scrub)
    whole = all(problem.publishing for problem in wrong)
    wrong += facts_problems(folder, frames if whole else {}, scrub)
    if all(problem.publishing for problem in wrong):
        facts: Mapping[str, Any] = machines(folder)
        for name, frame in frames.items():
            run = facts[str(frame["run_id"].iloc[0])]
            wrong += _too_quick(name, frame, run["identity"]["cores"])
    return wrong, frames


def table_problems(
    path: Path, frame: pd.DataFrame, scrub: Callable[[str], str]
) -> Iterator[Problem]:
    """Yield what is wrong with a file's records."""
    file, again = path.name, _again(path.stem)
    for name in ("run_id", "profile", "notebook"):
        values = sorted(set(frame[name]))
        if len(values) != 1 or not values[0]:
            yield Problem(file, f"must have one value, has {values}", again, name)
        elif name == "notebook" and values[0] != path.stem:
            what = f"is {values[0]!r}, and the file is named after {path.stem!r}"
            yield Problem(file, what, f"name it {values[0]}.parquet", name)
        elif values[0] == TOYS:
            what = f"is {TOYS}: toy sizes say nothing about the claims"
            yield Problem(file, what, "measure with --profile quick or full", name, True)
    for wrong, column, what in _impossible(frame):
        if count := int(wrong.sum()):
            yield Problem(file, f"{count} {what}", again, column)
    for name in (*TEXT, *labels_of(frame)):
        reasons = (private(text, scrub) for text in frame[name].unique())
        if what := next(filter(None, reasons), ""):  # one of a column is enough
            remedy = "records are public: replace it in the file, and say where it comes from"
            yield Problem(file, what, remedy, name, True)
    if what := private(json.dumps(about(path), ensure_ascii=False), scrub):
        yield Problem(file, f"{what}, in what it says of itself", again, "", True)


def _again(notebook: str) -> str:
    return f"measure again with `hyperslab run {notebook} --again`"


def _impossible(frame: pd.DataFrame) -> Iterator[tuple["pd.Series[bool]", str, str]]:
    """Yield which rows are wrong, in which column, and what they are."""
    good = frame["status"] == "ok"
    timed = good & frame["user_s"].notna() & frame["order"].notna()
    yield good & ~frame["verified"], "verified", "samples were not compared with the truth"
    yield timed & frame["wall_s"].isna(), "wall_s", "timed samples have no time"
    yield frame[timed].duplicated(), "wall_s", "samples stand there twice"
    for name in NUMBERS:
        yield np.isinf(frame[name]), name, "values are infinite"
    for name in ("wall_s", "user_s", "sys_s"):
        yield frame[name] < 0, name, "values are below zero"


def _too_quick(notebook: str, frame: pd.DataFrame, cores: int) -> Iterator[Problem]:
    """Yield the experiments whose CPU time is more than their time on the clock allows."""
    busy = frame[(frame["status"] == "ok") & frame["wall_s"].notna()]
    sums = busy.assign(cpu_s=busy["user_s"] + busy["sys_s"]).dropna(subset="cpu_s")
    for experiment, of in sums.groupby("experiment")[["cpu_s", "wall_s"]].sum().iterrows():
        if of["cpu_s"] > SLACK * cores * of["wall_s"]:
            what = (
                f"{experiment} took {of['cpu_s']:.3g} s of CPU time in {of['wall_s']:.3g} s on the "
                f"clock, and the machine has {cores} cores: these times cannot both be true"
            )
            yield Problem(f"{notebook}.parquet", what, _again(notebook), "wall_s")


def private(text: str, scrub: Callable[[str], str]) -> str:
    """Return what in a text must not be published, or ""."""
    if what := revealed(text):
        return f"has {what}"
    if scrub(text) != text:
        return f"has a name or folder of this machine, in {text[:60]!r}"
    return ""


def facts_problems(
    folder: Path, frames: Mapping[str, pd.DataFrame], scrub: Callable[[str], str]
) -> Iterator[Problem]:
    """Yield what is wrong with machine.json, which has the facts of a folder's runs."""
    if not (folder / MACHINES).is_file():
        where = "copy it from the folder of results, where each run writes it"
        yield Problem(MACHINES, "is missing", where)
        return
    try:
        runs = machines(folder)
    except ValueError as error:
        yield Problem(MACHINES, f"is no JSON ({error.__cause__})", _AGAIN)
        return
    if not isinstance(runs, dict) or not all(isinstance(run, dict) for run in runs.values()):
        yield Problem(MACHINES, "is no mapping of runs to facts", _AGAIN)
        return
    for run_id, facts in runs.items():
        yield from _fact_problems(run_id, facts)
        for name, value in facts.items():
            if what := private(json.dumps({name: value}, ensure_ascii=False), scrub):
                yield Problem(MACHINES, what, _NOT_PUBLIC, f"{run_id} {name}", True)
    for notebook, frame in frames.items():
        yield from _contradictions(notebook, frame, runs)
    named = {str(frame["run_id"].iloc[0]) for frame in frames.values()}
    of_files = [facts for run_id, facts in runs.items() if run_id in named]
    marks = pd.json_normalize([{name: run.get(name) for name in LASTING} for run in of_files])
    marks = marks.astype(object).fillna("none").astype(str)
    seen = {name: sorted(set(marks[name])) for name in sorted(map(str, marks))}
    apart = {name: values for name, values in seen.items() if len(values) > 1}
    if apart:
        differing = "; ".join(f"{name} is {' and '.join(values)}" for name, values in apart.items())
        what = f"runs are of several machines, versions or profiles: {differing}"
        remedy = "add each machine, version and profile under its own name"
        other = any(name.startswith("identity") for name in apart)
        yield Problem(MACHINES, what, remedy, publishing=not other)


def _fact_problems(run_id: str, facts: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with the facts of one run."""

    def problem(name: str, what: str, remedy: str = _AGAIN, publishing: bool = False) -> Problem:
        return Problem(MACHINES, what, remedy, f"{run_id} {name}", publishing)

    for name in sorted(FACTS - set(facts)):
        yield problem(name, "is missing")
    for name in sorted(set(facts) - KNOWN):
        yield problem(name, "is no fact of a machine", _NOT_PUBLIC, True)
    for name, needed in (("identity", IDENTITY), ("versions", {"python", "numpy"})):
        if not isinstance(fact := facts.get(name), dict) or not needed <= set(fact):
            yield problem(name, f"must have {', '.join(sorted(needed))}")
    if not re.fullmatch(r"[0-9a-f]+", revision := str(facts.get("git_revision", ""))):
        what = f"is {revision!r}, and no commit: nobody else can see what was measured"
        yield problem("git_revision", what, _COMMIT, True)
    if not re.fullmatch(r"\w+ [\d.]+", kernel := str(facts.get("kernel", "Linux 0"))):
        what = f"{kernel!r} is more than a system and numbers"
        yield problem("kernel", what, "leave what follows the numbers out", True)


def _contradictions(
    notebook: str, frame: pd.DataFrame, runs: Mapping[str, Mapping[str, Any]]
) -> Iterator[Problem]:
    """Yield where a table has another run, or other versions, than machine.json."""
    file, run_id = f"{notebook}.parquet", str(frame["run_id"].iloc[0])
    if run_id not in runs:
        remedy = "copy the machine.json that was written with it"
        yield Problem(file, f"{run_id!r} is not in {MACHINES}", remedy, "run_id")
        return
    if not isinstance(versions := runs[run_id].get("versions"), dict):
        return
    good = frame[(frame["status"] == "ok") & frame["library"].isin(PACKAGES)]
    for library, used in good.groupby("library")["library_version"]:
        there = versions.get(library)
        if wrong := sorted({each.split()[0] for each in used.unique() if each} - {there}):
            what = f"{library} is {wrong[0]} here, and {there} in {MACHINES}"
            yield Problem(file, what, _AGAIN, "library_version")


def noise_problems(frames: Mapping[str, pd.DataFrame]) -> Iterator[Problem]:
    """Yield the A/A pairs that are out of bounds."""
    pairs = [(notebook, item) for notebook, frame in frames.items() for item in judge(frame)]
    useless = [
        pair
        for pair in pairs
        if pair[1].useless and (pair[1].ratio.n >= ENOUGH or pair[1].others == "void")
    ]
    sure = [pair for pair in pairs if pair[1].pair == "void"]  # which chance seldom makes
    share = f"one of {len(useless)} useless A/A pairs, of {len(pairs)} in the folder"
    for column, chosen, reason in (
        ("wall_s", sure, f"an A/A pair beyond ±{percent(VOID)}"),
        ("aa", useless if len(useless) > MOST_VOID * len(pairs) else [], share),
    ):
        for notebook, item in chosen:
            remedy = f"{_again(notebook)}, on a machine that stands still"
            yield Problem(f"{notebook}.parquet", f"{reason}: {_noise_text(item)}", remedy, column)


def _noise_text(item: Noise) -> str:
    shown = f"{item.name} {item.ratio:.3f}"
    if item.others == "void":
        shown += f", other programs took {percent(item.others_cpu)} of the CPU"
    return shown
