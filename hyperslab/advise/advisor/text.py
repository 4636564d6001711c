"""An advice as text: what reads cost, the ranking, the reason, the commands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ..advice.question import FAR
from ..advice.rows import Advice, Row
from ..report.table import amount, grid, wrapped
from ..sources.remote import is_url, shown
from . import recipes, why


def text(advice: Advice, *, rows: int = 12, width: int = 0) -> str:
    """Return the whole report.

    Parameters
    ----------
    advice
        From `hyperslab.advise.advice.rank.advise`.
    rows
        Rows of the table that are shown; those that were measured are, in any case.
    width
        Of the terminal; 0 breaks nothing.
    """
    shown = max(rows, sum(row.measured_gain is not None for row in advice.rows))
    parts = [
        wrapped("\n".join([head(advice), *why.now(advice)]), width),
        table(advice, shown, width),
        wrapped("\n".join(why.verdict(advice)), width),
        "\n".join(how(advice, shown)),
        wrapped("\n".join(f"note: {note}" for note in advice.notes), width),
    ]
    return "\n\n".join(part for part in parts if part)


def head(advice: Advice) -> str:
    """Return the file and its variable in a line."""
    variable = advice.variable
    dims = ", ".join(
        f"{dim} {n}{f' = {letter}' if letter else ''}"
        for dim, n, letter in zip(variable.dims, variable.shape, advice.letters, strict=True)
    )
    present = advice.present
    chunks = present.candidate.layout.chunks
    stored = "chunks " + "x".join(map(str, chunks)) if chunks else "contiguous"
    how = ", ".join(filter(None, (stored, variable.codec)))
    link = advice.where.link
    place = f"{advice.where.cache} on this machine's disk"
    if link is not None:
        assumed = ", which is assumed" if link is FAR else ""
        place = f"{amount(link.bytes_per_s)}/s and {link.round_trip_s * 1e3:g} ms away{assumed}"
    return (
        f"{_shown(advice.question.address)}: {variable.name} ({dims}; {variable.dtype}), "
        f"{amount(variable.nbytes)} of values in {amount(present.nbytes)}: "
        f"{present.candidate.layout.format}, {how}; read with {present.candidate.library}, {place}."
    )


def table(advice: Advice, rows: int = 12, width: int = 0) -> str:
    """Return the ranking: sizes, times and gains, predicted for the file and as measured."""
    chosen = [advice.present, *advice.rows[:rows]]
    measured = any(row.measured for row in chosen)
    # Predicted is the file; what was measured may be a part of it.
    how = "measured" if advice.sample_shape == advice.variable.shape else "on sample"
    columns: dict[str, list[str]] = {
        "": [f"{n or ''} {row.candidate.name}".strip() for n, row in enumerate(chosen)],
        "size": [amount(row.nbytes) for row in chosen],
    }
    for access in advice.accesses:
        name = access.name
        columns[f"{name}\npredicted"] = [_seconds(row.seconds, name) for row in chosen]
        if measured:
            columns[f"{name}\n{how}"] = [_measured(row, name) for row in chosen]
    columns["gain\npredicted"] = [_times(row.gain) for row in chosen]
    if measured:
        columns[f"gain\n{how}"] = [_interval(row) for row in chosen]
    return grid(columns, width)


def how(advice: Advice, rows: int = 12) -> list[str]:
    """Return the commands of the advice, of the best of the other kind, and of all measured."""
    first = advice.first
    if first is None:
        return []
    other = next(
        (row for row in advice.rows if row.candidate.rewrites != first.candidate.rewrites), None
    )
    shown = [first] + ([other] if other is not None and other.scaled_gain >= 1.1 else [])
    lines = []
    for row in (*shown, *_measured_remedies(advice, shown)):
        end = ", one of:" if row.candidate.rewrites else ":"
        lines.append(f"To apply {advice.rows.index(row) + 1}, {row.candidate.name}{end}")
        for one in recipes.commands(advice, row):
            lines += [f"    {line}" for line in one.split("\n")] + [""]
    rest = [
        row for row in advice.rows[:rows]
        if row.candidate.rewrites and row not in shown
        and (row.measured_gain is not None or first.measured_gain is None)
    ]  # fmt: skip
    for row in rest:
        lines.append(f"To apply {advice.rows.index(row) + 1}:")
        lines += [f"    {recipes.itself(advice, row)}", ""]
    return lines[:-1]


def as_json(advice: Advice) -> dict[str, object]:
    """Return an advice as what JSON can hold: seconds, bytes, counts, commands."""
    return {
        "file": _shown(advice.question.address),
        "variable": advice.variable.name,
        "shape": list(advice.variable.shape),
        "axes": list(advice.letters),
        "accesses": {access.name: access.weight for access in advice.accesses},
        "cache": advice.where.cache,
        "predictor": advice.predictor,
        "sample_shape": list(advice.sample_shape),
        "now": _row(advice, advice.present, 0),
        "why": why.now(advice),
        "advice": why.verdict(advice),
        "candidates": [_row(advice, row, n) for n, row in enumerate(advice.rows, 1)],
        "notes": list(advice.notes),
    }


def _measured_remedies(advice: Advice, shown: Sequence[Row]) -> list[Row]:
    return [
        row for row in advice.rows
        if not row.candidate.rewrites and row.measured_gain is not None and row not in shown
    ]  # fmt: skip


def _row(advice: Advice, row: Row, number: int) -> dict[str, object]:
    gain = row.measured_gain
    return {
        "number": number,
        "name": row.candidate.name,
        "kind": row.candidate.kind,
        "library": row.candidate.library,
        "format": row.candidate.layout.format,
        "chunks": list(row.candidate.layout.chunks or ()),
        "bytes": round(row.nbytes),
        "predicted_s": dict(row.seconds),
        "chunks_touched": why.counts_row(row.counts, advice.accesses),
        "measured_s": {k: [v.value, v.low, v.high] for k, v in (row.measured or {}).items()},
        "gain_predicted": None if math.isnan(row.gain) else row.gain,
        "gain_measured": gain and [gain.value, gain.low, gain.high],
        "commands": recipes.commands(advice, row) if number else [],
        "status": row.status,
    }


def _seconds(seconds: Mapping[str, float], name: str) -> str:
    return why.duration(seconds.get(name, math.nan))


def _measured(row: Row, name: str) -> str:
    return why.duration(row.measured[name].value) if row.measured else ""


def _times(gain: float) -> str:
    return "-" if math.isnan(gain) else f"{gain:.2f}x"


def _interval(row: Row) -> str:
    gain = row.measured_gain
    if gain is None:
        return ""
    return f"{gain.value:.2f}x ({why.spread(gain)}{gain.low:.2f}–{gain.high:.2f})"


def _shown(address: str) -> str:
    """Return an address without what may be secret in it."""
    return shown(address) if is_url(address) else address
