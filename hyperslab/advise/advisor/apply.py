"""Rewrite a file as advised: in bounded memory, compared, under its name when it is whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hyperslab.io.layout import CLASSIC, NETCDF4, ZARR, Layout

from ..advice import notes
from ..advice.candidates import LAYOUT, Candidate
from ..advice.labels import named
from ..advice.question import Question, twins
from ..advice.rows import Advice, Row
from ..copying.copy import CopyReport, copy_apart
from ..source import open_source

_FILES = (*CLASSIC, *NETCDF4, "hdf5")
_ENDINGS = {
    **dict.fromkeys((".nc", ".nc4", ".cdf", ".h5", ".hdf5", ".he5"), _FILES), ".zarr": ZARR,
}  # fmt: skip
"""Formats that a name promises by its ending."""


def chosen(advice: Advice, choice: str = "", output: str = "") -> Row:
    """Return the row of the table that is to be applied.

    Parameters
    ----------
    advice
        From `hyperslab.advise.advice.rank.advise`.
    choice
        Number of the row, from 1; the best layout if empty.
    output
        Path of the copy, whose ending may promise a format.

    Raises
    ------
    ValueError
        When there is no such row, it is no layout, or no layout is worth it.
    """
    if choice:
        if not 1 <= int(choice) <= len(advice.rows):
            raise ValueError(
                f"--choice {choice}: give 1 to {len(advice.rows)}, or the name of a layout as the "
                "table has it: then nothing is measured again"
            )
        row = advice.rows[int(choice) - 1]
        if not row.candidate.rewrites:
            raise ValueError(
                f"--choice {choice}: {row.candidate.name} rewrites nothing: its commands are above"
            )
        require_ending(output, row.candidate.layout)
        return row
    able = [row for row in advice.rows if row.candidate.rewrites]
    fitting = [row for row in able if _fits(output, row.candidate.layout)]
    if not fitting or not fitting[0].scaled_gain > 1:
        among = "" if fitting == able else f", among those of {Path(output).suffix} files"
        raise ValueError(
            f"--apply {output}: no layout is known to be quicker than the file as it is{among}: "
            "--choice applies one anyway"
        )
    return fitting[0]


def require_ending(output: str, layout: Layout) -> None:
    """Refuse a name that promises another format.

    Raises
    ------
    ValueError
        Naming the ending that fits.

    Examples
    --------
    >>> require_ending("a.nc", Layout("zarr3"))
    Traceback (most recent call last):
    ...
    ValueError: --apply a.nc: the layout is zarr3: give a name that ends in .zarr
    """
    if not _fits(output, layout):
        raise ValueError(
            f"--apply {output}: the layout is {layout.format}: give a name that ends in "
            f"{layout.suffix}"
        )


def _fits(output: str, layout: Layout) -> bool:
    allowed = _ENDINGS.get(Path(output).suffix.lower())
    return allowed is None or layout.format in allowed


def check(output: str, address: str) -> None:
    """Refuse an output that could not be written, before anything is measured.

    Raises
    ------
    ValueError
        When something is there, or its folder does not exist.

    Examples
    --------
    >>> check("no-such-folder/a.nc", "b.nc")
    Traceback (most recent call last):
    ...
    ValueError: --apply no-such-folder/a.nc: its folder does not exist: make it first
    """
    path = Path(output)
    if path.exists() or path.is_symlink():
        itself = Path(address).exists() and path.resolve() == Path(address).resolve()
        what = "is the file itself: give another name" if itself else "exists: remove it first"
        raise ValueError(f"--apply {output} {what}")
    if not path.resolve().parent.is_dir():
        raise ValueError(f"--apply {output}: its folder does not exist: make it first")


def check_all(address: str, output: str) -> None:
    """Refuse to rewrite a file that holds what a copy would lack.

    Raises
    ------
    ValueError
        Saying what that is.
    """
    with open_source(address) as source:
        lacking = source.unkept
    if lacking:
        raise ValueError(f"--apply {output}: {notes.lacking(lacking)} --leave-out makes it without")


def write(
    address: str,
    found: Candidate,
    names: Sequence[str],
    output: str | Path,
    memory_bytes: int,
) -> CopyReport:
    """Rewrite a file; what is not named stays in the layout that it has.

    Every value is compared with the original; what is killed leaves nothing under the output's
    name.

    Parameters
    ----------
    address
        The file.
    found
        A layout.
    names
        Variables that get it.
    output
        Path of the new file.
    memory_bytes
        What the process that copies may take in all.

    Raises
    ------
    ValueError
        When the layout does not fit a variable or into the memory, or a value differs.
    OSError
        When the disk is full, or there is something at `output`.
    """
    target = found.target(names)
    return copy_apart(address, output, target, memory_bytes=memory_bytes, verify="full")


def by_name(asked: Question, label: str, output: str) -> tuple[Candidate, tuple[str, ...]]:
    """Return the layout that a label says, and the variables that it is for.

    Raises
    ------
    ValueError
        When it is no label of a layout, or does not fit the variable or the output's name.
    """
    with open_source(asked.address) as source:
        variable = asked.chosen(source)
        found = Candidate(label, LAYOUT, named(label, source.format), "")
        require_ending(output, found.layout)
        names = twins(source, variable)
        found.target(names).layouts(source.choose(names))
    return found, names
