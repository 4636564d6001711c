"""`hyperslab advise FILE`: from the options to the report."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from hyperslab.io.urls import shown
from hyperslab.network.link import Link
from hyperslab.subchunk.place import is_url, local_path

from ..report import report_files
from ..report.table import tell, terminal_width
from ..shared_options import SEVERAL, WHOLE, Rows, add_command, workdir
from ..specs.parse import codec, format_name, size
from .accesses import roles, weights
from .costs import ROUGH, ensured, known
from .question import FAR, Question, subject_of
from .rank import Advice, advise

LEAST_SAMPLE = 64 * 2**10
_TEXT = {"default": ""}

_ABOUT = """\
Say what the reads of FILE cost and why, in chunks, bytes and calls, and rank what
would make them cheaper: other chunks, codecs and formats, and remedies that leave
the file as it is. Times are predicted from counts by a cost model of this machine
(calibrated once, in under two minutes); the best few are measured on a sample of
the file. FILE is only read; hyperslab rechunk rewrites it. In brackets below: what
is taken when an option is not given.
"""
_EXAMPLES = """\
examples:
  hyperslab advise sst.nc
  hyperslab advise sst.nc --access time_series=0.7 --access map=0.3
  hyperslab advise sst.nc --access time_series=70%,map=30% --budget 2x
  hyperslab advise model.h5 --access time_series --dims time=dim_0,y=dim_1,x=dim_2
  hyperslab advise https://host/sst.nc --store 20MB/s,80ms
  hyperslab advise sst.nc --no-measure --json advice.json --plot advice.svg
  hyperslab advise --calibrate

A share is that of all reads: with time_series=0.7 and map=0.3, seven of ten reads
are time series. Shares sum to 1, or to 100 in percent; names without shares weigh
alike. A gain is the time of an average read now over that with the advice.

exit codes: 0; 1 it failed or was interrupted; 2 what was asked for cannot be had, and
nothing was measured.
"""
_OPTIONS: dict[str, Rows] = {
    "": [
        ("FILE", "netCDF (of every kind), HDF5 or Zarr; a path or a URL",
         {"nargs": "?", "default": ""}),
    ],
    "how it is read": [
        ("--access NAME=SHARE", "time_series, map, profile, row, column or whole, with its "
         "share of all reads; may be repeated (a time series and a map, alike)", SEVERAL),
        ("--calls N", "each access is N reads, one after another with the file open: series at "
         "neighbouring points, consecutive maps (1)", {"default": 1, **WHOLE}),
        ("--variable NAME", "which is read (the largest)", _TEXT),
        ("--dims ROLE=DIM", "what dimensions are: time, height, y or x (as the file's metadata "
         "say)", SEVERAL),
        ("--store STORE", "where the file is read from: local; RATE,DELAY such as 20MB/s,80ms; s3 "
         "or the URL that it has there, for both of which 100 MB/s and 30 ms are taken (where "
         "FILE is)", _TEXT),
        ("--library NAME", "what reads it now: netcdf4, h5py, h5netcdf, xarray-netcdf4, zarr … "
         "(the usual one)", _TEXT),
        ("--cache STATE", "warm, cold or auto: whether the file is in memory when it is read "
         "(auto: cold where it is larger than half of the memory)", {"default": "auto"}),
    ],
    "what may be advised": [
        ("--budget SIZE", "what the variable may take in a new layout: a multiple of now (2x), "
         "bytes (5GB), or any (1.25x)", {"default": "1.25x"}),
        ("--formats A,B", "formats of new layouts: netcdf4, hdf5, zarr3 … (the file's own and "
         "zarr3)", _TEXT),
        ("--codecs A,B", "codecs of new layouts: none, deflate, zstd, blosc-zstd, blosc-lz4 (all)",
         _TEXT),
    ],
    "predicting and measuring": [
        ("--measure N", "measure the N best layouts and remedies on a sample (4)",
         {"default": 4, **WHOLE}),
        ("--no-measure", "predict only",
         {"dest": "measure", "action": "store_const", "const": 0}),
        ("--sample SIZE", "bytes of values in the sample (64MiB)", {"default": "64MiB"}),
        ("--repeats N", "how often each is measured; intervals need 6 (7)",
         {"default": 7, **WHOLE}),
        ("--calibrate", "calibrate the cost model of this machine anew, in under two minutes"),
        ("--rough", "predict with typical costs instead, without a calibration"),
        ("--workdir DIR", "where samples are made: the disk that is timed (here)", _TEXT),
    ],
    "results": [
        ("--json FILE", "the report and all candidates as JSON; - for output", _TEXT),
        ("--plot FILE", "size against access times: .png, .svg or .pdf", _TEXT),
        ("--html FILE", "the report as a page, with the figure", _TEXT),
        ("-q --quiet", "no progress"),
    ],
}  # fmt: skip


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    return add_command(commands, "advise", "[options] FILE", _ABOUT, _EXAMPLES, _OPTIONS, run)


def run(arguments: argparse.Namespace) -> int:
    """Advise and report; return the exit code: 0, or 1 when it was interrupted."""
    say = None if arguments.quiet else tell
    if not arguments.file:
        if not arguments.calibrate:
            raise ValueError("no FILE is named: give a netCDF, HDF5 or Zarr file")
        ensured(again=True, workdir=workdir(arguments.workdir), say=tell)
        return 0
    question = question_of(arguments)
    report_files.check(arguments, ("json", "plot", "html"))
    try:
        if say:
            say("reading a sample")
        subject, anew = subject_of(question), arguments.calibrate
        costs = ROUGH if arguments.rough else ensured(again=anew, workdir=question.workdir, say=say)
        _report(arguments, advise(subject, costs, say))
    except KeyboardInterrupt:
        print("\ninterrupted: nothing is left behind, the file is as it was", file=sys.stderr)
        return 1
    return 0


def advised(words: Sequence[str], calibrated: Path | None = None) -> Advice:
    """Return the advice for the words after `hyperslab advise`, by what costs are `known`."""
    arguments = add(argparse.ArgumentParser().add_subparsers()).parse_args(words)
    costs = ROUGH if arguments.rough else known(calibrated)
    return advise(subject_of(question_of(arguments)), costs)


def question_of(arguments: argparse.Namespace) -> Question:
    """Return what the options ask; a ValueError says what makes no sense."""
    sample_bytes = size(arguments.sample)
    if sample_bytes < LEAST_SAMPLE:
        raise ValueError(f"--sample {arguments.sample}: give at least {LEAST_SAMPLE >> 10} KiB")
    as_given = ("variable", "calls", "library", "cache", "budget", "repeats")
    return Question(
        local_path(arguments.file),  # a URL as it is
        weights(arguments.access),
        roles=roles(arguments.dims),
        link=link_of(arguments.store, arguments.file),
        url=arguments.store if is_url(arguments.store) else "",
        formats=tuple(format_name(name) for name in arguments.formats.split(",") if name),
        codecs=tuple(name for name in arguments.codecs.split(",") if name and codec(name)),
        measured=arguments.measure,
        sample_bytes=sample_bytes,
        workdir=workdir(arguments.workdir),
        **{name: getattr(arguments, name) for name in as_given},
    )


def link_of(text: str, address: str) -> Link | None:
    """Return the way to the store that a file is read from; None for this machine's disk."""
    if text == "local" or (not text and not is_url(address)):
        return None
    if text in ("", "s3") or is_url(text):
        return FAR
    with suppress(ValueError):
        if match := re.fullmatch(r"(.+)/s,(\d+(?:\.\d+)?) *ms", text):
            return Link(float(size(match[1])), float(match[2]) / 1e3)
    raise ValueError(
        f"--store {text}: give local, s3, a URL, or RATE,DELAY such as 20MB/s,80ms, with a rate "
        "above 0"
    )


def _report(arguments: argparse.Namespace, advice: Advice) -> None:
    from hyperslab.measure.records import frame_of

    from . import advice_page as page
    from . import explain

    title = Path(shown(arguments.file).rstrip("/")).name
    records = list(page.rows(advice, shown))
    piped, document, frame = arguments.json == "-", page.as_json(records), frame_of(records)
    with report_files.maybe_unread():
        tell(explain.text(advice, terminal_width()), sys.stderr if piped else sys.stdout)
        if piped:
            print(document)
    if arguments.json and not piped:
        report_files.put("json", arguments.json, f"{document}\n".encode())
    if arguments.plot:
        report_files.put(
            "plot", arguments.plot, page.picture(frame, Path(arguments.plot).suffix, title)
        )
    if arguments.html:
        page.write(frame, arguments.html, title)
