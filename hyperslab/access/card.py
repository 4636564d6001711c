"""What is known of a reader before its library is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperslab.storage.layout import Layout

PLACES = ("file", "http", "s3")


@dataclass(frozen=True)
class Card:
    """What is known of a reader before its library is imported.

    Parameters
    ----------
    name, library, formats
        As in `Reader`.
    module
        Module of `hyperslab.access` that holds it.
    requires
        Names of the modules it imports.
    compiled
        Whether it needs a C compiler.
    cannot
        Layouts of those formats it cannot read: each gives fields of `Layout` and their values.
    places
        Where it reads: of `PLACES`.
    label
        What tables and figures call it; its name if empty.
    """

    name: str
    library: str
    formats: frozenset[str]
    module: str
    requires: tuple[str, ...] = ()
    cannot: tuple[Mapping[str, object], ...] = ()
    compiled: bool = False
    places: frozenset[str] = frozenset({"file"})
    label: str = ""

    def __str__(self) -> str:
        return self.label or self.name

    @property
    def threads(self) -> bool:
        """Whether it works in threads of its own: its process is not kept on one core.

        It may be forked, from a process that has not yet made any.
        """
        return not {"zarr", "obstore"}.isdisjoint(self.requires)

    def reads(self, layout: Layout) -> bool:
        """Whether this library reads what is written in a layout.

        Examples
        --------
        >>> card = Card("x", "x", frozenset({"hdf5"}), "x", cannot=({"codec": "lzf"},))
        >>> card.reads(Layout("hdf5")), card.reads(Layout("hdf5", chunks=(1,), codec="lzf"))
        (True, False)
        """
        return layout.format in self.formats and not any(
            all(getattr(layout, field) == value for field, value in out.items())
            for out in self.cannot
        )
