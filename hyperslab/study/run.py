"""Run the study's notebooks through papermill: only what changed, and whole or not at all."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from ..measure.lock import measuring
from ..measure.records import machines, save_machines
from ..network import Endpoint
from .fingerprint import changed, digest, draws, explain, parts
from .pages import scrubbed
from .privacy import scrubber
from .profile import Entry, check_profile, entries, entry, require_writable, root
from .session import KEPT_BY_RUNNER, journal_path

_AT_ONCE = 2  # notebooks that draw


@dataclass(frozen=True)
class Options:
    """How the study is run.

    Parameters
    ----------
    profile : str
        smoke, quick, full or paper.
    workdir : str
        Where data, results and executed notebooks go; relative to the repository.
    records : str
        A folder of records to draw from; empty to measure.
    seed : int
        Of the order of the samples.
    repeats : int
        Interleaved blocks; 0 for the profile's.
    again : bool
        Run also what has not changed.
    """

    profile: str = "quick"
    workdir: str = "build"
    records: str = ""
    seed: int = 0
    repeats: int = 0
    again: bool = False


@dataclass(frozen=True)
class Result:
    """What came of one notebook: "current", "done" or "failed", and in how many seconds."""

    name: str
    state: str
    seconds: float
    message: str = ""


def executed_folder(workdir: Path, profile: str) -> Path:
    """Return where executed notebooks of a profile lie.

    Examples
    --------
    >>> executed_folder(Path("build"), "quick").as_posix()
    'build/executed/quick'
    """
    return workdir / "executed" / profile


def drawing_place(workdir: str, records: str) -> str:
    """Return where pages go: what is drawn from given records stays apart from what was measured.

    Examples
    --------
    >>> drawing_place("build", ""), drawing_place("build", "results/reference")
    ('build', 'build/drawn')
    """
    return f"{workdir}/drawn" if records else workdir


def run(names: Sequence[str], options: Options) -> list[Result]:
    """Run notebooks in the study's order; a failed one is kept and the next goes on.

    Parameters
    ----------
    names : sequence of str
        Of notebooks; all when empty.
    options : Options

    Raises
    ------
    ValueError
        For an unknown notebook or profile, before anything runs.
    BusyError
        When another run is measuring on this machine.
    """
    check_profile(options.profile)
    top = root()
    chosen = [entry(name, top) for name in names] if names else list(entries(top))
    if options.records and not (top / options.records).is_dir():
        raise ValueError(f"--records {options.records}: no such folder of records")
    if options.records and not any((top / options.records).glob("*.parquet")):
        raise ValueError(f"--records {options.records}: the folder holds no records (*.parquet)")
    if options.seed < 0:
        raise ValueError(f"--seed {options.seed}: give a whole number from 0")
    if options.repeats < 0:
        raise ValueError(f"--repeats {options.repeats}: give 0 for the profile's number, or more")
    require_writable((top / options.workdir).resolve(), options.workdir)
    if options.records:
        options = replace(options, workdir=drawing_place(options.workdir, options.records))
        _take_machines(top / options.records, top / options.workdir / "results" / options.profile)
        return _all(chosen, options, top)
    with measuring():
        return _all(chosen, options, top)


def _take_machines(records: Path, results: Path) -> None:
    """Show the machine that made the records, not this one."""
    results.mkdir(parents=True, exist_ok=True)
    save_machines(results, machines(records))


def _all(chosen: Sequence[Entry], options: Options, top: Path) -> list[Result]:
    """Run notebooks in their order: one that measures alone, those that draw two at a time."""
    expected = {item.name: _expected(item, options, top) for item in chosen}
    numbered = list(enumerate(chosen, 1))

    def told(place: int, item: Entry) -> Result:
        left = sum(expected[later.name] for later in chosen[place - 1 :])
        about = f", about {_clock(left)} left" if left else ""
        print(f"[{place}/{len(chosen)}] {item.name}{about}", flush=True)
        result = _one(item, options, top)
        tail = f": {result.message}" if result.message else ""
        print(f"      {item.name} {result.state} in {_clock(result.seconds)}{tail}", flush=True)
        return result

    results: list[Result] = []
    os.environ[KEPT_BY_RUNNER] = "1"  # the notebooks' processes inherit it
    try:
        for drawing, group in groupby(numbered, lambda pair: _measures_nothing(pair[1], options)):
            if not drawing:
                results += [told(*pair) for pair in group]
                continue
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                try:
                    results += list(pool.map(lambda pair: _closing(told, *pair), group))
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
    finally:
        os.environ.pop(KEPT_BY_RUNNER, None)
    return results


def _closing(told: Callable[[int, Entry], Result], place: int, item: Entry) -> Result:
    """Run a notebook in a thread, and close the event loop that it was talked to in."""
    from jupyter_core.utils import ensure_event_loop

    try:
        return told(place, item)
    finally:
        ensure_event_loop().close()


@dataclass(frozen=True)
class _Job:
    """A notebook with its parameters, where it goes, and all that its result depends on."""

    source: Path
    target: Path
    parameters: dict[str, object]
    wanted: dict[str, str]
    records: Path

    @property
    def current(self) -> bool:
        return _kept(self.target).get("fingerprint") == digest(self.wanted)


def _redraws(old: Mapping[str, str], job: _Job) -> bool:
    """Return whether only what draws a page changed, and the records it draws from are there."""
    names = changed(old, job.wanted)
    return job.records.exists() and all(
        name == "prose" or draws(name.removeprefix("module ")) for name in names
    )


def _source(item: Entry, top: Path) -> Path:
    return top / "notebooks" / f"{item.name}.ipynb"


def _job(item: Entry, options: Options, top: Path) -> _Job:
    source = _source(item, top)
    workdir = (top / options.workdir).resolve()
    parameters: dict[str, object] = {
        "profile": options.profile,
        "records": options.records,
        "workdir": str(Path(options.workdir)),
    }
    if not _draws(item, options):
        parameters |= {"repeats": options.repeats, "seed": options.seed}
    target = executed_folder(workdir, options.profile) / source.name
    places = ("records", "workdir")  # what is read there counts, and not where it lies
    counted = {name: value for name, value in parameters.items() if name not in places}
    wanted = parts(source, counted) | _inputs(item, options, top, workdir)
    kept = workdir / "results" / options.profile / f"{item.name}.parquet"
    return _Job(source, target, parameters, wanted, kept)


def _one(item: Entry, options: Options, top: Path) -> Result:
    began = time.monotonic()
    if not _source(item, top).exists():
        return Result(item.name, "failed", 0.0, f"notebooks/{item.name}.ipynb is missing")
    job = _job(item, options, top)
    journal = journal_path(job.records.parent, item.name)
    if job.current:
        journal.unlink(missing_ok=True)  # of a run that was ended just after its notebook was whole
    if job.current and not options.again:
        return Result(item.name, "current", time.monotonic() - began)
    old = _kept(job.target).get("parts")
    if isinstance(old, dict) and not job.current:
        redraws = not options.again and _redraws(old, job)
        how = "is drawn again from its records" if redraws else "runs again"
        print(f"      {item.name} {how}: {explain(old, job.wanted)}", flush=True)
        if redraws:
            folder = Path(options.workdir) / "results" / options.profile
            job = replace(job, parameters=job.parameters | {"records": folder.as_posix()})
    try:
        _execute(job, top)
    except Exception as error:
        message = _failure(error, job.target, top)
        return Result(item.name, "failed", time.monotonic() - began, message)
    seconds = time.monotonic() - began
    note = {"fingerprint": digest(job.wanted), "parts": job.wanted, "seconds": seconds}
    _note(job.target, note)
    journal.unlink(missing_ok=True)
    return Result(item.name, "done", seconds)


def _execute(job: _Job, top: Path) -> None:
    """Execute a template; the target appears when all cells ran, and not before."""
    import papermill

    source, target, parameters = job.source, job.target, job.parameters
    unknown = set(parameters) - set(papermill.inspect_notebook(str(source)))
    if unknown:
        raise ValueError(f"{source.name} takes no parameters {sorted(unknown)}")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.stem}.part.ipynb")
    failed = target.with_name(f"{target.stem}.failed.ipynb")
    target.unlink(missing_ok=True)
    _notes(target).unlink(missing_ok=True)
    failed.unlink(missing_ok=True)
    try:
        papermill.execute_notebook(
            str(source),
            str(partial),
            parameters=dict(parameters),
            kernel_name="python3",
            cwd=str(top),
            progress_bar=False,
            log_output=False,
            stderr_file=sys.stderr if sys.stderr.isatty() else None,
            extra_arguments=["--IPKernelApp.log_level=50"],
        )
    except papermill.PapermillExecutionError:
        _scrub(partial, top)
        partial.replace(failed)
        raise
    finally:
        if partial.exists() and sys.exc_info()[0] is not None:
            partial.unlink()
    _scrub(partial, top)
    partial.replace(target)


def _scrub(notebook: Path, top: Path) -> None:
    """Take paths and names of this machine out of an executed notebook."""
    value = scrubbed(json.loads(notebook.read_text(encoding="utf-8")), scrubber(top))
    notebook.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _inputs(item: Entry, options: Options, top: Path, workdir: Path) -> dict[str, str]:
    """Return what a notebook reads besides its code: the records it draws from or judges."""
    if options.records:
        folder = top / options.records
    elif _draws(item, options):
        folder = workdir / "results" / options.profile
    else:
        settings = {"settings": json.dumps(item.settings[options.profile], sort_keys=True)}
        return settings | _elsewhere(item, top)
    given = item.settings[options.profile].get("draws")
    names = given if isinstance(given, list) else ["*"]  # all, unless it says from which
    files = {path.name: path for name in names for path in folder.glob(f"{name}.parquet")}
    if beside := item.settings[options.profile].get("beside"):  # a folder with a folder a machine
        others = (top / str(beside)).glob("[!.]*/*.parquet")
        files |= {f"{path.parent.name}/{path.name}": path for path in others}
    claims = top / "book" / "claims.yml"
    if claims.exists():
        files[claims.name] = claims
    stats = {name: path.stat() for name, path in sorted(files.items())}
    return {f"input {name}": f"{stat.st_size} {stat.st_mtime_ns}" for name, stat in stats.items()}


def _elsewhere(item: Entry, top: Path) -> dict[str, str]:
    """Return the mark of each place that a notebook takes from a variable and no page tells."""
    names = set(re.findall(r"HYPERSLAB_\w+_URL", _source(item, top).read_text(encoding="utf-8")))
    known = {name: os.environ[name] for name in sorted(names) if os.environ.get(name)}
    return {f"input {name}": _mark(url) for name, url in known.items()}


def _mark(address: str) -> str:
    try:
        return Endpoint.of(address).mark
    except ValueError:  # the notebook says what is wrong with it
        return "none"


def _notes(target: Path) -> Path:
    return target.with_suffix(".json")


def _note(target: Path, value: Mapping[str, object]) -> None:
    part = target.with_name(f".{target.stem}.json.part")
    part.write_text(json.dumps(value, indent=1))
    part.replace(_notes(target))


def _kept(target: Path) -> dict[str, object]:
    """Return what is known of an executed notebook; nothing unless it is whole."""
    if not target.exists():
        return {}
    try:
        value: dict[str, object] = json.loads(_notes(target).read_text())
    except (OSError, ValueError):
        return {}
    return value


def _draws(item: Entry, options: Options) -> bool:
    """Return whether a notebook measures nothing of its own."""
    return bool(item.settings[options.profile].get("draws", False))


def _measures_nothing(item: Entry, options: Options) -> bool:
    return bool(options.records) or _draws(item, options)


def _expected(item: Entry, options: Options, top: Path) -> float:
    """Return the seconds a notebook will take: nothing when current, else as the last time."""
    if not _source(item, top).exists():
        return 0.0
    job = _job(item, options, top)
    seconds = _kept(job.target).get("seconds")
    if (job.current and not options.again) or not isinstance(seconds, int | float):
        return 0.0
    return float(seconds)


def _failure(error: Exception, target: Path, top: Path) -> str:
    import papermill

    if not isinstance(error, papermill.PapermillExecutionError):
        return f"{type(error).__name__}: {error}"
    kept = target.with_name(f"{target.stem}.failed.ipynb")
    shown = kept.relative_to(top) if kept.is_relative_to(top) else kept.name
    return f"cell {error.cell_index}: {error.ename}: {error.evalue} (kept as {shown})"


def _clock(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"
