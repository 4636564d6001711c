"""Records whose labels have the order in which a notebook names them."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from ..io import experiment as experiment_io
from ..measure.case import Case


def as_seen(frame: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return records whose labels have the order of the rows."""
    return _ordered(frame, {name: frame.get(name, ()) for name in labels})


def in_order(frame: pd.DataFrame, cases: Sequence[experiment_io.Case | Case]) -> pd.DataFrame:
    """Return records whose labels have the order of the cases."""
    orders: dict[str, list[str]] = {}
    for case in cases if len(frame) else ():
        for name, value in case.labels.items():
            orders.setdefault(name, []).append(value)
    return _ordered(frame, orders)


def _ordered(frame: pd.DataFrame, orders: Mapping[str, Iterable[str]]) -> pd.DataFrame:
    for name, values in orders.items():
        if name not in frame:
            raise ValueError(
                f"these records have no label {name!r}: they were made by an earlier release; "
                "measure again with `hyperslab run`"
            )
        order = list(dict.fromkeys(values))
        if not any(order):  # the phases of a sample say it, such as the place of each of its reads
            continue
        if unknown := set(frame[name]) - set(order):
            raise ValueError(
                f"the records have {name} {', '.join(sorted(unknown))}, which this notebook has "
                "not: they were measured by another version of it"
            )
        frame = frame.assign(**{name: pd.Categorical(frame[name], order)})
    return frame
