"""One notebook's run: it measures and keeps records, or draws from those that exist."""

import errno
import math
import os
import re
import shutil
import time
import uuid
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from .. import claims
from ..io import experiment as experiment_io
from ..io.far import Place, serve
from ..io.layout import Layout
from ..measure import machine, records
from ..measure.case import Case
from ..measure.harness import RETAKES, Plan, measure
from ..measure.journal import Journal
from ..measure.lock import measuring, take_turn
from ..measure.parent import remove_left
from ..measure.processes import Processes
from ..measure.worker import is_full
from ..network import Link
from ..text import data
from . import provenance
from .ordered import as_seen, in_order
from .privacy import scrubber
from .profile import TOYS, full, locked, root
from .runs import own_results, referred

_SAID = ("status", "note")  # columns of words, which may name a path
_Any = TypeVar("_Any", bound=experiment_io.Case | Case)


class Session:
    """One notebook's run: it measures and keeps records, or draws from records that exist.

    Made by `begin`.

    Attributes
    ----------
    notebook, profile, run_id : str
    drawing : bool
        Whether figures are drawn from records and nothing is measured.
    differs : str
        In what that which measured the records differs from what would measure now.
    results : Path
        Where records and figures go.
    scratch : Path
        For files of one sample; deleted at the end.
    data : Path
        For datasets that are made once.
    """

    def __init__(
        self,
        notebook: str,
        profile: str,
        workdir: Path,
        drawn_from: Path | None,
        seed: int,
        repeats: int,
        settings: Mapping[str, object],
        experiment: Mapping[str, str],
    ) -> None:
        self.notebook, self.profile, self.seed = notebook, profile, seed
        self._experiment = experiment
        self.settings, self.repeats = settings, repeats
        self.results = workdir / "results" / profile
        self.data = workdir / "data"
        self.scratch = workdir / "scratch" / f"{notebook}-{os.getpid()}"
        self.drawing = drawn_from is not None
        self.differs = ""
        provenance.note_modules(self.results / ".loaded" / f"{notebook}.json")
        self._parts: list[pd.DataFrame] = []
        self._clean = scrubber(root())
        self._idle = [dict(rule) for rule in self._rules]  # those that no case has met yet
        if drawn_from is not None:
            self._drawn_from, self.machines = drawn_from, records.machines(drawn_from)
            if settings.get("draws"):
                self.run_id = ""
                return
            self._frame = records.load(drawn_from / f"{notebook}.parquet")
            self.run_id = str(self._frame["run_id"].iloc[0]) if len(self._frame) else ""
            self.differs = provenance.differs(drawn_from / f"{notebook}.parquet", experiment)
            return
        self.machines = own_results(self.results)
        remove_left(self.scratch.parent)
        self._facts = machine.facts(workdir, profile=profile, seed=seed, notebook=notebook)
        written = root() / claims.FILE
        self._facts["rules"] = claims.read(written).rules if written.exists() else ""
        header = {
            "identity": self._facts["identity"],
            "versions": self._facts["versions"],
            "code": provenance.code(),
            **{k: v for k, v in experiment.items() if k != "repeats" and "blocks" not in k},
        }
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        path = journal_path(self.results, notebook)
        self._held = ExitStack()
        weakref.finalize(self, self._held.close)  # where a run is begun and never finished
        self._held.enter_context(measuring())  # two runs must not share a journal either
        self._held.callback(shutil.rmtree, self.scratch, ignore_errors=True)
        self._processes: dict[tuple[str, ...], Processes] = {}
        self._journal = Journal(path, header, f"{stamp}-{uuid.uuid4().hex[:6]}")
        self.run_id = self._journal.run_id
        self._facts["resumed_blocks"] = self._journal.resumed
        if self._journal.resumed:
            print(f"{self._journal.resumed} finished blocks of an interrupted run are taken over.")

    def setting(self, name: str) -> int:
        """Return a number of the profile from notebooks/study.yml.

        Raises
        ------
        KeyError
            When the profile has none of that name.
        """
        if name not in self.settings:
            raise KeyError(
                f"the profile {self.profile!r} of {self.notebook} sets no {name!r} in "
                f"notebooks/study.yml: it sets {', '.join(self.settings) or 'nothing'}"
            )
        value = self.settings[name]
        if not isinstance(value, int):
            raise TypeError(f"{name} of {self.notebook} is {value!r}: it must be a whole number")
        return value

    def blocks(self, name: str) -> int:
        """Return how many blocks a setting asks for; the parameter repeats comes first."""
        return self.repeats or self.setting(name)

    def recorded(self, experiment: str, column: str) -> list[int]:
        """Return the numbers in a column of the records that are drawn from; none when measuring.

        For cases that depend on the machine, such as one for each number of cores.
        """
        if not self.drawing:
            return []
        return sorted({int(number) for number in self._drawn(experiment)[column].dropna()})

    def make(self, files: Callable[[], object], *, alone: bool = False) -> None:
        """Make the files that an experiment reads, unless records are drawn from.

        Another notebook may draw meanwhile; not so `alone`, where CPU time is noted.
        """
        if not self.drawing:
            if alone:
                take_turn()
            self.scratch.mkdir(parents=True, exist_ok=True)
            with self._room():
                files()

    def write(
        self, array: experiment_io.Source, layouts: Mapping[str, Layout]
    ) -> dict[str, experiment_io.File]:
        """Write an array into a file of each layout, and return the files by the layouts' names.

        Where records are drawn from, nothing is written.
        """
        files = self.files(array, layouts)
        wanted = {file.path: file.layout for file in files.values()}
        if not self.drawing:
            whole = math.prod(array.shape) * np.dtype(array.dtype).itemsize
            machine.require_space(self.scratch, whole * len(layouts))
            self.make(lambda: array.write(wanted, self.data))
        return files

    def files(
        self, array: experiment_io.Source, layouts: Mapping[str, Layout]
    ) -> dict[str, experiment_io.File]:
        """Return a file of each layout that is not written, as for `Create`; see `write`."""
        files = {}
        for name, layout in layouts.items():
            words = "-".join(re.findall(r"\w+", f"{array.name} {name}"))
            files[name] = experiment_io.File(
                self.scratch / f"{words}{layout.suffix}", array, layout
            )
        return files

    @contextmanager
    def serve(
        self, links: Mapping[str, Link], kind: str = "http", store: str = ""
    ) -> Iterator[dict[str, Place]]:
        """Serve the files of the experiment behind links, for as long as the context lasts.

        Parameters
        ----------
        links : mapping of str to Link
        kind : str
            What the server speaks, "http" or "s3". HTTP is spoken by lighttpd where it is there.
        store : str
            Address of a folder in a store of S3 that others run, which gets the files in place of
            a server here. They stay there, in a folder of their own below.

        Yields
        ------
        dict of str to Place
            By the names of the links. Where records are drawn from, nothing listens there.
        """
        if self.drawing:
            yield {name: Place(name, link) for name, link in links.items()}
            return
        with serve(self.scratch, links, kind, store) as places:
            yield places

    def measure(
        self,
        experiment: str,
        cases: Sequence[experiment_io.Case | Case],
        *,
        cache: Sequence[str] = ("",),
        only: Callable[[list[experiment_io.Case]], list[experiment_io.Case]] | None = None,
        modules: Sequence[str] = (),
        scratch_bytes: int = 0,
        timeout_s: float = 600.0,
        blocks: str = "blocks",
    ) -> pd.DataFrame:
        """Measure cases, or return the records of the experiment when drawing.

        A sample is a case that runs once in a process of its own, from a file that was evicted
        from the page cache (cold) or read before (warm). In each block every case has a sample,
        in an order by chance; what a sample has read is compared with the truth.

        Parameters
        ----------
        experiment : str
        cases : sequence of Case
        cache : sequence of str
            The states of the page cache in which each case is measured: of "cold" and "warm".
        only : callable, optional
            Returns those of the cases that are worth their time; it may change them.
        modules : sequence of str
            Libraries to import before processes are forked; those of the cases' works by default.
        scratch_bytes : int
            Free bytes needed in the work directory.
        timeout_s : float
            Seconds after which one sample is ended.
        blocks : str
            The setting that gives the number of blocks; the parameter repeats comes first.

        Returns
        -------
        pandas.DataFrame
            The records of this experiment; none where there are no cases.
        """
        cases = self._not_left_out(experiment, cases)
        if self.drawing:
            return in_order(self._drawn(experiment, needed=bool(cases) and not only), cases)
        take_turn()
        if cases and only is not None:
            cases = only([case for case in cases if isinstance(case, experiment_io.Case)])
        if not cases:
            return records.frame_of([])
        with self._room():
            ready = [
                case.ready(state) if isinstance(case, experiment_io.Case) else case
                for state in cache
                for case in cases
            ]
        own = bool(modules)
        if any(case.labels for case in ready):
            modules = modules or experiment_io.modules(ready)
        plan = Plan(
            blocks=self.blocks(blocks),
            seed=self.seed,
            cell_s=float(self.setting("cell_s")),
            timeout_s=timeout_s,
            modules=tuple(modules),
            sweeps=self.profile != TOYS,
            retakes=0 if self.profile == TOYS else RETAKES,
            half_width=self.setting("half_width_percent") / 100,
            extra_s=float(self.setting("extra_s")),
            fresh=self.profile != TOYS,
        )
        with self._room():
            rows = measure(
                experiment,
                ready,
                plan,
                self._journal,
                scratch=self.scratch,
                scratch_bytes=scratch_bytes,
                processes=self._running(tuple(modules), own=own),
            )
            if not any(row["status"] == "ok" for row in rows):
                said = self._clean(str(rows[0]["status"]))
                raise RuntimeError(f"{experiment}: no sample succeeded: {said}")
        frame = self._keep(
            experiment, rows, dict.fromkeys(name for case in ready for name in case.labels)
        )
        return in_order(frame, cases)

    def observe(
        self,
        experiment: str,
        rows: Callable[[], Iterable[Mapping[str, object]]],
        labels: Sequence[str] = (),
        *,
        alone: bool = True,
    ) -> pd.DataFrame:
        """Keep counts and sizes that need no timing, or return them when drawing.

        Parameters
        ----------
        experiment : str
        rows : callable
            Called when measuring; gives one mapping of record columns a row.
        labels : sequence of str
            Those of the names in the mappings that are labels.
        alone : bool
            Whether another notebook that draws meanwhile could change them.
        """
        if self.drawing:
            return as_seen(self._drawn(experiment), labels)
        if alone:
            take_turn()
        if 0 not in self._journal.blocks(experiment, "observed"):
            self.scratch.mkdir(parents=True, exist_ok=True)
            with self._room():
                plain = {"block": 0, "verified": True, "status": "ok"}
                seen = [
                    {"case": ", ".join(str(row[name]) for name in labels), **plain, **row}
                    for row in rows()
                ]
                self._journal.add(experiment, "observed", 0, seen)
        blocks = self._journal.blocks(experiment, "observed")
        return as_seen(self._keep(experiment, blocks[0], labels), labels)

    def count(
        self,
        experiment: str,
        cases: Sequence[experiment_io.Case],
        rows: Callable[[list[experiment_io.Case]], Iterable[Mapping[str, object]]],
        *,
        alone: bool = True,
    ) -> pd.DataFrame:
        """Keep what cases do that is not timed, also how they fail; see `observe`.

        Parameters
        ----------
        experiment : str
        cases : sequence of Case
        rows : callable
            Called when measuring, with the cases that the profile does not leave out; gives one
            mapping of labels and record columns a row.
        alone : bool
            As of `observe`.
        """
        labels = list(dict.fromkeys(name for case in cases for name in case.labels))
        kept = self._not_left_out(experiment, cases)
        if not kept:
            return records.frame_of([])
        return in_order(self.observe(experiment, lambda: rows(kept), labels, alone=alone), cases)

    def sizes(
        self, files: Mapping[str, experiment_io.File], experiment: str = "sizes"
    ) -> pd.DataFrame:
        """Keep how large files are, by the label layout; see `observe`.

        Parameters
        ----------
        files : mapping of str to File
            From `write`.
        experiment : str
        """
        return self.observe(
            experiment,
            lambda: ({"layout": name, **file.size()} for name, file in files.items()),
            ["layout"],
        )

    def gather(self) -> dict[str, pd.DataFrame]:
        """Return the records of the notebooks that this one draws from, those that there are.

        What is missing, or of another profile, is said on the page.

        Returns
        -------
        dict of str to pandas.DataFrame
            By the names that ``draws`` of notebooks/study.yml lists.

        Raises
        ------
        FileNotFoundError
            When there are records of none.
        """
        from . import show

        names = self.settings["draws"]
        assert isinstance(names, list)
        paths = {name: self._drawn_from / f"{name}.parquet" for name in names}
        found = {name: records.load(path) for name, path in paths.items() if path.exists()}
        if not found:
            records.load(paths[names[0]])  # which says what to do
        lines = [
            f"- No records of {name}: `hyperslab run {name} --profile {self.profile}`"
            for name in names
            if name not in found
        ]
        for name, frame in found.items():
            if others := sorted(set(map(str, frame["profile"])) - {self.profile}):
                lines.append(
                    f"- The records of {name} are of the profile {data(', '.join(others))}"
                )
        if lines:
            show.text(show.admonition("Not measured here", *lines))
        return found

    def finish(self) -> None:
        """Write the records of the notebook and remove what was temporary."""
        if self.drawing:
            return
        take_turn()  # the next one measures when this one has drawn, also where it timed nothing
        for rule in self._idle:
            print(f"No case fits this of leave_out in notebooks/study.yml: {rule}")
        frame = pd.concat(self._parts or [records.frame_of([])], ignore_index=True)
        frame = frame.fillna(dict.fromkeys(records.labels_of(frame), ""))
        with self._room(), locked(self.results, "machines"):  # of two notebooks at once
            known = records.machines(self.results) | {self.run_id: self._facts}
            records.save_machines(self.results, known)
            about = {"experiment": self._experiment, "tools": provenance.loaded()}
            records.save(frame, self.results / f"{self.notebook}.parquet", about)
            self.machines = referred(self.results, known)
            records.save_machines(self.results, self.machines)
        self._journal.discard()
        self._held.close()

    def _not_left_out(self, experiment: str, cases: Sequence[_Any]) -> list[_Any]:
        """Return the cases that the profile measures, and print how many it leaves out."""
        kept = [case for case in cases if not self._left_out(experiment, case)]
        if len(kept) < len(cases):
            print(
                f"{experiment}: the profile {self.profile} leaves out {len(cases) - len(kept)} of "
                f"{len(cases)} cases (leave_out in notebooks/study.yml)."
            )
        return kept

    def _left_out(self, experiment: str, case: experiment_io.Case | Case) -> bool:
        """Return whether the profile leaves a case out: one of its `leave_out` fits."""
        state = getattr(case, "cache_state", "")  # of a case that is ready
        told = {"experiment": experiment, "cache_state": state, **case.labels}
        fits = [
            rule
            for rule in self._rules
            if all(told.get(name) in (value if isinstance(value, list) else [value])
                   for name, value in rule.items())
        ]  # fmt: skip
        self._idle = [rule for rule in self._idle if rule not in fits]
        return bool(fits)

    @property
    def _rules(self) -> list[dict[str, object]]:
        rules = self.settings.get("leave_out", [])
        assert isinstance(rules, list)
        return rules

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Say it where a disk is full, whatever a library calls that; leave nothing there."""
        try:
            yield
        except (OSError, RuntimeError) as error:
            if not is_full(self.results) and getattr(error, "errno", None) != errno.ENOSPC:
                raise
            said = full(self.results.parents[1])  # before room is made
            shutil.rmtree(self.scratch, ignore_errors=True)
            for part in self.results.glob(".*.part"):
                part.unlink()
            raise said from error

    def _running(self, modules: tuple[str, ...], *, own: bool) -> Processes:
        """Return what samples run in: its servers serve all experiments with these modules.

        Others have what was started with more, unless they name their own. Of toys one serves them
        all: to start one takes longer than their samples.
        """
        of = () if self.profile == TOYS else modules
        if not own:
            of = next((more for more in self._processes if set(of) <= set(more)), of)
        if of not in self._processes:
            self._processes[of] = self._held.enter_context(Processes())
        self._processes[of].load(modules)
        return self._processes[of]

    def _keep(
        self,
        experiment: str,
        rows: Iterable[Mapping[str, object]],
        labels: Collection[str] = (),
    ) -> pd.DataFrame:
        common = {
            "run_id": self.run_id,
            "profile": self.profile,
            "notebook": self.notebook,
            "experiment": experiment,
        }
        versions = self._facts["versions"]
        assert isinstance(versions, dict)
        frame = records.frame_of(
            (
                {
                    "library_version": machine.library_version(str(row.get("library")), versions),
                    **row,
                    **{name: self._clean(str(row[name])) for name in _SAID if name in row},
                    **common,
                }
                for row in rows
            ),
            labels,
        )
        self._parts.append(frame)
        return frame

    def _drawn(self, experiment: str, *, needed: bool = True) -> pd.DataFrame:
        part = self._frame[self._frame["experiment"] == experiment]
        if part.empty and needed:
            raise ValueError(
                f"the records of {self.notebook} hold no experiment {experiment!r}: they were "
                f"made by another version; measure again with `hyperslab run {self.notebook}`"
            )
        return part.reset_index(drop=True)


def journal_path(results: Path, notebook: str) -> Path:
    """Return where the finished blocks of a notebook lie until its records are whole.

    Examples
    --------
    >>> journal_path(Path("results/quick"), "lee_access").as_posix()
    'results/quick/.journal/lee_access.jsonl'
    """
    return results / ".journal" / f"{notebook}.jsonl"
