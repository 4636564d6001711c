"""A notebook to run: its parameters, where it goes, and all that its result depends on."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..network import Endpoint
from .fingerprint import changed, digest, draws, parts
from .options import Options, executed_folder
from .profile import Entry


@dataclass(frozen=True)
class Job:
    """A notebook to run.

    Parameters
    ----------
    source, target : Path
        The template, and the executed notebook.
    parameters : dict
        Those that papermill is given.
    wanted : dict of str
        A mark of each thing that the result depends on.
    records : Path
        The file that the notebook writes when it measures.
    """

    source: Path
    target: Path
    parameters: dict[str, object]
    wanted: dict[str, str]
    records: Path

    @classmethod
    def of(cls, item: Entry, options: Options, top: Path) -> "Job":
        """Return what is to run for a notebook of the study, whose template exists."""
        source = template(item, top)
        workdir = (top / options.workdir).resolve()
        parameters: dict[str, object] = {
            "profile": options.profile,
            "records": options.records,
            "workdir": str(Path(options.workdir)),
        }
        if not _draws(item, options):
            parameters |= {"repeats": options.repeats, "seed": options.seed}
        target = executed_folder(workdir, options.profile) / source.name
        places = ("records", "workdir")  # what is read there counts, and not where it lies
        counted = {name: value for name, value in parameters.items() if name not in places}
        results = workdir / "results" / options.profile
        if measures(item, options):
            settings = json.dumps(item.settings[options.profile], sort_keys=True)
            inputs = {"settings": settings} | _elsewhere(source)
        else:
            folder = top / options.records if options.records else results
            inputs = _drawn_from(item, options, folder, top)
        wanted = parts(source, counted) | inputs
        return cls(source, target, parameters, wanted, results / f"{item.name}.parquet")

    @property
    def current(self) -> bool:
        """Whether the executed notebook is whole and nothing that it depends on has changed."""
        return self.kept().get("fingerprint") == digest(self.wanted)

    @property
    def failed(self) -> Path:
        """Where the notebook is kept when a cell failed."""
        return self.target.with_name(f"{self.target.stem}.failed.ipynb")

    def redraws(self, old: Mapping[str, str]) -> bool:
        """Return whether only what draws the page changed, and its records are there."""
        names = changed(old, self.wanted)
        return self.records.exists() and all(
            name == "prose" or draws(name.removeprefix("module ")) for name in names
        )

    def kept(self) -> dict[str, object]:
        """Return what is known of the executed notebook; nothing unless it is whole."""
        if not self.target.exists():
            return {}
        try:
            value: dict[str, object] = json.loads(self._notes.read_text())
        except (OSError, ValueError):
            return {}
        return value

    def keep(self, seconds: float) -> None:
        """Note that the notebook is whole, and what it was made from."""
        value = {"fingerprint": digest(self.wanted), "parts": self.wanted, "seconds": seconds}
        part = self.target.with_name(f".{self.target.stem}.json.part")
        part.write_text(json.dumps(value, indent=1))
        part.replace(self._notes)

    def forget(self) -> None:
        """Take away what an earlier run left."""
        for path in (self.target, self._notes, self.failed):
            path.unlink(missing_ok=True)

    @property
    def _notes(self) -> Path:
        return self.target.with_suffix(".json")


def template(item: Entry, top: Path) -> Path:
    """Return where the template of a notebook lies."""
    return top / "notebooks" / f"{item.name}.ipynb"


def measures(item: Entry, options: Options) -> bool:
    """Return whether a notebook measures, and does not only draw from records."""
    return not (options.records or _draws(item, options))


def _draws(item: Entry, options: Options) -> bool:
    return bool(item.settings[options.profile].get("draws", False))


def _drawn_from(item: Entry, options: Options, folder: Path, top: Path) -> dict[str, str]:
    """Return a mark of each file of records that a notebook draws from or judges."""
    settings = item.settings[options.profile]
    given = settings.get("draws")
    names = given if isinstance(given, list) else ["*"]  # all, unless it says from which
    files = {path.name: path for name in names for path in folder.glob(f"{name}.parquet")}
    if beside := settings.get("beside"):  # a folder with a folder a machine
        others = (top / str(beside)).glob("[!.]*/*.parquet")
        files |= {f"{path.parent.name}/{path.name}": path for path in others}
    claims = top / "book" / "claims.yml"
    if claims.exists():
        files[claims.name] = claims
    stats = {name: path.stat() for name, path in sorted(files.items())}
    return {f"input {name}": f"{stat.st_size} {stat.st_mtime_ns}" for name, stat in stats.items()}


def _elsewhere(source: Path) -> dict[str, str]:
    """Return the mark of each place that a notebook takes from a variable and no page tells."""
    names = set(re.findall(r"HYPERSLAB_\w+_URL", source.read_text(encoding="utf-8")))
    known = {name: os.environ[name] for name in sorted(names) if os.environ.get(name)}
    return {f"input {name}": _mark(url) for name, url in known.items()}


def _mark(address: str) -> str:
    try:
        return Endpoint.of(address).mark
    except ValueError:  # the notebook says what is wrong with it
        return "none"
