"""`hyperslab results add FOLDER` and `hyperslab results list`."""

import argparse
import json
from pathlib import Path
from typing import Any

DEFAULT = "results"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command `results` to those of `hyperslab`."""
    results = commands.add_parser(
        "results",
        description="The records of several machines, which the book shows beside each other.",
    )
    actions = results.add_subparsers(dest="action", required=True, metavar="ACTION")
    adding = actions.add_parser(
        "add",
        help="check a folder of records and add it",
        description="Check records (columns and types, versions, run ids, samples compared with "
        "the truth, A/A pairs, nothing private) and add them as results/NAME/, small and whole. "
        "What is wrong is refused with the reasons, and nothing is written.",
    )
    adding.add_argument(
        "folder", metavar="FOLDER", help="where a run wrote its records, build/results/quick"
    )
    adding.add_argument(
        "--name", default="", metavar="NAME", help="of the machine (its processor and cores)"
    )
    adding.add_argument(
        "--replace", action="store_true",
        help="put notebooks in the place of those of another run; else both runs are kept",
    )  # fmt: skip
    listing = actions.add_parser("list", help="list the machines whose records are there")
    for parser in (adding, listing):
        parser.add_argument(
            "--into", default=DEFAULT, metavar="FOLDER", help=f"of all machines ({DEFAULT})"
        )
    adding.set_defaults(call=run_add)
    listing.set_defaults(call=run_list)


def run_add(arguments: argparse.Namespace) -> int:
    """Add a folder; return 0. What is refused is an error."""
    from hyperslab.claims import FILE, read
    from hyperslab.measure.records import machines

    from ..profile import root
    from .add import add as add_records

    top, folder = root(), Path(arguments.folder)
    into = _into(arguments, top)
    added = add_records(folder, arguments.name, into=into, top=top, replace=arguments.replace)
    how = "added" if added.changed else "nothing changed, it is there already"
    notebooks = f"{len(added.notebooks)} notebook{'s' * (len(added.notebooks) != 1)}"
    size = sum(path.stat().st_size for path in added.folder.iterdir())
    print(f"{arguments.into}/{added.folder.name}: {how}; {notebooks}, {size / 1e3:.0f} kB")
    rules = read(top / FILE).rules
    if any(facts.get("rules") != rules for facts in machines(added.folder).values()):
        print("the rules of claims have changed since this run was begun: it is judged by today's")
    if added.changed:
        print("`hyperslab run machines` shows it beside the others; commit the folder to share it")
    return 0


def run_list(arguments: argparse.Namespace) -> int:
    """Print a line for each machine; return 0."""
    from hyperslab.measure.records import machines

    from ...text import printable
    from ..profile import root

    folders = sorted(path.parent for path in _into(arguments, root()).glob("*/machine.json"))
    for folder in folders:
        try:
            facts: list[dict[str, Any]] = list(machines(folder).values())
            first, who = facts[0], facts[0]["identity"]
            claims = json.loads((folder / "claims.json").read_text())
            verdicts = [claim["verdict"] for claim in claims]
            judged = len(verdicts) - verdicts.count("not measured")
            line = (
                f"{folder.name:<24} {who['cpu']}, {who['cores']} cores, {who['memory_gib']} GiB, "
                f"{first['kernel']}, {first['file_system']}; profile {first['profile']}, "
                f"notebooks {len(facts)}, {judged} of {len(verdicts)} claims judged"
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{folder}: machine.json or claims.json is missing or damaged ({error}): add the "
                "records again with `hyperslab results add`, or remove the folder"
            ) from error
        print(printable(line))
    if not folders:
        print(f"{arguments.into}: no machine yet; `hyperslab results add FOLDER` adds one")
    return 0


def _into(arguments: argparse.Namespace, top: Path) -> Path:
    place = top / str(arguments.into)
    if place == top or place.is_file():
        raise ValueError(
            f"--into is {arguments.into!r}: name a folder for all machines, such as {DEFAULT}"
        )
    return place
