"""What can go wrong with an index, a file, or the pair of them."""


class SubchunkError(RuntimeError):
    """Something is wrong with an index or with the data it describes; the message says what."""


class StaleIndexError(SubchunkError):
    """The index was built from another file, or from an earlier state of this one."""


class CorruptIndexError(SubchunkError):
    """The index is truncated or damaged."""


class CorruptDataError(SubchunkError):
    """Compressed data are not what they were when the index was built."""


class MemoryLimitError(SubchunkError):
    """What is asked for needs more memory than was allowed."""


class UnknownVersionError(SubchunkError):
    """The index has a format version that this release does not know."""


class MissingFileError(SubchunkError, FileNotFoundError):
    """Nothing is there under a URL."""
