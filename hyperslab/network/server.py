"""HTTP and S3 servers on loopback, each in a process of its own, that log their requests."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperslab.network.helper import Helper, helping
from hyperslab.network.wire import Request

KINDS = ("http", "s3")
PROGRAMS = {"aiohttp": "hyperslab.network.answers", "lighttpd": "hyperslab.network.lighttpd"}
"""What answers, and the module of the process that keeps it."""
BUCKET = "bucket"
REGION = "us-east-1"
KEYS = ("loopback", "no-secret")
"""Access key and secret key that clients sign with. What is unsigned is refused, as by a store that
is not public; no signature is checked."""


@dataclass(frozen=True)
class Server:
    """A running server; it can be pickled, so that the process of a sample reads from it too."""

    kind: str  #: "http" or "s3"
    program: str  #: what answers, "aiohttp" or "lighttpd"
    port: int  #: of 127.0.0.1
    _helper: Helper = field(repr=False, compare=False)

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The address of the served folder."""
        return f"s3://{BUCKET}" if self.kind == "s3" else self.endpoint

    @property
    def storage_options(self) -> dict[str, Any]:
        """What fsspec needs beside the address."""
        keys = dict(zip(("key", "secret"), KEYS, strict=True))
        connection = {"endpoint_url": self.endpoint, "client_kwargs": {"region_name": REGION}}
        return keys | connection if self.kind == "s3" else {}

    def address(self, name: str) -> str:
        """Return the address of a file or a store in the served folder."""
        return f"{self.url}/{name}"

    def through(self, port: int) -> "Server":
        """Return this server as seen at another port, which a link leads here from."""
        return replace(self, port=port)

    def requests(self) -> list[Request]:
        """Return what was answered since `forget`, as it began; HelperError when it is gone."""
        log = [Request(**line) for line in self._helper.ask("requests")]
        return sorted(log, key=lambda request: request.began_s)

    def forget(self) -> None:
        """Empty the log."""
        self._helper.ask("forget")


@contextmanager
def serving(
    folder: str | Path,
    kind: str = "http",
    *,
    program: str = "aiohttp",
    delay_s: float = 0.0,
    beyond: Sequence[str | Path] = (),
) -> Iterator[Server]:
    """Serve a folder on loopback from a process of its own, for as long as the context lasts.

    It only reads, and whoever is on this machine may ask. An S3 server has one bucket, whose keys
    are the names of the files.

    Source: Penard et al. 2025, section 5: lighttpd behind a slow link, and a store that speaks S3.

    Parameters
    ----------
    folder : str or pathlib.Path
    kind : str
        "http" or "s3".
    program : str
        "aiohttp", or "lighttpd" for HTTP, where it is installed; as in the document.
    delay_s : float
        How much later than it could the server answers: then requests made at the same time are
        seen to overlap, and stages can be counted.
    beyond : sequence of str or pathlib.Path
        Folders that links in the served one may lead to; lighttpd follows any.

    Raises
    ------
    ValueError
        When there is no such kind or program, or it cannot do what is asked.
    FileNotFoundError, HelperError
        When the folder or the program is not there; when the server cannot start.

    Examples
    --------
    >>> from urllib.request import Request, urlopen
    >>> with serving(".") as server:
    ...     ask = Request(server.address("README.md"), headers={"Range": "bytes=0-9"})
    ...     with urlopen(ask) as answer:
    ...         size = len(answer.read())
    ...     (request,) = server.requests()
    >>> size, request.start, request.stop, request.status
    (10, 0, 10, 206)
    """
    root = Path(folder).resolve()
    if not root.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder: name the folder to serve")
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r}: a server speaks one of {', '.join(KINDS)}")
    if program not in PROGRAMS:
        raise ValueError(f"program={program!r}: take one of {', '.join(PROGRAMS)}")
    if program == "lighttpd" and (kind != "http" or delay_s):
        raise ValueError("lighttpd speaks HTTP without delays: take aiohttp")
    if program == "lighttpd" and not shutil.which("lighttpd"):
        raise FileNotFoundError(
            "lighttpd is not installed: install it or put one that was unpacked in PATH "
            "(`hyperslab doctor` says how), or take program='aiohttp'"
        )
    facts = {
        "folder": str(root),
        "delay_s": delay_s,
        "bucket": BUCKET if kind == "s3" else "",
        "beyond": [str(Path(path).resolve()) for path in beyond],
    }
    with helping(PROGRAMS[program], facts) as (helper, port):
        yield Server(kind, program, port, helper)
