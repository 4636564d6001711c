"""How arrays are stored: layouts, writers for every format, and named selections."""

from hyperslab.storage.layout import CODECS, FORMATS, LEVELS, Layout
from hyperslab.storage.region import Region, Selection, region
from hyperslab.storage.selection import (
    box,
    column,
    frame,
    profile,
    random_points,
    row,
    series,
    strided,
    whole,
)
from hyperslab.storage.variable import DTYPES, Variable
from hyperslab.storage.write import Writer, blocks, create, stored_bytes, write_array
from hyperslab.storage.writers.base import sync_files

__all__ = [
    "CODECS",
    "DTYPES",
    "FORMATS",
    "LEVELS",
    "Layout",
    "Region",
    "Selection",
    "Variable",
    "Writer",
    "blocks",
    "box",
    "column",
    "create",
    "frame",
    "profile",
    "random_points",
    "region",
    "row",
    "series",
    "stored_bytes",
    "strided",
    "sync_files",
    "whole",
    "write_array",
]
