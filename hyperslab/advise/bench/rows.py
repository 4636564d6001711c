"""Records of a bench beside its samples: the source, and what is to be said of the run."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from hyperslab.tune.copy_plan import MemoryLimitError
from hyperslab.tune.disk_room import NoRoomError

from ..memory import mib
from ..report.compare import WrongValuesError
from ..sources.base import Source, SourceError, SourceVariable
from .prepared import Prepared

SOURCE, NOTE = "source", "note"  # experiments
_ERRORS: Mapping[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (
        SourceError, MemoryLimitError, NoRoomError, ValueError, MemoryError, WrongValuesError,
    )
}  # fmt: skip


def notes(frame: pd.DataFrame) -> list[str]:
    """Return what is to be said of a bench beside its numbers, a sentence each.

    Examples
    --------
    >>> notes(pd.DataFrame([note("a", "it was so.")]))
    ['a: it was so.']
    """
    rows = frame[frame["experiment"] == NOTE]
    named = zip(rows["case"], rows["status"], strict=True)
    return list(dict.fromkeys(f"{case}: {text}" if case else str(text) for case, text in named))


def described(
    source: Source, chosen: Sequence[SourceVariable], trials: Mapping[str, Prepared]
) -> Iterator[dict[str, Any]]:
    """Yield a row for the source, one for each of its variables, and the notes of each target."""
    common = {"experiment": SOURCE, "phase": "stat", "format": source.format}
    yield common | {
        "case": "",
        "file_bytes": source.stat_bytes if source.stat_bytes >= 0 else float("nan"),
        "useful_bytes": sum(variable.nbytes for variable in chosen),
        "status": "ok",
    }
    taken = {variable.name for variable in chosen}
    for variable in source.variables.values():
        yield common | {
            "case": variable.name,
            "chunks": "x".join(map(str, variable.chunks or ())),
            "codec": variable.codec,
            "byteorder": variable.byteorder,
            "file_bytes": variable.stored_bytes,
            "useful_bytes": variable.nbytes,
            "status": "ok" if variable.name in taken else variable.reason or "not chosen",
        }
        if variable.reason:
            yield note("", f"{variable.name} is left out: it {variable.reason}.")
    for name, prepared in trials.items():
        for text in prepared.notes:
            yield note(name, text)


def losses(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, object]]:
    """Yield notes of which targets lost samples, and why; wrong values are the report's to tell.

    Raises
    ------
    Exception
        What the first one ended with, when all were lost.
    """
    lost = {(row["case"], str(row["status"])) for row in rows if row["status"] != "ok"}
    if not any(row["status"] == "ok" for row in rows):
        raise error_of(str(rows[0]["status"]))
    for case, status in sorted(lost):
        if not status.startswith(WrongValuesError.__name__):
            yield note(case, f"samples were lost: {re.sub(r'^[A-Za-z]+: ', '', status)}")


def error_of(status: str) -> Exception:
    """Return the error that a sample ended with, from the name and the text that it left.

    Examples
    --------
    >>> error_of("OSError: [Errno 28] the disk is full")
    OSError('the disk is full')
    >>> error_of("the process ended early")
    RuntimeError('the process ended early')
    """
    found = re.match(r"([A-Za-z]\w*(?:Error|Exception)): (?:\[Errno \d+\] )?", status)
    if not found:
        return RuntimeError(status)
    text = status[found.end() :] or found[1]
    known = getattr(builtins, found[1], None)
    if isinstance(known, type) and issubclass(known, OSError):
        return OSError(text)
    return _ERRORS.get(found[1], RuntimeError)(text)


def overruns(rows: Sequence[Mapping[str, Any]], memory_bytes: int) -> Iterator[dict[str, object]]:
    """Yield notes of which targets' samples took more memory than was allowed.

    Examples
    --------
    >>> [row["status"] for row in overruns([{"case": "a", "peak_bytes": 3 * 2**20}], 2**20)]
    ['its process took up to 3 MiB, and 1 MiB were allowed.']
    """
    peaks: dict[str, int] = {}
    for row in rows:
        peak = row.get("peak_bytes")
        if peak is not None and peak == peak:
            peaks[row["case"]] = max(int(peak), peaks.get(row["case"], 0))
    for case, peak in sorted(peaks.items()):
        if peak > memory_bytes:
            yield note(
                case,
                f"its process took up to {mib(peak)}, and {mib(memory_bytes)} were allowed.",
            )


def note(case: str, text: str) -> dict[str, object]:
    """Return the row of a note.

    Parameters
    ----------
    case
        The target it is about; "" for the run.
    text
        A sentence.
    """
    return {"experiment": NOTE, "case": case, "phase": "note", "status": text}
