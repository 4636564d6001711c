"""What can go wrong with an index, a file, or the pair of them."""


class SubchunkError(RuntimeError):
    """Something is wrong with an index or the data it describes; the message says what."""

    variable = ""  # path of the one that is concerned; empty where it is the whole file, or unknown


class UnreadableError(SubchunkError):
    """One variable of a file cannot be read, or not here; the others can."""


class StaleIndexError(SubchunkError):
    """The index was built from another file, or from an earlier state of this one."""


class CorruptIndexError(SubchunkError):
    """The index is truncated or damaged."""


class NoIndexError(CorruptIndexError):
    """What lies there does not even begin as an index does."""


class CorruptDataError(SubchunkError):
    """Compressed data are not what they were when the index was built."""


class MemoryLimitError(SubchunkError):
    """What is asked for needs more memory than was allowed."""


class UnknownVersionError(SubchunkError):
    """The index has a format version that this release does not know."""


class MissingFileError(SubchunkError, FileNotFoundError):
    """Nothing is there under a URL."""


class UnfitFileError(SubchunkError):
    """What was named cannot be reached, is no HDF5 file, or has no such variable to index."""


class NoRangesError(SubchunkError):
    """The server gives files only whole."""


def reason(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


# What may go wrong with one variable, while the others can be read.
OF_ONE_VARIABLE = (UnreadableError, CorruptDataError, CorruptIndexError, MemoryLimitError)
