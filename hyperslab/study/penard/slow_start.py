"""What TCP's slow start adds to the first bytes of a connection."""

import math

from ...network import Link

WINDOW = 10 * 1460
"""Bytes that a new connection sends before the first answer of the other side (RFC 6928)."""


def slow_start_s(link: Link, size: float) -> float:
    """Return how much longer a new connection takes for its bytes than an open one.

    A window doubles each round trip until the link is full or all is sent; until then the sender
    waits for most of each round trip.

    Parameters
    ----------
    link : Link
    size : float
        Bytes of one connection.

    Returns
    -------
    float
        Seconds, 0 where one window carries all.

    Source
    ------
    RFC 6928 (the first window) and RFC 5681 (its growth). Against TCP itself, through a link of
    100 Mbit/s and 20 ms in the kernel: 50 kB on a new connection took 40 ms longer than on
    one without slow start; two windows have to be waited for.

    Examples
    --------
    >>> slow_start_s(Link(12.5e6, 0.02), 50_000)
    0.036496
    >>> slow_start_s(Link(12.5e6, 0.02), 14_600)
    0.0
    """
    waits = max(0, math.ceil(math.log2(size / WINDOW + 1)) - 1)
    sent_s = (WINDOW * 2**n / link.bytes_per_s for n in range(waits))
    return math.fsum(max(0.0, link.round_trip_s - seconds) for seconds in sent_s)
