"""Read a few values out of large deflate-compressed chunks without inflating them."""

from .errors import (
    CorruptDataError,
    CorruptIndexError,
    MemoryLimitError,
    MissingFileError,
    StaleIndexError,
    SubchunkError,
    UnknownVersionError,
    UnreadableError,
)
from .file import File, open
from .index.build import build
from .index.index import Index
from .variable_reader import VariableReader

__all__ = [
    "CorruptDataError", "CorruptIndexError", "File", "Index", "MemoryLimitError",
    "MissingFileError", "StaleIndexError", "SubchunkError", "UnknownVersionError",
    "UnreadableError", "VariableReader", "build", "open",
]  # fmt: skip
