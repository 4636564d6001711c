"""Cells of the records: which samples a measure means, and their value in each block."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..measure.records import is_main, labels_of
from .quantities import PER_SAMPLE, Quantity, with_chunk_length

Where = Mapping[str, object]

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
    run_id: str  # the run they come from

    @property
    def groups(self) -> list[str]:
        """The groups, in the order of the records."""
        return [str(column) for column in self.table.columns]


def select(records: pd.DataFrame, where: Where) -> pd.DataFrame:
    """Return the rows that fit a filter: a column's value, one of a list, or text with one ``*``.

    >>> rows = pd.DataFrame({"case": ["ceil/2", "ceil/3", "floor/2"]})
    >>> list(select(rows, {"case": "ceil/*"})["case"])
    ['ceil/2', 'ceil/3']
    """
    return records[_mask(records, where)]


def in_order(records: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return records in the order of the labels that have one, as `Session.measure` gives them."""
    ordered = [name for name in names if isinstance(records[name].dtype, pd.CategoricalDtype)]
    return records.sort_values(ordered, kind="stable") if ordered else records


def _mask(records: pd.DataFrame, where: Where) -> NDArray[np.bool_]:
    keep = np.ones(len(records), dtype=bool)
    for column, wanted in where.items():
        if column not in records:
            raise MissingError(f"the records have no column {column}")
        values = records[column]
        if isinstance(wanted, list | tuple):
            keep &= values.isin(list(wanted)).to_numpy()
        elif isinstance(wanted, str) and "*" in wanted:
            head, tail = wanted.split("*", 1)
            text = values.astype(str)
            keep &= (text.str.startswith(head) & text.str.endswith(tail)).to_numpy()
        else:
            keep &= (values == wanted).to_numpy(dtype=bool)
    return keep


def cells(
    records: pd.DataFrame,
    where: Where,
    quantity: Quantity,
    phases: Sequence[str] = (),
    over: Sequence[str] = (),
) -> Cells:
    """Return a quantity for each group and block of the samples that fit a filter.

    Phases are summed, all that a sample has if none is named. The values of the columns `over` make
    the groups; of a column with a ``*`` in the filter, the text that it stands for. Refuses what
    fits no usable sample, was not counted here, or fits several configurations that `over` does not
    tell apart.
    """
    usable = _usable(records, where, phases)
    needed = ("block", "order", "run_id", "chunks", *over, *quantity.columns)
    rows = records[[column for column in dict.fromkeys(needed) if column in records]].iloc[usable]
    if "chunk_length" in quantity.columns:
        rows = with_chunk_length(rows)
    lacking = [c for c in quantity.columns if c not in rows or rows[c].isna().all()]
    if lacking:
        raise MissingError(f"{', '.join(lacking)} was not counted in these records")
    of, groups = pd.factorize(_group_keys(rows, where, over))
    _check_identity(records, usable, of, over)
    table = _by_block(rows, of, len(groups), quantity)
    return Cells(table.set_axis(groups, axis=1), str(rows["run_id"].iloc[-1]))


def _usable(records: pd.DataFrame, where: Where, phases: Sequence[str]) -> NDArray[np.intp]:
    """Return which rows count: taking them at each step would copy all their columns."""
    kept = np.flatnonzero(_mask(records, where))
    if not len(kept):
        anyhow = _mask(records, {name: one for name, one in where.items() if name != "profile"})
        if "profile" in where and anyhow.any():
            here = records["profile"][anyhow].iloc[-1]
            needed = _spell({"profile": where["profile"]})
            raise MissingError(f"it takes the {needed}, and these records are of {here}")
        raise MissingError(f"the records hold no sample with {_spell(where)}")
    run, status, phase = (records[name].array for name in ("run_id", "status", "phase"))
    kept = kept[run[kept] == run[kept[-1]]]
    good: NDArray[np.intp] = kept[status[kept] == "ok"]
    if not len(good):
        raise MissingError(str(status[kept[0]]))
    good = good[is_main(records[["aa", "status"]].iloc[good]).to_numpy(dtype=bool)]
    if phases:
        good = good[np.isin(phase[good], list(phases))]
    if not len(good):
        raise MissingError(f"the samples with {_spell(where)} have no phase {' or '.join(phases)}")
    return good


def _group_keys(rows: pd.DataFrame, where: Where, over: Sequence[str]) -> "pd.Series[str]":
    if not over:
        return pd.Series("", index=rows.index)
    parts = []
    for column in over:
        text = rows[column].astype(str)
        pattern = where.get(column)
        if isinstance(pattern, str) and "*" in pattern:
            head, tail = pattern.split("*", 1)
            text = text.str.slice(len(head)).str.removesuffix(tail)
        parts.append(text)
    key = parts[0]
    for part in parts[1:]:
        key = (key + " " + part).str.strip()
    return key


def _check_identity(
    records: pd.DataFrame, usable: NDArray[np.intp], of: NDArray[np.intp], over: Sequence[str]
) -> None:
    labels = labels_of(records)
    # Where labels tell cases apart, the name that is made of them need not.
    identity = [*labels, *(column for column in IDENTITY if not (labels and column == "case"))]
    for column in identity:
        if column in over or column not in records:
            continue
        codes, known = pd.factorize(records[column].array[usable])
        if len(known) < 2:
            continue
        pairs = {pair for pair in zip(of, codes, strict=True) if pair[1] >= 0}
        if len(pairs) > len({group for group, _ in pairs}):
            found = sorted(map(str, known))[:6]
            raise AmbiguousError(
                f"the filter fits samples of several {column} ({', '.join(found)}): "
                f"name one of them, or group over {column}"
            )


def _by_block(
    rows: pd.DataFrame, of: NDArray[np.intp], groups: int, quantity: Quantity
) -> pd.DataFrame:
    """Return values by block and group, of samples: phases summed, sizes taken once.

    In numpy: of small tables pandas takes most of the time for its own objects.
    """
    # A phase without the count must not look like a phase that counted nothing.
    added = [column for column in quantity.columns if column not in PER_SAMPLE]
    whole = rows[added].notna().all(axis=1).to_numpy()
    if not whole.any():
        raise MissingError(f"{', '.join(quantity.columns)} was not counted in these records")
    keys = np.column_stack([rows["block"], rows["order"].fillna(-1), of])  # counts have no order
    samples, sample = np.unique(keys[whole], axis=0, return_inverse=True)
    sample, blocks, group = sample.ravel(), samples[:, 0], samples[:, 2].astype(int)
    table = {}
    for column in quantity.columns:
        values = rows[column].to_numpy("f8")[whole]
        if column in added:
            table[column] = np.bincount(sample, values)
        else:
            table[column] = np.full(len(blocks), np.nan)
            np.fmax.at(table[column], sample, values)
    values = quantity.compute(pd.DataFrame(table)).to_numpy("f8", copy=True)
    values[~np.isfinite(values)] = np.nan
    several = defaultdict(list)
    for block, place, value in zip(blocks, group, values, strict=True):
        several[block, place].append(value)
    names = np.unique(blocks)
    found = np.full((len(names), groups), np.nan)
    for (block, place), those in several.items():
        known = [value for value in those if value == value]
        found[np.searchsorted(names, block), place] = np.median(known) if known else np.nan
    return pd.DataFrame(found, pd.Index(names, name="block"))


def _spell(where: Where) -> str:
    return ", ".join(
        f"{column} {' or '.join(map(str, value)) if isinstance(value, list | tuple) else value}"
        for column, value in where.items()
    )
