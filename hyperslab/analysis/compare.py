"""Compare what was measured by labels: intervals, and ratios paired by block."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..measure.stats import geometric_mean_ratio, median_interval, middle_eight, paired_ratio
from ..text import Interval, exact
from .cells import MissingError, cells, in_order, select
from .quantities import MORE_IS_BETTER, Quantity, quantity

UNKNOWN = Interval(float("nan"), float("nan"), float("nan"), 0)


def compare(
    records: pd.DataFrame,
    value: str,
    by: str | Sequence[str],
    *,
    against: Mapping[str, str] | None = None,
    phases: Sequence[str] = (),
    per: str = "",
    over: str = "",
    **where: object,
) -> pd.DataFrame:
    """Return a quantity by labels, and its ratio to that of others.

    Parameters
    ----------
    records : pandas.DataFrame
        Of one experiment, with labels as columns.
    value : str
        Name of a quantity, such as "wall_s" (seconds), "rate" or "rchar" (bytes asked for), or a
        column of the records that says a number of each sample, such as "points".
    by : str or sequence of str
        Labels that make the rows. All others must be the same in what is compared.
    against : mapping of str to str, optional
        What each row is compared with: the one whose labels are these, and else its own.
    phases : sequence of str
        Phases of a sample that are summed; all if none is given.
    per : str
        A column whose number the quantity is divided by, such as "predicted_reads".
    over : str
        A label over whose values means are taken: in each block, and the geometric mean of the
        ratios, over what both have in common.
    **where
        Labels or other columns that are chosen: one value, or a list.

    Returns
    -------
    pandas.DataFrame
        A row for each combination of `by` that the experiment has, in the order of its cases.
        `value` is an `Interval`: without width where something counted was the same in all blocks.
        `mean8` is the mean without best and worst, and `blocks` has the value of each block, for
        other statistics of a document. With `against`, `ratio` is an interval too: above one it is
        in favour of the row, as quicker, fewer, or at a higher rate. What was not measured is NaN,
        of no blocks, and so is a ratio to it. Of no records the table is empty.

    Raises
    ------
    KeyError
        When the records have no such column, or nothing has the labels `against`.

    Examples
    --------
    >>> from hyperslab.measure.records import frame_of
    >>> rows = [
    ...     {"layout": layout, "block": block, "wall_s": s * (1 + block), "status": "ok",
    ...      "run_id": "r", "phase": "read"}
    ...     for layout, s in (("rows", 0.4), ("columns", 0.1)) for block in range(6)
    ... ]
    >>> table = compare(frame_of(rows, ["layout"]), "wall_s", "layout", against={"layout": "rows"})
    >>> f"{table.ratio['columns']:faster}", f"{table.value['rows']:s}"
    ('4 × faster', '1.4 s [0.4, 2.4]')
    """
    names = [by] if isinstance(by, str) else list(by)
    columns = ["value", "mean8", "blocks"] + ["ratio"] * (against is not None)
    if records.empty:
        index = pd.MultiIndex.from_arrays([[]] * len(names), names=names)
        return pd.DataFrame(columns=columns, index=index if names[1:] else index.levels[0])
    for name in (*names, *where):
        if name not in records:
            raise KeyError(
                f"the records have no column {name!r}: they have {', '.join(map(str, records))}"
            )
    chosen = in_order(select(records, where)[names], names)
    keys = list(dict.fromkeys(chosen.itertuples(index=False, name=None)))
    wanted = quantity(value, per)
    blocks = {key: _blocks(records, wanted, key, names, phases, where, over) for key in keys}
    rows, met = [], against is None
    for key in keys:
        own = blocks[key].mean(axis=1)
        row = {"value": _interval(own, wanted), "mean8": _middle(own), "blocks": own}
        if against is not None:
            other = tuple({**dict(zip(names, key, strict=True)), **against}[name] for name in names)
            row["ratio"] = _ratio(blocks[other], blocks[key], value) if other in blocks else UNKNOWN
            met |= other in blocks
        rows.append(row)
    if not met:
        raise KeyError(f"nothing has the labels {against}: there are {keys}")
    single = pd.Index([key[0] for key in keys], name=names[0]) if len(names) == 1 else None
    index = pd.MultiIndex.from_tuples(keys, names=names) if single is None else single
    return pd.DataFrame(rows, index=index, columns=columns)


def _blocks(
    records: pd.DataFrame,
    wanted: Quantity,
    key: tuple[Any, ...],
    names: Sequence[str],
    phases: Sequence[str],
    where: Mapping[str, object],
    over: str,
) -> pd.DataFrame:
    chosen = {**where, **dict(zip(names, key, strict=True))}
    try:
        return cells(records, chosen, wanted, phases, [over] if over else []).table.dropna()
    except MissingError:
        return pd.DataFrame(dtype="f8")


def _interval(blocks: "pd.Series[float]", wanted: Quantity) -> Interval:
    if not wanted.timed and blocks.nunique() == 1:
        return exact(float(blocks.iloc[0]))
    return median_interval(blocks.to_numpy()) if len(blocks) else UNKNOWN


def _middle(blocks: "pd.Series[float]") -> float:
    return middle_eight(blocks.to_numpy()) if len(blocks) > 2 else float("nan")


def _ratio(base: pd.DataFrame, own: pd.DataFrame, value: str) -> Interval:
    groups = base.columns.intersection(own.columns, sort=False)
    blocks = base.index.intersection(own.index)
    if not len(groups) or not len(blocks):
        return UNKNOWN
    sides = [base, own] if value not in MORE_IS_BETTER else [own, base]
    first, second = (side.loc[blocks, groups].to_numpy("f8").T for side in sides)
    pairs = list(zip(first, second, strict=True))
    return geometric_mean_ratio(pairs) if len(pairs) > 1 else paired_ratio(*pairs[0])
