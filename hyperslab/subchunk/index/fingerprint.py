"""What ties an index to its file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from .survey import Survey


def digest(found: Survey) -> str:
    """Return a hash of what an index takes from a file without reading its large variables.

    It decides when times differ: names, types, attributes, chunk tables, and the values that are
    kept themselves.
    """
    total = hashlib.sha256()
    total.update(json.dumps(found.groups, sort_keys=True).encode())
    for variable in sorted(found.variables, key=lambda variable: variable.name):
        total.update(json.dumps(variable.described(), sort_keys=True).encode())
        total.update(found.small.get(variable.name, b""))
        if table := found.tables.get(variable.name):
            total.update(table.digest().encode())
    return total.hexdigest()[:32]


def unchanged(kept: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether time or tag, as well as size, are what they were.

    Examples
    --------
    >>> unchanged({"size": 4, "mtime_ns": 1}, {"size": 4, "tag": "x"})
    False
    """
    known = any(name in kept and name in now for name in ("mtime_ns", "tag"))
    return known and not difference(kept, now)


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
