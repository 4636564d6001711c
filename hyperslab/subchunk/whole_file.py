"""Files that appear whole, or not at all."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FORSAKEN_S = 600  # after which what was being written surely is not any more


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give a place to write a file to; it takes its name at the end, safe on the disk.

    What killed processes left of it is cleared. When the body fails, what was there stays.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "a")
    >>> with whole_file(path) as place:
    ...     _ = place.write_bytes(b"whole")
    >>> path.read_bytes(), len(list(path.parent.iterdir()))
    (b'whole', 1)
    """
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > _FORSAKEN_S:
                left.unlink()
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
