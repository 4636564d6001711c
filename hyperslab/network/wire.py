"""What a read moved over the wire: requests, bytes, connections and how many had to wait."""

import bisect
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """A request that was answered: one line of a server's log."""

    method: str  #: "GET" or "HEAD"
    path: str  #: what was asked for, decoded, with a leading slash and without the query
    start: int  #: of the half-open range of the file's bytes that was asked for
    stop: int  #: 0 and 0 where there is none to send
    status: int  #: of the answer, as 200, 206 or 404
    body_bytes: int  #: that were sent
    connection: int  #: its number, counted from 0 since the server began
    nth: int  #: its number on the connection; 0 paid for the handshake
    began_s: float  #: when the server had the request, in seconds of a clock of its own
    ended_s: float  #: when it had handed on the answer


@dataclass(frozen=True)
class Wire:
    """The requests of a read, counted.

    On loopback a request ends before the next of a volley begins: serve with a `delay_s` of some
    50 ms to count stages.

    Examples
    --------
    >>> opened = Request("GET", "/a", 0, 9, 206, 9, 0, 0, 0.0, 1.0)
    >>> pair = [Request("GET", "/a", 9, 99, 206, 90, c, 1 - c, 1.5, 2.5) for c in (0, 1)]
    >>> Wire.of([opened, *pair])
    Wire(requests=3, wire_bytes=189, connections=2, stages=2, handshakes=2, idle=2)
    """

    requests: int  #: that were answered, whatever the answer
    wire_bytes: int  #: of the bodies, without heads and TCP's own
    connections: int  #: that the requests came by
    stages: int  #: the longest chain of requests that each began after the one before it had ended
    handshakes: int  #: connections that had to be opened along the slowest chain; a round trip each
    idle: int  #: requests that were sent with nothing else under way

    @classmethod
    def of(
        cls, requests: Iterable[Request], apart_s: float = 0.0, bytes_per_s: float = math.inf
    ) -> "Wire":
        """Count the requests of a server's log.

        Parameters
        ----------
        requests : iterable of Request
            In any order.
        apart_s : float
            How long after an answer a request that waited for it begins, at least: nearly the
            round trip of a link that the requests came by.
        bytes_per_s : float
            Rate of that link.
        """
        log = list(requests)
        stages, turns = _longest(log, apart_s)
        return cls(
            requests=len(log),
            wire_bytes=sum(request.body_bytes for request in log),
            connections=len({request.connection for request in log}),
            stages=stages,
            handshakes=turns - stages,
            idle=_idle(log, apart_s, bytes_per_s),
        )


def touched(requests: Iterable[Request], path: str) -> list[tuple[int, int]]:
    """Return the half-open byte ranges of a file that were sent, sorted and merged.

    Parameters
    ----------
    requests : iterable of Request
    path : str
        Of the file, as in the log; a leading slash may be left out.

    Examples
    --------
    >>> def got(start, stop):
    ...     return Request("GET", "/a.nc", start, stop, 206, stop - start, 0, 0, 0.0, 1.0)
    >>> touched([got(90, 100), got(0, 10), got(5, 20), got(20, 30)], "a.nc")
    [(0, 30), (90, 100)]
    """
    name = "/" + path.lstrip("/")
    sent = sorted(
        (request.start, request.start + request.body_bytes)
        for request in requests
        if request.path == name and request.status in (200, 206) and request.body_bytes
    )
    merged: list[tuple[int, int]] = []
    for start, stop in sent:
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    return merged


def _idle(log: Sequence[Request], apart_s: float, bytes_per_s: float) -> int:
    """Return how many requests were sent when all answers so far had arrived."""
    count, sent_s = 0, -math.inf  # until when the link carries what was asked for so far
    for request in sorted(log, key=lambda request: request.began_s):
        waited_s = apart_s * (1 + (request.nth == 0))
        count += request.began_s >= sent_s + waited_s
        carried_s = max(sent_s, request.began_s) + request.body_bytes / bytes_per_s
        sent_s = max(carried_s, request.ended_s)
    return count


def _longest(log: Sequence[Request], apart_s: float) -> tuple[int, int]:
    """Return requests, and round trips, along the longest chains that do not overlap."""
    ends: list[float] = []
    best = [(0, 0)]  # of the chains that ended by then
    for request in sorted(log, key=lambda request: request.ended_s):
        new = request.nth == 0  # it waits for the handshake: two round trips
        # Requests of one volley begin so far apart, where one of them opens a connection.
        before = bisect.bisect_right(ends, request.began_s - apart_s * (1 + new))
        stages, turns = best[before]
        ends.append(request.ended_s)
        best.append((max(stages + 1, best[-1][0]), max(turns + 1 + new, best[-1][1])))
    return best[-1]
