"""What an index is built from, and where it goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py

from ..errors import SubchunkError
from ..fetch import Source, is_url, source
from ..fetch.filelike import RangeReader
from .place import SUFFIX, absolute, file_name, index_place
from .survey import Survey, look, opened


def target_place(path: str | Path, index: str | Path | None) -> Path:
    """Return where the index of a file is written.

    Examples
    --------
    >>> target_place("https://host/a.nc?token=x", None).name
    'a.nc.subchunk'
    """
    if index is None and is_url(path):
        return Path.cwd() / (file_name(path) + SUFFIX)
    place = index_place(path if is_url(path) else absolute(path), index)
    if is_url(place):
        raise ValueError(
            f"the index cannot be written to {place}: name a file of this machine, and copy it"
        )
    return Path(place)


def surveyed(
    place: str, options: Mapping[str, Any] | None, asked: Sequence[str] | None
) -> tuple[Source, Survey]:
    """Open a file to be indexed, here or behind a URL, and read what it holds."""
    if not is_url(place):
        if Path(place).is_dir():
            raise SubchunkError("this is a folder: name the files in it, such as folder/*.nc")
        with opened(Path(place)) as file:
            data = source(place)
            data.check(file.id.get_vfd_handle())  # what is looked at is what will be read
            found = look(file, asked, file_name(place))
        data.check()
        return data, found
    data, name = source(place, options), file_name(place)
    data.identity()  # says what is missing
    try:
        with h5py.File(RangeReader(data), "r") as file:
            return data, look(file, asked, name)
    except SubchunkError:
        raise
    except (OSError, ValueError) as error:
        raise SubchunkError(
            f"{name} cannot be opened as HDF5 or netCDF-4, the formats that can be indexed: {error}"
        ) from error
