"""A slow link: one rate for all connections, and a delay."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hyperslab.network.helper import helping


def seconds(
    rate: Any,
    trip_s: Any,
    stages: float,
    connections: float,
    size: float,
    cpu_s: float,
    idle: float | None,
) -> Any:
    """Return what `Link.seconds` does, also for arrays of rates and round trips."""
    import numpy as np  # here: servers and links, which import this package, start without it

    alone = stages if idle is None else min(idle, stages)
    turns = stages - alone  # with others under way
    after_s = cpu_s / (turns + 1)  # the work that is left when all has come
    carried_s = size / rate
    turns_s = trip_s * turns + carried_s / (turns + 1)
    longest_s = np.maximum(np.maximum(carried_s, turns_s), cpu_s - after_s)
    return trip_s * (connections + alone) + longest_s + after_s


@dataclass(frozen=True)
class Link:
    """The rate, which all connections share, and the delay between a client and a server.

    A new connection costs one round trip more; slow start, losses and encryption are left out.

    Source: Penard et al. 2025, section 5: 100 kB/s and 100 ms.
    """

    bytes_per_s: float  #: of each direction; `math.inf` leaves only the delay
    round_trip_s: float  #: the delay there and back

    def __post_init__(self) -> None:
        if not self.bytes_per_s > 0:
            raise ValueError(
                f"bytes_per_s={self.bytes_per_s}: give more than 0; math.inf is any rate"
            )
        if not 0 <= self.round_trip_s < math.inf:
            raise ValueError(f"round_trip_s={self.round_trip_s}: a delay is 0 s or more")

    def seconds(
        self,
        stages: float,
        connections: float,
        size: float,
        cpu_s: float = 0.0,
        idle: float | None = None,
    ) -> float:
        """Return how long a read takes over this link: round trips, then bytes, then work.

        Where requests follow each other while others are under way (`idle` below `stages`), round
        trips, bytes and work go on at the same time, and the longest counts; but what comes last is
        carried after the last of these round trips, and worked on after that.

        Parameters
        ----------
        stages : float
            Requests that had to wait for one another.
        connections : float
            Connections opened one after another on the way (`Wire.handshakes`).
        size : float
            Bytes from the server.
        cpu_s : float
            What the client computes, in seconds.
        idle : float, optional
            Stages that began with nothing under way (`Wire.idle`); all if not given.

        Examples
        --------
        >>> Link(100e3, 0.1).seconds(stages=1, connections=1, size=50_000)
        0.7
        >>> Link(100e3, 0.1).seconds(stages=9, connections=1, size=45_000, idle=1)
        1.05
        """
        link = self.bytes_per_s, self.round_trip_s
        return float(seconds(*link, stages, connections, size, cpu_s, idle))

    @contextmanager
    def to(self, port: int) -> Iterator[int]:
        """Lay the link to a port of this machine, for as long as the context lasts.

        Clients use the port that is given instead.

        Examples
        --------
        >>> from hyperslab.network import serving
        >>> with serving(".") as server, Link(1e6, 0.0).to(server.port) as port:
        ...     server.through(port).url == f"http://127.0.0.1:{port}"
        True
        """
        rate = None if math.isinf(self.bytes_per_s) else self.bytes_per_s
        facts = {"port": port, "bytes_per_s": rate, "round_trip_s": self.round_trip_s}
        with helping("hyperslab.network.proxy", facts) as (_, near):
            yield near
