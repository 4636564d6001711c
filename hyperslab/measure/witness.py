"""Witnesses that a sample was disturbed, whose words do not depend on how long it took.

On a shared host a core may run at half its speed for 10 to 500 ms, which no counter shows but a
known piece of work; and a host may take free memory back from under a read.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SLOW = 1.3
"""How many times its usual the witness takes around a sample that is measured again."""
BRIEF_S = 0.5
"""Of a sample that lasts longer, the moments before and after it say too little; and a host that
takes memory back every few seconds hits most such samples, each of them little."""
RECLAIMED_BYTES = 2**20
"""How much memory may be taken back during a sample that stands."""
USUAL = 0.1
"""The share of a run's witnesses that were quicker than what is taken for usual."""
_LOOPS, _TERMS = 4, 10_000
_RECLAIMED = Path("/sys/module/page_reporting/parameters/reported_kib")


def pace() -> float:
    """Return the seconds of a known piece of work, some 0.1 ms: the quickest of four."""
    times = []
    for _ in range(_LOOPS):
        began = time.perf_counter()
        sum(range(_TERMS))
        times.append(time.perf_counter() - began)
    return min(times)


def reclaimed_bytes() -> float:
    """Return how many bytes of free memory the host has taken back; NaN where nobody counts it."""
    try:
        return 1024.0 * int(_RECLAIMED.read_text())
    except (OSError, ValueError):
        return float("nan")


@dataclass(frozen=True)
class Witness:
    """What the witnesses say of one sample."""

    pace_s: float = float("nan")  # of a known piece of work, the mean of before and after it
    reclaimed_bytes: float = float("nan")  # taken back by the host; NaN where nobody counts it
    lasted_s: float = float("nan")

    def against(self, paces: Sequence[float], lasted: Sequence[float] = ()) -> bool:
        """Return whether a sample was disturbed whose case is brief, by what it `lasted` so far."""
        known_paces = [p for p in paces if p == p]
        usual = np.quantile(known_paces, USUAL) if known_paces else math.inf
        return float(np.median(lasted or [self.lasted_s])) <= BRIEF_S and (
            self.reclaimed_bytes > RECLAIMED_BYTES or self.pace_s > SLOW * float(usual)
        )


@contextmanager
def witnessed(*, alone: bool = True) -> Iterator[Callable[[], Witness]]:
    """Have the witnesses look at the body; what they say is known after it."""
    witness = Witness()
    before, reclaimed, began = pace(), reclaimed_bytes(), time.perf_counter()
    yield lambda: witness
    lasted_s = time.perf_counter() - began
    taken = reclaimed_bytes() - reclaimed
    # Where it is not alone on its core, its own threads slow the piece of work after it.
    witness = Witness((before + pace()) / 2 if alone else before, taken, lasted_s)
