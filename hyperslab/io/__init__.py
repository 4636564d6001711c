"""How arrays are stored, written and read: a module for each library, behind one reader and writer.

`Layout` says how an array lies on disk, `create` and `write_array` write it, `reader` names who
reads it, and samples of experiments do both while a clock runs.
"""

from .cards import reader, readers
from .creation import blocks, create, stored_bytes, write_array
from .layout import CODECS, FORMATS, LEVELS, Layout
from .reading import Opened, Reader
from .selection import Region, Selection, region, whole
from .variable import DTYPES, Variable
from .writing import Writer, sync_files

__all__ = [
    "CODECS", "DTYPES", "FORMATS", "LEVELS", "Layout", "Opened", "Reader", "Region", "Selection",
    "Variable", "Writer", "blocks", "create", "reader", "readers", "region", "stored_bytes",
    "sync_files", "whole", "write_array",
]  # fmt: skip
