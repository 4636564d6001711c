"""Copy variables piece by piece, and read the copy again to compare it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.creation import Writer
from hyperslab.io.layout import ZARR, Layout
from hyperslab.measure.parent import alive

from ..report.compare import WrongValuesError, difference, digest
from ..sources.base import Source, SourceVariable
from .need import Room
from .staging import Stage, digest_of

VERIFY = ("full", "sample", "none")
SAMPLED = 8  # of so many pieces one is compared with verify="sample"
Lap = Callable[[str], AbstractContextManager[dict[str, object]]]
Ledger = list[bytes]  # a digest of each piece of a variable, in order
Watcher = Callable[[tuple[slice, ...], NDArray[Any]], None]


def untimed(_: str) -> AbstractContextManager[dict[str, object]]:
    """Stand in for a stopwatch where nothing is timed."""
    return nullcontext({})


def transfer(
    source: Source,
    writer: Writer,
    variable: SourceVariable,
    room: Room,
    *,
    lap: Lap = untimed,
    seen: Watcher | None = None,
    owner: int | None = None,
) -> Ledger:
    """Copy one variable: phases data_read and data_write, by turns.

    Parameters
    ----------
    source, writer
        From where, and to where.
    variable
        Which.
    room
        The memory it has.
    lap
        Brackets each read and each write, and gives the columns of that phase.
    seen
        Is shown each piece.
    owner
        Process without which there is nothing to copy for.

    Returns
    -------
    list of bytes
        A digest of each piece.

    Raises
    ------
    SourceError
        When the source cannot be read.
    InterruptedError
        When the owner is gone.
    """
    name = variable.name
    source.cache(name, room.source_cache_bytes)
    ledger: Ledger = []
    for slab in room.slabs:
        _require(owner)
        with lap("data_read") as columns:
            values = source.read(name, slab)
        add_bytes(columns, values.nbytes)
        ledger.append(digest(values))
        if seen:
            seen(slab, values)
        with lap("data_write") as columns:
            writer.write(name, slab or ..., values)
        add_bytes(columns, values.nbytes)
        del values  # the next piece needs its memory
    with lap("data_write"):
        writer.finish(name)
    source.cache(name, 0)
    return ledger


def transfer_staged(
    source: Source,
    writer: Writer,
    variable: SourceVariable,
    room: Room,
    folder: Path,
    *,
    owner: int | None = None,
) -> Ledger:
    """Copy one variable in two passes, by way of a file without a name.

    Parameters
    ----------
    source, writer, variable, owner
        See `transfer`.
    room
        The memory it has, and the pieces of both passes.
    folder
        On the disk where the file between them lies.

    Returns
    -------
    list of bytes
        A digest of each piece of the second pass, of what was read of the source.
    """
    assert room.staged is not None
    name, ledger = variable.name, []
    with tempfile.TemporaryFile(dir=folder) as file:
        stage = Stage(cast(BinaryIO, file), room.staged)
        source.cache(name, room.source_cache_bytes)
        for slab in room.staged.first:
            _require(owner)
            stage.put(slab, source.read(name, slab))
        source.cache(name, 0)
        for slab in room.staged.second:
            _require(owner)
            values, mark = stage.take(slab)
            ledger.append(mark)
            writer.write(name, slab, values)
            del values  # the next piece needs its memory
    writer.finish(name)
    return ledger


def _require(owner: int | None) -> None:
    if owner is not None and not alive(owner):
        raise InterruptedError(f"process {owner}, which this copy is for, is gone")


def reread(
    copy: Source,
    source: Source,
    variable: SourceVariable,
    layout: Layout,
    room: Room,
    ledger: Ledger,
    *,
    lap: Lap = untimed,
    verify: str = "full",
    seed: int = 0,
) -> None:
    """Read a copied variable again, phase data_reread, and compare every value.

    The whole is read whatever is compared, so that its times are those of the whole.

    Parameters
    ----------
    copy, source
        The copy, and what it was made of.
    variable, layout
        Which, and how it lies in the copy.
    room
        The memory it has.
    ledger
        What `transfer` gave.
    lap
        Brackets each read of the copy.
    verify
        "full", "sample" for one piece in `SAMPLED`, or "none" to read and not compare.
    seed
        Of the sample.

    Raises
    ------
    WrongValuesError
        When a value differs, with the first place.
    """
    name = variable.name
    chosen = _chosen(len(ledger), verify, seed)
    for number, (slab, expected) in enumerate(zip(room.pieces, ledger, strict=True)):
        with lap("data_reread") as columns:
            values = copy.read(name, slab)
        add_bytes(columns, values.nbytes)
        if number not in chosen:
            del values
            continue
        if layout.quantize is not None or digest_of(values, slab, room.staged) != expected:
            wrong = difference(
                values,
                source.read(name, slab),
                quantize=layout.quantize,
                fill_value=variable.fill_value,
            )
            if wrong or layout.quantize is None:
                where = ", ".join(f"{i.start}:{i.stop}" for i in slab)
                wrong = wrong or "the source itself has changed since it was read"
                raise WrongValuesError(f"{name} of the copy is wrong in [{where}]: {wrong}")
        del values


def free(copy: Source, name: str) -> None:
    """Free the chunk cache of a variable that is not read any more; NCZarr's stays."""
    if copy.format != "nczarr":
        copy.cache(name, 0)


def add_bytes(columns: dict[str, object], nbytes: int) -> None:
    """Count bytes of values to the columns of a phase.

    Examples
    --------
    >>> columns: dict[str, object] = {"useful_bytes": 3}
    >>> add_bytes(columns, 4)
    >>> columns
    {'useful_bytes': 7}
    """
    columns["useful_bytes"] = int(str(columns.get("useful_bytes", 0))) + nbytes


def _chosen(count: int, verify: str, seed: int) -> set[int]:
    if verify == "full":
        return set(range(count))
    if verify == "none":
        return set()
    some = -(-count // SAMPLED)
    return {int(i) for i in np.random.default_rng(seed).choice(count, some, replace=False)}


def check_verify(verify: str) -> None:
    """Raise an error for a way of comparing that does not exist.

    Raises
    ------
    ValueError
        Naming those there are.
    """
    if verify not in VERIFY:
        raise ValueError(f"verify={verify!r}: give one of {', '.join(VERIFY)}")


def estimate_bytes(variables: Sequence[SourceVariable], layouts: Mapping[str, Layout]) -> int:
    """Return the bytes that a copy takes at most, compression left aside.

    Examples
    --------
    >>> estimate_bytes([SourceVariable("a", ("x",), (10,), "f4")], {"a": Layout(chunks=(8,))})
    64
    """
    from hyperslab.io.chunk_shapes import padded_bytes

    total = 0
    for variable in variables:
        chunks = layouts[variable.name].chunks
        if chunks and 0 not in variable.shape:
            total += padded_bytes(variable.shape, chunks, variable.itemsize)
        else:
            total += variable.nbytes
    return total


def least_bytes(variables: Sequence[SourceVariable], layouts: Mapping[str, Layout]) -> int:
    """Return the bytes that a copy takes at least: what is neither compressed nor left out.

    Zarr leaves out chunks of nothing but fill values.

    Examples
    --------
    >>> two = [SourceVariable(name, ("x",), (10,), "f4") for name in "ab"]
    >>> least_bytes(two, {"a": Layout(), "b": Layout(chunks=(8,), codec="deflate")})
    40
    """
    plain = [
        v for v in variables if not layouts[v.name].codec and layouts[v.name].format not in ZARR
    ]
    return sum(variable.nbytes for variable in plain)
