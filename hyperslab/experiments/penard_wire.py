"""What reads move from a server: counted from its log, not timed, several at a time."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from ..io.creation import stored_bytes
from ..io.experiment import Case
from ..io.far import Done, ReadOver, done, served_folder
from ..network import Wire, touched
from ..network.server import BUCKET
from ..subchunk import Index
from ..subchunk.index.index import SUFFIX

AT_ONCE = 4  # reads, each from a server of its own: most of their time is the server's delay
FEW = 32  # cases for which more servers and processes do not pay
# They make one request after another, so that whatever else runs changes nothing of their chains.
IN_TURN = ("h5py", "h5netcdf", "netcdf4", "xarray-netcdf4", "xarray-h5netcdf", "chunkindex")
TIMEOUT_S = 300.0


@dataclass
class Counting:
    """Reads from servers that answer late, each made once in a process of its own."""

    folder: Path  # what is served
    delay_s: float  # added to each answer, so that requests made together are seen to overlap
    _outcomes: dict[tuple[str, ...], Done] = field(default_factory=dict, repr=False)

    def counts(self, cases: Sequence[Case]) -> Iterator[dict[str, object]]:
        """Yield a row a case: what was sent of the file is ``predicted_bytes``."""
        for outcome in self._reads(cases):
            wire, work = Wire.of(outcome.log), _work(outcome.case)
            row = _row(outcome) | {
                "requests": wire.requests,
                "wire_bytes": wire.wire_bytes,
                "connections": wire.connections,
                "stages": wire.stages,
                "predicted_bytes": sum(stop - start for start, stop in _sent(outcome)),
            }
            if work.library == "subchunk":
                index = Index(work.file.path.with_name(work.file.path.name + SUFFIX))
                row["spacing_bytes"] = index.entries[work.file.array.variable].spacing
            yield row

    def ranges(self, cases: Sequence[Case]) -> Iterator[dict[str, object]]:
        """Yield a row for each range of the file that was sent: where it begins, its length."""
        for outcome in self._reads(cases):
            for start, stop in _sent(outcome):
                yield {**_row(outcome), "stored_at": start, "chunk_bytes": stop - start}

    def _reads(self, cases: Sequence[Case]) -> list[Done]:
        """Return what came of each case; it is read when it is first asked for."""
        unread = [case for case in cases if _key(case) not in self._outcomes]
        for case in unread:  # threads must not make the same values at the same time
            _work(case).file.part(_work(case).selection)
        few = len(unread) <= FEW
        together = [case for case in unread if few or _work(case).library.startswith(IN_TURN)]
        # Which requests follow others depends on when answers are taken, which others would delay.
        alone = [case for case in unread if case not in together]
        threads = 1 if few else AT_ONCE
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(self._serve, [together[n::threads] for n in range(threads)]))
        self._serve(alone)
        return [self._outcomes[_key(case)] for case in cases]

    def _serve(self, cases: Sequence[Case]) -> None:
        """Read from a server that is started here: it ends with this thread."""
        if not cases:
            return
        kind = _work(cases[0]).place.name
        with served_folder(self.folder, kind, delay_s=self.delay_s) as server:
            for outcome in done(cases, {kind: server}, TIMEOUT_S):
                self._outcomes[_key(outcome.case)] = outcome


def _sent(outcome: Done) -> list[tuple[int, int]]:
    work = _work(outcome.case)
    name = work.file.path.name
    return touched(outcome.log, f"{BUCKET}/{name}" if work.place.name == "s3" else name)


def _row(outcome: Done) -> dict[str, object]:
    return outcome.row() | {"file_bytes": stored_bytes(_work(outcome.case).file.path.resolve())}


def _work(case: Case) -> ReadOver:
    assert isinstance(case.work, ReadOver)
    return case.work


def _key(case: Case) -> tuple[str, ...]:
    return (_work(case).place.name, *case.labels.values())
