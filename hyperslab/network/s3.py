"""As much of S3 as readers use: listings and errors."""

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote
from xml.sax.saxutils import escape

from aiohttp import web

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
    key : str
        The access key.
    """

    def __init__(self, root: Path, bucket: str, key: str) -> None:
        self._root, self.name, self._key = root, bucket, key

    @staticmethod
    def split(path: str) -> tuple[str, str]:
        """Return the bucket and the key of a path."""
        name, _, key = path.lstrip("/").partition("/")
        return name, key

    def refusal(self, request: web.BaseRequest) -> tuple[str, str] | None:
        """Return why a request is refused, as a code and a sentence: it must name the access key.

        Its signature is not checked, as nothing but this machine is answered.
        """
        if f"Credential={self._key}/" in request.headers.get("Authorization", ""):
            return None
        return "AccessDenied", "the request does not name this server's access key"

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
