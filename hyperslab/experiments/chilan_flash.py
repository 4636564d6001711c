"""The checkpoint of FLASH, written by several ranks, and chunks that are read again and again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..io.experiment import Case
from ..parallel.cases import INTERFACES, InRanks
from ..parallel.flash import flash
from ..parallel.job import RanksJob, run
from ..parallel.plan import Part, SharedArray, WritePlan

FILES: Mapping[str, tuple[str, Mapping[str, bool]]] = {
    "checkpoint": ("checkpoint", {}),
    "plot file, centres": ("centres", {}),
    "plot file, corners": ("corners", {}),
    "checkpoint as bytes": ("checkpoint", {"as_bytes": True}),
    "checkpoint without its tree": ("checkpoint", {"tree": False}),
}
SIDES = {"8³": 8, "16³": 16}
FEW, CLAIMED = 2, 8  # ranks where verdicts compare libraries by time, and modes
CHUNK, CHUNKS, AGAIN = (128, 128), 4, 8
"""Doubles of a chunk, of 128 KiB; how many are read, so that all fit into the cache; how often."""
OPENED: Mapping[str, Mapping[str, bool]] = {
    "serially": {"serial": True},
    "in parallel, to read and write": {},
    "in parallel, to read only": {"read_only": True},
}


def plan(file: str, cells: str, ranks: int, blocks: int) -> WritePlan:
    name, how = FILES[file]
    return flash(name, SIDES[cells], ranks, blocks, **how)


def case(
    folder: Path,
    file: str,
    cells: str,
    interface: str,
    calls: str,
    ranks: int,
    blocks: int,
    most_blocks: int = 0,
    **hint: str,
) -> Case:
    """Return a file that several ranks write; the hint to MPI-IO is "name=value" or "none"."""
    labels = {"file": file, "cells": cells, "interface": interface, "calls": calls}
    labels |= {"processes": str(ranks), **hint}
    words = [word for word in hint.values() if "=" in word]
    job = RanksJob(
        INTERFACES[interface],
        plan(file, cells, ranks, blocks),
        folder / f"{'-'.join(labels.values()).replace(' ', '-')}.dat",
        calls,
        dict(word.split("=") for word in words),
    )
    return Case(labels, InRanks(job), most_blocks=most_blocks)


def judged(interface: str, calls: str, ranks: int, most: int) -> bool:
    """Return whether verdicts compare the time of a checkpoint, so that all blocks have it."""
    if ranks == FEW:
        return calls == "collective"
    return ranks == min(CLAIMED, most) and interface == "HDF5"


def write_chunks(folder: Path) -> None:
    run(RanksJob("hdf5", _chunks(1), folder / "cache.h5"))


def reread(folder: Path, opened: str, ranks: int) -> Case:
    how: Mapping[str, Any] = OPENED[opened]
    job = RanksJob("hdf5", _chunks(ranks), folder / "cache.h5", reads=True, times=AGAIN, **how)
    return Case({"opened": opened}, InRanks(job))


def _chunks(ranks: int) -> WritePlan:
    shape = (CHUNK[0], CHUNK[1] * CHUNKS)
    whole = (Part((0, 0), shape),) * ranks
    return WritePlan((SharedArray("data", "f8", shape, whole, CHUNK),))
