"""What reads move from a server: counted from its log, not timed, several at a time."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..io.creation import stored_bytes
from ..io.experiment import Case, File, modules
from ..io.far import Place, ReadOver, served_folder, without_address
from ..measure.processes import Processes
from ..measure.worker import Job
from ..network import Request, Wire, touched
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
    _seen: dict[tuple[str, ...], "Seen"] = field(default_factory=dict, repr=False)

    def counts(self, cases: Sequence[Case]) -> Iterator[dict[str, object]]:
        """Yield a row a case: requests, connections, stages, ``wire_bytes``, and its status.

        ``predicted_bytes`` of the file were sent; ``spacing_bytes`` lie between hyperslab's points.
        """
        for seen in self._reads(cases):
            wire = Wire.of(seen.log)
            yield {
                **seen.row(),
                "requests": wire.requests,
                "wire_bytes": wire.wire_bytes,
                "connections": wire.connections,
                "stages": wire.stages,
                "predicted_bytes": sum(stop - start for start, stop in seen.sent()),
                **(_spacing(seen.work.file) if seen.work.reader == "subchunk" else {}),
            }

    def ranges(self, cases: Sequence[Case]) -> Iterator[dict[str, object]]:
        """Yield a row for each range of the file that was sent: where it begins, its length."""
        for seen in self._reads(cases):
            for start, stop in seen.sent():
                yield {**seen.row(), "stored_at": start, "chunk_bytes": stop - start}

    def _reads(self, cases: Sequence[Case]) -> list["Seen"]:
        """Return what came of each case; it is read when it is first asked for."""
        left = [case for case in cases if _key(case) not in self._seen]
        if left:
            self._read(left)
        return [self._seen[_key(case)] for case in cases]

    def _read(self, cases: Sequence[Case]) -> None:
        for case in cases:  # threads must not make the same values at the same time
            _work(case).file.part(_work(case).selection)
        few = len(cases) <= FEW
        beside = [case for case in cases if few or _work(case).reader.startswith(IN_TURN)]
        # Which requests follow others depends on when answers are taken, which others would delay.
        alone = [case for case in cases if case not in beside]
        threads = 1 if few else AT_ONCE
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(self._serve, [beside[n::threads] for n in range(threads)]))
        self._serve(alone)

    def _serve(self, cases: Sequence[Case]) -> None:
        """Read from a server that is started here: it ends with this thread."""
        if not cases:
            return
        kind = _work(cases[0]).place.name
        with served_folder(self.folder, kind, delay_s=self.delay_s) as server:
            place = replace(_work(cases[0]).place, server=server)
            ready = [_at(case, place).ready() for case in cases]
            with Processes(modules(ready)) as processes:
                for case, job in zip(cases, ready, strict=True):
                    server.forget()
                    status = without_address(processes.run(Job(job, TIMEOUT_S)).status)
                    told = dict(job.columns), server.requests(), status
                    self._seen[_key(case)] = Seen(_at(case, place), *told)


@dataclass(frozen=True)
class Seen:
    """What came of a read: what describes it, the server's log, and how it ended."""

    case: Case
    columns: dict[str, object]
    log: list[Request]
    status: str

    @property
    def work(self) -> ReadOver:
        return _work(self.case)

    def sent(self) -> list[tuple[int, int]]:
        name = self.work.file.path.name
        return touched(self.log, f"{BUCKET}/{name}" if self.work.place.name == "s3" else name)

    def row(self) -> dict[str, object]:
        return {
            **self.case.labels,
            **self.columns,
            "phase": "all",
            "file_bytes": stored_bytes(self.work.file.path.resolve()),
            "status": self.status,
            "verified": self.status == "ok",
        }


def _work(case: Case) -> ReadOver:
    assert isinstance(case.work, ReadOver)
    return case.work


def _at(case: Case, place: Place) -> Case:
    return replace(case, work=replace(_work(case), place=place))


def _key(case: Case) -> tuple[str, ...]:
    return (_work(case).place.name, *case.labels.values())


def _spacing(file: File) -> dict[str, object]:
    index = Index(file.path.with_name(file.path.name + SUFFIX))
    return {"spacing_bytes": index.entries[file.array.variable].spacing}
