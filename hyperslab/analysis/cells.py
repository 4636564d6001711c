"""Cells of the records: which samples a measure means, and their value in each block."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..measure.records import labels_of
from .quantities import PER_SAMPLE, Quantity, chunk_lengths

Where = Mapping[str, object]
Floats = NDArray[np.float64]

# Columns that tell configurations apart: one value of each, unless a measure groups over it.
IDENTITY = (
    "experiment", "case", "library", "format", "codec", "level", "shuffle", "chunks", "pattern",
    "size", "cache_state", "link", "ranks", "mode", "hints", "latency_s",
)  # fmt: skip
FILTERS = (*IDENTITY, "phase", "cache_bytes", "library_version", "profile")
"""Columns that a filter may name beside the labels of cases."""


class MissingError(Exception):
    """The records hold no usable sample for a measure; the message says what is missing."""


class AmbiguousError(ValueError):
    """A filter fits several configurations where a measure needs one."""


@dataclass(frozen=True)
class Cells:
    """Values of one quantity, for each group and block."""

    table: pd.DataFrame  # by block, with a column for each group, in the order of the records
    samples: pd.DataFrame  # they come from: experiment, cache_state, ranks and size of each row
    run_id: str

    @property
    def groups(self) -> list[str]:
        """The groups, in the order of the records."""
        return [str(column) for column in self.table.columns]


def select(records: pd.DataFrame, where: Where) -> pd.DataFrame:
    """Return the rows that fit a filter: a column's value, one of a list, or text with one `*`."""
    return records[_mask(records, where)]


def in_order(records: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return records in the order of the labels that have one, as `Session.measure` gives them."""
    ordered = [name for name in names if isinstance(records[name].dtype, pd.CategoricalDtype)]
    return records.sort_values(ordered, kind="stable") if ordered else records


def _mask(records: pd.DataFrame, where: Where) -> NDArray[np.bool_]:
    keep = np.ones(len(records), dtype=bool)
    for column, condition in where.items():
        if column not in records:
            raise MissingError(f"the records have no column {column}")
        codes, values = pd.factorize(records[column].array, use_na_sentinel=False)
        keep &= np.array([_fits(value, condition) for value in values], dtype=bool)[codes]
    return keep


def _fits(value: object, condition: object) -> bool:
    if isinstance(condition, list | tuple):
        return value in condition
    if isinstance(condition, str) and "*" in condition:
        head, tail = condition.split("*", 1)
        return str(value).startswith(head) and str(value).endswith(tail)
    return bool(value == condition)


def cells(
    records: pd.DataFrame,
    where: Where,
    quantity: Quantity,
    phases: Sequence[str] = (),
    over: Sequence[str] = (),
) -> Cells:
    """Return a quantity for each group (by columns `over`) and block of what fits a filter."""
    usable = _usable(records, where, phases)
    counted: dict[str, Floats] = {}
    for name in quantity.columns:
        values = chunk_lengths(records) if name == "chunk_length" else records.get(name)
        given = np.asarray(np.nan if values is None else values, dtype=np.float64)
        counted[name] = np.broadcast_to(given, len(records))[usable]
    if lacking := [name for name, values in counted.items() if np.isnan(values).all()]:
        raise MissingError(f"{', '.join(lacking)} was not counted in these records")
    of, groups = pd.factorize(_group_keys(records, usable, where, over))
    _check_identity(records, usable, of, over)
    block, order = (records[name].to_numpy("f8")[usable] for name in ("block", "order"))
    table = _by_block(counted, block, order, of, len(groups), quantity).set_axis(groups, axis=1)
    source = [name for name in ("experiment", "cache_state", "ranks", "size") if name in records]
    return Cells(table, records[source].iloc[usable], str(records["run_id"].array[usable[-1]]))


def _usable(records: pd.DataFrame, where: Where, phases: Sequence[str]) -> NDArray[np.intp]:
    """Return which rows count: taking them at each step would copy all their columns."""
    rows = np.flatnonzero(_mask(records, where))
    if not len(rows):
        any_profile = _mask(records, {k: v for k, v in where.items() if k != "profile"})
        if "profile" in where and any_profile.any():
            profile = records["profile"][any_profile].iloc[-1]
            needed = _spell({"profile": where["profile"]})
            raise MissingError(f"it takes the {needed}, and these records are of {profile}")
        raise MissingError(f"the records hold no sample with {_spell(where)}")
    run, status, aa, phase = (
        records[name].to_numpy(object) for name in ("run_id", "status", "aa", "phase")
    )
    rows = rows[run[rows] == run[rows[-1]]]
    good: NDArray[np.intp] = rows[status[rows] == "ok"]
    if not len(good):
        raise MissingError(str(status[rows[0]]))
    good = good[(aa[good] == "") | (aa[good] == "A")]
    if phases:
        good = good[[value in phases for value in phase[good]]]
    if not len(good):
        raise MissingError(f"the samples with {_spell(where)} have no phase {' or '.join(phases)}")
    return good


def _group_keys(
    records: pd.DataFrame, usable: NDArray[np.intp], where: Where, over: Sequence[str]
) -> NDArray[np.object_]:
    labels = []
    for column in over:
        pattern, values = where.get(column), records[column].array[usable]
        head, star, tail = pattern.partition("*") if isinstance(pattern, str) else ("", "", "")
        cut = len(head) if star else 0
        labels.append([str(value)[cut:].removesuffix(tail) for value in values])
    joined = [" ".join(filter(None, each)) for each in zip(*labels, strict=True)]
    return np.array(joined or [""] * len(usable), dtype=object)


def _check_identity(
    records: pd.DataFrame, usable: NDArray[np.intp], of: NDArray[np.intp], over: Sequence[str]
) -> None:
    labels = labels_of(records)
    # Where labels tell cases apart, the name that is made of them need not.
    identity = [*labels, *(column for column in IDENTITY if not (labels and column == "case"))]
    columns = [column for column in identity if column not in over and column in records]
    values = records[columns].iloc[usable].to_numpy(object)
    for position in np.flatnonzero((values != values[0]).any(axis=0)):
        column, (codes, uniques) = columns[position], pd.factorize(values[:, position])
        pairs = {pair for pair in zip(of, codes, strict=True) if pair[1] >= 0}
        if len(pairs) > len({group for group, _ in pairs}):
            examples = sorted(map(str, uniques))[:6]
            raise AmbiguousError(
                f"the filter fits samples of several {column} ({', '.join(examples)}): "
                f"name one of them, or group over {column}"
            )


def _by_block(
    counted: Mapping[str, Floats],
    block: Floats,
    order: Floats,
    of: NDArray[np.intp],
    groups: int,
    quantity: Quantity,
) -> pd.DataFrame:
    """Return values by block and group, of samples: phases summed, sizes taken once."""
    # In numpy: of small tables pandas takes most of the time for its own objects.
    # A phase without the count must not look like a phase that counted nothing.
    added = [column for column in quantity.columns if column not in PER_SAMPLE]
    lacking = np.zeros(len(of), dtype=bool)
    for column in added:
        lacking |= np.isnan(counted[column])
    whole = np.flatnonzero(~lacking)
    if not len(whole):
        raise MissingError(f"{', '.join(quantity.columns)} was not counted in these records")
    blocks, row = np.unique(block[whole], return_inverse=True)
    cell, turn = row * groups + of[whole], np.nan_to_num(order[whole], nan=-1) + 1
    turns = int(turn.max()) + 1  # counts have no order
    samples, sample = np.unique(cell * turns + turn.astype(int), return_inverse=True)
    table: dict[str, Floats] = {}
    for column in quantity.columns:
        values = counted[column][whole]
        if column in added:
            table[column] = np.asarray(np.bincount(sample, values), np.float64)
        else:
            table[column] = np.full(len(samples), np.nan)
            np.fmax.at(table[column], sample, values)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = quantity.compute(table)
    finite = np.isfinite(value)
    cell, value = samples[finite] // turns, value[finite]
    rising = np.lexsort((value, cell))
    cells, first, several = np.unique(cell[rising], return_index=True, return_counts=True)
    low, high = (value[rising][first + at // 2] for at in (several - 1, several))
    medians = np.full(len(blocks) * groups, np.nan)
    medians[cells] = (low + high) / 2
    return pd.DataFrame(medians.reshape(-1, groups), pd.Index(blocks, name="block"))


def _spell(where: Where) -> str:
    return ", ".join(
        f"{column} {' or '.join(map(str, value)) if isinstance(value, list | tuple) else value}"
        for column, value in where.items()
    )
