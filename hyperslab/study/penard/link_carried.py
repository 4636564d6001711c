"""How fast a link without a rate carries bytes: what its program can do on this machine."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path

import pandas as pd

from ...measure.case import Case, Stopwatch
from ...measure.records import main
from ...network import Link, Server
from .link import Far

EXPERIMENT, LINK = "carried", "delay"
MOST_BYTES = 256_000_000
TRIPS = 2
"""Of the connection, and of the request."""


@dataclass(frozen=True)
class Fetch:
    """Get the beginning of a file over a new connection, with no library in between.

    Parameters
    ----------
    server : Server
    name : str
        Of the file in the served folder.
    size : int
        In bytes.
    """

    server: Server
    name: str
    size: int

    def __call__(self, watch: Stopwatch) -> bytes:
        """Return the bytes.

        Raises
        ------
        OSError
            When the server does not answer with a part of the file.
        """
        connection = HTTPConnection("127.0.0.1", self.server.port)
        with watch("read"):
            connection.request(
                "GET", f"/{self.name}", headers={"Range": f"bytes=0-{self.size - 1}"}
            )
            answer = connection.getresponse()
            found = answer.read()
        connection.close()
        if answer.status != 206:
            raise OSError(f"{self.name}: the server answered {answer.status} to a range")
        watch.note(wire_bytes=len(found), useful_bytes=len(found))
        return found


@dataclass(frozen=True)
class Beginning:
    """Check that bytes are those at the beginning of a file."""

    path: Path
    size: int

    def __call__(self, read: bytes) -> bool:
        with self.path.open("rb") as file:
            return read == file.read(self.size)


def cases(far: Far) -> list[Case]:
    """Return the plain request that tells how fast the link without a rate carries bytes.

    Parameters
    ----------
    far : Far
        Servers behind links; without any there is no case.
    """
    server = far.servers.get(LINK)
    if not isinstance(server, Server):
        return []
    path = far.files.store("gfs", "off")
    size = min(MOST_BYTES, path.stat().st_size)
    return [
        Case(
            "plain request",
            Fetch(server, path.name, size),
            check=Beginning(path, size),
            columns=far.over(LINK),
            prepare=server.forget,
            aa=True,
        )
    ]


def with_rates(links: Mapping[str, Link], records: pd.DataFrame) -> dict[str, Link]:
    """Return the links, that without a rate with the one it has here.

    The rate is the bytes of a plain request over the time that the client waited for them: what
    took neither a round trip nor its own CPU time.

    Parameters
    ----------
    links : mapping
        From `link.links`.
    records : pandas.DataFrame
        Of the experiment "carried".

    Examples
    --------
    >>> row = {"aa": "", "status": "ok", "phase": "read", "block": 0, "case": "plain request"}
    >>> times = {"wall_s": 0.7, "user_s": 0.1, "sys_s": 0.2, "wire_bytes": 2e8}
    >>> known = {"delay": Link(math.inf, 0.1)}
    >>> round(with_rates(known, pd.DataFrame([row | times]))["delay"].bytes_per_s / 1e6)
    1000
    """
    rows = main(records)
    rows = rows[rows["phase"] == "read"]
    trips_s = TRIPS * links[LINK].round_trip_s
    waited_s = float((rows["wall_s"] - rows["user_s"] - rows["sys_s"]).median()) - trips_s
    rate = float(rows["wire_bytes"].median()) / waited_s if waited_s > 0 else math.inf
    return {**links, LINK: replace(links[LINK], bytes_per_s=rate)}
