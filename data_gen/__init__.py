"""Synthetic datasets that stand in for those of the documents, drawn frame by frame."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from data_gen.datasets import NAMES, Dataset, dataset, generator, parameters
    from data_gen.lazily import open
    from data_gen.manifest import AlteredError, ensure, ensure_all
    from data_gen.many_files import NotEnoughSpaceError, write

__all__ = [
    "NAMES",
    "AlteredError",
    "Dataset",
    "NotEnoughSpaceError",
    "dataset",
    "ensure",
    "ensure_all",
    "generator",
    "open",
    "parameters",
    "write",
]


def __getattr__(name: str) -> object:
    """Import what draws fields, and SciPy with it, when it is asked for: arrays need neither."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from data_gen import datasets, lazily, manifest, many_files

    modules = (datasets, lazily, many_files, manifest)
    return next(vars(module)[name] for module in modules if name in vars(module))
