"""How arrays are stored: layouts, writers for every format, and named selections."""

from hyperslab.storage.layout import CODECS, FORMATS, LEVELS, Layout
from hyperslab.storage.selection import (
    Region,
    Selection,
    box,
    frame,
    profile,
    region,
    series,
    strided,
    whole,
)
from hyperslab.storage.variable import DTYPES, Variable
from hyperslab.storage.write import blocks, create, write_array
from hyperslab.storage.writers.base import Writer, stored_bytes, sync_files

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
    "create",
    "frame",
    "profile",
    "region",
    "series",
    "stored_bytes",
    "strided",
    "sync_files",
    "whole",
    "write_array",
]
