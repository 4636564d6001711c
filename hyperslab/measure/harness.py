"""Measure cases in randomised interleaved blocks, each sample in a fresh process."""

import errno
import hashlib
import json
import os
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tqdm import tqdm

from ..text import ENOUGH
from .case import Case
from .cold import files_of, remove
from .counters import machine_cpu_s, tree_cpu_s
from .journal import Journal, Rows
from .lock import measuring
from .machine import require_space
from .noise import judge
from .processes import GONE, Processes
from .records import COLUMNS, DISCARDED, frame_of
from .worker import Job, Outcome, cores, is_full

MIN_SAMPLES = 3  # what a slow case gets even when its share of time is over
MOST_COPIED = 4 * 2**30
"""Bytes of a file up to which each block has a copy of its own."""
_NO_ROOM = os.strerror(errno.ENOSPC)
RETAKES = 2
"""How often a disturbed sample is measured again, where times are to be judged."""
BUSY = 1 / 3
"""The share of disturbed samples in a block above which none is measured again: the machine is
busy, and further tries would be disturbed too."""


@dataclass(frozen=True)
class Plan:
    """How cases are measured; which case is the quicker decides nothing here."""

    blocks: int = 7  # in each of which all cases come once, in a new order
    seed: int = 0  # of the orders
    cell_s: float = float("inf")  # what one case may take; it gets `MIN_SAMPLES` all the same
    timeout_s: float = 600.0  # after which one sample is ended
    sweeps: bool = True  # put memory in place for a read, and fill the last cache before a warm one
    retakes: int = 0  # how often a block's few samples that were disturbed are measured again
    half_width: float = 0.0  # the target: half the width of an interval, relative to the time
    extra_s: float = 0.0  # what blocks beyond `blocks` may take, where the target is not met
    # A server of processes and copies of the files for each block: by the places of both in memory
    # a warm read is up to a tenth quicker or slower, and blocks that share them agree too well. Of
    # twelve blocks or more two share the files of cold reads (book/methods.md says why).
    fresh: bool = False

    def __post_init__(self) -> None:
        if self.blocks < 1:
            raise ValueError(f"blocks is {self.blocks}: give at least 1, or 7 for usable intervals")


def measure(
    experiment: str,
    cases: Sequence[Case],
    plan: Plan,
    journal: Journal,
    processes: Processes,
    *,
    scratch: Path | None = None,
    scratch_bytes: int = 0,
) -> Rows:
    """Measure cases and return one mapping of record columns per sample and phase.

    Parameters
    ----------
    experiment : str
        Its name in the records.
    cases : sequence of Case
        At least one with ``aa=True`` for each cache state that occurs.
    plan : Plan
    journal : Journal
        Finished blocks are taken from it, and added to it.
    processes : Processes
    scratch : Path
        The folder that the cases write to.
    scratch_bytes : int
        Free bytes the cases need there.

    Raises
    ------
    ValueError
        When names repeat, or a cache state has no A/A case.
    OSError
        When the disk lacks room, before anything is measured, or is full when a sample fails.
    BusyError
        When another run is measuring on this machine.
    RuntimeError
        When a server that all samples need is gone; finished blocks are kept.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from hyperslab.measure.worker import run_nothing
    >>> journal = Journal(pathlib.Path(tempfile.mkdtemp(), "j"), {}, "run")
    >>> with Processes() as processes:
    ...     cases = [Case("a", run_nothing, aa=True)]
    ...     rows = measure("e", cases, Plan(blocks=2), journal, processes)
    >>> sorted((row["block"], row["aa"]) for row in rows)
    [(0, 'A'), (0, 'B'), (1, 'A'), (1, 'B')]
    """
    _check(experiment, cases)
    if scratch is not None:
        require_space(scratch, scratch_bytes)
    entries = [(case, aa) for case in cases for aa in ("AB" if case.aa else ("",))]
    key = _plan_key(experiment, cases, plan)
    blocks = dict(journal.blocks(experiment, key))
    past = _Past(blocks)
    if next(_todo(plan, blocks, entries, past), None) is not None:
        bar = tqdm(
            total=len(entries) * plan.blocks,
            initial=len(entries) * len(blocks),
            desc=experiment,
            unit="sample",
            mininterval=1,
            disable=None,  # where nobody looks
        )
        resumed = frozenset(blocks)  # of a run that was ended, whose files are gone
        with measuring(), bar:
            for block in _todo(plan, blocks, entries, past):
                wanted = [case for case, aa in entries if past.wants(case, aa, block, plan)]
                if plan.fresh:
                    processes.turn_to(block)
                    # The first, too: what was just written is read quicker.
                    second = block % 2 == 1 and block - 1 not in resumed
                    _copy_afresh([case for case in wanted if not (second and _shares(case, plan))])
                # Commands use nothing that servers import.
                if any(callable(case.run) for case in wanted):
                    processes.start(range(block, plan.blocks) if plan.fresh else ())
                blocks[block] = _block(block, entries, plan, processes, past, bar, scratch)
                if any(row["status"] == "ok" for row in blocks[block]) or not blocks[block]:
                    journal.add(experiment, key, block, blocks[block])
                # Else it is not finished: the next run measures it again.
    return [row | {"experiment": experiment} for block in sorted(blocks) for row in blocks[block]]


def _todo(
    plan: Plan, blocks: Mapping[int, Rows], entries: Sequence[tuple[Case, str]], past: "_Past"
) -> Iterator[int]:
    """Yield the blocks that are not there yet, then more while times are known too little."""
    yield from (block for block in range(plan.blocks) if block not in blocks)
    if plan.blocks < ENOUGH:
        return
    spent_s = 0.0
    for block in range(plan.blocks, 2 * plan.blocks):
        going_on = {
            (case.name, case.cache_state, aa)
            for case, aa in entries
            if past.wants(case, aa, block, plan)
        }
        rows = [
            row
            for block_rows in blocks.values()
            for row in block_rows
            if (row["case"], row["cache_state"], row["aa"]) in going_on
        ]
        if not rows:
            return
        tries = {(row["block"], row["order"]): row["elapsed_s"] for row in rows}
        each_s = sum(tries.values()) / len({row["block"] for row in rows})
        if spent_s + each_s > plan.extra_s:
            return
        labels = {name for row in rows for name in row} - set(COLUMNS)
        noises = judge(frame_of(rows, labels), widths=True)
        if not any(item.half_width > plan.half_width for item in noises):
            return
        began = time.monotonic()
        if block not in blocks:
            yield block  # which costs all that happens until the next is asked for, copies included
            each_s = time.monotonic() - began
        spent_s += each_s


def _shares(case: Case, plan: Plan) -> bool:
    """Whether two blocks read one copy of a case's files: six copies are left."""
    many = min(case.most_blocks or plan.blocks, plan.blocks) >= 2 * ENOUGH
    return many and case.cache_state == "cold"


def _copy_afresh(cases: Sequence[Case]) -> None:
    """Put copies in the place of the files that cases read."""
    for path in sorted({Path(path).resolve() for case in cases for path in case.files}):
        copy, old = (path.with_name(f".{word}-{path.name}") for word in ("copy", "old"))
        for left in (copy, old):  # by a run that was killed
            remove(left)
        if path.exists() and sum(f.stat().st_size for f in files_of(path)) <= MOST_COPIED:
            try:
                (shutil.copytree if path.is_dir() else shutil.copy2)(path, copy)
                if path.is_dir():
                    path.rename(old)
                copy.replace(path)
            finally:
                for left in (copy, old):
                    remove(left)
            for file in files_of(path):  # else it is written to disk while samples run
                with file.open("rb") as handle:
                    os.fsync(handle.fileno())


@dataclass(eq=False)
class _Sample:
    """A case under one of its labels in a block, and what came of it."""

    case: Case
    aa: str
    order: int
    tries: list[Outcome] = field(default_factory=list)  # the first counts; none if it is left out
    elapsed_s: float = 0.0  # of what was tried first

    def take(self, outcome: Outcome) -> None:
        """Keep the outcome of a try; one that is lost takes no sample away."""
        self.tries.append(outcome)
        if outcome.status == "ok":
            self.tries[0], self.tries[-1] = outcome, self.tries[0]

    def rows(self) -> Rows:
        labelled = zip([self.aa, *[DISCARDED] * len(self.tries)], self.tries, strict=False)
        return [
            {
                "case": self.case.name,
                "cache_state": self.case.cache_state,
                "aa": aa,
                "order": self.order,
                "retaken": len(self.tries) - 1,
                "verified": outcome.verified,
                "status": aa if (aa, outcome.status) == (DISCARDED, "ok") else outcome.status,
                "pace_s": outcome.testimony.pace_s,
                "lasted_s": outcome.testimony.lasted_s,
                "reclaimed_bytes": outcome.testimony.reclaimed_bytes,
                "elapsed_s": self.elapsed_s,
                **self.case.columns,
                **self.case.labels,
                **phase,
            }
            for aa, outcome in labelled
            for phase in outcome.rows or [{"phase": "lost"}]
        ]


class _Past:
    """What a run has done so far: the seconds of each case and label, and witnesses."""

    def __init__(self, done: Mapping[int, Rows]) -> None:
        self.spent: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        self.paces: list[float] = []
        self.lasted: defaultdict[str, list[float]] = defaultdict(list)
        for rows in done.values():
            tries = {(row["order"], row["aa"], row["pace_s"], row["lasted_s"]): row for row in rows}
            for row in tries.values():
                label = ", ".join(filter(None, (row["case"], row["cache_state"])))
                self.hear(label, row["pace_s"], row["lasted_s"])
                if row["aa"] != DISCARDED:
                    self.spent[label, row["aa"]].append(row["elapsed_s"])

    def hear(self, label: str, pace_s: float, lasted_s: float) -> None:
        self.paces.append(pace_s)
        if lasted_s == lasted_s:  # of a sample that was lost nothing is known
            self.lasted[label].append(lasted_s)

    def wants(self, case: Case, aa: str, block: int, plan: Plan) -> bool:
        """Whether a case is measured in this block: it has time left, or too few samples."""
        spent = self.spent[case.label, aa]
        over = len(spent) >= MIN_SAMPLES and sum(spent) >= plan.cell_s
        return not over and not 0 < case.most_blocks <= block

    def against(self, sample: _Sample) -> bool:
        """Whether a sample that counts was disturbed; one that was lost stays to be seen."""
        if not sample.tries or sample.tries[0].status != "ok":
            return False
        return sample.tries[0].testimony.against(self.paces, self.lasted[sample.case.label])


def _block(
    block: int,
    entries: Sequence[tuple[Case, str]],
    plan: Plan,
    processes: Processes,
    past: _Past,
    bar: "tqdm[object]",
    scratch: Path | None,
) -> Rows:
    """Measure all cases once in a new order, then again what was disturbed."""
    shuffle = np.random.default_rng([plan.seed, block])
    shuffled = [int(index) for index in shuffle.permutation(len(entries))]
    samples = [_Sample(*entries[index], order) for order, index in enumerate(shuffled)]
    waiting = samples
    began, machine_s, own_s, forked = time.monotonic(), machine_cpu_s(), tree_cpu_s(), 0.0
    for again in range(1 + plan.retakes):
        for sample in waiting:
            if again or past.wants(sample.case, sample.aa, block, plan):
                start = time.monotonic()
                outcome = processes.run(Job(sample.case, plan.timeout_s, plan.sweeps, scratch))
                _require_more(sample.case, outcome, scratch)
                if not again:  # what is taken again shortens no case's share
                    sample.elapsed_s = time.monotonic() - start
                    past.spent[sample.case.label, sample.aa].append(sample.elapsed_s)
                testimony = outcome.testimony
                past.hear(sample.case.label, testimony.pace_s, testimony.lasted_s)
                forked += outcome.cpu_s  # a spawned one's own is charged to this process at its end
                sample.take(outcome)
            if not again:
                bar.update()
        disturbed = [sample for sample in samples if past.against(sample)]
        if len(disturbed) > max(1, BUSY * sum(bool(sample.tries) for sample in samples)):
            break
        waiting = [disturbed[index] for index in shuffle.permutation(len(disturbed))]
    elapsed_s = time.monotonic() - began
    others_s = machine_cpu_s() - machine_s - (tree_cpu_s() - own_s + forked)
    others = np.maximum(others_s, 0.0) / (elapsed_s * cores())  # NaN where nobody counts it
    return [
        row
        | {"block": block, "others_cpu": float(others), "disturbed": sample in disturbed}
        | ({"draw": block} if plan.fresh else {})
        for sample in samples
        for row in sample.rows()
    ]


def _require_more(case: Case, outcome: Outcome, scratch: Path | None) -> None:
    """Raise an error where a sample failed by what further ones would fail by too."""
    why = f"{case.label}: {outcome.status}: finished blocks are kept"
    if outcome.status.startswith(GONE):
        raise RuntimeError(why)
    if outcome.status != "ok" and (_NO_ROOM in outcome.status or is_full(scratch)):
        raise OSError(errno.ENOSPC, f"the disk is full: {why}")


def _check(experiment: str, cases: Sequence[Case]) -> None:
    repeated = [name for name, n in Counter(case.label for case in cases).items() if n > 1]
    if repeated:
        raise ValueError(f"{experiment}: cases named twice: {', '.join(repeated)}")
    states = {case.cache_state for case in cases}
    if bare := states - {case.cache_state for case in cases if case.aa}:
        raise ValueError(
            f"{experiment}: no A/A pair for the cache states {sorted(bare)}: set aa=True on one "
            "case of each, so that the records show what noise alone does"
        )


def _plan_key(experiment: str, cases: Sequence[Case], plan: Plan) -> str:
    """Return a key of all that a block depends on; more blocks may be added to a plan."""
    described = [
        [case.label, case.aa, case.most_blocks, *sorted(map(str, case.columns.items()))]
        for case in cases
    ]
    text = json.dumps([experiment, described, plan.seed, plan.cell_s, plan.retakes, plan.fresh])
    return hashlib.sha256(text.encode()).hexdigest()[:16]
