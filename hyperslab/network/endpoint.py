"""A store that others run, by its address and the usual variables of the environment."""

import hashlib
import json
import os
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar
from urllib.parse import urlsplit

from hyperslab.secret import concealed, of_options


@dataclass(frozen=True)
class Endpoint:
    """A store of S3 that others run, such as MinIO, Ceph or S3 itself.

    Examples
    --------
    >>> Endpoint("s3://bucket/a/").address("b.nc")
    's3://bucket/a/b.nc'
    """

    url: str  #: the address of a folder in a bucket
    #: what fsspec needs beside the address, with the credentials
    storage_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    kind: ClassVar = "s3"

    @classmethod
    def of(cls, url: str) -> "Endpoint":
        """Return the store of an address, with what AWS's variables of the environment tell.

        Without AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY the bucket is read as anybody may.

        Raises
        ------
        ValueError
            When the address is none of S3, or one key comes without the other.
        """
        if not url.startswith("s3://"):
            raise ValueError(f"url={concealed(url)!r}: give an address s3://bucket/prefix")
        variable = os.environ.get
        key, secret = variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY")
        if bool(key) != bool(secret):
            missing = "AWS_SECRET_ACCESS_KEY" if key else "AWS_ACCESS_KEY_ID"
            raise ValueError(f"{missing} is not set and the other key is: set both or none")
        region = variable("AWS_REGION") or variable("AWS_DEFAULT_REGION")
        options = {
            "key": key,
            "secret": secret,
            "anon": not key,
            "token": variable("AWS_SESSION_TOKEN"),
            "endpoint_url": variable("AWS_ENDPOINT_URL_S3") or variable("AWS_ENDPOINT_URL"),
            "client_kwargs": {"region_name": region} if region else {},
        }
        return cls(url, {name: value for name, value in options.items() if value})

    @property
    def endpoint(self) -> str:
        """Where it listens; empty is Amazon's."""
        return str(self.storage_options.get("endpoint_url", ""))

    @property
    def here(self) -> bool:
        """Whether it listens on this machine, so that no network lies between."""
        host = urlsplit(re.sub("^(.*://)?", "//", self.endpoint)).hostname
        with suppress(OSError, UnicodeError):  # no such host: nothing is read there either
            addresses = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM) if host else []
            for family, kind, protocol, _, address in addresses:
                # Only an address of its own can be taken; nothing is sent.
                with suppress(OSError), socket.socket(family, kind, protocol) as probe:
                    probe.bind(address)
                    return True
        return False

    @property
    def mark(self) -> str:
        """What tells it apart from others and names none; with other keys it is the same store."""
        region = self.storage_options.get("client_kwargs", {}).get("region_name", "")
        text = json.dumps([self.url, self.endpoint, region])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def below(self, name: str) -> "Endpoint":
        """Return a folder in it."""
        return replace(self, url=self.address(name))

    def said(self, text: str) -> str:
        """Return a message without keys, and without the names of server, bucket and folders."""
        bucket, server = urlsplit(self.url), urlsplit(self.endpoint)
        path = PurePosixPath(bucket.path)
        folders = [str(folder) for folder in (path, *path.parents)][:-1]
        if len(folders) > 1:  # what is one name may be a word: it is hidden after a slash alone
            folders.append(str(path)[1:])
        hosts = (server.netloc.rpartition("@")[2], server.hostname or "")
        keys = of_options(self.storage_options)
        return concealed(text, (*keys, bucket.netloc, *hosts, *folders))

    def address(self, name: str) -> str:
        """Return the address of a file or a store in the folder."""
        return f"{self.url.rstrip('/')}/{name}"


def upload(place: Endpoint, paths: Iterable[Path]) -> int:
    """Put files and folders into a store by their names, and return how many files were not there.

    What has its name and size stays. No error tells a key, a host or a bucket.
    """
    import fsspec

    try:
        system, root = fsspec.core.url_to_fs(place.url, **place.storage_options)
        there = {key: facts["size"] for key, facts in system.find(root, detail=True).items()}
        missing = [
            (file, f"{root}/{name}")
            for path in paths
            for name, file in _files(path)
            if there.get(f"{root}/{name}") != file.stat().st_size
        ]
        for file, key in missing:
            system.put_file(str(file), key)
    except Exception as error:
        raise OSError(place.said(f"{type(error).__name__}: {error}")) from None
    return len(missing)


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """Yield what each file is called there, and where it is here."""
    root = path.resolve()
    for file in [root] if root.is_file() else sorted(root.rglob("*")):
        if file.is_file():
            yield str(Path(path.name, file.relative_to(root))), file
