"""Show that two checkouts measure the same: counts of whole runs, and times in alternating blocks.

    python tools/measurement.py counts OLD_RECORDS NEW_RECORDS
    python tools/measurement.py times OLD NEW NOTEBOOK [--profile smoke] [--blocks 12] [--cases 8]

Counts are compared for each case and phase, over folders of records of one profile. Times: each
checkout runs the notebook's measuring cells up to each experiment, and there its samples, by turns
with the other's; the packages are those of the Python that runs this. Each has files of its own,
and where they lie on the disk and in memory counts too: hold the ratios against those of a checkout
and its own clone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from hyperslab.measure.lock import measuring
from hyperslab.measure.records import load
from hyperslab.measure.stats import median_interval

KEYS = ["experiment", "case", "cache_state", "phase"]
COUNTS = [
    "rchar", "syscr", "wchar", "syscw", "requests", "connections", "wire_bytes", "stages",
    "useful_bytes", "file_bytes", "predicted_bytes", "predicted_reads", "chunk_bytes", "points",
]  # fmt: skip
BOUNDS = 0.97, 1.03
# Run in each checkout: it serves samples of the notebook's cases over its pipes.
DRIVER = """
import json, sys
from pathlib import Path
import hyperslab.study.session as session
from hyperslab.measure.worker import Job
notebook, profile, workdir = sys.argv[1:]
pipe, sys.stdout = sys.stdout, sys.stderr
real = session.measure
def tell(value):
    print(json.dumps(value, default=str), file=pipe, flush=True)
def served(experiment, cases, plan, journal, processes, **how):
    processes.start()
    tell([experiment, [case.label for case in cases]])
    for line in sys.stdin:
        number = json.loads(line)
        if number < 0:
            break
        job = Job(cases[number], plan.timeout_s, sweeps=plan.sweeps)
        outcome = processes.run(job)
        tell([outcome.status, {row["phase"]: row["wall_s"] for row in outcome.rows}])
    else:
        sys.exit("nobody asks any more")
    return real(experiment, cases, plan, journal, processes, **how)
session.measure = served
scope = {"__name__": "__main__"}
cells = json.loads(Path("notebooks", f"{notebook}.ipynb").read_text())["cells"]
code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
last = max(number for number, cell in enumerate(code) if "run.measure(" in cell)
for number, cell in enumerate(code[: last + 1]):
    exec(cell, scope)
    if number == 0:
        scope |= {"profile": profile, "workdir": workdir, "repeats": 1}
tell(None)
"""


def counts(old: Path, new: Path) -> int:
    """Print each case whose counts differ; return how many do."""
    compared = differing = 0
    for path in sorted(old.glob("*.parquet")):
        if not (new / path.name).exists():
            print(f"{path.name} is in {old} alone")
            differing += 1
            continue
        before, after = (_seen(load(folder / path.name)) for folder in (old, new))
        for key in sorted({*before, *after}):
            compared += 1
            if before.get(key) != after.get(key):
                differing += 1
                print(f"{path.stem} {' '.join(key)}: {before.get(key)} became {after.get(key)}")
    print(f"{compared} cases and phases compared, {differing} differ")
    return differing


def _seen(frame: pd.DataFrame) -> dict[tuple[str, ...], dict[str, list[float]]]:
    """What each count came to, over all blocks, for each case and phase."""
    held = [name for name in COUNTS if name in frame]
    return {
        key: {name: sorted(set(rows[name].dropna())) for name in held if rows[name].notna().any()}
        for key, rows in frame[frame["status"] == "ok"].groupby(KEYS)
    }


class Checkout:
    """A checkout whose notebook is being run, up to an experiment."""

    def __init__(self, folder: Path, notebook: str, profile: str, workdir: str) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-c", DRIVER, notebook, profile, workdir],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder)},
        )  # fmt: skip
        assert self._child.stdin and self._child.stdout
        self._into, self._out = self._child.stdin, self._child.stdout

    def hear(self) -> list:
        """Wait for what it says next."""
        line = self._out.readline()
        if not line:
            raise RuntimeError(f"the notebook failed with code {self._child.wait()}")
        return json.loads(line)

    def ask(self, number: int) -> list:
        """Let it run a case once."""
        self.tell(number)
        return self.hear()

    def tell(self, number: int) -> None:
        """Send it a case's number, or -1 to go on to the next experiment."""
        print(number, file=self._into, flush=True)


def times(folders: list[Path], notebook: str, profile: str, blocks: int, most: int) -> int:
    """Print the paired ratio of each case's time; return how many lie outside the bounds."""
    outside, rng = 0, random.Random(0)
    with measuring(), tempfile.TemporaryDirectory() as work:  # both inherit the lock
        pair = [
            Checkout(folder.resolve(), notebook, profile, f"{work}/{number}")
            for number, folder in enumerate(folders)
        ]
        while all(heard := [checkout.hear() for checkout in pair]):
            experiment, labels = heard[0][0], [message[1] for message in heard]
            shared = [name for name in labels[0] if name in labels[1]]
            print(
                f"{experiment}: {len(labels[0])} and {len(labels[1])} cases, {len(shared)} shared"
            )
            for label in rng.sample(shared, min(most, len(shared))):
                spent = []
                for _ in range(blocks):
                    got = {}
                    for turn in rng.sample((0, 1), 2):
                        status, got[turn] = pair[turn].ask(labels[turn].index(label))
                        assert status == "ok", status
                    spent.append(got)
                rest = [phase for phase in got[0] if phase not in ("open", "close")]
                for phases in (["open", "close"], rest):
                    total = [{t: sum(b[t].get(p, 0.0) for p in phases) for t in b} for b in spent]
                    if not all(block[0] for block in total):
                        continue
                    ratio = median_interval(np.array([block[1] / block[0] for block in total]))
                    out = ratio.high < BOUNDS[0] or ratio.low > BOUNDS[1]
                    outside += out
                    text = f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}], n={ratio.n}"
                    middle_s = np.median([block[0] for block in total])
                    print(
                        f"  {label}, {'+'.join(phases)} ({1e3 * middle_s:.2f} ms): new/old {text}"
                        f"{' OUTSIDE' if out else ''}",
                        flush=True,
                    )
            for checkout in pair:
                checkout.tell(-1)
    print(f"{outside} outside {BOUNDS[0]} to {BOUNDS[1]}")
    return outside


def main() -> int:
    """Compare counts or times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    counting = commands.add_parser("counts")
    timing = commands.add_parser("times")
    for command in (counting, timing):
        command.add_argument("old", type=Path)
        command.add_argument("new", type=Path)
    timing.add_argument("notebook")
    timing.add_argument("--profile", default="smoke")
    timing.add_argument("--blocks", type=int, default=12, help="turns of each case (12)")
    timing.add_argument("--cases", type=int, default=8, help="cases of each experiment (8)")
    given = parser.parse_args()
    if given.command == "counts":
        return min(1, counts(given.old, given.new))
    folders = [given.old, given.new]
    return min(1, times(folders, given.notebook, given.profile, given.blocks, given.cases))


if __name__ == "__main__":
    sys.exit(main())
