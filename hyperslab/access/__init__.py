"""One adapter for each library that reads, all behind one class."""

from hyperslab.access.base import Opened, Reader
from hyperslab.access.cards import library_version, reader, readers

__all__ = ["Opened", "Reader", "library_version", "reader", "readers"]
