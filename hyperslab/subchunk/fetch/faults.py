"""What went wrong on the way from a server, in words that say what to do."""

from __future__ import annotations

import re

NO_RANGES = "it does not support ranges; copy the file, or serve it by another"
_SERVERS_FAULT = 500
_BROKEN = re.compile(r"received (\d+) of (\d+) bytes")  # aiohttp's words
_SHORT = re.compile(r"Requested (\d+)\.\.(\d+), got (\d+)\.\.(\d+)")  # obstore's


def short(sent: int, wanted: int, begin: int) -> str:
    """Return what is wrong with an answer that has fewer bytes than were asked for.

    Examples
    --------
    >>> short(10, 20, 512)
    'the server sent 10 of the 20 bytes from 512 that it was asked for: its answer is cut, not \
the file; try again'
    """
    return (
        f"the server sent {sent} of the {wanted} bytes from {begin} that it was asked for: its "
        "answer is cut, not the file; try again"
    )


def fault(error: BaseException) -> str:
    """Return what a server did, by the error of a library; empty if it says enough itself.

    Examples
    --------
    >>> fault(OSError("not enough (received 8 of 16 bytes)."))
    'the connection broke off after 8 of the 16 bytes of an answer: try again'
    >>> fault(OSError("no route"))
    ''
    """
    text = str(error)
    if found := _BROKEN.search(text):
        return (
            f"the connection broke off after {found[1]} of the {found[2]} bytes of an answer: "
            "try again"
        )
    if found := _SHORT.search(text):
        begin, end, _, stop = (int(number) for number in found.groups())
        return short(stop - begin, end - begin, begin)
    status = getattr(error, "status", 0)
    if isinstance(status, int) and status >= _SERVERS_FAULT:
        reason = getattr(error, "message", "")
        return f"the server answered {status} {reason}: its own fault; try again later"
    return ""
