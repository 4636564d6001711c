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
    _seen: dict[tuple[str, ...], Done] = field(default_factory=dict, repr=False)

    def counts(self, cases: Sequence[Case]) -> Iterator[dict[str, object]]:
        """Yield a row a case: what was sent of the file is ``predicted_bytes``."""
        for seen in self._reads(cases):
            wire, work = Wire.of(seen.log), _work(seen.case)
            row = _row(seen) | {
                "requests": wire.requests,
                "wire_bytes": wire.wire_bytes,
                "connections": wire.connections,
                "stages": wire.stages,
                "predicted_bytes": sum(stop - start for start, stop in _sent(seen)),
            }
            if work.library == "subchunk":
                index = Index(work.file.path.with_name(work.file.path.name + SUFFIX))
                row["spacing_bytes"] = index.entries[work.file.array.variable].spacing
            yield row

    def ranges(self, cases: Sequence[Case]) -> Iterator[dict[str, object]]:
        """Yield a row for each range of the file that was sent: where it begins, its length."""
        for seen in self._reads(cases):
            for start, stop in _sent(seen):
                yield {**_row(seen), "stored_at": start, "chunk_bytes": stop - start}

    def _reads(self, cases: Sequence[Case]) -> list[Done]:
        """Return what came of each case; it is read when it is first asked for."""
        left = [case for case in cases if _key(case) not in self._seen]
        for case in left:  # threads must not make the same values at the same time
            _work(case).file.part(_work(case).selection)
        few = len(left) <= FEW
        beside = [case for case in left if few or _work(case).library.startswith(IN_TURN)]
        # Which requests follow others depends on when answers are taken, which others would delay.
        alone = [case for case in left if case not in beside]
        threads = 1 if few else AT_ONCE
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(self._serve, [beside[n::threads] for n in range(threads)]))
        self._serve(alone)
        return [self._seen[_key(case)] for case in cases]

    def _serve(self, cases: Sequence[Case]) -> None:
        """Read from a server that is started here: it ends with this thread."""
        if not cases:
            return
        kind = _work(cases[0]).place.name
        with served_folder(self.folder, kind, delay_s=self.delay_s) as server:
            for one in done(cases, {kind: server}, TIMEOUT_S):
                self._seen[_key(one.case)] = one


def _sent(one: Done) -> list[tuple[int, int]]:
    work = _work(one.case)
    name = work.file.path.name
    return touched(one.log, f"{BUCKET}/{name}" if work.place.name == "s3" else name)


def _row(one: Done) -> dict[str, object]:
    return one.row() | {"file_bytes": stored_bytes(_work(one.case).file.path.resolve())}


def _work(case: Case) -> ReadOver:
    assert isinstance(case.work, ReadOver)
    return case.work


def _key(case: Case) -> tuple[str, ...]:
    return (_work(case).place.name, *case.labels.values())
