"""What can go wrong with a job of several ranks, by name."""


class ParallelError(RuntimeError):
    """A job of several ranks cannot be run, or did not do what it was to do."""


class AbsentError(ParallelError):
    """A library, a compiler or a launcher is not here."""


class SlotsError(ParallelError):
    """The launcher refuses as many ranks."""


class RanksError(ParallelError):
    """The ranks did not find each other: the launcher belongs to another MPI."""


class RankError(ParallelError):
    """A rank failed or died."""


class DiedError(RankError):
    """A rank was ended by a signal, and did not say why."""


class TimeLimitError(ParallelError):
    """A job took longer than it may."""


class FolderError(ParallelError):
    """The folder that the file of a job is to lie in is not there."""
