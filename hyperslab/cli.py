"""The command `hyperslab`."""

import argparse
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

from . import __version__
from .text import printable

OK, FAILED, USAGE = 0, 1, 2
# Commands of other modules, which are imported when they are called.
_ELSEWHERE = {
    "advise": (
        ".tune.advice.advise_command",
        "say what your file's reads cost, and what makes them cheaper",
    ),
    "bench": (".tune.bench.bench_command", "time your own file in other layouts"),
    "index": (
        ".subchunk.index_command",
        "index netCDF-4 or HDF5 files, to read inside of their chunks",
    ),
    "rechunk": (
        ".tune.rechunk_command",
        "rewrite a file with other chunks, another codec or format",
    ),
    "results": (
        ".study.results.results_command",
        "add a machine's records to results/",
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these words, and return its exit code: 0, 1 (failed) or 2 (usage)."""
    words = sys.argv[1:] if argv is None else argv
    command = words[0] if words else ""
    _require_streams()
    try:
        with _ended_as_by_ctrl_c():
            for word in words[1:]:
                if word.startswith("-") and "--" not in words and Path(word).is_file():
                    raise ValueError(f"{word} is a file: write ./{word}")
            arguments = _parser(command).parse_args(words)
            status = int(arguments.call(arguments))
            sys.stdout.flush()
            return status
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "hyperslab", "data_gen"):
            raise
        extra = "tune" if command in ("advise", "bench", "rechunk") else "study"
        install = f"pip install 'hyperslab[{extra}]'"
        print(f"hyperslab {command}: {package} is not installed: {install}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        with suppress(OSError):  # a terminal that was closed hears nothing
            print("\ninterrupted: what was finished is kept, the next run goes on from there")
        return FAILED
    except BrokenPipeError:  # who read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left to be written goes there
        return FAILED
    except ValueError as error:
        # What refuses records has a line for each reason, made printable by itself.
        message = str(error) if hasattr(error, "problems") else printable(str(error))
        print(f"hyperslab {command}: {message}", file=sys.stderr)
        return USAGE
    except (OSError, RuntimeError) as error:
        print(f"hyperslab {command}: {error}", file=sys.stderr)
        return FAILED


def _require_streams() -> None:
    """Open what is closed of input and outputs; what a terminal cannot show becomes `?`."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # else the next file that is opened would take its place
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # kernels have it too
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


@contextmanager
def _ended_as_by_ctrl_c() -> Iterator[None]:
    """Let a signal to end, or a terminal that is closed, clean up as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():  # signals are the main one's
        yield
        return

    def interrupt(*_: object) -> None:
        for number in handlers:
            signal.signal(number, signal.SIG_IGN)  # a second one must not stop the cleaning
        raise KeyboardInterrupt

    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, handler in handlers.items():
        if handler is not signal.SIG_IGN:  # as nohup has it
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _parser(command: str) -> argparse.ArgumentParser:
    """Return the parser, with the arguments of that command if they are defined elsewhere."""
    parser = argparse.ArgumentParser(
        prog="hyperslab",
        description="Five papers on netCDF, HDF5 and Zarr I/O, re-run on this machine and judged.",
    )
    parser.add_argument("--version", action="version", version=f"hyperslab {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    run = commands.add_parser(
        "run",
        help="run the study's notebooks: only what changed",
        description="Run notebooks of the study through papermill. What has not changed since "
        "its last run is left alone; an interrupted run goes on where it stopped.",
    )
    run.add_argument("names", nargs="*", metavar="NAME", help="notebooks; all when none is named")
    _common(run, "draw from these records, measure nothing")
    run.add_argument(
        "--repeats", type=int, default=0, metavar="N", help="interleaved blocks (the profile's)"
    )
    run.add_argument("--seed", type=int, default=0, metavar="N", help="of the order of samples (0)")
    run.add_argument("--again", action="store_true", help="run also what has not changed")
    run.set_defaults(call=_run)

    book = commands.add_parser(
        "book",
        help="render the book from executed notebooks",
        description="Render the book from the executed notebooks of a profile into "
        "WORKDIR/html/index.html.",
    )
    _common(book, "render what was drawn from these records")
    book.add_argument(
        "--pdf", action="store_true", help="print it besides, into WORKDIR/hyperslab.pdf"
    )
    book.set_defaults(call=_book)

    claims = commands.add_parser(
        "claims",
        help="judge the claims from the records",
        description="Judge every claim from the records of a profile, print the verdicts and "
        "write claims.json beside the records.",
    )
    _common(claims, "judge these records instead")
    claims.set_defaults(call=_claims)

    for name, (module, summary) in _ELSEWHERE.items():
        if name == command:
            import_module(module, __package__).add(commands)
        else:
            commands.add_parser(name, help=summary)

    doctor = commands.add_parser(
        "doctor",
        help="say what this machine has, lacks, and what is left out",
        description="Say what this machine has for the study, what it lacks, and how to get it.",
    )
    doctor.add_argument(
        "--workdir", default="build", metavar="FOLDER", help="where data go (build)"
    )
    doctor.set_defaults(call=_doctor)
    return parser


def _common(parser: argparse.ArgumentParser, records: str) -> None:
    parser.add_argument(
        "--profile",
        default="",
        metavar="NAME",
        help="smoke (toy sizes), quick (19 minutes on 2 cores), full (an hour and three quarters) "
        "or paper; quick unless given, or what the records are of",
    )
    parser.add_argument(
        "--workdir",
        default="build",
        metavar="FOLDER",
        help="where data, results and the book go (build)",
    )
    parser.add_argument("--records", default="", metavar="FOLDER", help=records)


def _profile(arguments: argparse.Namespace) -> str:
    """Return the profile given, or that of the records, or quick; refuse an unknown one."""
    from .study.options import profile_of
    from .study.profile import check_profile, root

    folder = root() / arguments.records if arguments.records else None
    return check_profile(arguments.profile or profile_of(folder))


def _destination(arguments: argparse.Namespace) -> tuple[Path, str, str]:
    """Return the repository, the profile and where pages go; refuse records that are not sound."""
    from .study.options import drawing_folder
    from .study.profile import root
    from .study.results.checks import require_sound

    top, profile = root(), _profile(arguments)
    if arguments.records:
        require_sound(arguments.records, top)
    return top, profile, drawing_folder(arguments.workdir, arguments.records)


def _run(arguments: argparse.Namespace) -> int:
    from .study.options import Options
    from .study.run import run

    options = Options(
        profile=_profile(arguments),
        workdir=arguments.workdir,
        records=arguments.records,
        seed=arguments.seed,
        repeats=arguments.repeats,
        again=arguments.again,
    )
    results = run(arguments.names, options)
    return FAILED if any(result.state == "failed" for result in results) else OK


def _book(arguments: argparse.Namespace) -> int:
    from .study.book import render, stage, summary
    from .study.options import executed_folder

    top, profile, folder = _destination(arguments)
    html = (top / arguments.workdir).resolve() / "html"
    workdir = (top / folder).resolve()
    executed = executed_folder(workdir, profile)
    if not any(executed.glob("*.ipynb")):
        first = f"--records {arguments.records}" if arguments.records else f"--profile {profile}"
        raise ValueError(
            f"no notebook of the profile {profile!r} has run: `hyperslab run {first}` comes first"
        )
    records = top / arguments.records if arguments.records else None
    results = workdir / "results" / profile
    missing = stage(executed, results, workdir / "book", records=records, root=top)
    for name in missing:
        print(f"{name}: a placeholder page, was not run")
    if arguments.pdf:
        from .study.pdf import ENCLOSED, print_book

        pdf = html.with_name("hyperslab.pdf")
        print_book(workdir / "book", pdf)
        (workdir / "book" / ENCLOSED).write_bytes(pdf.read_bytes())  # the pages link it
    render(workdir / "book", html)
    print(summary(executed, missing, results, html))
    return OK


def _claims(arguments: argparse.Namespace) -> int:
    from . import claims
    from .study.board import judged
    from .study.profile import require_writable

    top, profile, folder = _destination(arguments)
    if not arguments.records and not any((top / folder / "results" / profile).glob("*.parquet")):
        raise ValueError(
            f"no records of the profile {profile!r}: run `hyperslab run --profile {profile}` "
            "first, or name a folder of records with --records"
        )
    require_writable((top / folder).resolve(), arguments.workdir)
    board = judged(profile=profile, workdir=folder, records=arguments.records)
    print(claims.summary_table(board.judgements))
    return OK


def _doctor(arguments: argparse.Namespace) -> int:
    from .study import doctor

    findings = doctor.report(Path(arguments.workdir))
    print(doctor.render(findings))
    return doctor.exit_status(findings)
