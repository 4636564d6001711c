"""The runs that a folder of results knows, of one machine alone."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from ..measure import machine, records


def own_results(folder: Path) -> dict[str, dict[str, object]]:
    """Return the machines of a results folder; refuse another machine's."""
    known = records.machines(folder)
    here = {"identity": machine.identity()}
    for run_id, facts in known.items():
        if facts.get("identity") != here["identity"]:
            raise ValueError(
                f"the results folder holds run {run_id} of another machine "
                f"({_describe(facts)}; this one: {_describe(here)}): records of two machines do "
                "not mix; choose another workdir, or draw from that folder with the parameter "
                "records"
            )
    return known


def _describe(facts: Mapping[str, object]) -> str:
    identity = facts.get("identity")
    if not isinstance(identity, dict):
        return "unknown"
    return f"{identity.get('cpu')}, {identity.get('cores')} cores, {identity.get('memory_gib')} GiB"


def referred(folder: Path, known: Mapping[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    """Return the facts of the runs that some record in the folder still names."""
    named: set[str] = set()
    for path in folder.glob("*.parquet"):
        named |= set(pd.read_parquet(path, columns=["run_id"])["run_id"])
    return {run_id: facts for run_id, facts in known.items() if run_id in named}
