"""The sample: a reader's loop over one pattern in one size of buffer, for a while."""

import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom

from ...kernels import kernel
from ...measure.case import Stopwatch
from .files import holds
from .loops import Loop
from .readers import READERS
from .spots import Spots

LONGEST_S = 10.0
"""Seconds of reading after which a sample stops that has no limit of its own."""
BATCH_S = 0.02
FIRST_BYTES, FIRST_READS = 2**20, 16
ENDS = 64
"""Values at either end of a batch's last read that are compared between batches."""
AGAIN_BYTES, AGAIN_READS = 2 * 2**20, 32
"""What each sample reads again, from a place drawn by lot, and compares whole."""


@dataclass(frozen=True)
class ReadBuffers:
    """Read a file in buffers until its end or a limit of time: phases open, read and close.

    The loop runs in batches of about 20 ms, each of which is a lap of one phase; between them the
    time is looked at, and both ends of the batch's last read are compared with the truth, which
    takes less than a tenth of a millisecond. After the last batch its last read is compared
    whole; then the same loop, open still, reads again from a place drawn by lot, untimed, and
    every value is compared. Comparing every read within the loop would need a multiple of the
    time that is measured, and push the data out of the processor's caches. Nothing is
    extrapolated: ``useful_bytes`` and ``stages``, the number of reads, are of what was read.
    ``peak_bytes`` is the most memory that the process has had until then.

    Parameters
    ----------
    path : Path
    reader : str
        One of `READERS`.
    spots : Spots
    limit_s : float
        Seconds of reading after which no batch is begun.
    least : int
        Reads that are made however long they take, as far as the file has them.
    """

    path: Path
    reader: str
    spots: Spots
    limit_s: float
    least: int = 1

    def __call__(self, watch: Stopwatch) -> bool:
        reader = READERS[self.reader]
        if reader.in_c:
            kernel()
        with watch("open"):
            loop = reader.loop(self.path, self.spots.count)
        watch.chill()
        reads, same = self._read(loop, watch)
        watch.note(useful_bytes=reads * self.spots.nbytes, stages=reads, peak_bytes=_most_memory())
        same = same and self._same(loop, reads - 1) and self._again(loop)
        with watch("close"):
            loop.close()
        return same

    def _read(self, loop: Loop, watch: Stopwatch) -> tuple[int, bool]:
        total, done, spent, in_c, same = len(self.spots), 0, 0.0, 0.0, True
        batch = max(1, min(FIRST_READS, FIRST_BYTES // self.spots.nbytes))
        while done < total and (done < self.least or spent < self.limit_s):
            last = min(done + batch, total)
            run = loop.ready(self.spots.between(done, last))
            began = time.perf_counter()
            with watch.lap("read") as columns:
                seconds = run()
            took = time.perf_counter() - began
            if seconds is not None:  # by the clock in C
                in_c += seconds
                columns["wall_s"] = in_c
                took = seconds
            spent += took
            same = same and self._ends_same(loop, last - 1)
            wanted = min(BATCH_S, max(self.limit_s - spent, 0.0))
            batch = max(1, min(8 * batch, int((last - done) * wanted / max(took, 1e-9))))
            done = last
        return done, same

    def _again(self, loop: Loop) -> bool:
        most = min(AGAIN_READS, AGAIN_BYTES // self.spots.nbytes)
        first = SystemRandom().randrange(max(1, len(self.spots) - most + 1))
        for read in range(first, min(first + most, len(self.spots))):
            loop.ready(self.spots.between(read, read + 1))()
            if not self._same(loop, read):
                return False
        return True

    def _ends_same(self, loop: Loop, read: int) -> bool:
        values, start = loop.last(), self._start(read)
        if len(values) != self.spots.count:
            return False
        tail = max(0, len(values) - ENDS)
        return holds(values[:ENDS], start) and holds(values[tail:], start + tail)

    def _same(self, loop: Loop, read: int) -> bool:
        values = loop.last()
        return len(values) == self.spots.count and holds(values, self._start(read))

    def _start(self, read: int) -> int:
        return int(self.spots.between(read, read + 1)[0])


def _most_memory() -> int:
    """Return the most memory that this process has had, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def right(same: bool) -> bool:
    """Whether a sample read what it should; the check of its case."""
    return same
