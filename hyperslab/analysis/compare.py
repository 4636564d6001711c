"""Compare what was measured by labels: intervals, and ratios paired by block."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..measure.stats import geometric_mean_ratio, median_interval, middle_eight, over_runs
from ..text import Interval, exact
from .cells import MissingError, cells, in_order, select
from .quantities import MORE_IS_BETTER, Quantity, quantity

UNKNOWN = Interval(float("nan"), float("nan"), float("nan"), 0)
_NOTHING = pd.DataFrame(dtype="f8")
Floats = NDArray[np.float64]


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
    """Return a quantity by labels as intervals, and its ratio to that of the labels `against`."""
    # Above one, a ratio is in favour of the row: quicker, fewer, or at a higher rate; `mean8` is
    # the mean over blocks without best and worst.
    names = [by] if isinstance(by, str) else list(by)
    columns = ["value", "mean8", "blocks"] + ["ratio"] * (against is not None)
    if records.empty:
        return pd.DataFrame(columns=[*names, *columns]).set_index(names)
    for name in (*names, *where):
        if name not in records:
            raise KeyError(
                f"the records have no column {name!r}: they have {', '.join(map(str, records))}"
            )
    recorded = set(records["phase"][records["status"] == "ok"])
    if recorded and phases and recorded.isdisjoint(phases):
        raise KeyError(f"the records have no phase {', '.join(phases)}: they have {recorded}")
    chosen = in_order(select(records, where), names)
    kind = quantity(value, per)
    blocks = _blocks(chosen, kind, names, phases, where, over)
    keys = list(blocks)
    rows, matched = [], against is None
    for key in keys:
        own = blocks[key].mean(axis=1)
        row = {"value": of_blocks(own, kind), "mean8": _middle(own), "blocks": own}
        if against is not None:
            other = tuple({**dict(zip(names, key, strict=True)), **against}[name] for name in names)
            sides = (blocks.get(other, _NOTHING), blocks[key])
            pairs = paired(*(sides[::-1] if value in MORE_IS_BETTER else sides))
            row["ratio"] = ratio_of(pairs, kind)
            matched |= other in blocks
        rows.append(row)
    if not matched:
        raise KeyError(f"nothing has the labels {against}: there are {keys}")
    labels = pd.DataFrame(keys, columns=names)
    return pd.concat([labels, pd.DataFrame(rows, columns=columns)], axis=1).set_index(names)


def _blocks(
    records: pd.DataFrame,
    quantity: Quantity,
    names: Sequence[str],
    phases: Sequence[str],
    where: Mapping[str, object],
    over: str,
) -> dict[tuple[object, ...], pd.DataFrame]:
    """Return the values of each row's blocks, by what is meant over: of a row its latest run."""
    by_labels = records.groupby(list(names), sort=False, observed=True)
    rows = records.assign(row=by_labels.ngroup().astype(str))
    rows = rows[rows["run_id"] == by_labels["run_id"].transform("last")].assign(run_id="")
    try:
        table = cells(rows, where, quantity, phases, ["row", over] if over else ["row"]).table
    except MissingError:
        table = _NOTHING
    positions: dict[str, list[int]] = defaultdict(list)
    for position, column in enumerate(table):
        positions[str(column).partition(" ")[0]].append(position)
    groups = np.array([str(column).partition(" ")[2] for column in table])
    values, frames = table.to_numpy(), {}
    for row, columns in positions.items():  # a frame of pandas' own making takes ten times as long
        whole = ~np.isnan(values[:, columns]).any(axis=1)
        frames[row] = pd.DataFrame(values[whole][:, columns], table.index[whole], groups[columns])
    keys = dict.fromkeys(records[list(names)].itertuples(index=False, name=None))
    return {key: frames.get(str(row), _NOTHING) for row, key in enumerate(keys)}


def of_blocks(blocks: "pd.Series[float]", quantity: Quantity) -> Interval:
    """Return the median over blocks; without width where a count is always the same."""
    if not quantity.timed and blocks.nunique() == 1:
        return exact(float(blocks.iloc[0]))
    return median_interval(blocks.to_numpy()) if len(blocks) else UNKNOWN


def paired(of: pd.DataFrame, to: pd.DataFrame) -> list[tuple[Floats, Floats]]:
    """Return both sides' values for each group of both, over the blocks that have all."""
    groups = [group for group in of.columns if group in to.columns]
    blocks = of.index.intersection(to.index)
    a, b = (
        side.to_numpy(dtype="f8")[
            np.ix_(side.index.get_indexer(blocks), side.columns.get_indexer(pd.Index(groups)))
        ]
        for side in (of, to)
    )
    whole = ~(np.isnan(a) | np.isnan(b)).any(axis=1)
    return [(a[whole, i], b[whole, i]) for i in range(len(groups))] if whole.any() else []


def ratio_of(pairs: Sequence[tuple[Floats, Floats]], quantity: Quantity) -> Interval:
    """Return the ratio of two sides: paired by block, and the geometric mean over groups."""
    found = geometric_mean_ratio(pairs) if pairs else UNKNOWN
    return over_runs(found) if quantity.timed else found


def _middle(blocks: "pd.Series[float]") -> float:
    return middle_eight(blocks.to_numpy()) if len(blocks) > 2 else float("nan")
