"""The claims on every machine whose records are here: reference, others, and this run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hyperslab.measure import records as tables

from ..claims import FILE, Claim, Judgement, PartVerdict, evaluate, read
from ..claims.bands import INCONCLUSIVE, NOT_MEASURED
from .profile import check_profile, entries, root

REFERENCE, YOURS = "reference", "yours"
OTHERS = "results"


@dataclass(frozen=True)
class Machine:
    """A machine with its verdicts.

    Parameters
    ----------
    name : str
        Of its folder; "yours" for a run that is in none.
    runs : mapping
        Facts by run_id.
    judgements : mapping
        By the claim's id.
    """

    name: str
    runs: Mapping[str, Mapping[str, object]]
    judgements: Mapping[str, Judgement]

    def facts(self, name: str) -> list[object]:
        """Return the values of a fact in its runs, each once.

        Examples
        --------
        >>> Machine("a", {"1": {"seed": 0}, "2": {"seed": 0}}, {}).facts("seed")
        [0]
        """
        found: list[object] = []
        for facts in self.runs.values():
            value = facts.get(name)
            found += [] if value is None or value in found else [value]
        return found


@dataclass(frozen=True)
class Machines:
    """All machines beside each other.

    Parameters
    ----------
    profile : str
    results : Path
        Where figures go.
    documents, chapters : mapping
        Titles by key.
    pages : frozenset of str
        Notebooks that are pages of the book.
    claims : tuple of Claim
    machines : tuple of Machine
        The reference first, this run last.
    own : str
        The name of the machine that has this run; "" where nothing was measured.
    notebook : str
        Its own name.
    """

    profile: str
    results: Path
    documents: Mapping[str, str]
    chapters: Mapping[str, str]
    pages: frozenset[str]
    claims: tuple[Claim, ...]
    machines: tuple[Machine, ...]
    own: str = ""
    notebook: str = "machines"

    def heads(self, claim: Claim) -> tuple[PartVerdict, ...]:
        """The headline of a claim on each machine."""
        return tuple(machine.judgements[claim.id].headline for machine in self.machines)

    @property
    def shared(self) -> tuple[Claim, ...]:
        """Claims that were judged on two machines or more."""
        return tuple(
            claim
            for claim in self.claims
            if sum(head.verdict != NOT_MEASURED for head in self.heads(claim)) > 1
        )

    @property
    def opposed(self) -> tuple[Claim, ...]:
        """Claims that two machines decide differently."""
        return tuple(claim for claim in self.shared if len(self._decided(claim)) > 1)

    @property
    def open(self) -> tuple[Claim, ...]:
        """Claims that one machine decides and another leaves inconclusive, and no two oppose."""
        return tuple(
            claim
            for claim in self.shared
            if len(self._decided(claim)) == 1
            and any(head.verdict == INCONCLUSIVE for head in self.heads(claim))
        )

    def _decided(self, claim: Claim) -> set[str]:
        return {head.verdict for head in self.heads(claim)} - {INCONCLUSIVE, NOT_MEASURED}


def gathered(
    *,
    profile: str = "quick",
    workdir: str = "build/adhoc",
    records: str = "",
    others: str = OTHERS,
) -> Machines:
    """Judge the claims on every machine.

    Parameters
    ----------
    profile : str
        smoke, quick, full or paper.
    workdir : str
        Where the results of this run lie; relative to the repository.
    records : str
        A folder of records that stands for this run; empty for the results of the profile.
    others : str
        The folder with a folder a machine.

    Raises
    ------
    ValueError
        For an unknown profile, or a folder that does not exist.
    """
    check_profile(profile)
    top = root()
    results = (top / workdir).resolve() / "results" / profile
    own = (top / records).resolve() if records else results
    for name, value, folder in (("records", records, own), ("others", others, top / others)):
        if value and not folder.is_dir():
            raise ValueError(f"{name} is {value!r}: no such folder of records")
    content = read(top / FILE)
    pages = frozenset(entry.name for entry in entries(top))

    def machine(name: str, folder: Path) -> Machine:
        found = evaluate(content.claims, folder)
        return Machine(name, tables.machines(folder), {each.claim.id: each for each in found})

    folders = sorted(
        {path.parent.resolve() for path in (top / others).glob("[!.]*/*.parquet")},
        key=lambda folder: (folder.name != REFERENCE, folder.name),
    )
    found = [machine(folder.name, folder) for folder in folders]
    mine = ""
    if any(own.glob("*.parquet")):
        runs = set(tables.machines(own))
        added = [each.name for each in found if runs and runs <= set(each.runs)]
        mine = own.name if own in folders else added[0] if added else YOURS
        found += [] if own in folders or added else [machine(YOURS, own)]
    return Machines(
        profile,
        results,
        content.documents,
        content.chapters,
        pages,
        content.claims,
        tuple(found),
        mine,
    )
