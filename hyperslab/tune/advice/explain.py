"""An advice in words: what reads cost and why, the ranking, the reason, the commands."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from textwrap import indent

from hyperslab.io.chunk_shapes import chunk_grid
from hyperslab.io.layout import NETCDF4, Layout
from hyperslab.io.urls import shown
from hyperslab.subchunk.place import is_url
from hyperslab.text import TIMES, amount, listing

from ..report.table import grid, wrapped
from .candidates import Candidate, name_of
from .counts import Counts
from .fetches import FETCHES, moved
from .pricing import Row, read_of
from .question import Subject
from .rank import Advice
from .sample import Packed

_PLAIN = {
    "time_series": "a time series", "map": "a map", "profile": "a profile", "row": "a row",
    "column": "a column", "whole": "all of it",
}  # fmt: skip
_REMEDIES = {  # what is done, and why it helps
    "index": ("build an index with hyperslab index and read through it",
              "only the part of a chunk before a value is decompressed, from the nearest point of "
              "an index, instead of all of it"),
    "h5py": ("read the file with h5py instead of netCDF4",
             "the same chunks are read with fewer steps between HDF5 and Python"),
    "cache": ("give it a {name}", "chunks that an earlier call read stay in memory for the next"),
    "references": ("read it as Zarr by kerchunk references",
                   "chunks are asked for directly, without HDF5's index, several at a time"),
}  # fmt: skip
_ROWS = 12  # candidates in the table, but all that were measured
_PLUGINS = (
    "Whoever reads zstd or blosc in netCDF-4 or HDF5 needs their filter plugins (h5py: import "
    "hdf5plugin); --codecs deflate,none keeps to what every reader has."
)


def text(advice: Advice, width: int = 0) -> str:
    """Return the whole report, in lines of so many characters; 0 for any."""
    sections = words(advice, width)
    order = ("file", "now", "table", "advice", "how", "notes")
    return "\n\n".join(sections[name] for name in order if sections[name])


def words(advice: Advice, width: int = 0) -> dict[str, str]:
    """Return the parts of the report by name."""
    why = costs(advice)
    return {
        "file": wrapped(head(advice), width),
        "now": grid({name: [row[name] for row in why] for name in why[0]}, width),
        "advice": wrapped("\n".join(verdict(advice)), width),
        "table": table(advice, width),
        "how": how(advice),
        "notes": wrapped("\n".join(f"note: {note}" for note in advice.notes), width),
    }


def head(advice: Advice) -> str:
    """Return the file and its variable in a line."""
    subject, variable = advice.subject, advice.subject.variable
    dims = ", ".join(
        f"{dim} {n}{f' = {letter}' if letter else ''}"
        for dim, n, letter in zip(variable.dims, variable.shape, subject.letters, strict=True)
    )
    link, layout, stored = subject.question.link, subject.present.layout, "contiguous"
    if layout.chunks:
        each = _bytes(math.prod(layout.chunks) * variable.itemsize)
        stored = f"chunks {'x'.join(map(str, layout.chunks))} of {each}"
    stored += f", {variable.codec}" if variable.codec else ""
    location = f"{subject.cache} on this machine's disk"
    if link is not None:
        location = f"{_bytes(link.bytes_per_s)}/s and {link.round_trip_s * 1e3:g} ms away"
    return (
        f"{shown(subject.question.address)}: {variable.name} ({dims}; {variable.dtype}), "
        f"{_bytes(variable.nbytes)} of values in {_bytes(advice.present.nbytes)}: "
        f"{layout.format}, {stored}; read with {subject.present.library}, {location}."
    )


def costs(advice: Advice) -> list[dict[str, str]]:
    """Return what each access asks for, and what it takes, by what it is."""
    present, subject = advice.present.candidate, advice.subject
    shape, chunks, rows = subject.variable.shape, present.layout.chunks, list[dict[str, str]]()
    for access in subject.accesses:
        count = advice.present.counts[access.name]
        row = {"now": access.name, "share": f"{access.weight:.0%}"}
        row["asks for"] = _bytes(count.useful_bytes)
        if chunks:
            row["chunks"] = f"{count.chunks:,} of {math.prod(chunk_grid(shape, chunks)):,}"
        row["fetched"] = _bytes(count.stored_bytes)
        if present.layout.codec or (chunks and not present.described):
            row["decompressed"] = _bytes(count.decoded_bytes)
        excess = max(count.decoded_bytes, count.stored_bytes) / max(count.useful_bytes, 1)
        row |= {f"{TIMES} asked": f"{excess:,.0f}", "reads of\nthe file": f"{count.requests:,}"}
        if subject.question.link is not None and present.library in FETCHES:
            values = Packed(advice.present.nbytes / math.prod(shape))
            traffic = moved(read_of(present, subject, access, values), count)
            row |= {
                "requests,\nwith opening": f"{traffic.requests:,}",
                "round trips": f"{traffic.stages:,}",
                "moved": _bytes(traffic.nbytes),
                "fetched\nahead": _bytes(FETCHES[present.library].ahead_bytes),
            }
        row["predicted"] = amount(advice.present.seconds.get(access.name, math.nan), "s")
        rows.append(row)
    return rows


def verdict(advice: Advice) -> list[str]:
    """Return what is advised, in a sentence or two."""
    first, other = advice.first, advice.other
    gains_known = any(math.isfinite(row.scaled_gain) for row in advice.rows)
    if advice.present.status and not gains_known:
        return [f"Nothing is advised: {advice.present.status}"]
    if first is None:
        mix = listing([f"{_PLAIN[a.name]} ({a.weight:.0%})" for a in advice.subject.accesses], 9)
        return [
            f"Leave the file as it is: nothing tried makes reads of it, {mix}, on average 1.1 "
            "times as fast."
        ]
    lines = [f"Advice: {_does(first)}. {_gain(advice, first)}, because {_reason(advice, first)}."]
    if other is not None:
        way = "Without rewriting the file" if first.candidate.rewrites else "Rewritten"
        lines.append(f"{way}: {_does(other)}. {_gain(advice, other)}.")
    fresh = (row.candidate.layout for row in (first, other) if row and row.candidate.rewrites)
    own = (None, "deflate", "szip")  # what HDF5 brings itself
    if any(new.format in (*NETCDF4, "hdf5") and new.codec not in own for new in fresh):
        lines.append(_PLUGINS)
    return lines


def _does(row: Row) -> str:
    name, format = row.candidate.name, row.candidate.layout.format
    if row.candidate.remedy:
        return _REMEDIES[row.candidate.remedy][0].format(name=name)
    return f"rewrite it as {name if name.startswith(format) else f'{format} in {name}'}"


def _gain(advice: Advice, row: Row) -> str:
    """Return what is gained, and how that is known."""
    times = f"An average read is {row.scaled_gain:.3g} times as fast"
    if row.measured_gain is None:
        return f"{times}, predicted"
    sample = advice.subject.sample
    guess = "not predicted" if math.isnan(row.gain) else f"predicted {row.sample_gain:.3g}"
    return f"{times}, measured on {sample.words}: {row.measured_gain:{TIMES}}, {guess} there"


def _reason(advice: Advice, row: Row) -> str:
    """Return why a candidate is faster (or slower) than the file as it is."""
    if row.candidate.remedy:
        return _REMEDIES[row.candidate.remedy][1]
    now = advice.present.counts
    layout, old = row.candidate.layout, advice.subject.present.layout
    reasons, against = list[str](), list[str]()
    for name, before in now.items():
        after = row.counts[name]
        change = f"{_PLAIN[name]} goes through {_through(after)} instead of {_through(before)}"
        (reasons if _touched(after) < _touched(before) else against).append(change)
    if layout.codec != old.codec:
        reasons.append(f"{layout.codec or 'no codec'} takes the place of {old.codec or 'none'}")
    if not reasons:
        return listing(against, 9)
    return listing(reasons, 9) + (f", though {listing(against, 9)}" if against else "")


def _touched(counts: Counts) -> float:
    return max(counts.decoded_bytes, counts.stored_bytes)


def _through(counts: Counts) -> str:
    number, piece = (counts.chunks, "chunk") if counts.chunks else (counts.requests, "read")
    return f"{_bytes(_touched(counts))} in {number:,} {piece}{'s' * (number != 1)}"


def table(advice: Advice, width: int = 0) -> str:
    """Return the ranking: sizes, times and gains, predicted for the file and as measured."""
    count = max(_ROWS, sum(row.measured_gain is not None for row in advice.rows))
    chosen = [advice.present, *advice.rows[:count]]
    measured = any(row.measured for row in chosen)
    # Predicted is the file; what was measured may be a part of it.
    how = "measured" if advice.subject.sample.whole else "on sample"
    columns: dict[str, list[str]] = {
        "": [f"{n or ''} {row.candidate.name}".strip() for n, row in enumerate(chosen)],
        "size": [_bytes(row.nbytes) for row in chosen],
    }
    for name in (access.name for access in advice.subject.accesses):
        predicted = [row.seconds.get(name, math.nan) for row in chosen]
        columns[f"{name}\npredicted"] = [amount(seconds, "s") for seconds in predicted]
        if measured:
            columns[f"{name}\n{how}"] = [
                amount(row.measured[name].value, "s") if row.measured else "" for row in chosen
            ]
    columns["gain\npredicted"] = [amount(row.gain, TIMES) for row in chosen]
    if measured:
        gains = [row.measured_gain for row in chosen]
        columns[f"gain\n{how}"] = [f"{gain:{TIMES}}" if gain else "" for gain in gains]
    return grid(columns, width)


def how(advice: Advice) -> str:
    """Return the commands of the advice, of the best of the other kind, and of all measured."""
    first, lines = advice.first, list[str]()
    for number, row in enumerate(advice.rows if first else (), 1):
        if row.measured_gain is not None or row in (first, advice.other):
            lines.append(f"To apply {number}, {row.candidate.name}:")
            snippets = commands(advice.subject, row.candidate)
            lines += [indent(snippet, "    ") + "\n" for snippet in snippets]
    return "\n".join(lines).rstrip()


def commands(subject: Subject, candidate: Candidate) -> list[str]:
    """Return what applies a candidate, a command or a piece of Python each."""
    if candidate.remedy:
        return _remedy(subject, candidate)
    layout, address = candidate.layout, subject.question.address
    words = ["hyperslab", "rechunk", address, output_name(address, layout)]
    words += ["--format", layout.format]
    for name in subject.twins:
        words += ["--variable", name]
    for option, lengths in (("--chunks", layout.chunks), ("--shards", layout.shards)):
        if lengths:
            pairs = zip(subject.variable.dims, lengths, strict=True)
            words += [option, ",".join(f"{dim}={n}" for dim, n in pairs)]
    level = layout.effective_level
    words += ["--codec", f"{layout.codec or 'none'}{f':{level}' if level else ''}"]
    words += ["--shuffle" if layout.shuffle else "--no-shuffle"] if layout.codec else []
    words += ["--pages", str(layout.page_bytes)] if layout.page_bytes else []
    words += ["--leave-out"] if subject.unkept else []
    return [shlex.join(words)]


def output_name(address: str, layout: Layout) -> str:
    """Return a name for a copy: the file's own, with what is new about it."""
    stem = Path(address.rstrip("/")).name
    stem = stem.rpartition(".")[0] or stem
    words = name_of(layout).removeprefix("zarr3 ").replace(":", "").split()
    return f"{'-'.join([stem, *words])}{layout.suffix}"


def _remedy(subject: Subject, candidate: Candidate) -> list[str]:
    """Return what applies a remedy, to the file where it is read: at a URL, where it is far."""
    question, name = subject.question, subject.variable.name
    copy = Path(question.address).name if is_url(question.address) else question.address
    address = question.url or question.address
    far = question.link is not None or is_url(address)
    if far and not is_url(address):
        address = f"s3://bucket/{Path(copy).name}"
    there, lead = repr(address), "import fsspec\n" if far else ""
    file = f"fsspec.open({there}).open()" if far else there
    if candidate.remedy == "index":
        group = name.rpartition("/")[0]
        options = f", group={group!r}" if group else ""
        options += f", index={f'{copy}.subchunk'!r}" if far else ""
        return [
            shlex.join(["hyperslab", "index", question.address]),
            f"import xarray as xr\nds = xr.open_dataset({there}, engine='subchunk'{options})",
        ]
    if candidate.remedy == "h5py":
        return [f"{lead}import h5py\nvalues = h5py.File({file})[{name!r}]"]
    if candidate.remedy == "references":
        return [
            "from hyperslab.io.references import read, write\nimport xarray as xr\n"
            f"write({copy!r})  # a copy of the file on this machine\n"
            f"ds = xr.open_dataset(read({copy!r}, {there}), engine='kerchunk')"
        ]
    if candidate.library == "h5py":
        return [f"{lead}import h5py\nfile = h5py.File({file}, rdcc_nbytes={candidate.cache_bytes})"]
    mode = " + '#mode=bytes'" if far else ""
    return [
        f"import netCDF4\nfile = netCDF4.Dataset({there}{mode})\n"
        f"file[{name!r}].set_var_chunk_cache(size={candidate.cache_bytes})"
    ]


def _bytes(count: float) -> str:
    return amount(count, "B")
