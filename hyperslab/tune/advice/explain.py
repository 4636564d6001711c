"""An advice in words: what reads cost and why, the ranking, the reason, the commands."""

from __future__ import annotations

import math

from hyperslab.io.layout import NETCDF4
from hyperslab.text import ENOUGH, Interval, amount, listing

from ..report.table import grid, wrapped
from ..sources.remote import is_url, shown
from . import recipes
from .accesses import Access
from .counts import Counts
from .fetches import FETCHES, moved
from .question import FAR, Subject
from .rank import Advice, Row, read_of
from .sample import Packed

_PLAIN = {
    "time_series": "a time series", "map": "a map", "profile": "a profile", "row": "a row",
    "column": "a column", "whole": "all of it",
}  # fmt: skip
_REASONS = {
    "index": "because only the part of a chunk before a value is decompressed, from the nearest "
    "point of an index, instead of all of it.",
    "h5py": "because the same chunks are read with fewer steps between HDF5 and Python.",
    "cache": "because chunks that an earlier call read stay in memory for the next.",
    "references": "because chunks are asked for directly, without HDF5's index, several at a time.",
}
_PLUGINS = (
    "Whoever reads zstd or blosc in netCDF-4 or HDF5 needs their filter plugins (h5py: import "
    "hdf5plugin); --codecs deflate,none keeps to what every reader has."
)


def text(advice: Advice, *, rows: int = 12, width: int = 0) -> str:
    """Return the whole report, with so many rows of the table, but all that were measured."""
    count = max(rows, sum(row.measured_gain is not None for row in advice.rows))
    parts = [
        wrapped("\n".join([head(advice), *now(advice)]), width),
        table(advice, count, width),
        wrapped("\n".join(verdict(advice)), width),
        "\n".join(how(advice, count)),
        wrapped("\n".join(f"note: {note}" for note in advice.notes), width),
    ]
    return "\n\n".join(part for part in parts if part)


def head(advice: Advice) -> str:
    """Return the file and its variable in a line."""
    subject, variable = advice.subject, advice.subject.variable
    dims = ", ".join(
        f"{dim} {n}{f' = {letter}' if letter else ''}"
        for dim, n, letter in zip(variable.dims, variable.shape, subject.letters, strict=True)
    )
    present, link = subject.present, subject.question.link
    stored = f"chunks {_chunks(subject)}" if present.layout.chunks else "contiguous"
    place = f"{subject.cache} on this machine's disk"
    if link is not None:
        assumed = ", which is assumed" if link is FAR else ""
        place = f"{_bytes(link.bytes_per_s)}/s and {link.round_trip_s * 1e3:g} ms away{assumed}"
    return (
        f"{shown_address(advice)}: {variable.name} ({dims}; {variable.dtype}), "
        f"{_bytes(variable.nbytes)} of values in {_bytes(advice.present.nbytes)}: "
        f"{present.layout.format}, {', '.join(filter(None, (stored, variable.codec)))}; read with "
        f"{present.library}, {place}."
    )


def now(advice: Advice) -> list[str]:
    """Return what each access costs now, a sentence each."""
    return [_costs(advice, access) for access in advice.subject.accesses]


def _costs(advice: Advice, access: Access) -> str:
    count, present = advice.present.counts[access.name], advice.subject.present
    text = f"{access.name} ({access.weight:.0%} of reads) asks for {_bytes(count.useful_bytes)}; "
    reads = _many(count.requests, "read")
    if present.layout.chunks is None:
        text += f"the data are contiguous: {_bytes(count.stored_bytes)} are fetched in {reads} of "
        text += f"the file, for {_many(count.runs, 'run')} of values"
    else:
        variable, chunks = advice.subject.variable, present.layout.chunks
        total = math.prod(-(-n // c) for n, c in zip(variable.shape, chunks, strict=True))
        touched = f"{count.chunks:,} of {_many(total, 'chunk')}"
        if count.calls > 1:
            touched = f"{_many(count.chunks, 'chunk')} in {count.calls} reads, of {total:,}"
        each = _bytes(math.prod(chunks) * variable.itemsize)
        text += f"it touches {touched} ({_chunks(advice.subject)}, {each} each): "
        text += f"{_bytes(count.stored_bytes)} are fetched"
        if present.layout.codec or not present.described:
            text += f" and {_bytes(count.decoded_bytes)} decompressed"
        text += f" in {reads} of the file"
    excess = max(count.decoded_bytes, count.stored_bytes) / max(count.useful_bytes, 1)
    text += f", {excess:,.0f} times what is asked for" if excess > 1.5 else ""
    text += _over_network(advice, access, count)
    if access.name in advice.present.seconds:
        text += f"; {amount(advice.present.seconds[access.name], 's')} predicted"
    return f"{text}."


def _over_network(advice: Advice, access: Access, count: Counts) -> str:
    """Return what a read moves over the network; "" where there is none, or it is not known."""
    subject, present = advice.subject, advice.present.candidate
    if subject.question.link is None or present.library not in FETCHES:
        return ""
    values = Packed(advice.present.nbytes / math.prod(subject.variable.shape))
    traffic = moved(read_of(present, subject, access, values), count)
    how = FETCHES[present.library]
    text = f"; over the network, opening included, {_many(traffic.requests, 'request')}"
    if traffic.stages < traffic.requests:
        text += f", in {_many(traffic.stages, 'round trip')}"
    else:
        text += ", one after another"
    text += f", and {_bytes(traffic.nbytes)} moved"
    if not how.ahead_bytes:
        return text
    serves = ", which serves the reads that follow"
    fewer = traffic.requests - how.opening < count.requests
    return (
        f"{text} ({present.library} fetches {_bytes(how.ahead_bytes)} ahead"
        f"{serves if fewer else ''})"
    )


def verdict(advice: Advice) -> list[str]:
    """Return what is advised, in a sentence or two."""
    first, other = advice.first, advice.other
    if first is None and advice.present.status and not advice.gains_known:
        return [f"Nothing is advised: {advice.present.status}"]
    if first is None:
        mix = listing([f"{_PLAIN[a.name]} ({a.weight:.0%})" for a in advice.subject.accesses], 9)
        return [
            f"Leave the file as it is: nothing tried makes reads of it, {mix}, on average 1.1 "
            "times as fast."
        ]
    lines = [f"Advice: {_does(first)}. {_gain(advice, first)}, {_reason(advice, first)}"]
    if other is not None:
        way = "Without rewriting the file" if first.candidate.rewrites else "Rewritten"
        lines.append(f"{way}: {_does(other)}. {_gain(advice, other)}.")
    if any(row is not None and _needs_plugin(row) for row in (first, other)):
        lines.append(_PLUGINS)
    return lines


def _needs_plugin(row: Row) -> bool:
    """Whether a layout needs a filter that HDF5 does not bring itself."""
    layout = row.candidate.layout
    hdf5 = row.candidate.rewrites and layout.format in (*NETCDF4, "hdf5")
    return hdf5 and layout.codec not in (None, "deflate", "szip")


def _does(row: Row) -> str:
    candidate = row.candidate
    format, name = candidate.layout.format, candidate.name
    return {
        "index": "build an index with hyperslab index and read through it",
        "h5py": "read the file with h5py instead of netCDF4",
        "cache": f"give it a {name}",
        "references": "read it as Zarr by kerchunk references",
    }.get(
        candidate.remedy,
        f"rewrite it as {name if name.startswith(format) else f'{format} in {name}'}",
    )


def _gain(advice: Advice, row: Row) -> str:
    """Return what is gained, and how that is known."""
    times = f"An average read is {row.scaled_gain:.3g} times as fast"
    if row.measured_gain is None:
        return f"{times}, predicted"
    gain, sample = row.measured_gain, advice.subject.sample
    between = f"{_range(gain)}{gain.low:.3g} to {gain.high:.3g}"
    unknown = math.isnan(row.gain)
    if sample.whole:
        guess = "not predicted" if unknown else f"predicted {row.gain:.3g}"
        return f"{times}, measured ({between}; {guess})"
    shape = "x".join(map(str, sample.values.shape))
    if unknown:
        return f"{times}, measured on a sample of {shape} ({between}; not predicted)"
    return (
        f"{times}, from {gain.value:.3g} ({between}) measured on a sample of {shape} "
        f"(predicted {row.sample_gain:.3g} there and {row.gain:.3g} for the file)"
    )


def _reason(advice: Advice, row: Row) -> str:
    """Return in a sentence why a candidate is faster (or slower) than the file as it is."""
    if row.candidate.remedy:
        return _REASONS[row.candidate.remedy]
    changes = [
        f"{_PLAIN[a.name]} {_change(advice.present.counts[a.name], row.counts[a.name])}"
        for a in advice.subject.accesses
    ]
    layout, old = row.candidate.layout, advice.subject.present.layout
    tail = ""
    if layout.chunks == old.chunks and layout.codec != old.codec:
        tail = f" ({layout.codec or 'no codec'} instead of {old.codec or 'none'})"
    return f"because {listing(changes, 9)}{tail}."


def _change(before: Counts, after: Counts) -> str:
    if before.chunks and before.chunks == after.chunks:
        text = f"touches as many chunks ({after.chunks:,.0f})"
    elif before.chunks and after.chunks:
        text = f"touches {_many(after.chunks, 'chunk')} instead of {before.chunks:,}"
    else:
        text = f"takes {_many(after.requests, 'read')} of the file instead of {before.requests:,}"
    old = max(before.decoded_bytes, before.stored_bytes)
    new = max(after.decoded_bytes, after.stored_bytes)
    alike = 0.8 < new / max(old, 1) < 1.25
    return text if alike else f"{text}, {_bytes(new)} instead of {_bytes(old)}"


def table(advice: Advice, rows: int = 12, width: int = 0) -> str:
    """Return the ranking: sizes, times and gains, predicted for the file and as measured."""
    chosen = [advice.present, *advice.rows[:rows]]
    measured = any(row.measured for row in chosen)
    # Predicted is the file; what was measured may be a part of it.
    how = "measured" if advice.subject.sample.whole else "on sample"
    columns: dict[str, list[str]] = {
        "": [f"{n or ''} {row.candidate.name}".strip() for n, row in enumerate(chosen)],
        "size": [_bytes(row.nbytes) for row in chosen],
    }
    for access in advice.subject.accesses:
        name = access.name
        predicted = [row.seconds.get(name, math.nan) for row in chosen]
        columns[f"{name}\npredicted"] = [amount(one, "s") for one in predicted]
        if measured:
            columns[f"{name}\n{how}"] = [
                amount(row.measured[name].value, "s") if row.measured else "" for row in chosen
            ]
    columns["gain\npredicted"] = [
        "–" if math.isnan(row.gain) else f"{row.gain:.2f}x" for row in chosen
    ]
    if measured:
        gains = [row.measured_gain for row in chosen]
        columns[f"gain\n{how}"] = [
            f"{gain.value:.2f}x ({_range(gain)}{gain.low:.2f}–{gain.high:.2f})" if gain else ""
            for gain in gains
        ]
    return grid(columns, width)


def how(advice: Advice, rows: int = 12) -> list[str]:
    """Return the commands of the advice, of the best of the other kind, and of all measured."""
    first, subject = advice.first, advice.subject
    if first is None:
        return []
    full = [row for row in (first, advice.other) if row is not None]
    full += [
        row for row in advice.rows
        if not row.candidate.rewrites and row.measured_gain is not None and row not in full
    ]  # fmt: skip
    lines = []
    for row in full:
        end = ", one of:" if row.candidate.rewrites else ":"
        lines.append(f"To apply {advice.rows.index(row) + 1}, {row.candidate.name}{end}")
        for one in recipes.commands(subject, row):
            lines += [f"    {line}" for line in one.split("\n")] + [""]
    for number, row in enumerate(advice.rows[:rows], 1):
        tried = row.measured_gain is not None or first.measured_gain is None
        if row.candidate.rewrites and row not in full and tried:
            command = recipes.rechunk(subject, row.candidate.layout)
            lines += [f"To apply {number}:", f"    {command}", ""]
    return lines[:-1]


def as_json(advice: Advice) -> dict[str, object]:
    """Return an advice as what JSON can hold: seconds, bytes, counts, commands."""
    subject = advice.subject
    return {
        "file": shown_address(advice),
        "variable": subject.variable.name,
        "shape": list(subject.variable.shape),
        "axes": list(subject.letters),
        "accesses": {access.name: access.weight for access in subject.accesses},
        "cache": subject.cache,
        "predictor": advice.predictor,
        "sample_shape": list(subject.sample.values.shape),
        "now": _row(subject, advice.present, 0),
        "why": now(advice),
        "advice": verdict(advice),
        "candidates": [_row(subject, row, n) for n, row in enumerate(advice.rows, 1)],
        "notes": list(advice.notes),
    }


def _row(subject: Subject, row: Row, number: int) -> dict[str, object]:
    candidate, gain = row.candidate, row.measured_gain
    return {
        "number": number,
        "name": candidate.name,
        "kind": candidate.kind,
        "library": candidate.library,
        "format": candidate.layout.format,
        "chunks": list(candidate.layout.chunks or ()),
        "bytes": round(row.nbytes),
        "predicted_s": dict(row.seconds),
        "chunks_touched": {name: count.chunks for name, count in row.counts.items()},
        "measured_s": {k: [v.value, v.low, v.high] for k, v in (row.measured or {}).items()},
        "gain_predicted": None if math.isnan(row.gain) else row.gain,
        "gain_measured": gain and [gain.value, gain.low, gain.high],
        "commands": recipes.commands(subject, row) if number else [],
        "status": row.status,
    }


def shown_address(advice: Advice) -> str:
    """Return the address of the file without what may be secret in it."""
    address = advice.subject.question.address
    return shown(address) if is_url(address) else address


def _range(gain: Interval) -> str:
    """Return what stands before the ends of what was measured: too few blocks have no interval."""
    return "" if gain.n >= ENOUGH else "range "


def _chunks(subject: Subject) -> str:
    return "x".join(map(str, subject.present.layout.chunks or ()))


def _bytes(count: float) -> str:
    return amount(count, "B")


def _many(count: float, noun: str) -> str:
    return f"{count:,.0f} {noun}" + ("" if count == 1 else "s")
