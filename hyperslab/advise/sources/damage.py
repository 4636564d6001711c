"""What is wrong with a file that cannot be opened, in one line."""

from __future__ import annotations

import re


def hdf5_says(given: str, said: str) -> str:
    """Return what HDF5's error about opening a file means.

    Parameters
    ----------
    given
        The file as it was given.
    said
        The error's text.

    Examples
    --------
    >>> hdf5_says("a.nc", "(truncated file: eof = 9, sblock->base_addr = 0, stored_eof = 20)")
    'a.nc is truncated: it has 9 bytes of 20; copy or download it again'
    """
    if found := re.search(r"truncated file: eof = (\d+), .*stored_eof = (\d+)", said):
        return truncated(given, int(found[1]), int(found[2]))
    if "lock" in said:
        return (
            f"{given} cannot be opened: another program has it open for writing; wait for it, or "
            "copy the file and take the copy"
        )
    told = re.sub(r"^Unable to \w+ open file \((.*)\)$", r"\1", said.splitlines()[0])
    return f"{given} is truncated or damaged: HDF5 says {told!r}; copy it again"


def truncated(given: str, size: int, needed: int) -> str:
    """Return that a file has fewer bytes than it needs."""
    return f"{given} is truncated: it has {size:,} bytes of {needed:,}; copy or download it again"
