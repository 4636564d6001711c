"""As much of S3 as readers use: listings and errors."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote
from xml.sax.saxutils import escape

KEYS_A_PAGE = 1000
_XML = '<?xml version="1.0" encoding="UTF-8"?>'
# S3's code and a sentence for the status of an error.
_REASONS = {
    403: ("AccessDenied", "access denied"),
    404: ("NoSuchKey", "there is no such key"),
    405: ("MethodNotAllowed", "this server only reads"),
    416: ("InvalidRange", "no such"),
}


def error(status: int) -> str:
    code, why = _REASONS[status]
    return f"{_XML}<Error><Code>{code}</Code><Message>{why}</Message></Error>"


def listing(root: Path, bucket: str, query: Mapping[str, str]) -> str:
    """Return a page of a folder's files as keys of a bucket, as ListObjectsV2 has it."""
    prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
    after = query.get("continuation-token") or query.get("start-after") or ""
    most = min(int(query.get("max-keys") or KEYS_A_PAGE), KEYS_A_PAGE)
    entries: dict[str, os.stat_result | None] = {}
    top = Path(os.path.normpath(root / prefix.rpartition("/")[0]))
    for folder, _, names in os.walk(top) if top.is_relative_to(root) else ():
        for file in map(Path(folder).joinpath, names):
            key = file.relative_to(root).as_posix()
            if key.startswith(prefix):
                head, mark, _ = key[len(prefix) :].partition(delimiter or "\0")
                entries[prefix + head + mark if mark else key] = None if mark else file.stat()
    # Bytes of UTF-8, as S3 sorts.
    left = sorted((key for key in entries if key > after), key=str.encode)
    page, more = left[:most], len(left) > most > 0
    coded = query.get("encoding-type") == "url"
    spell = quote if coded else escape
    lines = [
        f'{_XML}<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
        f"<Name>{bucket}</Name><Prefix>{spell(prefix)}</Prefix>",
        f"<KeyCount>{len(page)}</KeyCount><MaxKeys>{most}</MaxKeys>",
        f"<IsTruncated>{str(more).lower()}</IsTruncated>",
        "<EncodingType>url</EncodingType>" if coded else "",
        f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if more else "",
        *(_entry(spell(key), entries[key]) for key in page),
    ]
    return "".join([*lines, "</ListBucketResult>"])


def _entry(key: str, facts: os.stat_result | None) -> str:
    if facts is None:
        return f"<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>"
    when = datetime.fromtimestamp(facts.st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    tag = f"&quot;{facts.st_mtime_ns:x}-{facts.st_size:x}&quot;"
    return (
        f"<Contents><Key>{key}</Key><LastModified>{when}</LastModified><ETag>{tag}</ETag>"
        f"<Size>{facts.st_size}</Size><StorageClass>STANDARD</StorageClass></Contents>"
    )
