"""Say what the running Python lacks to run the study: `python -I suitable.py EXTRA…`.

Exits with 0 where nothing is missing, else with 1 and one line on standard output.
"""

import sys
from importlib import metadata, util
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def lacking(extras):
    """Return what is missing, as words; empty where the environment can be used."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        return ["Python 3.11 to 3.13"]
    if util.find_spec("packaging") is None:
        return ["packaging"]
    import tomllib

    from packaging.requirements import Requirement

    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    requirements = list(project["dependencies"])
    for extra in extras:
        requirements += project["optional-dependencies"][extra]
    missing = [] if util.find_spec(project["name"]) else [project["name"]]
    for requirement in map(Requirement, requirements):
        if requirement.marker and not requirement.marker.evaluate():
            continue
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            # What only some systems have is not on conda-forge under that name; the study says
            # what is left out without it.
            if "platform" not in str(requirement.marker):
                missing.append(requirement.name)
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            missing.append(f"{requirement} (it has {version})")
    return missing


if __name__ == "__main__":
    missing = lacking(sys.argv[1:])
    if missing:
        print("it lacks", ", ".join(missing))
    sys.exit(bool(missing))
