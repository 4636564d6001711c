"""Machines beside each other, in tables and sentences."""

import math
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from ..claims import Claim
from ..claims.bands import INCONCLUSIVE, NOT_MEASURED
from ..text import amount, listing, unbroken
from .board import labelled
from .machines import OTHERS, REFERENCE, YOURS, Machine, Machines

HOW = (
    f"`hyperslab results add FOLDER --name NAME` checks the records of a run and adds them to "
    f"`{OTHERS}/`; then this page shows them here, beside the document's numbers."
)
NUMBERS = (
    "*Its number* is the document's, where it gives one; what a machine measured stands before its "
    "verdict, with the interval: × is the ratio of the two that a claim compares, “away” how far a "
    "number lies from what the document has or a rule predicts."
)
_FACTS = (
    ("Kernel", "kernel"),
    ("File system", "file_system"),
    ("Read-ahead", "read_ahead_kib"),
    ("Profile", "profile"),
    ("Code", "git_revision"),
)


def summary(found: Machines) -> str:
    """Return what agrees and what does not, in sentences.

    Parameters
    ----------
    found : Machines
    """
    if not found.machines:
        return f"Nothing was measured yet, here or elsewhere: `make book` measures. {HOW}"
    if len(found.machines) == 1:
        only = found.machines[0]
        here = "" if found.own == YOURS else _this(found)
        return (
            f"There is one machine so far, {called(only)}{here}: nothing stands beside it yet. "
            f"{HOW}"
        )
    names = listing([called(machine) for machine in found.machines], most=9)
    shared, opposed, unsure = found.shared, found.opposed, found.open
    same = len(shared) - len(opposed) - len(unsure)
    twin = _twin(found)
    sentences = [
        f"{len(found.machines)} {'runs' if twin else 'machines'}: {names}{_this(found)}.",
        twin,
        f"{_claims(len(shared))} of {len(found.claims)} were judged on at least two of them: "
        f"{same} with one verdict on all, {len(opposed)} with verdicts that differ, and "
        f"{len(unsure)} that one decides and another leaves inconclusive.",
    ]
    profiles = {name for machine in found.machines for name in machine.facts("profile")}
    if len(profiles) > 1:
        sentences.append(
            "They ran different profiles, so sizes and numbers of samples differ too: compare "
            "ratios and verdicts, not seconds."
        )
    if "smoke" in profiles:
        sentences.append("The profile smoke uses toy sizes: its verdicts say nothing about claims.")
    return " ".join(sentence for sentence in sentences if sentence)


def _this(found: Machines) -> str:
    """Say which machine this run is, where it has no column of its own."""
    if found.own in ("", YOURS):
        return ""
    return f"; this book was made from the records of *{found.own}* itself"


def _twin(found: Machines) -> str:
    """Say so where this run is of a machine that is here already: then no machine differs."""
    yours = [machine for machine in found.machines if machine.name == YOURS]
    twins = [
        machine.name
        for machine in found.machines
        if yours and machine is not yours[0] and _alike(machine, yours[0])
    ]
    if not twins:
        return ""
    return (
        f"*{YOURS}* has the hardware and the versions of *{twins[0]}*: take it for another run of "
        "that machine, in which only settings, the code's revision and noise differ."
    )


def _alike(one: Machine, other: Machine) -> bool:
    both = [(_identity(each), _merged(each.facts("versions"))) for each in (one, other)]
    return both[0] == both[1] and all(both[0])


def called(machine: Machine) -> str:
    """Return what a machine is, in a few words.

    Examples
    --------
    >>> who = {"cpu": "Xeon", "cores": 2, "memory_gib": 24}
    >>> called(Machine("yours", {"run": {"identity": who, "profile": "quick"}}, {}))
    '*yours* (Xeon, 2 cores, 24 GiB; profile quick)'
    """
    who = _identity(machine)
    profiles = listing([str(name) for name in machine.facts("profile")])
    return (
        f"*{machine.name}* ({who.get('cpu', 'unknown')}, {who.get('cores', '?')} cores, "
        f"{who.get('memory_gib', '?')} GiB; profile {profiles})"
    )


def facts(found: Machines) -> pd.DataFrame:
    """Return what each machine is, a column each.

    Parameters
    ----------
    found : Machines
    """
    lines: dict[str, list[str]] = {"Processor": [], "Cores": [], "Memory": [], "System": []}
    for machine in found.machines:
        who = _identity(machine)
        lines["Processor"].append(str(who.get("cpu", "–")))
        lines["Cores"].append(str(who.get("cores", "–")))
        lines["Memory"].append(f"{who.get('memory_gib', '–')} GiB")
        lines["System"].append(f"{who.get('system', '–')}, {who.get('architecture', '–')}")
    for label, name in _FACTS:
        unit = " KiB" if name.endswith("_kib") else ""
        lines[label] = [
            listing([f"{value}{unit}" for value in machine.facts(name) if value != ""] or ["–"])
            for machine in found.machines
        ]
    lines["Notebooks"] = [str(len(machine.runs)) for machine in found.machines]
    return _columns(found, "", lines)


def versions(found: Machines) -> pd.DataFrame:
    """Return the versions on each machine; those that differ first, in bold; alike, they are once.

    Parameters
    ----------
    found : Machines
    """
    rows = []
    maps = [_merged(machine.facts("versions")) for machine in found.machines]
    for name in sorted({name for versions in maps for name in versions}):
        shown = [versions.get(name, "–") for versions in maps]
        same = len(set(shown)) == 1
        rows.append((same, name if same else f"**{name}**", shown))
    rows.sort(key=lambda row: row[0])
    if len(maps) > 1 and all(same for same, _, _ in rows):
        return pd.DataFrame(
            [[name, shown[0]] for _, name, shown in rows], columns=["Package", "On all"]
        )
    return _columns(found, "Package", {name: shown for _, name, shown in rows})


def differing(found: Machines, which: Sequence[Claim]) -> pd.DataFrame:
    """Return claims with what each machine found, the chapter last.

    Parameters
    ----------
    found : Machines
    which : sequence of Claim
        Such as `found.opposed`.
    """
    rows = []
    for claim in which:
        row = _row(found, claim)
        notebook = found.heads(claim)[0].notebook
        title = found.chapters.get(notebook, notebook)
        row["Chapter"] = f"{{doc}}`{title} <{notebook}>`" if notebook in found.pages else title
        rows.append(row)
    return pd.DataFrame(rows)


def document(found: Machines, key: str) -> pd.DataFrame:
    """Return the claims of a document on each machine; those whose verdicts differ in bold, first.

    Parameters
    ----------
    found : Machines
    key : str
        Of the document.
    """
    if len(found.machines) < 2:
        return pd.DataFrame()
    first = {claim.id: place for place, claim in enumerate((*found.opposed, *found.open))}
    chosen = [claim for claim in found.claims if claim.document == key]
    chosen.sort(key=lambda claim: first.get(claim.id, len(first)))
    return pd.DataFrame([_row(found, claim) for claim in chosen])


def every(found: Machines) -> str:
    """Return the heading and the sentences before the tables of all claims; "" where none stand.

    Parameters
    ----------
    found : Machines
    """
    if len(found.machines) < 2:
        return ""
    return (
        "## Every claim\n\nReasons stand on each experiment's page, and for this run on "
        "{doc}`the verdict board <claims>`. A table for each document; claims with verdicts that "
        f"differ come first, in bold. {NUMBERS}"
    )


def _row(found: Machines, claim: Claim) -> dict[str, str]:
    heads = found.heads(claim)
    stands = next((head for head in heads if not math.isnan(head.document)), heads[0])
    there = "–" if math.isnan(stands.document) else amount(stands.document, stands.unit)
    bold = claim in found.opposed
    said = f"{claim.statement} ({claim.section})"
    row = {
        "Claim": f"**{claim.title}** ({claim.id})" if bold else f"{claim.title} ({claim.id})",
        "The document says": said.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;"),
        "Its number": unbroken(there),
    }
    for machine, head in zip(found.machines, heads, strict=True):
        verdict = labelled(machine.judgements[claim.id])
        if bold and head.verdict not in (INCONCLUSIVE, NOT_MEASURED):
            verdict = f"**{verdict}**"
        number = "" if math.isnan(head.measured) else f"{unbroken(head.shown)} "
        row[_head(machine)] = f"{number}{verdict}"
    return row


def _columns(found: Machines, first: str, lines: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    names = [_head(machine) for machine in found.machines]
    rows = [[label, *values] for label, values in lines.items()]
    return pd.DataFrame(rows, columns=[first, *names])


def _head(machine: Machine) -> str:
    return {REFERENCE: "Reference", YOURS: "Yours"}.get(machine.name, machine.name)


def _identity(machine: Machine) -> Mapping[str, object]:
    return _merged(machine.facts("identity"))


def _merged(values: Iterable[object]) -> dict[str, str]:
    """Put mappings of several runs into one; what differs between them is told with both."""
    merged: dict[str, list[str]] = {}
    for value in values:
        if isinstance(value, Mapping):
            for name, each in value.items():
                kept = merged.setdefault(str(name), [])
                kept += [] if str(each) in kept else [str(each)]
    return {name: ", ".join(kept) for name, kept in merged.items()}


def _claims(count: int) -> str:
    return f"{count} claim{'' if count == 1 else 's'}"
