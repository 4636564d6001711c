"""What a measure found, and what measures share: sides of a comparison, intervals, words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..analysis.cells import Cells, MissingError, cells
from ..analysis.compare import paired, ratio_of
from ..analysis.quantities import quantity as by_name
from ..text import Interval, amount, comparison, listing, number
from .claim_fields import Fields, over, phases, quantity, where
from .reasons import SENTENCES

Words = dict[str, str]
Floats = NDArray[np.float64]

RESAMPLES = 1000
LEVEL = 0.95


@dataclass(frozen=True)
class Measured:
    """What a measure found."""

    value: float  # the estimate
    low: float  # its interval; equal to it for an exact count
    high: float
    n: int  # blocks of a timed measure, of things counted otherwise
    unit: str = ""  # of the three numbers
    timed: bool = False  # whether noise of the machine could have changed it
    run_id: str = ""  # "" for arithmetic on the document alone
    experiments: tuple[str, ...] = ()  # where it comes from, for the A/A pair that goes with it
    cache_states: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)  # what a reason may quote, by name


def side(records: pd.DataFrame, fields: Fields, name: str, value: str = "") -> Cells:
    """Return the values of one side of a measure, by group and block."""
    chosen = by_name(value) if value else quantity(fields)
    return cells(records, where(fields, name), chosen, phases(fields), over(fields))


def as_measured(
    fields: Fields,
    estimate: Interval,
    sources: Sequence[Cells],
    words: Mapping[str, str],
    *,
    unit: str = "",
    timed: bool | None = None,
) -> Measured:
    """Return an estimate with its words, and the run and the experiments that it comes from."""
    used = pd.concat([source.samples for source in sources])
    return Measured(
        estimate.value, estimate.low, estimate.high, estimate.n, unit,
        quantity(fields).timed if timed is None else timed,
        sources[0].run_id,
        tuple(str(name) for name in used["experiment"].unique()),
        tuple(str(name) for name in used["cache_state"].unique()),
        {**described(sources[0].samples), **words},
    )  # fmt: skip


def described(rows: pd.DataFrame) -> Words:
    """Return ranks and sizes of what was measured, as a reason quotes them."""
    ranks = [f"{n:.0f}" for n in sorted(rows["ranks"].dropna().unique())]
    sizes = [str(size).replace("x", " × ") for size in rows["size"].dropna().unique()]
    return {
        "ranks": f"{listing(ranks)} rank{'s' * (ranks != ['1'])}" if ranks else "",
        "size": listing(sizes) if sizes else "",
    }


def typical(cells: Cells, groups: list[str]) -> float:
    """Return the geometric mean over groups of the medians over blocks."""
    return float(np.exp(np.nanmean(np.log(column_medians(cells.table[groups].to_numpy())))))


def shared_groups(of: Cells, to: Cells) -> list[str]:
    """Return the groups that both sides of a comparison have."""
    groups = [group for group in of.groups if group in to.groups]
    if not groups:
        raise MissingError("the two sides of the comparison share no group")
    return groups


def paired_sides(of: Cells, to: Cells) -> tuple[list[tuple[Floats, Floats]], list[str]]:
    groups = shared_groups(of, to)
    pairs = paired(of.table, to.table)
    if not pairs:
        raise MissingError("no block holds all that is compared")
    return pairs, groups


def product_of(cells: Cells, factor: Cells) -> Cells:
    return replace(cells, table=cells.table * factor.table)


def single_group(cells: Cells, name: str) -> Cells:
    """Return one group alone, without its name."""
    return replace(cells, table=cells.table[[name]].set_axis([""], axis=1))


def medians_of(cells: Cells, fewest: int = 2) -> "pd.Series[float]":
    medians = cells.table.median().dropna()
    if len(medians) < fewest:
        raise MissingError(f"the records hold fewer than {fewest} of what is compared")
    return medians


def extreme(medians: "pd.Series[float]", select: object) -> str:
    """Return the group with the smallest median, or with the largest."""
    return str(medians.idxmin() if select == "min" else medians.idxmax())


def one_against_another(
    fields: Fields, cells: Cells, medians: "pd.Series[float]", of: str, to: str, words: Words
) -> Measured:
    pairs, _ = paired_sides(single_group(cells, of), single_group(cells, to))
    estimate = ratio_of(pairs, quantity(fields))
    compared = comparison_words(
        fields, estimate, float(medians[of]), float(medians[to]), list(medians.index)
    )
    return as_measured(fields, estimate, [cells], words | compared)


def comparison_words(
    fields: Fields, estimate: Interval, of: float, to: float, groups: list[str]
) -> Words:
    kind = quantity(fields)
    compared = decided(estimate, of / to, kind.above, kind.below)
    return {"compared": compared, **side_words(of, to, kind.unit, groups)}


def side_words(of: float, to: float, unit: str, groups: Sequence[str]) -> Words:
    """Return the two sides of a comparison, and over how many groups they are taken."""
    return {"of": amount(of, unit), "to": amount(to, unit), "groups": number(len(groups))}


def decided(ratio: Interval, typical: float, above: str, below: str) -> str:
    """Return the ratio in words, and which decides where medians have the other direction."""
    # Ratios within blocks decide: what slows a whole block down is in both sides of them. A reason
    # gives the median of each side too, and these two may come from different blocks.
    if (ratio.value - 1) * (typical - 1) >= 0:
        return comparison(ratio.value, above, below)
    compared = comparison(ratio, above, below)
    return compared if ratio.contains(1) else SENTENCES["other way"].format(compared=compared)


def shared_hits(
    fields: Fields, cells: Cells, inside: "pd.Series[bool]", drawn: NDArray[np.bool_], blocks: int
) -> Measured:
    """Return in what share of the groups something is so; `drawn` says where, in each draw."""
    outside = [str(group) for group in inside.index[~inside.to_numpy(dtype=bool)]]
    hits, groups = number(int(inside.sum())), number(len(inside))
    words = {"hits": hits, "groups": groups, "examples": listing(outside)}
    return as_measured(fields, interval_of(drawn.mean(axis=-1), blocks), [cells], words)


def range_of(cells: Cells, group: str) -> tuple[float, float, float]:
    """Return median, least and most over blocks of one group."""
    values = cells.table[group].dropna()
    if values.empty:
        raise MissingError("the count is missing in every block")
    return float(values.median()), float(values.min()), float(values.max())


def geometric_mean(values: Floats) -> float:
    # A single count stays exact: the round trip through the logarithm would not.
    return float(values[0]) if len(values) == 1 else float(np.exp(np.log(values).mean()))


def exactly(value: float, n: int) -> Interval:
    return Interval(value, value, value, n)


def resampled(fields: Fields, table: pd.DataFrame) -> Floats:
    """Return values by draw, block and group: as measured, then bootstrap samples of blocks."""
    values, blocks = table.to_numpy(), len(table)
    number = RESAMPLES if quantity(fields).timed else 0
    draws = np.random.default_rng(0).integers(0, blocks, (number, blocks), dtype=np.int64)
    samples: Floats = values[np.vstack([np.arange(blocks), draws])]
    return samples


def interval_of(draws: Floats, n: int) -> Interval:
    """Return an estimate and its interval; the first draw is the estimate."""
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="nearest")
    first = float(draws[0])
    return Interval(first, min(float(low), first), max(float(high), first), n)


def column_medians(values: Floats) -> Floats:
    """Return the median over blocks, the last axis but one; NaN where there is no value."""
    ordered = np.sort(values, axis=-2)  # NaN comes last
    last = np.maximum(np.sum(~np.isnan(ordered), axis=-2, keepdims=True) - 1, 0)
    low, high = (np.take_along_axis(ordered, at // 2, axis=-2) for at in (last, last + 1))
    middle: Floats = (low + high).squeeze(-2) / 2
    return middle
