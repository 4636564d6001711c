"""Sentences on what was left out of an advice, or could not be had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hyperslab.network.link import Link
from hyperslab.text import Interval, listing

from ..sources.base import SourceVariable
from ..sources.base import first_line as first
from .question import FAR

if TYPE_CHECKING:
    from .rank import Row


def undescribed(variable: SourceVariable) -> str:
    """Say that the layout of a variable is none of those known here, and what follows."""
    return (
        f"how {variable.name} is stored ({variable.codec or 'its layout'}) is none of the layouts "
        "known here: what its reads cost now is not known, and so no gain is."
    )


def unmeasured(link: Link, missing: Sequence[str] = ()) -> str:
    """Say that nothing was measured over a network, why, and what was taken for it."""
    why = f", since {' and '.join(missing)} is not installed" if missing else ""
    return (
        f"nothing was measured over the network{why}: every time and gain is predicted, for a "
        f"store {_away(link)}"
    )


def imitated(link: Link) -> str:
    """Say what was measured over a network, and what that leaves out."""
    return (
        "what was measured was read from a server on this machine, over a link as slow as to a "
        f"store {_away(link)} What the store itself takes for a request comes on top."
    )


def _away(link: Link) -> str:
    """Return how far a store is, and how to say otherwise, ended by a stop."""
    return (
        f"{link.bytes_per_s / 1e6:g} MB/s and {link.round_trip_s * 1e3:g} ms away"
        f"{', which is assumed' if link is FAR else ''}; --store RATE,DELAY says where yours is."
    )


def rough(name: str) -> str:
    """Say that this machine was not measured, and what measures it."""
    return (
        f"times are predicted from {name}, not from this machine's; hyperslab advise --calibrate "
        "measures it."
    )


def beyond(rows: Sequence[Row], present: Row) -> str:
    """Say what takes more room than is allowed, and which of it is the fastest."""
    best = min(rows, key=lambda row: row.order)
    gain = f"{best.gain:.1f} times as fast as the file is now, and " if best.gain > 0 else ""
    return (
        f"{len(rows)} layout{'s' * (len(rows) > 1)} would take more room than allowed: by "
        f"prediction the fastest of them, {best.candidate.name}, is {gain}"
        f"{best.nbytes / present.nbytes:.2f} times as large as the variable is now; --budget any "
        "ranks them too."
    )


def lacking(unkept: Sequence[str]) -> str:
    """Say what a copy would not hold of the file."""
    some = listing([text.rstrip(".") for text in unkept], 5)
    return f"a copy by hyperslab rechunk would not hold all of the file: {some}."


def noise(ratio: Interval) -> str:
    """Say how far two measurements of the same differ."""
    return (
        f"the file as it is, measured twice, differs by a factor of {ratio}: a gain within that "
        "means nothing."
    )


def first_line(error: BaseException) -> str:
    """Return the first line of a message, ended by one stop."""
    return f"{first(error).rstrip('.')}."
