"""Synthetic datasets that stand in for those of the documents, drawn frame by frame."""

from data_gen.datasets import NAMES, Dataset, dataset, generator, parameters
from data_gen.lazily import open
from data_gen.manifest import AlteredError, ensure, ensure_all
from data_gen.writing import NotEnoughSpaceError, write

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
