"""`hyperslab results add FOLDER`."""

import argparse
from pathlib import Path

DEFAULT = "results"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    results = commands.add_parser(
        "results",
        description="The records of several machines, which the book shows beside each other.",
    )
    actions = results.add_subparsers(dest="action", required=True, metavar="ACTION")
    adding = actions.add_parser(
        "add",
        help="check a folder of records and add it",
        description="Check records (columns, versions, run ids, samples compared with "
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
    adding.add_argument(
        "--into", default=DEFAULT, metavar="FOLDER", help=f"of all machines ({DEFAULT})"
    )
    adding.set_defaults(call=run_add)


def run_add(arguments: argparse.Namespace) -> int:
    from hyperslab.claims import FILE, read
    from hyperslab.measure.records import machines

    from ..profile import root
    from .add import add as add_records

    top, folder = root(), Path(arguments.folder)
    into = top / str(arguments.into)
    if into == top or into.is_file():
        raise ValueError(
            f"--into is {arguments.into!r}: name a folder for all machines, such as {DEFAULT}"
        )
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
