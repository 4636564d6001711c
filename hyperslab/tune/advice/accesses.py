"""How a file is read: named accesses with the share that each has of all reads."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hyperslab.io.selection import Indices
from hyperslab.io.source import SourceError, SourceVariable

from ..specs.axes import NAMED, axes_of, axis_letters, selection

ROLES = {"time": "T", "t": "T", "height": "Z", "z": "Z", "y": "Y", "lat": "Y", "x": "X", "lon": "X"}
_ROUNDED = 0.005  # weights that were rounded to two places sum to 1 within this


@dataclass(frozen=True)
class Access:
    """One way in which a variable is read."""

    name: str  # one of `hyperslab.tune.specs.axes.NAMED`
    weight: float  # its share of all reads, 0 to 1
    selections: tuple[Indices, ...]  # what one such read takes, a call each


def weights(given: Sequence[str]) -> dict[str, float]:
    """Return the share of each access, 1 in all, from NAME=SHARE (0.7, 70%, 70) or names alone."""
    texts, shares = _split(given), dict[str, float]()
    alone = not any("=" in text for text in texts)
    for text in texts:
        name, _, share = (piece.strip() for piece in text.partition("="))
        if name not in NAMED:
            raise ValueError(f"--access {text}: no access {name!r}: give one of {', '.join(NAMED)}")
        if name in shares:
            raise ValueError(f"--access: {name} is given twice: give its share once")
        number = re.fullmatch(r"(\d+\.?\d*|\.\d+)(%?)", f"{1 / len(texts)}" if alone else share)
        if not number or not float(number[1]):
            raise ValueError(f"--access {text}: give a share above 0, as in {name}=0.7 or 70%")
        shares[name] = float(number[1]) / (100 if number[2] else 1)
    total = math.fsum(shares.values())
    if texts and min(abs(total - whole) / whole for whole in (1.0, 100.0)) > _ROUNDED:
        scaled = ", ".join(f"{name}={share / total:.3g}" for name, share in shares.items())
        raise ValueError(
            f"--access: the shares sum to {total:g}, not to 1 (or 100%): give {scaled} to keep "
            "their proportion"
        )
    return {name: share / total for name, share in shares.items()}


def roles(given: Sequence[str]) -> dict[str, str]:
    """Return the axis of dimensions from ``ROLE=DIMENSION`` (time, height, y, x)."""
    axes = {}
    for text in _split(given):
        role, _, dim = (piece.strip() for piece in text.partition("="))
        if role not in ROLES or not dim:
            raise ValueError(
                f"--dims {text}: give ROLE=DIMENSION, with a role of time, height, y, x"
            )
        axes[dim] = ROLES[role]
    return axes


def _split(given: Sequence[str]) -> list[str]:
    return [item for text in given for item in text.split(",")]


def letters_of(
    variable: SourceVariable, variables: Mapping[str, SourceVariable], named: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the axis of each dimension, T, Z, Y, X or "": as named, else as the metadata say."""
    if unknown := [dim for dim in named if dim not in variable.dims]:
        raise ValueError(
            f"--dims: {variable.name} has no dimension {unknown[0]}: give some of "
            f"{', '.join(variable.dims)}"
        )
    taken = set(named.values())
    axes = {d: "" if x in taken else x for d, x in axes_of(variables).items()}
    return axis_letters(variable.dims, variable.unlimited, {**axes, **named})


def resolve(
    shares: Mapping[str, float],
    variable: SourceVariable,
    letters: Sequence[str],
    calls: int = 1,
    *,
    fewer: bool = False,
) -> tuple[Access, ...]:
    """Return the accesses of a variable, each so many calls in the middle of it, or `fewer`."""
    if not variable.shape or 0 in variable.shape:
        what = "is a scalar" if not variable.shape else "holds no values yet"
        raise SourceError(f"{variable.name} {what}: there is no layout to advise on")
    axes = {d: x for d, x in zip(variable.dims, letters, strict=True) if x}
    able = {name: read for name in NAMED if (read := selection(name, variable, axes)) is not None}
    if not shares:
        usual = (("time_series", "map"), ("row", "column"), ("whole",))
        names = next(filter(None, ([name for name in some if name in able] for some in usual)))
        shares = dict.fromkeys(names, 1 / len(names))
    accesses = []
    for name, share in shares.items():
        if name not in able:
            role = {"time_series": "time", "map": "y", "profile": "height"}.get(name)
            unknown = next((dim for dim in variable.dims if dim not in axes), "")
            hint = f"say what is {role}, as in --dims {role}={unknown}, or "
            raise ValueError(
                f"--access {name}: {variable.name} ({variable.shown_dims}) has no such read: "
                f"{hint if role and unknown else ''}take {', '.join(able)}, or another --variable"
            )
        several = _neighbours(able[name], variable.shape, calls, last=name not in ("map", "row"))
        if len(several) < calls and name != "whole" and not fewer:
            raise ValueError(
                f"--calls {calls}: {variable.name} has {len(several)} such reads of {name} next to "
                "each other: give no more"
            )
        accesses.append(Access(name, share, several))
    return tuple(accesses)


def _neighbours(
    chosen: Indices, shape: Sequence[int], calls: int, *, last: bool
) -> tuple[Indices, ...]:
    """Return a selection and those next to it, along its last or first single axis."""
    single = [(axis, index) for axis, index in enumerate(chosen) if isinstance(index, int)]
    if calls == 1 or not single:
        return (chosen,)
    axis, at = single[-1] if last else single[0]
    first = max(min(at, shape[axis] - calls), 0)
    return tuple(
        (*chosen[:axis], index, *chosen[axis + 1 :])
        for index in range(first, min(first + calls, shape[axis]))
    )
