"""A real server, by its address and the usual variables of the environment."""

import hashlib
import json
import os
import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from hyperslab.secret import concealed

# No part of a word; of an address that stands in another, "%2F" is before it.
_BEFORE = r"(?:(?<![\w-])|(?<=%[0-9A-Fa-f]{2}))"


@dataclass(frozen=True)
class Endpoint:
    """A server that others run, such as MinIO, Ceph or S3 itself; it keeps no log for us.

    Parameters
    ----------
    url : str
        Address of a folder, "s3://bucket/prefix" or "http(s)://…".
    endpoint : str
        Where an S3 server listens; empty is Amazon's.
    region : str
        Empty leaves it to the client.

    Examples
    --------
    >>> Endpoint("s3://bucket/a/").address("b.nc")
    's3://bucket/a/b.nc'
    """

    url: str
    endpoint: str = ""
    region: str = ""
    _keys: tuple[str, str, str] = field(repr=False, default=("", "", ""))

    @classmethod
    def of(cls, url: str, variables: Mapping[str, str] | None = None) -> "Endpoint":
        """Return the server of an address, as the AWS variables tell of it.

        Parameters
        ----------
        url : str
        variables : mapping, optional
            AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
            AWS_SESSION_TOKEN, AWS_REGION or AWS_DEFAULT_REGION; by default the environment's.
            Without keys the bucket is read as anybody may.

        Raises
        ------
        ValueError
            When the address is not one of S3 or HTTP, or one key comes without the other.
        """
        said = os.environ if variables is None else variables
        if not url.startswith(("s3://", "http://", "https://")):
            raise ValueError(
                f"url={concealed(url)!r}: give an address that begins with s3://, http(s)://"
            )
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        key, secret, token = (said.get(name, "") for name in names)
        if bool(key) != bool(secret):
            missing = names[1] if key else names[0]
            raise ValueError(f"{missing} is not set and the other key is: set both or none")
        return cls(
            url,
            said.get("AWS_ENDPOINT_URL_S3") or said.get("AWS_ENDPOINT_URL", ""),
            said.get("AWS_REGION") or said.get("AWS_DEFAULT_REGION", ""),
            (key, secret, token),
        )

    @property
    def kind(self) -> str:
        """Either "s3" or "http"."""
        return "s3" if self.url.startswith("s3://") else "http"

    @property
    def here(self) -> bool:
        """Whether it listens on this machine, so that no network lies between."""
        address = self.endpoint if self.kind == "s3" else self.url
        host = urlsplit(address if "://" in address else f"//{address}").hostname
        return bool(host) and _of_this_machine(str(host))

    @property
    def mark(self) -> str:
        """What tells it apart from others and names none; with other keys it is the same store."""
        what = [self.url, *((self.endpoint, self.region) if self.kind == "s3" else ())]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:12]

    @property
    def storage_options(self) -> dict[str, Any]:
        """What fsspec needs beside the address; with the credentials."""
        if self.kind == "http":
            return {}
        key, secret, token = self._keys
        options: dict[str, Any] = {"key": key, "secret": secret} if key else {"anon": True}
        options |= {"token": token} if token else {}
        options |= {"endpoint_url": self.endpoint} if self.endpoint else {}
        return options | ({"client_kwargs": {"region_name": self.region}} if self.region else {})

    def below(self, name: str) -> "Endpoint":
        """Return a folder in it."""
        return replace(self, url=self.address(name))

    def said(self, text: str) -> str:
        """Return a message without keys, and without the names of server, bucket and folder."""
        text = concealed(text, self._keys)
        url, server = urlsplit(self.url), urlsplit(self.endpoint)
        hidden = {name: "server" for name in (_place(server.netloc), server.hostname or "") if name}
        hidden[_place(url.netloc)] = "bucket" if self.kind == "s3" else "server"
        parts = url.path.strip("/").split("/")
        # What stands above the folder too; a name of one part may be a word, so only in a path.
        for depth in range(len(parts), 0, -1) if parts[0] else ():
            above = "(?:/|%2F)".join(map(re.escape, parts[:depth]))
            before = "(?:(?<=/)|(?<=%2F))" if depth == 1 else _BEFORE
            text = re.sub(rf"{before}{above}(?![\w-])", "folder", text, flags=re.IGNORECASE)
        for name in sorted(hidden, key=len, reverse=True):
            text = re.sub(rf"{_BEFORE}{re.escape(name)}(?![\w-])", hidden[name], text)
        return text

    def address(self, name: str) -> str:
        """Return the address of a file or a store in the folder."""
        return f"{self.url.rstrip('/')}/{name}"


def _of_this_machine(host: str) -> bool:
    """Return whether a host's name or number is one that this machine listens at."""
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError):  # no such host: nothing is read there either
        return False
    for family, kind, protocol, _, at in found:
        # Only an address of its own can be taken; nothing is sent.
        with suppress(OSError), socket.socket(family, kind, protocol) as probe:
            probe.bind(at)
            return True
    return False


def _place(netloc: str) -> str:
    """Return server and port without who asks there."""
    return netloc.rpartition("@")[2]
