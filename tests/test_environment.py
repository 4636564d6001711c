"""One list of dependencies: environment.yml, the lock and the set-up scripts follow pyproject."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import rattler
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text())
LOCK = (ROOT / "requirements.lock").read_text()

CONDA_NAMES = {
    "dask": "dask-core",
    "isal": "python-isal",
    "matplotlib": "matplotlib-base",
    "seaborn": "seaborn-base",
}
PIP_ONLY = {"sphinx-mathjax-offline"}
STUDY = [
    Requirement(text)
    for text in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["study"]
]
ALL = STUDY + [Requirement(text) for text in PROJECT["optional-dependencies"]["dev"]]


def conda_specs():
    return [spec for spec in ENVIRONMENT["dependencies"] if isinstance(spec, str)]


def pip_specs():
    (found,) = (spec["pip"] for spec in ENVIRONMENT["dependencies"] if isinstance(spec, dict))
    return found


def bounds(specs):
    split = (spec.partition(" ") for spec in specs)
    return {name: SpecifierSet(bound) for name, _, bound in split}


def test_conda_gets_every_dependency_under_its_name_with_the_same_bounds():
    wanted = {"python": SpecifierSet(PROJECT["requires-python"]), "pip": SpecifierSet()}
    for requirement in STUDY:
        name = canonicalize_name(requirement.name)
        # What only some systems have would keep conda from solving on the others.
        if name not in PIP_ONLY and not requirement.marker:
            # The library and the study may bound the same package.
            name = CONDA_NAMES.get(name, name)
            wanted[name] = wanted.get(name, SpecifierSet()) & requirement.specifier
    assert bounds(conda_specs()) == wanted


def test_pip_gets_what_conda_forge_lacks_and_this_folder():
    wanted = {r.name: r.specifier for r in STUDY if r.name in PIP_ONLY}
    assert bounds(spec for spec in pip_specs() if spec != "-e .") == wanted
    assert "-e ." in pip_specs()


def test_conda_understands_each_spec():
    for spec in conda_specs():
        parsed = rattler.MatchSpec(spec, strict=True)
        name, _, bound = spec.partition(" ")
        assert (parsed.name.normalized, bool(parsed.version)) == (name, bool(bound))


def test_the_environment_with_mpi_is_the_other_and_what_mpi_needs():
    both = [yaml.safe_load((ROOT / f"environment{x}.yml").read_text()) for x in ("", "-mpi")]
    plain, mpi = ([str(spec) for spec in each["dependencies"]] for each in both)
    more = [spec for spec in mpi if spec not in plain]
    assert [spec for spec in mpi if spec in plain] == plain
    assert {"mpi4py >=4.1", "openmpi-mpicc", "hdf5 =*=mpi_openmpi_*"} <= set(more)
    (requirement,) = (r for r in STUDY if r.name == "mpi4py")
    assert f"mpi4py {requirement.specifier}" in more
    assert both[0]["channels"] == both[1]["channels"]


def environment(python, system="linux"):
    """What markers ask of one Python on one system."""
    return {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "sys_platform": system,
        "platform_system": {"linux": "Linux", "darwin": "Darwin"}[system],
        "platform_machine": "x86_64",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "os_name": "posix",
        "extra": "",
    }


def locked(python, system="linux"):
    """Versions the lock gives one Python on one system, by canonical name."""
    asked = environment(python, system)
    found = {}
    for line in re.findall(r"^([a-z0-9].*?) \\$", LOCK, flags=re.MULTILINE):
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate(asked):
            continue
        (pin,) = requirement.specifier
        assert pin.operator == "=="
        assert requirement.name not in found, f"{requirement.name} is locked twice"
        found[canonicalize_name(requirement.name)] = pin.version
    return found


@pytest.mark.parametrize("system", ["linux", "darwin"])
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_lock_satisfies_every_bound(python, system):
    pins, asked = locked(python, system), environment(python, system)
    wanted = [r for r in ALL if r.marker is None or r.marker.evaluate(asked)]
    missing = [
        str(requirement)
        for requirement in wanted
        if not requirement.specifier.contains(
            pins.get(canonicalize_name(requirement.name), "0"), prereleases=True
        )
    ]
    assert missing == []
    names = {canonicalize_name(requirement.name) for requirement in wanted}
    without = {canonicalize_name(requirement.name) for requirement in ALL} - names
    assert not without & set(pins), "what a marker leaves out may have no wheel there"


def test_the_environment_running_this_is_within_the_bounds():
    command = [sys.executable, "-I", ROOT / "tools/suitable.py", "study", "dev"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_every_locked_package_has_hashes_and_none_names_a_host():
    blocks = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(blocks) > 100
    assert all("--hash=sha256:" in block for block in blocks)
    assert not re.search(r"https?:|//|\.(?:org|com|io|net)\b|--(?:extra-)?index|--find-links", LOCK)


def test_what_installs_this_folder_is_locked():
    # It is installed without build isolation, so that nothing unlocked is fetched.
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    names = {canonicalize_name(Requirement(text).name) for text in build} | {"editables"}
    assert names <= set(locked("3.12"))


def test_apt_txt_says_what_each_package_is_for():
    lines = (ROOT / "apt.txt").read_text().splitlines()
    packages = [line for line in lines if line and not line.startswith("#")]
    assert packages
    for line in packages:
        assert re.fullmatch(r"[a-z0-9.+-]+  # (required|optional): .+", line), line
