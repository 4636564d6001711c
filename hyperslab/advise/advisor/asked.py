"""What the options of `hyperslab advise` ask, or why they cannot be taken."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from hyperslab.network.link import Link

from ..advice.accesses import roles, weights
from ..advice.question import FAR, Question
from ..sources.remote import is_url
from ..specs.parse import codec, format_name, size

LEAST_SAMPLE = 64 * 2**10


def question(arguments: argparse.Namespace) -> Question:
    """Return what the options ask.

    Raises
    ------
    ValueError
        When an option makes no sense.
    """
    budget, times = budget_of(arguments.budget)
    formats = [name for name in arguments.formats.split(",") if name]
    codecs = [name for name in arguments.codecs.split(",") if name and codec(name)]
    workdir = workdir_of(arguments.workdir)
    if arguments.rows < 1:
        raise ValueError(f"--rows {arguments.rows}: give at least 1")
    return Question(
        arguments.file,
        weights(arguments.access),
        variable=arguments.variable,
        roles=roles(arguments.dims),
        calls=arguments.calls,
        library=_library(arguments.library),
        link=link_of(arguments.store, arguments.file),
        url=arguments.store if is_url(arguments.store) else "",
        cache=arguments.cache,
        formats=tuple(format_name(name) for name in formats),
        codecs=tuple(codecs),
        most_bytes=budget,
        most_times=times,
        measured=arguments.measure,
        repeats=arguments.repeats,
        seed=arguments.seed,
        sample_bytes=bytes_of("--sample", arguments.sample, LEAST_SAMPLE),
        disk_bytes=bytes_of("--disk", arguments.disk, LEAST_SAMPLE),
        workdir=workdir,
    )


def budget_of(text: str) -> tuple[float | None, float]:
    """Return the bytes that are allowed, or else a multiple of the present ones.

    Examples
    --------
    >>> budget_of("2x"), budget_of("1MiB"), budget_of("any")
    ((None, 2.0), (1048576.0, 1.0), (None, inf))
    """
    allowed = "give a multiple above 0 such as 1.5x, bytes such as 2GB, or any"
    if text == "any":
        return None, float("inf")
    found = re.fullmatch(r"(\d+(?:\.\d+)?)x", text)
    try:
        value = float(found[1]) if found else float(size(text))
    except ValueError:
        raise ValueError(f"--budget {text}: {allowed}") from None
    if not value:
        raise ValueError(f"--budget {text}: {allowed}")
    return (None, value) if found else (value, 1.0)


def link_of(text: str, address: str) -> Link | None:
    """Return the way to the store that a file is read from; None for this machine's disk.

    Examples
    --------
    >>> link_of("20MB/s,80ms", "a.nc")
    Link(bytes_per_s=20000000.0, round_trip_s=0.08)
    >>> link_of("local", "a.nc") is None, link_of("", "https://example.org/a.nc") == FAR
    (True, True)
    """
    if text == "local" or (not text and not is_url(address)):
        return None
    if text in ("", "s3") or is_url(text):
        return FAR
    found = re.fullmatch(r"(.+)/s,(\d+(?:\.\d+)?) *ms", text)
    try:
        rate = float(size(found[1])) if found else 0.0
    except ValueError:
        rate = 0.0
    if not found or not rate:
        raise ValueError(
            f"--store {text}: give local, s3, a URL, or RATE,DELAY such as 20MB/s,80ms, with a "
            "rate above 0"
        )
    return Link(rate, float(found[2]) / 1e3)


def bytes_of(option: str, text: str, least: int) -> int:
    """Return the bytes that an option says, at least so many."""
    try:
        found = size(text)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from None
    if found < least:
        raise ValueError(f"{option} {text}: give at least {least >> 10} KiB")
    return found


def workdir_of(text: str | None) -> Path:
    """Return the folder that samples are made in."""
    folder = Path(text or Path.cwd())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ValueError(
            f"samples cannot be made in {folder}: give a folder that can be written to with "
            "--workdir"
        )
    return folder


def _library(name: str) -> str:
    from hyperslab.io.cards import readers

    if name and name not in readers():
        raise ValueError(f"--library {name}: give one of {', '.join(readers())}")
    return name


def resolved(asked: Question) -> None:
    """Refuse what the file has not, before a calibration takes its time."""
    from ..advice.accesses import resolve
    from ..advice.candidates import layouts, now
    from ..source import open_source

    with open_source(asked.address) as source:
        variable = asked.chosen(source)
        library = asked.library_for(source, variable)
        found = resolve(asked.shares, variable, source.variables, asked.roles, asked.calls)
        present, only = now(source.format, variable, library), (asked.formats, asked.codecs)
        if any(only) and not layouts(
            present, variable, found, formats=asked.formats, codecs=asked.codecs
        ):
            words = zip(("--formats", "--codecs"), only, strict=True)
            given = " ".join(f"{option} {','.join(names)}" for option, names in words if names)
            raise ValueError(
                f"{given}: no layout has chunks and these: give formats of netcdf4, hdf5, zarr2, "
                "zarr3, and codecs that they have, such as none, deflate, zstd"
            )
