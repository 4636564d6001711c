"""What patterns must read: picked out of the pieces while the source is copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.layout import Layout
from hyperslab.io.selection import Region, region
from hyperslab.tune.passes import Watcher

from ..report.compare import WrongValuesError, difference
from ..sources.base import Indices, SourceVariable

Reads = Mapping[str, Mapping[str, list[Indices]]]  # selections by pattern and variable


class Truth:
    """The values of each selection of each pattern, as far as memory allows.

    The source is not read again for them. A selection that is too large is not kept: its values
    are those that the whole copy was compared in.
    """

    def __init__(
        self, reads: Reads, variables: Mapping[str, SourceVariable], limit_bytes: int
    ) -> None:
        self._variables = variables
        self._kept: dict[tuple[str, str, int], tuple[Region, NDArray[Any]]] = {}
        for pattern, each in reads.items():
            for name, selections in each.items():
                for number, selection in enumerate(selections):
                    chosen = region(selection, variables[name].shape, name)
                    nbytes = chosen.size * variables[name].itemsize
                    if nbytes <= limit_bytes:
                        limit_bytes -= nbytes
                        values = np.empty(chosen.counts, variables[name].dtype)
                        self._kept[pattern, name, number] = chosen, values

    @property
    def nbytes(self) -> int:
        """Bytes of the values that are kept."""
        return sum(values.nbytes for _, values in self._kept.values())

    def watcher(self, name: str) -> Watcher | None:
        """Return what is to be shown each piece of a variable."""
        wanted = [kept for (_, of, _), kept in self._kept.items() if of == name]

        def see(slab: tuple[slice, ...], values: NDArray[Any]) -> None:
            for chosen, kept in wanted:
                there, here = [], []
                axes = zip(chosen.starts, chosen.counts, chosen.steps, slab, strict=True)
                for start, count, step, part in axes:
                    first = min(max(-(-(part.start - start) // step), 0), count)
                    last = max(min(-(-(part.stop - start) // step), count), first)
                    begin = start + first * step - part.start
                    there.append(slice(first, last))
                    here.append(slice(begin, begin + (last - first) * step, step))
                if all(overlap.start < overlap.stop for overlap in there):
                    kept[tuple(there)] = values[tuple(here)]

        return see if wanted else None

    def check(
        self,
        pattern: str,
        name: str,
        number: int,
        piece: Indices,
        values: NDArray[Any],
        layout: Layout,
    ) -> None:
        """Compare what was read of a selection, or of a piece of it."""
        if (pattern, name, number) not in self._kept:
            return
        chosen, kept = self._kept[pattern, name, number]
        variable = self._variables[name]
        part = region(piece, variable.shape, name)
        axes = zip(part.starts, part.counts, chosen.starts, chosen.steps, strict=True)
        firsts = (((a - b) // step, n) for a, n, b, step in axes)
        wrong = difference(
            values.reshape(part.counts),
            np.ascontiguousarray(kept[tuple(slice(i, i + n) for i, n in firsts)]),
            quantize=layout.quantize,
            fill_value=variable.fill_value,
        )
        if wrong:
            raise WrongValuesError(f"{pattern} of {name} was read wrong: {wrong}")
