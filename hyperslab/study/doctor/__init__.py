"""What this machine has for the study, what it lacks, and what is left out without it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from .finding import Finding
from .host import BUSY, memory, others_share, processor, work_directory
from .mpi import mpi
from .software import TOOLS, c_kernel, filters, packages, python, tool

__all__ = [
    "BUSY",
    "TOOLS",
    "Finding",
    "c_kernel",
    "exit_status",
    "filters",
    "memory",
    "mpi",
    "others_share",
    "packages",
    "processor",
    "python",
    "render",
    "report",
    "tool",
    "work_directory",
]


def report(work: Path = Path("build"), *, search: str | None = None) -> list[Finding]:
    """Look at everything the study uses."""
    return [
        python(),
        *packages(),
        filters(),
        *work_directory(work),
        memory(),
        *processor(),
        c_kernel(),
        mpi(work=work),
        *(tool(each, search) for each in TOOLS),
    ]


def render(findings: Iterable[Finding]) -> str:
    """Return findings as lines for a terminal, with one line of conclusion.

    Examples
    --------
    >>> print(render([Finding("MPI", "note", "not found", "apt-get install openmpi-bin")]))
    note     MPI         not found
                         → apt-get install openmpi-bin
    `make book` can run; 1 note says what is left out or may be noisy.
    """
    findings = list(findings)
    lines = []
    for found in findings:
        lines.append(f"{found.state:<8} {found.subject:<11} {found.text}")
        if found.remedy:
            lines.append(f"{'':<20} → {found.remedy}")
    return "\n".join([*lines, _conclusion(findings)])


def exit_status(findings: Iterable[Finding]) -> int:
    """Return 1 if something stops `make book`, else 0; notes do not count.

    Examples
    --------
    >>> exit_status([Finding("MPI", "note", "not found")])
    0
    """
    return int(any(found.state == "problem" for found in findings))


def _conclusion(findings: Sequence[Finding]) -> str:
    problems = sum(found.state == "problem" for found in findings)
    notes = sum(found.state == "note" for found in findings)
    if problems:
        return f"{problems} problem{'s' * (problems > 1)} must be mended before `make book`."
    if notes:
        say = "note says" if notes == 1 else "notes say"
        return f"`make book` can run; {notes} {say} what is left out or may be noisy."
    return "`make book` can run; nothing is left out."
