"""The study: notebooks, profiles, records, claims, figures and the book."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .session import Session as Session
    from .session import begin as begin


def __getattr__(name: str) -> object:
    """Import the session when a notebook asks for it, not before."""
    if name in ("Session", "begin"):
        from . import session

        return getattr(session, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
