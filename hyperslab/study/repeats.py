"""How well runs of one machine repeat each other: estimates, intervals and verdicts."""

import json
from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import chi2

from ..claims import PartVerdict
from ..claims.bands import HOLDS, REVERSED, UNDECIDED
from ..claims.rules import NO_DIFFERENCE, direction, equality
from ..measure.noise import JUDGED, aa_ratios
from ..measure.records import load
from ..measure.stats import RUNS_HALF_WIDTH, paired_ratio
from ..text import ENOUGH, amount
from .machines import Machine, Machines
from .results.add import lasting

ONE_PACE = 0.1
"""How much longer than in the quickest of them the known work may take in runs at one pace."""
_SIMULATED = 1000


def groups(comparison: Machines) -> list[list[Machine]]:
    """Return the runs of a machine, its versions and profile, where there are several, by time."""
    kinds: dict[str, list[Machine]] = {}
    for machine in sorted(comparison.machines, key=lambda machine: min(machine.runs, default="")):
        key = json.dumps(lasting(machine.folder), sort_keys=True)
        kinds.setdefault(key, []).append(machine)
    return [runs for runs in kinds.values() if len(runs) > 1]


def repeats(runs: Sequence[Machine]) -> dict[str, float]:
    """Return what later runs find of what earlier ones found, over all pairs of runs of a group."""
    pairs = list(combinations(runs, 2))
    by_run = [_parts(run) for run in runs]
    both = [
        (part, second[key])
        for first, second in combinations(by_run, 2)
        for key, part in first.items()
        if key in second
    ]
    inside = [first.low <= second.measured <= first.high for first, second in both]
    apart = [second.low > first.high or second.high < first.low for first, second in both]
    keys = dict.fromkeys(key for each in by_run for key in each)
    parts = [[each[key] for each in by_run if key in each] for key in keys]
    spread = [
        np.std([np.log(part.measured) for part in of], ddof=1) / _usual_deviation(len(of))
        for of in parts
        if len(of) > 1
    ]
    shown = [part for of in parts for part in of]
    width = [_by_blocks(part) / _half_width(part.blocks) for part in shown]
    expected, between = float(np.median(width)), float(np.median(spread))
    verdicts = [
        (judgement.verdict, later.judgements[key].verdict)
        for earlier, later in pairs
        for key, judgement in earlier.judgements.items()
    ]
    decided = [old == new for old, new in verdicts if not {old, new} & {*UNDECIDED}]
    same = float(np.mean(decided)) if decided else float("nan")
    return {
        "estimates": len(both),  # of parts of claims that have an interval
        "inside": float(np.mean(inside)),  # share of later ones inside of the earlier interval
        "apart": float(np.mean(apart)),  # share of intervals that are apart
        # medians, over parts, of the standard deviation of logarithms
        "expected": expected,  # that the blocks of a run show
        "between": between,  # between the runs
        "alone": max(between**2 - expected**2, 0.0) ** 0.5,  # of that, what no block shows
        "decided": len(decided) / len(pairs),  # verdicts that both of two runs decided
        "same": same,  # share of these
        "wrong": (1 - same) / 2 * len(decided) / len(pairs),  # of a run's verdicts, at least
    }


def _by_blocks(part: PartVerdict) -> float:
    """Return half the width that an interval's blocks give it, in logarithms."""
    half = float(np.log(part.high / part.low) / 2)
    # What is narrower was not made wider; of what is no ratio, few, this takes off too much.
    return half if half <= RUNS_HALF_WIDTH else (half**2 - RUNS_HALF_WIDTH**2) ** 0.5


@cache
def _half_width(blocks: int) -> float:
    """Return half the width of an interval of normal noise, in deviations of its estimate."""
    noise = np.exp(np.random.default_rng(0).normal(0, 0.01, (_SIMULATED, blocks)))
    found = [paired_ratio(each, np.ones(blocks)) for each in noise]
    widths = [np.log(ratio.high / ratio.low) / 2 for ratio in found]
    return float(np.median(widths) / np.std([np.log(ratio.value) for ratio in found]))


def _usual_deviation(runs: int) -> float:
    """Return the median of the standard deviation of so many normal values, which is below one."""
    return float(np.sqrt(chi2.median(runs - 1) / (runs - 1)))


def judged_alike(comparison: Machines) -> dict[str, int]:
    """Return how A/A pairs are judged, of all machines, as if each were a claim."""
    paths = [path for run in comparison.machines for path in sorted(run.folder.glob("*.parquet"))]
    frames = (load(path, JUDGED) for path in paths)
    pairs = [frame[frame["aa"].isin(("A", "B")) & frame["wall_s"].notna()] for frame in frames]
    for number, pair in enumerate(pairs):
        pair["experiment"] = f"{number} " + pair["experiment"].astype(str)
    ratios = aa_ratios(pd.concat(pairs)).values() if pairs else ()
    bounds = [(ratio.low, ratio.high) for ratio in ratios if ratio.n >= ENOUGH]
    differs, equals = direction(above=True), equality(NO_DIFFERENCE)
    return {
        "pairs": len(bounds),  # with blocks enough for an interval
        "without": sum(not low <= 1 <= high for low, high in bounds),  # one in their interval
        "different": sum(differs.verdict(*each) in (HOLDS, REVERSED) for each in bounds),
        "same": sum(equals.verdict(*each) == HOLDS for each in bounds),
    }


def table(comparison: Machines) -> pd.DataFrame:
    """Return shares of `repeats` for each group, by its first run, and for its runs at one pace."""
    shares = {
        "inside": "Later estimates inside the earlier interval (%)",
        "apart": "Intervals apart (%)",
        "expected": "Deviation that blocks show (%)",
        "between": "Deviation between runs (%)",
        "alone": "Of that, between runs alone (%)",
        "same": "Verdicts that repeat (%)",
    }

    def row(runs: Sequence[Machine]) -> dict[str, object]:
        statistics, paces = repeats(runs), [run.pace_s for run in runs]
        return {
            "Runs": len(runs),
            "Known work": f"{amount(min(paces), 's')} to {amount(max(paces), 's')}",
            **{head: round(statistics[name], 3) for name, head in shares.items()},
        }

    rows = {}
    for runs in groups(comparison):
        rows[runs[0].name] = row(runs)
        for alike in _at_one_pace(runs):
            if 1 < len(alike) < len(runs):
                rows[f"{alike[0].name}, at one pace"] = row(alike)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("First run")


def _at_one_pace(runs: Sequence[Machine]) -> list[list[Machine]]:
    """Return the runs at each pace, from the quickest on; each in the order that they came in."""
    paces: list[list[Machine]] = []
    known = [run for run in runs if run.pace_s == run.pace_s]
    for run in sorted(known, key=lambda run: run.pace_s):
        if not paces or run.pace_s > (1 + ONE_PACE) * paces[-1][0].pace_s:
            paces.append([])
        paces[-1].append(run)
    return [sorted(alike, key=runs.index) for alike in paces]


def _parts(run: Machine) -> dict[str, PartVerdict]:
    """Return the parts of claims whose times have an interval."""
    return {
        f"{key}/{part.name}": part
        for key, judged in run.judgements.items()
        for part in judged.parts
        if part.timed and part.blocks >= ENOUGH and 0 < part.low < part.high < np.inf
    }
