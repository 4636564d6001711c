"""Sentences that say what reads cost and why, from counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hyperslab.io.layout import NETCDF4
from hyperslab.measure.stats import Interval

from ..advice.accesses import Access
from ..advice.labels import name_of
from ..advice.price import Packed, read_of
from ..advice.rows import Advice, Row
from ..model.geometry import Geometry
from ..model.wire import FETCHES, moved
from ..report.table import amount, listing

_INTERVAL = 6  # blocks from which smallest to largest cover the median 95 times of 100
_PLAIN = {
    "time_series": "a time series", "map": "a map", "profile": "a profile", "row": "a row",
    "column": "a column", "whole": "all of it",
}  # fmt: skip


def now(advice: Advice) -> list[str]:
    """Return what each access costs now, a sentence each."""
    return [_costs(advice, access) for access in advice.accesses]


def reason(advice: Advice, row: Row) -> str:
    """Return in a sentence why a candidate is quicker (or slower) than the file as it is."""
    found = row.candidate
    if found.remedy == "index":
        return (
            "because only the part of a chunk before a value is decompressed, from the nearest "
            "point of an index, instead of all of it."
        )
    if found.remedy == "h5py":
        return "because the same chunks are read with fewer steps between HDF5 and Python."
    if found.remedy == "cache":
        return "because chunks that an earlier call read stay in memory for the next."
    if found.remedy == "references":
        return "because chunks are asked for directly, without HDF5's index, several at a time."
    parts = []
    for access in advice.accesses:
        before, after = advice.present.counts[access.name], row.counts[access.name]
        parts.append(f"{_PLAIN[access.name]} {_change(before, after)}")
    same = name_of(found.layout).partition(" ")[0] == _chunk_name(advice)
    tail = ""
    if same and found.layout.codec != advice.present.candidate.layout.codec:
        tail = f" ({found.layout.codec or 'no codec'} instead of "
        tail += f"{advice.present.candidate.layout.codec or 'none'})"
    return f"because {listing(parts)}{tail}."


def verdict(advice: Advice) -> list[str]:
    """Return what is advised, in a sentence or two."""
    first = advice.first
    mix = listing([f"{_PLAIN[a.name]} ({a.weight:.0%})" for a in advice.accesses])
    if first is None and advice.present.status and not advice.gains_known:
        return [f"Nothing is advised: {advice.present.status}"]
    if first is None:
        said = f"Leave the file as it is: nothing tried makes reads of it, {mix}, on average "
        return [f"{said}1.1 times as quick."]
    lines = [f"Advice: {_does(first)}. {_gain(advice, first)}, {reason(advice, first)}"]
    other = next(
        (row for row in advice.rows if row.candidate.rewrites != first.candidate.rewrites), None
    )
    if other is not None and other.scaled_gain >= 1.1:
        how = "Without rewriting the file" if first.candidate.rewrites else "Rewritten"
        lines.append(f"{how}: {_does(other)}. {_gain(advice, other)}.")
    if any(plugin(row) for row in (first, other) if row is not None and row.candidate.rewrites):
        lines.append(
            "Whoever reads zstd or blosc in netCDF-4 or HDF5 needs their filter plugins (h5py: "
            "import hdf5plugin); --codecs deflate,none keeps to what every reader has."
        )
    return lines


def plugin(row: Row) -> bool:
    """Whether a layout needs a filter that HDF5 does not bring itself."""
    layout = row.candidate.layout
    return layout.format in (*NETCDF4, "hdf5") and layout.codec not in (None, "deflate", "szip")


def _gain(advice: Advice, row: Row) -> str:
    """Return what is gained, and how that is known."""
    times = f"An average read is {row.scaled_gain:.3g} times as quick"
    if row.measured_gain is None:
        return f"{times}, predicted"
    measured = row.measured_gain
    between = f"{spread(measured)}{measured.low:.3g} to {measured.high:.3g}"
    if advice.sample_shape == advice.variable.shape:
        if math.isnan(row.gain):
            return f"{times}, measured ({between}; not predicted)"
        return f"{times}, measured ({between}; predicted {row.gain:.3g})"
    shape = "x".join(map(str, advice.sample_shape))
    if math.isnan(row.gain):
        return f"{times}, measured on a sample of {shape} ({between}; not predicted)"
    return (
        f"{times}, from {measured.value:.3g} ({between}) measured on a sample of {shape} "
        f"(predicted {row.sample_gain:.3g} there and {row.gain:.3g} for the file)"
    )


def spread(found: Interval) -> str:
    """Return what stands before the ends of what was measured: too few blocks have no interval.

    Examples
    --------
    >>> spread(Interval(2.0, 1.9, 2.1, 7)), spread(Interval(2.0, 1.9, 2.1, 3))
    ('', 'range ')
    """
    return "" if found.n >= _INTERVAL else "range "


def _does(row: Row) -> str:
    found = row.candidate
    format = found.layout.format
    label = found.name if found.name.startswith(format) else f"{format} in {found.name}"
    return {
        "index": "build an index with hyperslab index and read through it",
        "h5py": "read the file with h5py instead of netCDF4",
        "cache": f"give it a {found.name}",
        "references": "read it as Zarr by kerchunk references",
    }.get(found.remedy, f"rewrite it as {label}")


def _costs(advice: Advice, access: Access) -> str:
    count = advice.present.counts[access.name]
    asked = count.useful_bytes
    head = f"{access.name} ({access.weight:.0%} of reads) asks for {amount(asked)}"
    layout = advice.present.candidate.layout
    total = _total(advice)
    if layout.chunks is None:
        body = (
            f"the data are contiguous: {amount(count.stored_bytes)} are fetched in "
            f"{_many(count.requests, 'read')} of the file, for {_many(count.runs, 'run')} of values"
        )
    else:
        touched = f"{count.chunks:,} of {_many(total, 'chunk')}"
        if count.calls > 1:
            touched = f"{_many(count.chunks, 'chunk')} in {count.calls} reads, of {total:,}"
        body = f"touches {touched} ({_chunk_name(advice)}"
        body += f", {amount(_chunk_bytes(advice))} each)"
        body += f": {amount(count.stored_bytes)} are fetched"
        if layout.codec or not advice.present.candidate.said:
            body += f" and {amount(count.decoded_bytes)} decompressed"
        body += f" in {_many(count.requests, 'read')} of the file"
    moved = max(count.decoded_bytes, count.stored_bytes)
    excess = f", {moved / asked:,.0f} times what is asked for" if moved > 1.5 * asked else ""
    text = f"{head}; it {body}{excess}" if layout.chunks else f"{head}; {body}{excess}"
    text += _over_network(advice, access, count)
    seconds = advice.present.seconds.get(access.name)
    if seconds is not None:
        text += f"; {duration(seconds)} predicted"
    return text + "."


def _over_network(advice: Advice, access: Access, count: Geometry) -> str:
    """Return what a read moves over the network; "" where there is none, or it is not known."""
    library = advice.present.candidate.library
    if advice.where.link is None or library not in FETCHES:
        return ""
    values = Packed(advice.present.nbytes / math.prod(advice.variable.shape))
    read = read_of(advice.present.candidate, advice.variable, access, values, advice.where)
    found, how = moved(read, count), FETCHES[library]
    text = f"; over the network, opening included, {_many(found.requests, 'request')}"
    if found.stages < found.requests:
        text += f", in {_many(found.stages, 'round trip')}"
    else:
        text += ", one after another"
    text += f", and {amount(found.nbytes)} moved"
    if not how.ahead_bytes:
        return text
    serves = ""
    if found.requests - how.opening < count.requests:
        serves = ", which serves the reads that follow"
    return f"{text} ({library} fetches {amount(how.ahead_bytes)} ahead{serves})"


def _change(before: Geometry, after: Geometry) -> str:
    if before.chunks and before.chunks == after.chunks:
        text = f"touches as many chunks ({after.chunks:,.0f})"
    elif before.chunks and after.chunks:
        text = f"touches {_many(after.chunks, 'chunk')} instead of {before.chunks:,}"
    else:
        text = f"takes {_many(after.requests, 'read')} of the file instead of {before.requests:,}"
    old = max(before.decoded_bytes, before.stored_bytes)
    new = max(after.decoded_bytes, after.stored_bytes)
    if not 0.8 < new / max(old, 1) < 1.25:
        text += f", {amount(new)} instead of {amount(old)}"
    return text


def _many(count: float, noun: str) -> str:
    return f"{count:,.0f} {noun}" + ("" if count == 1 else "s")


def _total(advice: Advice) -> int:
    chunks = advice.present.candidate.layout.chunks or advice.variable.shape
    return math.prod(-(-n // c) for n, c in zip(advice.variable.shape, chunks, strict=True))


def _chunk_name(advice: Advice) -> str:
    chunks = advice.present.candidate.layout.chunks
    return "x".join(map(str, chunks)) if chunks else ""


def _chunk_bytes(advice: Advice) -> int:
    chunks: Sequence[int] = advice.present.candidate.layout.chunks or ()
    return math.prod(chunks) * advice.variable.itemsize


def duration(seconds: float) -> str:
    """Return a time for people.

    Examples
    --------
    >>> duration(0.00123), duration(2.5), duration(3e-7), duration(float("nan"))
    ('1.23 ms', '2.50 s', '0.300 µs', '-')
    """
    if math.isnan(seconds):
        return "-"
    for scale, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= scale:
            return f"{_three(seconds / scale)} {unit}"
    return f"{_three(seconds * 1e6)} µs"


def _three(value: float) -> str:
    digits = max(2 - math.floor(math.log10(value)), 0) if value > 0 else 0
    return f"{value:,.{digits}f}"


def counts_row(counts: Mapping[str, Geometry], accesses: Sequence[Access]) -> dict[str, int]:
    """Return the chunks that each access touches."""
    return {access.name: counts[access.name].chunks for access in accesses}
