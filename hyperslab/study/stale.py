"""A notebook to run: where it goes, and whether it must be measured or drawn anew."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..measure import records
from . import provenance
from .options import Options, executed_folder, journal_path
from .profile import Entry


@dataclass(frozen=True)
class Page:
    """A notebook to run."""

    source: Path  # the template, and the executed notebook
    target: Path
    parameters: dict[str, object]  # those that papermill is given
    records: Path  # what the notebook writes when it measures
    experiment: dict[str, str]  # what it would measure; see `provenance.experiment`
    inputs: tuple[Path, ...]  # files that it is drawn from
    measures: bool  # whether it can measure, and is not drawn from records that are given

    @classmethod
    def of(cls, item: Entry, options: Options, top: Path) -> "Page":
        """Return what is to run for a notebook of the study, whose template exists."""
        source = top / f"notebooks/{item.name}.ipynb"
        workdir = (top / options.workdir).resolve()
        results = workdir / "results" / options.profile
        settings = item.settings[options.profile]
        parameters: dict[str, object] = {"profile": options.profile}
        if not settings.get("draws"):
            parameters |= {"repeats": options.repeats, "seed": options.seed}
        folder = top / options.records if options.records else results
        own = (folder / f"{item.name}.parquet",)
        inputs = tuple(_inputs(settings, folder, top)) if settings.get("draws") else own
        return cls(
            source,
            executed_folder(workdir, options.profile) / source.name,
            {**parameters, "records": options.records, "workdir": str(Path(options.workdir))},
            results / f"{item.name}.parquet",
            provenance.experiment(source, settings, **parameters),
            inputs,
            measures(item, options),
        )

    def measured_again(self) -> str:
        """Say why it must be measured; empty where its records are those it would measure."""
        if not self.measures or self.notes().get("records") is False:
            return ""
        if not self.records.exists():
            return "it has no records"
        if "tools" not in records.about(self.records):
            return "its records were made by an earlier release"
        return provenance.differs(self.records, self.experiment)

    def drawn_again(self) -> str:
        """Say why it must be drawn; empty where the executed notebook is as it would be."""
        notes = self.notes()
        if not notes:
            return "it was not executed whole"
        return provenance.difference(notes["drawn"], self._drawn())

    def notes(self) -> dict[str, Any]:
        """Return what is known of the executed notebook; nothing unless it is whole."""
        try:
            value: dict[str, Any] = json.loads(self._notes.read_text())
        except (OSError, ValueError):
            return {}
        return value if self.target.exists() else {}

    def keep(self) -> None:
        """Note that the notebook is whole, and what it was drawn with."""
        has_records = self.records.exists()  # some notebooks have nothing to measure
        notes = {"drawn": self._drawn(), "records": has_records}
        self._notes.write_text(json.dumps(notes, indent=1))

    def forget(self) -> None:
        """Take away what an earlier run left."""
        for path in (self.target, self._notes, self.failed):
            path.unlink(missing_ok=True)

    @property
    def journal(self) -> Path:
        return journal_path(self.records.parent, self.source.stem)

    @property
    def failed(self) -> Path:
        """Where the notebook is kept when a cell failed."""
        return self.target.with_name(f"{self.target.stem}.failed.ipynb")

    @property
    def _notes(self) -> Path:
        return self.target.with_suffix(".json")

    def _drawn(self) -> dict[str, str]:
        """Return what the page is drawn with: its whole notebook, all code, and files."""
        whole = provenance.hashed(self.source.read_text("utf-8"))
        marks = {**self.experiment, "its notebook": whole, "its code": provenance.code(whole=True)}
        for path in filter(Path.exists, self.inputs):
            stat = path.stat()
            marks[f"{path.parent.name}/{path.name}"] = f"{stat.st_size} {stat.st_mtime_ns}"
        return marks


def measures(item: Entry, options: Options) -> bool:
    """Return whether a notebook measures, and does not only draw from records."""
    return not (options.records or item.settings[options.profile].get("draws"))


def _inputs(settings: Mapping[str, object], folder: Path, top: Path) -> Iterator[Path]:
    """Give each file of records that a notebook draws from or judges."""
    given = settings["draws"]
    for name in given if isinstance(given, list) else ["*"]:  # all, unless it says from which
        yield from sorted(folder.glob(f"{name}.parquet"))
    if beside := settings.get("beside"):  # a folder with a folder a machine
        yield from sorted((top / str(beside)).glob("[!.]*/*.parquet"))
    yield top / "book" / "claims.yml"
