"""The same reads from several places: timed, or by the model of a link; and which to choose."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from ..network import Link
from ..text import exact
from . import cost
from .compare import compare

LABELS = ("read", "layout", "reader")
INDEX = ("place", *LABELS)
_WHERE = ["place", "read"]
READS = ("ocean series", "ocean map", "temperature series", "temperature map")
DELAY, LINK, STATED, DISK = "a delay alone", "100 Mbit/s", "100 kB/s", "this machine's disk"
STORES = {"s3": "S3 server here", "endpoint": "S3 of others", "endpoint-here": "S3 on this machine"}
# Of the page on links: the link of each place, and its experiments; the first says what is moved.
LINKS: Mapping[str, tuple[float, Sequence[str]]] = {
    DELAY: (math.inf, ("delay", "delay-today")),
    LINK: (12.5e6, ("observed", "observed-today")),
    STATED: (1e5, ("stated",)),
}
LOCAL, STORED = ("reads", "others"), ("s3", "s3-today")
EXPERIMENTS = (*LOCAL, *(name for _, names in LINKS.values() for name in names), *STORED)
"""Whose times are gathered."""


def everywhere(records: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the seconds of each read, opening included, from each place that a page measured."""
    tables: list[pd.DataFrame] = []
    if "penard_local" in records:
        warm = records["penard_local"].query("cache_state == 'warm'")
        tables += _timed(DISK, warm, LOCAL)
    if "penard_link" in records:
        tables += _linked(records["penard_link"])
    if "penard_s3" in records:
        stored = records["penard_s3"]
        place = STORES[str(stored[stored["experiment"] == "s3"]["link"].iloc[0])]
        tables += _timed(place, stored, STORED)
    table = pd.concat(tables)
    table = table[~table.index.duplicated()]
    order = {name: n for n, name in enumerate((*table.index.unique("place"), *READS))}
    keys = [(order[place], order[read]) for place, read, *_ in table.index]
    return table.iloc[sorted(range(len(keys)), key=keys.__getitem__)]


def links(records: pd.DataFrame) -> dict[str, Link]:
    """Return the links of the page on them that have a rate, by place."""
    delay_s = float(records["latency_s"].max())  # alone, the delay may be shorter
    rates = {place: rate for place, (rate, _) in LINKS.items() if math.isfinite(rate)}
    return {place: Link(rate, delay_s) for place, rate in rates.items()}


def off(table: pd.DataFrame, records: pd.DataFrame) -> "pd.Series[float]":
    """Return how far the model is from what was timed over links with a rate, as a share of it."""
    model = pd.concat(_modelled(records))["value"]
    timed = table[table["timed"]]["value"]
    both = model.index.intersection(timed.index)
    return pd.Series([model[at].value / timed[at].value - 1 for at in both], both, dtype="f8").abs()


def chosen(
    table: pd.DataFrame, remedies: Mapping[tuple[str, str], str], near: float
) -> pd.DataFrame:
    """Return how remedies compare, and the one of least work that is near the quickest."""
    # Remedies are by layout and reader, those of the least work first; `near` is so many times as
    # long as the quickest.
    mine = table[[(layout, reader) in remedies for _, _, layout, reader in table.index]]
    work = {remedy: number for number, remedy in enumerate(dict.fromkeys(remedies.values()))}
    pairs = list(remedies)
    keys = [pairs.index((layout, reader)) for _, _, layout, reader in mine.index]
    groups = mine.groupby(level=_WHERE, sort=False).ngroup().to_numpy()
    mine = mine.iloc[np.lexsort((np.array(keys), groups))]
    seconds = mine["value"].map(lambda interval: interval.value)
    names = [remedies[layout, reader] for _, _, layout, reader in mine.index]
    least = seconds.groupby(level=_WHERE, sort=False).transform("min")
    choices = mine.assign(remedy=names, times=seconds / least, best=seconds == least, chosen=False)
    choices["work"] = [work[remedy] for remedy in names]
    order = choices[choices["times"] <= near].sort_values(["work", "times"], kind="stable")
    first = order.groupby(level=_WHERE).head(1)
    at_place, at_read = (
        choices["work"].groupby(level=keys).agg(set).to_dict() for keys in (["place"], _WHERE)
    )
    known = [  # not where less work may have been enough
        {less for less in at_place[place] if less < needed} <= at_read[place, read]
        for (place, read, *_), needed in zip(first.index, first["work"], strict=True)
    ]
    choices.loc[first.index[known], "chosen"] = True
    return choices.drop(columns="work")


def rank(table: pd.DataFrame) -> "pd.Series[float]":
    """Return the rank of each read that is ranked, among those of its place; 1 is the fastest."""
    seconds = table[table["ranked"]]["value"].map(lambda interval: interval.value)
    return seconds.groupby(level=_WHERE, sort=False).rank()


def _linked(records: pd.DataFrame) -> list[pd.DataFrame]:
    timed = pd.concat(
        [each for place, (_, of) in LINKS.items() for each in _timed(place, records, of)]
    )
    model = pd.concat(_modelled(records))
    both = pd.concat([timed, model[~model.index.isin(timed.index)]])
    return [both[both.index.get_level_values("place") == place] for place in LINKS]


def _modelled(records: pd.DataFrame) -> list[pd.DataFrame]:
    moved = cost.moved(records[records["experiment"].isin(LINKS[DELAY][1])], LABELS)
    return [
        _placed(place, pd.DataFrame({"value": cost.seconds(moved, link).map(exact)}), timed=False)
        for place, link in links(records).items()
    ]


def _timed(place: str, records: pd.DataFrame, experiments: Sequence[str]) -> Iterator[pd.DataFrame]:
    for experiment in experiments:
        rows = records[records["experiment"] == experiment]
        if rows.empty:
            continue
        table = compare(rows, "wall_s", by=LABELS, phases=cost.PHASES)[["value"]]
        table = table[[value.n > 0 for value in table["value"]]]
        # The document ranks the reads of the first experiment.
        ranked = experiment == experiments[0] and place not in (DELAY, STATED)
        yield _placed(place, table, timed=True, ranked=ranked)


def _placed(place: str, table: pd.DataFrame, *, timed: bool, ranked: bool = False) -> pd.DataFrame:
    ours = table.index.get_level_values("reader").astype(str).str.startswith("subchunk")
    table = table.assign(timed=timed, ranked=ranked & ~ours)
    return pd.concat({place: table}, names=["place"]).rename_axis(list(INDEX))
