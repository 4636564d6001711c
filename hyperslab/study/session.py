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
from typing import Any

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
from . import provenance, show
from .case_rules import CaseRules, Kind
from .options import journal_path
from .ordered import as_seen, in_order
from .privacy import scrubber
from .profile import (
    TOYS,
    check_profile,
    drawn_between,
    entry,
    full,
    locked,
    require_writable,
    root,
)  # fmt: skip

_TEXT_COLUMNS = ("status", "note")  # columns of words, which may name a path


def begin(
    notebook: str,
    *,
    profile: str = "quick",
    workdir: str = "build/adhoc",
    records: str = "",
    seed: int = 0,
    repeats: int = 0,
    **settings: object,
) -> "Session":
    """Begin a notebook's run; `settings` that are given take the place of the profile's."""
    check_profile(profile)
    for name, value in {"repeats": repeats, "seed": seed, **settings}.items():
        is_text = isinstance(value, str) and name not in ("repeats", "seed")
        if not is_text and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            more = "" if name == "seed" else ", 0 for the profile's"
            raise ValueError(f"{name} is {value!r}: give a whole number from 0{more}")
    top = root()
    of_profile = entry(notebook, top).settings[profile]
    work = (top / workdir).resolve()
    require_writable(work, workdir)
    _, folder = drawn_between(profile, workdir, records)
    mine = {name: value for name, value in settings.items() if value}
    chosen = {**of_profile, **mine}
    given: dict[str, object] = {"profile": profile, "repeats": repeats, "seed": seed}
    # Records are public, and a text may be a folder.
    given |= {name: provenance.hashed(text) for name, text in mine.items() if isinstance(text, str)}
    experiment = provenance.experiment(top / f"notebooks/{notebook}.ipynb", chosen, **given)
    drawn_from = folder if records or of_profile.get("draws") else None
    session = Session(notebook, profile, work, drawn_from, seed, repeats, chosen, experiment)
    if session.differs:
        sentence = "These records were measured otherwise than they would be now"
        lines = f"{sentence}: {data(session.differs)}."
        show.text(show.admonition("Measured by something else", lines))
    return session


class Session:
    """One notebook's run: it measures and keeps records, or draws from records that exist."""

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
        self.settings, self.repeats, self._experiment = settings, repeats, experiment
        self.results = workdir / "results" / profile  # where records and figures go
        self.data = workdir / "data"  # for datasets that are made once
        self.scratch = workdir / "scratch" / f"{notebook}-{os.getpid()}"  # deleted at the end
        self.drawing = drawn_from is not None  # figures are drawn and nothing is measured
        self.differs = ""  # in what the records were measured otherwise than they would be now
        self.run_id = ""
        if drawn_from is None:
            self._start(workdir)
            return
        self._drawn_from = drawn_from
        if not settings.get("draws"):
            path = drawn_from / f"{notebook}.parquet"
            self._frame = records.load(path)
            self.differs = provenance.differs(path, experiment)

    def _start(self, workdir: Path) -> None:
        """Begin to measure, or go on with a run that was interrupted."""
        self._measured: list[pd.DataFrame] = []
        self._clean = scrubber(root())
        _require_own(self.results)
        remove_left(self.scratch.parent)
        self._facts: dict[str, Any] = machine.facts(
            workdir, profile=self.profile, seed=self.seed, notebook=self.notebook
        )
        claims_file = root() / claims.FILE
        self._facts["rules"] = claims.read(claims_file).rules if claims_file.exists() else ""
        header = {
            "identity": self._facts["identity"],
            "versions": self._facts["versions"],
            "code": provenance.code(),
            **{k: v for k, v in self._experiment.items() if k != "repeats" and "blocks" not in k},
        }
        self._held = ExitStack()
        weakref.finalize(self, self._held.close)  # where a run is begun and never finished
        self._held.enter_context(measuring())  # two runs must not share a journal either
        self._held.callback(shutil.rmtree, self.scratch, ignore_errors=True)
        self._processes: dict[tuple[str, ...], Processes] = {}
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        path = journal_path(self.results, self.notebook)
        self._journal = Journal(path, header, f"{stamp}-{uuid.uuid4().hex[:6]}")
        self.run_id = self._journal.run_id
        self._facts["resumed_blocks"] = self._journal.resumed
        if self._journal.resumed:
            print(f"{self._journal.resumed} finished blocks of an interrupted run are taken over.")

    def setting(self, name: str) -> int:
        """Return a number of the profile from notebooks/study.yml."""
        value = self.settings.get(name)
        if not isinstance(value, int):
            raise KeyError(
                f"the profile {self.profile} of {self.notebook} sets no number {name!r} in "
                "notebooks/study.yml"
            )
        return value

    def blocks(self, name: str) -> int:
        return self.repeats or self.setting(name)

    def recorded(self, experiment: str, column: str) -> list[int]:
        """Return the numbers in a column of the records; none when measuring."""
        if not self.drawing:
            return []
        return sorted({int(number) for number in self._drawn(experiment)[column].dropna()})

    def make(self, files: Callable[[], object], *, alone: bool = False) -> None:
        """Make the files that an experiment reads, unless records are drawn from."""
        if not self.drawing:
            if alone:  # no other notebook draws meanwhile: CPU time is noted
                take_turn()
            self.scratch.mkdir(parents=True, exist_ok=True)
            with self._room():
                files()

    def write(
        self, array: experiment_io.Source, layouts: Mapping[str, Layout]
    ) -> dict[str, experiment_io.File]:
        """Write an array into a file of each layout; return the files, by the layouts' names."""
        files = self.files(array, layouts)
        by_path = {file.path: file.layout for file in files.values()}
        if not self.drawing:
            whole = math.prod(array.shape) * np.dtype(array.dtype).itemsize
            machine.require_space(self.scratch, whole * len(layouts))
            self.make(lambda: array.write(by_path, self.data))
        return files

    def files(
        self, array: experiment_io.Source, layouts: Mapping[str, Layout]
    ) -> dict[str, experiment_io.File]:
        """Return a file of each layout that is not written, as for `Create`."""
        files = {}
        for name, layout in layouts.items():
            stem = "-".join(re.findall(r"\w+", f"{array.name} {name}"))
            files[name] = experiment_io.File(self.scratch / f"{stem}{layout.suffix}", array, layout)
        return files

    @contextmanager
    def serve(
        self, links: Mapping[str, Link], kind: str = "http", store: str = ""
    ) -> Iterator[dict[str, Place]]:
        """Serve the files of the experiment behind links, over kind "http" or "s3"."""
        # `store` is the address of a folder in a store that others run: files stay there.
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
        modules: Sequence[str] = (),  # imported before processes are forked
        scratch_bytes: int = 0,
        timeout_s: float = 600.0,
        blocks: str = "blocks",  # the setting that gives their number
    ) -> pd.DataFrame:
        """Measure cases, in the states of the page cache; or return their records when drawing."""
        every, cases = cases, self._not_left_out(experiment, cases)
        if self.drawing:  # also what an earlier profile did not leave out
            return in_order(self._drawn(experiment, needed=bool(cases) and not only), every)
        take_turn()
        if cases and only is not None:
            cases = only([case for case in cases if isinstance(case, experiment_io.Case)])
        if not cases:
            return records.frame_of([])
        own, toys = bool(modules), self.profile == TOYS
        with self._room():
            ready = [
                case.ready(state) if isinstance(case, experiment_io.Case) else case
                for state in cache
                for case in cases
            ]
        ready = self._rules.limited(experiment, ready)  # once each has its state of the page cache
        if any(case.labels for case in ready):
            modules = modules or experiment_io.modules(ready)
        plan = Plan(
            blocks=self.blocks(blocks),
            seed=self.seed,
            cell_s=float(self.setting("cell_s")),
            timeout_s=timeout_s,
            sweeps=not toys,
            retakes=0 if toys else RETAKES,
            half_width=self.setting("half_width_percent") / 100,
            extra_s=float(self.setting("extra_s")),
            fresh=not toys,
        )
        with self._room():
            rows = measure(
                experiment, ready, plan, self._journal, self._running(tuple(modules), own=own),
                scratch=self.scratch, scratch_bytes=scratch_bytes,
            )  # fmt: skip
            if not any(row["status"] == "ok" for row in rows):
                message = self._clean(str(rows[0]["status"]))
                raise RuntimeError(f"{experiment}: no sample succeeded: {message}")
        labels = dict.fromkeys(name for case in ready for name in case.labels)
        return in_order(self._keep(experiment, rows, labels), cases)

    def observe(
        self,
        experiment: str,
        rows: Callable[[], Iterable[Mapping[str, object]]],
        labels: Sequence[str] = (),
        *,
        alone: bool = True,  # whether another notebook that draws could change them
    ) -> pd.DataFrame:
        """Keep counts and sizes that need no timing, a mapping a row; or return those kept."""
        if self.drawing:
            return as_seen(self._drawn(experiment), labels)
        if alone:
            take_turn()
        if 0 not in self._journal.blocks(experiment, "observed"):
            self.scratch.mkdir(parents=True, exist_ok=True)
            plain = {"block": 0, "verified": True, "status": "ok"}
            with self._room():
                observed = [
                    {"case": ", ".join(str(row[name]) for name in labels), **plain, **row}
                    for row in rows()
                ]
                self._journal.add(experiment, "observed", 0, observed)
        observed = self._journal.blocks(experiment, "observed")[0]
        return as_seen(self._keep(experiment, observed, labels), labels)

    def count(
        self,
        experiment: str,
        cases: Sequence[experiment_io.Case],
        rows: Callable[[list[experiment_io.Case]], Iterable[Mapping[str, object]]],
        *,
        alone: bool = True,
    ) -> pd.DataFrame:
        """Keep what cases do that is not timed, also how they fail; see `observe`."""
        labels = list(dict.fromkeys(name for case in cases for name in case.labels))
        chosen = self._not_left_out(experiment, cases)
        if not chosen:
            return records.frame_of([])
        frame = self.observe(experiment, lambda: rows(chosen), labels, alone=alone)
        return in_order(frame, cases)

    def sizes(
        self, files: Mapping[str, experiment_io.File], experiment: str = "sizes"
    ) -> pd.DataFrame:
        """Keep how large files are, by the label layout; see `observe`."""
        sizes = ({"layout": name, **file.size()} for name, file in files.items())
        return self.observe(experiment, lambda: sizes, ["layout"])

    def gather(self) -> dict[str, pd.DataFrame]:
        """Return the records that this notebook draws from; say on the page what is missing."""
        names = self.settings["draws"]
        assert isinstance(names, list)
        paths = {name: self._drawn_from / f"{name}.parquet" for name in names}
        frames = {name: records.load(path) for name, path in paths.items() if path.exists()}
        if not frames:
            records.load(paths[names[0]])  # which says what to do
        lines = [
            f"- No records of {name}: `hyperslab run {name} --profile {self.profile}`"
            for name in names
            if name not in frames
        ]
        for name, frame in frames.items():
            if others := sorted(set(map(str, frame["profile"])) - {self.profile}):
                profiles = data(", ".join(others))
                lines.append(f"- The records of {name} are of the profile {profiles}")
        if lines:
            show.text(show.admonition("Not measured here", *lines))
        return frames

    def finish(self) -> None:
        """Write the records of the notebook and remove what was temporary."""
        if self.drawing:
            return
        take_turn()  # the next one measures when this one has drawn, also where it timed nothing
        frame = pd.concat(self._measured or [records.frame_of([])], ignore_index=True)
        frame = frame.fillna(dict.fromkeys(records.labels_of(frame), ""))
        with self._room(), locked(self.results, "machines"):  # of two notebooks at once
            facts = records.machines(self.results) | {self.run_id: self._facts}
            records.save_machines(self.results, facts)
            about = {"experiment": self._experiment, "tools": provenance.loaded()}
            records.save(frame, self.results / f"{self.notebook}.parquet", about)
            named = set[str]()
            for path in self.results.glob("*.parquet"):
                named |= set(pd.read_parquet(path, columns=["run_id"])["run_id"])
            records.save_machines(self.results, {run: facts[run] for run in facts if run in named})
        self._journal.discard()
        self._held.close()

    def _not_left_out(self, experiment: str, cases: Sequence[Kind]) -> list[Kind]:
        """Return the cases that the profile measures: those that no rule of `leave_out` fits."""
        self._rules.check(experiment, cases)
        taken = self._rules.taken(experiment, cases)
        if len(taken) < len(cases):
            print(
                f"{experiment}: the profile {self.profile} leaves out {len(cases) - len(taken)} of "
                f"{len(cases)} cases (leave_out in notebooks/study.yml)."
            )
        return taken

    @property
    def _rules(self) -> CaseRules:
        return CaseRules(self.settings, f"{self.notebook}, {self.profile}")

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Say it where a disk is full, whatever a library calls that; leave nothing there."""
        try:
            yield
        except (OSError, RuntimeError) as error:
            if not is_full(self.results) and getattr(error, "errno", None) != errno.ENOSPC:
                raise
            disk_error = full(self.results.parents[1])  # before room is made
            shutil.rmtree(self.scratch, ignore_errors=True)
            for unfinished in self.results.glob(".*.part"):
                unfinished.unlink()
            raise disk_error from error

    def _running(self, modules: tuple[str, ...], *, own: bool) -> Processes:
        """Return what samples run in: its servers serve all experiments with these modules."""
        # To start another takes longer than samples of toys.
        names = () if self.profile == TOYS else modules
        if not own:
            names = next((more for more in self._processes if set(names) <= set(more)), names)
        if names not in self._processes:
            self._processes[names] = self._held.enter_context(Processes())
        self._processes[names].load(modules)
        return self._processes[names]

    def _keep(
        self, experiment: str, rows: Iterable[Mapping[str, Any]], labels: Collection[str] = ()
    ) -> pd.DataFrame:
        """Return rows as records of this run, which `finish` writes."""
        common = {"run_id": self.run_id, "profile": self.profile, "notebook": self.notebook}
        completed = []
        for row in rows:
            version = machine.library_version(str(row.get("library")), self._facts["versions"])
            words = {name: self._clean(str(row[name])) for name in _TEXT_COLUMNS if name in row}
            completed.append(
                {"library_version": version, **row, **words, **common, "experiment": experiment}
            )
        frame = records.frame_of(completed, labels)
        self._measured.append(frame)
        return frame

    def _drawn(self, experiment: str, *, needed: bool = True) -> pd.DataFrame:
        frame = self._frame[self._frame["experiment"] == experiment]
        if frame.empty and needed:
            raise ValueError(
                f"the records of {self.notebook} hold no experiment {experiment!r}: they were "
                f"made by another version; measure again with `hyperslab run {self.notebook}`"
            )
        return frame.reset_index(drop=True)


def _require_own(folder: Path) -> None:
    """Refuse to measure into a folder of results that has those of another machine."""
    here = machine.identity()
    for run_id, facts in records.machines(folder).items():
        if (there := facts.get("identity")) != here:
            raise ValueError(
                f"the results folder holds run {run_id} of another machine "
                f"({_shown(there)}; this one: {_shown(here)}): records of two machines do not mix; "
                "choose another workdir, or draw from that folder with the parameter records"
            )


def _shown(identity: object) -> str:
    facts = identity if isinstance(identity, dict) else {}
    return f"{facts.get('cpu')}, {facts.get('cores')} cores, {facts.get('memory_gib')} GiB"
