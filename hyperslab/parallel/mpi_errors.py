"""What can go wrong with a job of several ranks; the message says what to do."""


class ParallelError(RuntimeError):
    """A job of several ranks cannot be run, or did not do what it was to do."""


class AbsentError(ParallelError):
    """A library, a compiler or a launcher is not here."""


class RanksError(ParallelError):
    """The ranks did not find each other: the launcher belongs to another MPI."""


class DiedError(ParallelError):
    """A rank was ended by a signal, and did not say why."""
