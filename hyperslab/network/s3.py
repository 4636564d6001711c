"""As much of S3 as readers use: signatures, listings and errors."""

import hashlib
import hmac
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote, unquote_plus
from xml.sax.saxutils import escape

from aiohttp import web

# How far a request's time may be from ours, in seconds, as at S3.
SKEW_S = 900
KEYS_A_PAGE = 1000
HIDDEN = ".put-"
"""What files begin with that are not whole yet."""
_XML = '<?xml version="1.0" encoding="UTF-8"?>'
_NAMES: Mapping[int, tuple[str, str]] = {
    400: ("InvalidArgument", "there is no place for such a key"),
    403: ("AccessDenied", "access denied"),
    404: ("NoSuchKey", "there is no such key"),
    500: ("InternalError", "something went wrong; try again"),
    503: ("SlowDown", "please ask less often"),
}


class Bucket:
    """A folder as a bucket.

    Parameters
    ----------
    root : pathlib.Path
    bucket : str
        Its name.
    region : str
    keys : (str, str)
        Access key and secret key.
    """

    def __init__(self, root: Path, bucket: str, region: str, keys: Sequence[str]) -> None:
        self._root = root
        self.name = bucket
        self._region = region
        self._key, self._secret = keys

    @staticmethod
    def split(path: str) -> tuple[str, str]:
        """Return the bucket and the key of a path."""
        name, _, key = path.lstrip("/").partition("/")
        return name, key

    def refusal(self, request: web.BaseRequest) -> tuple[str, str] | None:
        """Return why a request is refused, as a code and a sentence; None when it is signed."""
        said = request.headers.get("Authorization", "")
        scheme, _, rest = said.partition(" ")
        parts = dict(part.strip().partition("=")[::2] for part in rest.split(","))
        if scheme != "AWS4-HMAC-SHA256" or not {"Credential", "SignedHeaders", "Signature"} <= set(
            parts
        ):
            return "AccessDenied", "the request is not signed (version 4, in its headers)"
        when = request.headers.get("x-amz-date", "")
        try:
            then = datetime.strptime(when, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        except ValueError:
            return "AccessDenied", "the request has no valid x-amz-date"
        if abs((datetime.now(UTC) - then).total_seconds()) > SKEW_S:
            return "RequestTimeTooSkewed", "the request's time is too far from the server's"
        scope = f"{when[:8]}/{self._region}/s3/aws4_request"
        if parts["Credential"] != f"{self._key}/{scope}":
            return "InvalidAccessKeyId", "there is no such access key, in this region"
        signed = parts["SignedHeaders"].split(";")
        if "host" not in signed:
            return "AccessDenied", "the host is not signed"
        canonical = canonical_request(
            request.method,
            request.raw_path,
            {name: request.headers.get(name, "") for name in signed},
            request.headers.get("x-amz-content-sha256", ""),
        )
        right = signature(canonical, when, scope, self._secret)
        if not hmac.compare_digest(right.encode(), parts["Signature"].encode()):
            return "SignatureDoesNotMatch", "the signature is not that of the secret key"
        return None

    def listing(self, query: Mapping[str, str]) -> str:
        """Return a page of the keys, as ListObjectsV2 has it."""
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("continuation-token") or query.get("start-after") or ""
        asked = query.get("max-keys") or str(KEYS_A_PAGE)
        if not re.fullmatch("[0-9]{1,9}", asked):
            raise ValueError("max-keys is no number")
        most = min(int(asked), KEYS_A_PAGE)
        found: dict[str, os.stat_result | None] = {}
        for key, file in self._keys_under(prefix):
            rest = key[len(prefix) :]
            if delimiter and delimiter in rest:
                found[prefix + rest[: rest.index(delimiter) + len(delimiter)]] = None
            else:
                found[key] = file.stat()
        # Bytes of UTF-8, as S3 sorts.
        left = sorted((key for key in found if key > after), key=str.encode)
        page, more = left[:most], len(left) > most > 0
        coded = query.get("encoding-type") == "url"
        spell = quote if coded else escape
        lines = [
            _XML,
            '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
            f"<Name>{self.name}</Name><Prefix>{spell(prefix)}</Prefix>",
            f"<KeyCount>{len(page)}</KeyCount><MaxKeys>{most}</MaxKeys>",
            f"<IsTruncated>{str(more).lower()}</IsTruncated>",
        ]
        if coded:
            lines.append("<EncodingType>url</EncodingType>")
        if more:
            token = escape(page[-1])
            lines.append(f"<NextContinuationToken>{token}</NextContinuationToken>")
        for key in page:
            facts = found[key]
            if facts is None:
                lines.append(f"<CommonPrefixes><Prefix>{spell(key)}</Prefix></CommonPrefixes>")
                continue
            when = datetime.fromtimestamp(facts.st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            tag = f"&quot;{facts.st_mtime_ns:x}-{facts.st_size:x}&quot;"
            lines.append(
                f"<Contents><Key>{spell(key)}</Key><LastModified>{when}</LastModified>"
                f"<ETag>{tag}</ETag><Size>{facts.st_size}</Size>"
                "<StorageClass>STANDARD</StorageClass></Contents>"
            )
        return "".join([*lines, "</ListBucketResult>"])

    def _keys_under(self, prefix: str) -> Iterator[tuple[str, Path]]:
        top = Path(os.path.normpath(self._root / prefix.rpartition("/")[0]))
        if not top.is_relative_to(self._root):
            return
        for folder, _, names in os.walk(top):
            for name in names:
                file = Path(folder, name)
                key = file.relative_to(self._root).as_posix()
                if key.startswith(prefix) and not key.startswith(HIDDEN):
                    yield key, file


def canonical_request(
    method: str, target: str, headers: Mapping[str, str], body_sha256: str
) -> str:
    """Return what a client signs: the request in one certain spelling.

    Parameters
    ----------
    method : str
    target : str
        Path and query as they were sent.
    headers : mapping
        The signed ones by their names in small letters, sorted.
    body_sha256 : str
        As the header x-amz-content-sha256 has it.

    Source
    ------
    Signature version 4 of Amazon Web Services; S3 encodes the path once.

    Examples
    --------
    >>> canonical_request("GET", "/b/a%20b?prefix=x/&list-type=2", {"host": "h"}, "e3").split()
    ['GET', '/b/a%20b', 'list-type=2&prefix=x%2F', 'host:h', 'host', 'e3']
    """
    path, _, query = target.partition("?")
    pairs = [part.partition("=")[::2] for part in query.split("&") if part]
    spelled = sorted(
        (quote(unquote_plus(name), safe="-_.~"), quote(unquote_plus(value), safe="-_.~"))
        for name, value in pairs
    )
    lines = [
        method,
        quote(unquote(path), safe="/-_.~"),
        "&".join(f"{name}={value}" for name, value in spelled),
        *(f"{name}:{' '.join(value.split())}" for name, value in headers.items()),
        "",
        ";".join(headers),
        body_sha256,
    ]
    return "\n".join(lines)


def signature(canonical: str, when: str, scope: str, secret: str) -> str:
    """Return the signature of a request (hexadecimal).

    Parameters
    ----------
    canonical : str
        The request as `canonical_request` spells it.
    when : str
        As the header x-amz-date has it.
    scope : str
        Date, region, service and "aws4_request", with slashes.
    secret : str
        The secret key.

    Source
    ------
    Signature version 4 of Amazon Web Services.

    Examples
    --------
    >>> len(signature("GET", "20250101T000000Z", "20250101/us-east-1/s3/aws4_request", "s"))
    64
    """
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    text = f"AWS4-HMAC-SHA256\n{when}\n{scope}\n{digest}"
    return hmac.digest(key, text.encode(), "sha256").hex()


def error(code: str, why: str) -> str:
    """Return the body of an error.

    Examples
    --------
    >>> error("NoSuchKey", "there is no such key")[38:]
    '<Error><Code>NoSuchKey</Code><Message>there is no such key</Message></Error>'
    """
    return f"{_XML}<Error><Code>{code}</Code><Message>{escape(why)}</Message></Error>"


def reason(status: int) -> tuple[str, str]:
    """Return S3's code and a sentence for the status of an error.

    Examples
    --------
    >>> reason(404)
    ('NoSuchKey', 'there is no such key')
    """
    return _NAMES[status]
