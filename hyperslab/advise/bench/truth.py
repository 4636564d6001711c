"""What patterns must read: picked out of the pieces while the source is copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.storage.layout import Layout
from hyperslab.storage.region import Region, region
from hyperslab.tune.passes import Watcher

from ..report.compare import WrongValuesError, difference
from ..sources.base import Indices, SourceVariable


class Truth:
    """The values of each selection of each pattern, as far as memory allows.

    The source is not read again for them. A selection that is too large is not kept: its values
    are those that the whole copy was compared in.

    Parameters
    ----------
    reads
        For each pattern by name: for each variable by name, its selections.
    variables
        By name.
    limit_bytes
        Most bytes kept.

    Examples
    --------
    >>> sst = SourceVariable("sst", ("x",), (10,), "i4")
    >>> truth = Truth({"some": {"sst": ((slice(2, 9),),)}}, {"sst": sst}, 1000)
    >>> for start in (0, 5):
    ...     piece = slice(start, start + 5)
    ...     truth.watcher("sst")((piece,), np.arange(10, dtype="i4")[piece])
    >>> truth.check("some", "sst", 0, (slice(3, 6),), np.array([3, 4, 5], "i4"), Layout())
    """

    def __init__(
        self,
        reads: Mapping[str, Mapping[str, tuple[Indices, ...]]],
        variables: Mapping[str, SourceVariable],
        limit_bytes: int,
    ) -> None:
        self._variables = variables
        self._kept: dict[tuple[str, str, int], tuple[Region, NDArray[Any]]] = {}
        for pattern, each in reads.items():
            for name, selections in each.items():
                variable = variables[name]
                for number, selection in enumerate(selections):
                    chosen = region(selection, variable.shape, name)
                    nbytes = chosen.size * variable.itemsize
                    if nbytes > limit_bytes:
                        continue
                    limit_bytes -= nbytes
                    values = np.empty(chosen.counts, variable.dtype)
                    self._kept[pattern, name, number] = chosen, values

    @property
    def nbytes(self) -> int:
        """Bytes of the values that are kept."""
        return sum(values.nbytes for _, values in self._kept.values())

    def watcher(self, name: str) -> Watcher | None:
        """Return what is to be shown each piece of a variable."""
        wanted = [kept for (_, of, _), kept in self._kept.items() if of == name]
        if not wanted:
            return None

        def see(slab: tuple[slice, ...], values: NDArray[Any]) -> None:
            for chosen, kept in wanted:
                there, here = _overlap(chosen, slab)
                kept[there] = values[here]

        return see

    def check(
        self,
        pattern: str,
        name: str,
        number: int,
        piece: Indices,
        values: NDArray[Any],
        layout: Layout,
    ) -> None:
        """Compare what was read of a selection, or of a piece of it.

        Raises
        ------
        WrongValuesError
            When a value differs.
        """
        if (pattern, name, number) not in self._kept:
            return
        chosen, kept = self._kept[pattern, name, number]
        variable = self._variables[name]
        part = region(piece, variable.shape, name)
        firsts = (
            (a - b) // step
            for a, b, step in zip(part.starts, chosen.starts, chosen.steps, strict=True)
        )
        places = tuple(slice(i, i + n) for i, n in zip(firsts, part.counts, strict=True))
        wrong = difference(
            values.reshape(part.counts),
            np.ascontiguousarray(kept[places]),
            quantize=layout.quantize,
            fill_value=variable.fill_value,
        )
        if wrong:
            raise WrongValuesError(f"{pattern} of {name} was read wrong: {wrong}")


def _overlap(
    chosen: Region, slab: tuple[slice, ...]
) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return which elements of a selection lie in a piece, and where in it."""
    there, here = [], []
    for start, count, step, part in zip(
        chosen.starts, chosen.counts, chosen.steps, slab, strict=True
    ):
        first = min(max(-(-(part.start - start) // step), 0), count)
        last = max(min(-(-(part.stop - start) // step), count), first)
        there.append(slice(first, last))
        if first == last:
            here.append(slice(0, 0))
            continue
        begin = start + first * step - part.start
        here.append(slice(begin, begin + (last - first - 1) * step + 1, step))
    return tuple(there), tuple(here)
