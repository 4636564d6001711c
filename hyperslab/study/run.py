"""Run the study's notebooks through papermill: only what changed, and whole or not at all."""

import errno
import json
import resource
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path

from ..measure.lock import measuring, turns
from ..measure.parent import remove_left
from ..measure.records import machines, save_machines
from ..text import printable
from .forked import end_kernels, fork_kernels
from .options import Options, drawing_folder
from .pages import scrubbed
from .privacy import scrubber
from .profile import TOYS, Entry, check_profile, entries, entry, full, require_writable, root
from .results.checks import require_sound
from .stale import Page, measures

_AT_ONCE = 2  # notebooks that draw, or measure toys, or of which one alone measures
_LOOK_S = 0.1
_NOT_STARTED = "died before replying"
_FILES, _MEMORY = 256, 2 * 2**30  # that a process may have at least


@dataclass(frozen=True)
class Result:
    """What came of one notebook: "current", "done" or "failed", and in how many seconds."""

    name: str
    state: str
    seconds: float
    message: str = ""


def run(names: Sequence[str], options: Options) -> list[Result]:
    """Run notebooks in the study's order; a failed one is kept and the next goes on."""
    check_profile(options.profile)
    top = root()
    chosen = [entry(name, top) for name in dict.fromkeys(names)] or list(entries(top))
    if options.records:
        require_sound(options.records, top)
    if options.seed < 0:
        raise ValueError(f"--seed {options.seed}: give a whole number from 0")
    if options.repeats < 0:
        raise ValueError(f"--repeats {options.repeats}: give 0 for the profile's number, or more")
    require_writable((top / options.workdir).resolve(), options.workdir)
    _require_loopback()
    _require_limits()
    fork_kernels(len(chosen))
    if options.records:
        options = replace(options, workdir=drawing_folder(options.workdir, options.records))
        results = top / options.workdir / "results" / options.profile
        results.mkdir(parents=True, exist_ok=True)
        save_machines(results, machines(top / options.records))  # not this machine
        return _run_all(chosen, options, top)
    with measuring():
        return _run_all(chosen, options, top)


def _require_loopback() -> None:
    """Raise an error where Jupyter would wait for ever for a kernel that it cannot hear."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=5).close()
    except OSError as error:
        raise OSError(
            f"notebooks talk with their kernels over 127.0.0.1, which cannot be reached "
            f"({error.strerror or error}): bring the interface up (`ip link set lo up`)"
        ) from error


def _require_limits() -> None:
    """Raise an error where a kernel could not open its files or load its libraries."""
    for what, kind, needed, word in (
        ("open files", resource.RLIMIT_NOFILE, _FILES, "-n"),
        ("kiB of memory", resource.RLIMIT_AS, _MEMORY, "-v"),
    ):
        allowed = resource.getrlimit(kind)[0]
        if allowed != resource.RLIM_INFINITY and allowed < needed:
            unit = 1024 if word == "-v" else 1
            raise OSError(
                f"a run needs {needed // unit} {what}, and {allowed // unit} are allowed: begin "
                f"with `ulimit {word} {needed // unit}`"
            )


def _run_all(chosen: Sequence[Entry], options: Options, top: Path) -> list[Result]:
    """Run notebooks in their order, two at a time; beside one that measures nothing else works."""
    from jupyter_core.utils import ensure_event_loop

    work = (top / options.workdir).resolve()
    folder = work / "results" / options.profile

    def work_on(number: int, item: Entry) -> Result:
        print(f"[{number + 1}/{len(chosen)}] {item.name}", flush=True)
        try:
            result = _run_one(item, options, top)
        finally:
            ensure_event_loop().close()  # of this thread, in which it was talked to
        tail = f": {result.message}" if result.message else ""
        print(f"      {item.name} {result.state} in {_clock(result.seconds)}{tail}", flush=True)
        return result

    results: list[Result] = []
    for measured, group in groupby(enumerate(chosen), lambda pair: measures(pair[1], options)):
        with ThreadPoolExecutor(_AT_ONCE) as pool, ExitStack() as held:
            in_turns = measured and options.profile != TOYS
            if in_turns:
                folder.mkdir(parents=True, exist_ok=True)
                held.enter_context(turns(folder / ".turn.lock"))
            try:
                running = []
                for number, item in group:
                    records = folder / f"{item.name}.parquet"
                    before = _mtime_ns(records)
                    running.append(pool.submit(work_on, number, item))
                    # While it draws, the next makes its files and counts; its first sample waits.
                    while in_turns and not running[-1].done() and _mtime_ns(records) == before:
                        wait(running[-1:], timeout=_LOOK_S)
                results += [future.result() for future in running]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                end_kernels()  # else their notebooks are waited for
                remove_left(work / "scratch")
                raise
    return results


def _mtime_ns(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def _run_one(item: Entry, options: Options, top: Path) -> Result:
    began = time.monotonic()
    if not (top / f"notebooks/{item.name}.ipynb").exists():
        return Result(item.name, "failed", 0.0, f"notebooks/{item.name}.ipynb is missing")
    page = Page.of(item, options, top)
    why = page.measured_again()
    if not (why or page.drawn_again() or options.again):
        page.journal.unlink(missing_ok=True)  # of a run that was ended just after its records
        return Result(item.name, "current", time.monotonic() - began)
    parameters = page.parameters
    if why or (options.again and page.measures):
        print(f"      {item.name} is measured: {why or 'it was asked for'}", flush=True)
    elif page.measures and page.records.exists():
        page.journal.unlink(missing_ok=True)
        print(f"      {item.name} is drawn from its records: {page.drawn_again()}", flush=True)
        folder = Path(options.workdir) / "results" / options.profile
        parameters = parameters | {"records": folder.as_posix()}
    if options.again:
        page.journal.unlink(missing_ok=True)  # anew, and not where an earlier run stopped
    try:
        _execute(page, parameters, top)
        page.keep()
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            error = full((top / options.workdir).resolve())
            for unfinished in page.target.parent.glob(f".{item.name}.*part*"):
                unfinished.unlink()
        message = _failure(error, page, top)
        return Result(item.name, "failed", time.monotonic() - began, message)
    return Result(item.name, "done", time.monotonic() - began)


def _execute(page: Page, parameters: Mapping[str, object], top: Path) -> None:
    """Execute a template; the target appears when all cells ran, and not before."""
    import papermill

    source, target = page.source, page.target
    unknown = set(parameters) - set(papermill.inspect_notebook(str(source)))
    if unknown:
        raise ValueError(f"{source.name} takes no parameters {sorted(unknown)}")
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.stem}.part.ipynb")
    page.forget()
    execute = partial(
        papermill.execute_notebook,
        *(str(path).replace("{", "{{").replace("}", "}}") for path in (source, unfinished)),
        parameters=dict(parameters),
        kernel_name="python3",
        cwd=str(top),
        progress_bar=False,
        request_save_on_cell_execute=False,
        log_output=False,
        stderr_file=sys.stderr if sys.stderr.isatty() else None,
        extra_arguments=["--IPKernelApp.log_level=50"],
    )
    try:
        _execute_with_retry(execute)
        _scrub(unfinished, top)
        unfinished.replace(target)
    except papermill.PapermillExecutionError:
        _scrub(unfinished, top)
        unfinished.replace(page.failed)
        raise
    finally:
        unfinished.unlink(missing_ok=True)


def _execute_with_retry(execute: Callable[[], object]) -> None:
    """Execute; once more where another program took a port that Jupyter had found free."""
    try:
        execute()
    except RuntimeError as error:
        if _NOT_STARTED not in str(error):
            raise
        execute()


def _scrub(notebook: Path, top: Path) -> None:
    value = scrubbed(json.loads(notebook.read_text(encoding="utf-8")), scrubber(top))
    notebook.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _failure(error: Exception, page: Page, top: Path) -> str:
    import papermill

    if not isinstance(error, papermill.PapermillExecutionError):
        return printable(f"{type(error).__name__}: {error}")
    notebook = page.failed.relative_to(top) if page.failed.is_relative_to(top) else page.failed.name
    message = printable(f"{error.ename}: {error.evalue}")
    return f"cell {error.cell_index}: {message} (kept as {notebook})"


def _clock(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"
