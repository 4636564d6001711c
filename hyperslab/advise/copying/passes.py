"""How often a copy reads its source: whether there is room for a second pass, and what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..memory import mib
from ..sources.base import SourceVariable
from .failures import NoRoomError, require_room
from .need import Room
from .room import Rooms

_TWICE = 1.005  # reads from which a chunk is read more than once


def affordable(rooms: Rooms, folder: Path, copy_bytes: int) -> Rooms:
    """Return the rooms without second passes whose temporary file would not fit beside the copy.

    Parameters
    ----------
    rooms
        From `room.share`.
    folder
        Where the copy and the temporary file lie.
    copy_bytes
        What the copy takes at most.
    """

    def fits(room: Room) -> bool:
        try:
            require_room(folder, copy_bytes + (room.staged.nbytes if room.staged else 0))
        except NoRoomError:
            return False
        return True

    each = {
        name: room if room.staged is None or fits(room) else replace(room, staged=None)
        for name, room in rooms.each.items()
    }
    return replace(rooms, each=each)


def reads_of(variables: Sequence[SourceVariable], rooms: Rooms) -> float:
    """Return how often the source is read, on average over the bytes of its variables."""
    total = sum(variable.nbytes for variable in variables)
    each = {name: _reads(room) for name, room in rooms.each.items()}
    moved = sum(variable.nbytes * each[variable.name] for variable in variables)
    return moved / total if total else 1.0


def passes(rooms: Rooms) -> list[str]:
    """Return a sentence for each variable that memory was too small for, and what was done."""
    said = []
    for name, room in rooms.each.items():
        if room.staged is not None:
            said.append(
                f"{name} went through a temporary file of {mib(room.staged.nbytes)}, since memory "
                f"is small: each chunk of the source was read {_times(room.staged.reads)} instead "
                f"of {_times(room.slabs.reads)}."
            )
        elif room.slabs.reads > _TWICE:
            said.append(
                f"memory is small: each chunk of the source of {name} was read "
                f"{_times(room.slabs.reads)}; {mib(room.enough_bytes)} would do for once."
            )
    return said


def _reads(room: Room) -> float:
    return room.staged.reads if room.staged else room.slabs.reads


def _times(number: float) -> str:
    return "once" if number <= _TWICE else f"{number:.1f} times"
