"""What ties an index to its file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..hdf5 import Chunks, Variable


def table_digest(variables: Sequence[tuple[Variable, Chunks]]) -> str:
    """Return a hash of how a file stores the indexed variables: it decides when times differ.

    Parameters
    ----------
    variables : sequence
        Each variable with its chunk table.
    """
    digest = hashlib.sha256()
    for variable, chunks in sorted(variables, key=lambda pair: pair[0].name):
        described = [
            variable.name,
            variable.shape,
            variable.dtype,
            variable.chunks,
            variable.filters,
            variable.fill.hex(),
            chunks.digest(),
        ]
        digest.update(json.dumps(described).encode())
    return digest.hexdigest()[:32]


def difference(kept: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Say in what a file differs from the one that was indexed; empty if in nothing.

    Only what both know is compared: a copy on a server has a tag where a file has a time.

    Examples
    --------
    >>> difference({"size": 4, "mtime_ns": 1}, {"size": 5, "mtime_ns": 1})
    'it had 4 bytes and has 5'
    >>> difference({"size": 4, "mtime_ns": 1}, {"size": 4, "tag": "x"})
    ''
    """
    if None not in (kept.get("size"), now.get("size")) and kept["size"] != now["size"]:
        return f"it had {kept['size']} bytes and has {now['size']}"
    if "mtime_ns" in kept and "mtime_ns" in now and kept["mtime_ns"] != now["mtime_ns"]:
        return "it was written at another time"
    if "tag" in kept and "tag" in now and kept["tag"] != now["tag"]:
        return "the server gives it another tag"
    return ""
