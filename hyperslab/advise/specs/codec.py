"""The codec that a variable gets: the one that is chosen, or its own where a format has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperslab.io.layout import CHUNKED, Layout

if TYPE_CHECKING:
    from .target import Choice, Described

SAME = "same"


def kept_codec(
    variable: Described, choice: Choice, format: str
) -> tuple[str | None, int | None, bool]:
    """Return codec, level and shuffle; what is kept and cannot be had becomes deflate."""
    shuffle = bool(choice.shuffle)
    if choice.codec == "none":
        return None, None, shuffle
    if choice.codec != SAME:
        if choice.shuffle is None and "shuffle" in variable.codec:
            shuffle = _able(format, choice.codec, choice.level, shuffle=True)
        return choice.codec, choice.level, shuffle
    if not variable.codec or (format not in CHUNKED and choice.shuffle is None):
        return None, None, shuffle
    stored = variable.layout
    if stored is not None and stored.codec is not None:
        keeps = stored.shuffle if choice.shuffle is None else shuffle
        if _able(format, stored.codec, stored.level, shuffle=keeps):
            return stored.codec, stored.level, keeps
    return "deflate", None, format != "zarr3" if choice.shuffle is None else shuffle


def _able(format: str, codec: str, level: int | None, *, shuffle: bool) -> bool:
    try:
        Layout(format, (1,), codec, level, shuffle)
    except ValueError:
        return False
    return True
