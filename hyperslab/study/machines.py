"""The claims on every machine whose records are here: the reference, others, and this run."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from ..claims import FILE, Claim, ClaimFile, Judgement, PartVerdict, evaluate, read, recalled
from ..claims.bands import INCONCLUSIVE, NOT_MEASURED
from ..measure import records as tables
from ..text import ENOUGH, TIMES, Interval, amount, listing
from .board import addresses, of_claim, signed
from .profile import drawn_between, root

REFERENCE, YOURS = "reference", "yours"
SAME, DIFFERS, OPEN, ALONE = "the same", "differs", "open on some", "on one only"
"""How the verdicts of a claim compare. Open: inconclusive on one machine, decided on another."""
_FACTS = {
    "Kernel": "kernel", "File system": "file_system", "Profile": "profile", "Code": "git_revision",
}  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """A machine with its verdicts."""

    name: str  # of its folder; "yours" for a run that is in none
    runs: Mapping[str, Mapping[str, object]]  # facts by run_id
    judgements: Mapping[str, Judgement]  # by the claim's id
    folder: Path  # of its records

    def fact(self, name: str, key: str = "") -> str:
        """Return a fact, or a part of one: of several runs each value once."""
        by_run = [facts.get(name) for facts in self.runs.values()]
        if key:
            by_run = [each.get(key) for each in by_run if isinstance(each, Mapping)]
        values = dict.fromkeys(str(each) for each in by_run if each is not None)
        return listing(list(values) or ["–"])

    @cached_property
    def pace_s(self) -> float:
        """Seconds of a known piece of work beside samples, the median; NaN where none was done."""
        paths = sorted(self.folder.glob("*.parquet"))
        frames = [tables.load(path, (*tables.SAMPLE, "pace_s")) for path in paths]
        samples = [f[f["aa"] != tables.DISCARDED].drop_duplicates([*tables.SAMPLE]) for f in frames]
        return float(pd.concat(samples)["pace_s"].median()) if samples else float("nan")

    @property
    def versions(self) -> dict[str, str]:
        by_run = [facts.get("versions") for facts in self.runs.values()]
        names = {name for each in by_run if isinstance(each, Mapping) for name in each}
        return {name: self.fact("versions", name) for name in sorted(names)}


@dataclass(frozen=True)
class Machines:
    """All machines beside each other."""

    results: Path  # where figures go
    content: ClaimFile  # what was written down
    machines: tuple[Machine, ...]  # the reference first, this run last
    notebook: str = "machines"  # its own name

    def heads(self, claim: Claim) -> tuple[PartVerdict, ...]:
        return tuple(machine.judgements[claim.id].headline for machine in self.machines)

    def agreement(self, claim: Claim) -> str:
        """How the verdicts of a claim compare: SAME, DIFFERS, OPEN or ALONE."""
        verdicts = [head.verdict for head in self.heads(claim) if head.verdict != NOT_MEASURED]
        if len(verdicts) < 2:
            return ALONE
        decided = {*verdicts} - {INCONCLUSIVE}
        if len(decided) > 1:
            return DIFFERS
        return OPEN if decided and INCONCLUSIVE in verdicts else SAME

    def those(self, agreement: str) -> list[Claim]:
        """Return the claims whose verdicts compare in this way."""
        return [claim for claim in self.content.claims if self.agreement(claim) == agreement]

    @property
    def shared(self) -> int:
        """How many claims were judged on two machines or more."""
        return len(self.content.claims) - len(self.those(ALONE))

    @property
    def twin(self) -> str:
        """The machine whose hardware and versions are those of this run; "" if none is."""
        kinds = {each.name: (each.fact("identity"), each.versions) for each in self.machines}
        mine = kinds.pop(YOURS, None)
        alike = (name for name, kind in kinds.items() if kind == mine and kind[1])
        return next(alike, "")


def gathered(
    *,
    profile: str = "quick",
    workdir: str = "build/adhoc",
    records: str = "",
    others: str = "results",
) -> Machines:
    """Judge the claims on every machine."""
    top, (results, own) = root(), drawn_between(profile, workdir, records)
    if not (top / others).is_dir():
        raise ValueError(f"others is {others!r}: no such folder of records")
    content = read(top / FILE)

    def machine(name: str, folder: Path) -> Machine:
        judgements = recalled(content.claims, folder) if name != YOURS else []
        judgements = judgements or evaluate(content.claims, folder)
        judged = {each.claim.id: each for each in judgements}
        return Machine(name, tables.machines(folder), judged, folder)

    folders = sorted(
        {path.parent.resolve() for path in (top / others).glob("[!.]*/*.parquet")},
        key=lambda folder: (folder.name != REFERENCE, folder.name),
    )
    machines = [machine(folder.name, folder) for folder in folders]
    if own not in folders and any(own.glob("*.parquet")):
        runs = set(tables.machines(own))
        if not (runs and any(runs <= set(each.runs) for each in machines)):  # else it was added
            machines.append(machine(YOURS, own))
    return Machines(results, content, tuple(machines))


def listed(comparison: Machines) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """Return each claim on each machine on a line, those that differ first; links by column."""
    chosen = [claim for kind in (DIFFERS, OPEN, SAME, ALONE) for claim in comparison.those(kind)]
    rows = [
        {
            **of_claim(comparison.content, claim, max(comparison.heads(claim), key=_has_document)),
            "Machine": machine.name,
            "Measured": machine.judgements[claim.id].headline.shown,
            "Verdict": signed(machine.judgements[claim.id]),
            "Machines": comparison.agreement(claim),
        }
        for claim in chosen
        for machine in comparison.machines
    ]
    claims = [claim for claim in chosen for _ in comparison.machines]
    return pd.DataFrame(rows), {"Claim": addresses(claims)}


def ratios(comparison: Machines) -> tuple[pd.DataFrame, "pd.Series[float]"]:
    """Return the ratios of claims on which machines differ, for `Dots`, and the documents' own."""
    values, stated = {}, {}
    for claim in comparison.those(DIFFERS):
        heads = comparison.heads(claim)
        if any(head.unit not in (TIMES, "") for head in heads):
            continue
        for machine, head in zip(comparison.machines, heads, strict=True):
            if head.verdict != NOT_MEASURED:
                interval = Interval(head.measured, head.low, head.high, ENOUGH)
                values[claim.title, machine.name] = interval
        stated[claim.title] = max(heads, key=_has_document).document
    index = pd.MultiIndex.from_tuples(list(values), names=["claim", "machine"])
    document = pd.Series(stated, dtype="f8").rename_axis("claim").dropna()
    return pd.DataFrame({"value": list(values.values())}, index), document


def facts(comparison: Machines) -> pd.DataFrame:
    """Return what each machine is, a row each."""
    rows = {}
    for machine in comparison.machines:
        cpu, cores, memory = (
            machine.fact("identity", key) for key in ("cpu", "cores", "memory_gib")
        )
        today = machine.fact("rules") == comparison.content.rules
        judged = "today's" if today else "earlier ones"
        rows[machine.name] = {
            "Processor": f"{cpu}, {cores} cores",
            "Memory (GiB)": memory,
            **{label: machine.fact(name) for label, name in _FACTS.items()},
            "Known work": amount(machine.pace_s, "s"),
            "Rules": f"{judged}, {machine.fact('rules')[:8]}",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("Machine")


def versions(comparison: Machines) -> pd.DataFrame:
    """Return the packages whose versions differ between machines: a column for each machine."""
    table = pd.DataFrame({machine.name: machine.versions for machine in comparison.machines})
    table = table.fillna("–").sort_index().rename_axis("Package")
    return table[table.nunique(axis=1) > 1]


def _has_document(head: PartVerdict) -> bool:
    return head.document == head.document  # not NaN
