"""Sentences on what was left out of an advice, or could not be had."""

from __future__ import annotations

from collections.abc import Sequence

from hyperslab.measure.stats import Interval
from hyperslab.network.link import Link

from ..sources.base import SourceVariable
from .question import FAR
from .rows import Row, order
from .sample import Sample

_SAID = 5  # of what a copy lacks


def unsaid(variable: SourceVariable) -> str:
    """Say that the layout of a variable is none of those known here, and what follows."""
    return (
        f"how {variable.name} is stored ({variable.codec or 'its layout'}) cannot be said as one "
        "of the layouts known here: what its reads cost now is not known, and so no gain is."
    )


def unmeasured(link: Link, missing: Sequence[str] = ()) -> str:
    """Say that nothing was measured over a network, why, and what was taken for it."""
    why = f", for want of {' and '.join(missing)}" if missing else ""
    return (
        f"nothing was measured over the network{why}: every time and gain is predicted, for a "
        f"store {_away(link)}"
    )


def imitated(link: Link) -> str:
    """Say what was measured over a network, and what that leaves out."""
    return (
        "what was measured was read from a server on this machine, over a link as slow as to a "
        "store "
        f"{_away(link)} What the store itself takes for a request comes on top."
    )


def _away(link: Link) -> str:
    """Return how far a store is, and how to say otherwise, ended by a stop."""
    return (
        f"{link.bytes_per_s / 1e6:g} MB/s and {link.round_trip_s * 1e3:g} ms away"
        f"{', which is assumed' if link is FAR else ''}; --store RATE,DELAY says where yours is."
    )


def rough(name: str) -> str:
    """Say that this machine was not asked, and what asks it."""
    return (
        f"times are predicted from {name}: this machine is not asked; what asks it is hyperslab "
        "advise --calibrate."
    )


def beyond(rows: Sequence[Row], present: Row) -> str:
    """Say what takes more room than is allowed, and which of it is the quickest."""
    best = min(rows, key=order)
    gain = f"{best.gain:.1f} times as quick as the file is now, and " if best.gain > 0 else ""
    many = "1 layout" if len(rows) == 1 else f"{len(rows)} layouts"
    return (
        f"{many} would take more room than is allowed and are left out: by prediction the quickest "
        f"of them, {best.candidate.name}, is {gain}{best.nbytes / present.nbytes:.2f} times as "
        "large as the variable is now; --budget any ranks them too."
    )


def lacking(unkept: Sequence[str]) -> str:
    """Say what a copy would not hold of the file."""
    more = f" And {len(unkept) - _SAID} more." if len(unkept) > _SAID else ""
    said = " ".join(unkept[:_SAID])
    return f"a copy by hyperslab rechunk would not hold all of the file: {said}{more}"


def noise(found: Interval) -> str:
    """Say how far two measurements of the same differ."""
    return (
        f"the file as it is, measured twice, differs by a factor of {found.value:.2f} "
        f"({found.low:.2f} to {found.high:.2f}): a gain within that means nothing."
    )


def size(sample: Sample) -> str:
    """Return what is measured on, in words."""
    shape = "x".join(map(str, sample.values.shape))
    return "all of the variable" if sample.whole else f"a sample of {shape}"


def first_line(error: BaseException) -> str:
    """Return the first line of a message, ended by one stop."""
    lines = str(error).strip().splitlines()
    return f"{(lines[0] if lines else type(error).__name__).rstrip('.')}."
