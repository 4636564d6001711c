"""What a server answers when it is asked once more, where a library does not tell.

netCDF-C says "HDF error" or "Unknown file format" whatever a server did, and what only sees that
chunks do not decompress cannot know why.
"""

from __future__ import annotations

import base64
import http.client
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from hyperslab.access.urls import Remote

ASKED = 1024
"""Bytes that are asked for."""
PATIENCE_S = 10.0
_PARTIAL, _SERVERS_FAULT = 206, 500
_BARE = ("NetCDF: ", "decompress", "checksum")
_NOT_THERE = "the server answers 404"
SOUND = (
    "asked again, the server gives what it is asked for: try again; if this stays, the file is "
    "damaged"
)
_ADVICE = {
    401: "it wants a user name and password, as http://user:password@…",
    403: "it is not for you; ask who runs the server",
    404: "it is there no more",
}


@dataclass(frozen=True)
class Origin:
    """Where an open variable is read from.

    Parameters
    ----------
    place : Remote
    reader, variable : str
        Names.
    store : bool
        Whether the place is a folder of many objects, as Zarr has it.
    """

    place: Remote
    reader: str
    variable: str
    store: bool = False

    def cannot(self, do: str, said: str) -> OSError:
        """Return the error of a read or an open, with what the server says where that is bare.

        Parameters
        ----------
        do : str
            "read" or "open".
        said : str
            What the library says.
        """
        if self.place.kind == "http" and bare(said):
            said = f"{said}; {self.fault() or SOUND}"
        return OSError(f"{self.place}: {self.reader} cannot {do} {self.variable!r}: {said}")

    def fault(self) -> str:
        """Return what is wrong with the server now; empty if nothing is."""
        if not self.store:
            return fault_of(self.place)
        folder = self.place.below(self.variable)
        found = [fault_of(folder.below(name)) for name in ("zarr.json", ".zarray")]
        return min(found, key=lambda text: _NOT_THERE in text)  # it has one of them


def bare(said: str) -> bool:
    """Whether words do not tell what a server did.

    Examples
    --------
    >>> bare("NetCDF: HDF error"), bare("403, message='Forbidden'")
    (True, False)
    """
    return any(words in said for words in _BARE)


def fault_of(remote: Remote) -> str:
    """Return what is wrong with a server of HTTP, by one small request; empty if nothing is.

    Parameters
    ----------
    remote : Remote
        Nothing of what is secret in its URL is told.

    Examples
    --------
    >>> fault_of(Remote("http://me:secret@127.0.0.1:9/a.nc"))
    'the server is not reached (Connection refused): is it running?'
    """
    try:
        with urllib.request.urlopen(_request(remote.url), timeout=PATIENCE_S) as answer:
            status, reason, of = answer.status, answer.reason, answer.headers["Content-Range"]
            sent = len(answer.read(ASKED + 1)) if status == _PARTIAL else 0
    except urllib.error.HTTPError as error:
        with error:
            why = "its own fault; try again later" if error.code >= _SERVERS_FAULT else ""
            why = why or _ADVICE.get(error.code, "look at the address")
            return f"the server answers {error.code} {error.reason}: {why}"
    except (OSError, http.client.HTTPException) as error:
        cause = getattr(error, "reason", error)
        words = getattr(cause, "strerror", None) or cause
        return f"the server is not reached ({words}): is it running?"
    # Here, since h5py comes with it.
    from hyperslab.subchunk.fetch.remote import NO_RANGES, short

    if status != _PARTIAL:
        return f"the server answers {status} {reason} where a part was asked for: {NO_RANGES}"
    total = re.fullmatch(r"bytes \d+-\d+/(\d+)", of or "")
    if sent < (wanted := min(ASKED, int(total[1])) if total else ASKED):
        return short(sent, wanted, 0)
    return ""


def _request(url: str) -> urllib.request.Request:
    """Return the request for the first bytes; what stands before @ is its authorization."""
    parts = urlsplit(url)
    server = parts.netloc.rpartition("@")[2]
    headers = {"Range": f"bytes=0-{ASKED - 1}", "Connection": "close"}
    request = urllib.request.Request(
        parts._replace(netloc=server, fragment="").geturl(), None, headers
    )
    if parts.username:
        words = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        known = f"Basic {base64.b64encode(words.encode()).decode()}"
        request.add_unredirected_header("Authorization", known)  # it is for this server alone
    return request
