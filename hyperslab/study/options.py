"""How the study is run, and where what it makes goes."""

from dataclasses import dataclass
from pathlib import Path

from ..measure.records import machines


@dataclass(frozen=True)
class Options:
    """How the study is run."""

    profile: str = "quick"  # smoke, quick, full or paper
    # where data, results and executed notebooks go; relative to the repository
    workdir: str = "build"
    records: str = ""  # a folder of records to draw from; empty to measure
    seed: int = 0  # of the order of the samples
    repeats: int = 0  # interleaved blocks; 0 for the profile's
    again: bool = False  # run also what has not changed


def profile_of(records: Path | None) -> str:
    """Return the profile that records are of; quick where there are none, or several profiles."""
    try:
        runs = list(machines(records).values()) if records else []
    except (ValueError, AttributeError):  # which is said when the records are looked at
        runs = []
    profiles = {str(run["profile"]) for run in runs if isinstance(run, dict) and run.get("profile")}
    return profiles.pop() if len(profiles) == 1 else "quick"


def executed_folder(workdir: Path, profile: str) -> Path:
    return workdir / "executed" / profile


def journal_path(results: Path, notebook: str) -> Path:
    """Return where the finished blocks of a notebook lie until its records are whole."""
    return results / ".journal" / f"{notebook}.jsonl"


def drawing_folder(workdir: str, records: str) -> str:
    """Return where pages go: what is drawn from given records stays apart from measured ones."""
    return f"{workdir}/drawn" if records else workdir
