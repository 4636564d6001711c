"""Records whose labels have the order in which a notebook names them."""

from collections.abc import Iterable, Sequence

import pandas as pd

from ..io import experiment as experiment_io
from ..measure.case import Case


def as_seen(frame: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Return records whose labels have the order of the rows."""
    _require(frame, labels)
    return frame.assign(
        **{name: pd.Categorical(frame[name], list(dict.fromkeys(frame[name]))) for name in labels}
    )


def in_order(frame: pd.DataFrame, cases: Sequence[experiment_io.Case | Case]) -> pd.DataFrame:
    """Return records whose labels have the order of the cases."""
    if frame.empty:
        return frame
    ordered: dict[str, dict[str, None]] = {}
    for case in cases:
        for name, value in case.labels.items():
            ordered.setdefault(name, {})[value] = None
    _require(frame, ordered)
    for name, values in ordered.items():
        if not any(values):  # the phases of a sample say it, such as the place of each of its reads
            continue
        if unknown := set(frame[name]) - set(values):
            raise ValueError(
                f"the records have {name} {', '.join(sorted(unknown))}, which this notebook has "
                "not: they were measured by another version of it"
            )
        frame = frame.assign(**{name: pd.Categorical(frame[name], list(values))})
    return frame


def _require(frame: pd.DataFrame, labels: Iterable[str]) -> None:
    for name in labels:
        if name not in frame:
            raise ValueError(
                f"these records have no label {name!r}: they were made by an earlier release; "
                "measure again with `hyperslab run`"
            )
