"""One list of dependencies: environment.yml, the lock, images and scripts follow pyproject."""

import os
import re
import tomllib
from pathlib import Path

import pytest
import rattler
import yaml
from packaging.markers import default_environment
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
EXTRAS = PROJECT["optional-dependencies"]
STUDY = [Requirement(text) for text in PROJECT["dependencies"] + EXTRAS["study"]]
ALL = STUDY + [Requirement(text) for text in EXTRAS["dev"]]


def bounds(specs):
    split = (spec.partition(" ") for spec in specs)
    return {name: SpecifierSet(bound) for name, _, bound in split}


def test_conda_and_pip_get_every_dependency_with_the_same_bounds():
    *conda, pip = ENVIRONMENT["dependencies"]
    wanted = {"python": SpecifierSet(PROJECT["requires-python"]), "pip": SpecifierSet()}
    by_pip = {}
    for requirement in STUDY:
        name = canonicalize_name(requirement.name)
        if name in PIP_ONLY:
            by_pip[name] = requirement.specifier
        # What only some systems have would keep conda from solving on the others.
        elif not requirement.marker:
            # The library and the study may bound the same package.
            name = CONDA_NAMES.get(name, name)
            wanted[name] = wanted.get(name, SpecifierSet()) & requirement.specifier
    assert bounds(conda) == wanted
    pip["pip"].remove("-e .")
    assert bounds(pip["pip"]) == by_pip
    for spec in conda:
        assert rattler.MatchSpec(spec, strict=True), spec


def test_the_environment_with_mpi_is_the_other_and_what_mpi_needs():
    both = [yaml.safe_load((ROOT / f"environment{x}.yml").read_text()) for x in ("", "-mpi")]
    plain, mpi = ([str(spec) for spec in each["dependencies"]] for each in both)
    more = [spec for spec in mpi if spec not in plain]
    assert [spec for spec in mpi if spec in plain] == plain
    assert {"mpi4py >=4.1", "openmpi-mpicc", "hdf5 =*=mpi_openmpi_*"} <= set(more)
    (requirement,) = (r for r in STUDY if r.name == "mpi4py")
    assert f"mpi4py {requirement.specifier}" in more
    assert both[0]["channels"] == both[1]["channels"]


def environment(python, system):
    """What markers ask of one Python on one system."""
    asked = {"python_version": python, "python_full_version": f"{python}.9", "extra": ""}
    asked |= {"sys_platform": system, "platform_system": system.title()}
    return default_environment() | asked | {"platform_machine": "x86_64"}


def locked(asked):
    """Versions the lock gives an environment, by canonical name."""
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
def test_the_lock_satisfies_every_bound_and_has_what_installs_this_folder(python, system):
    asked = environment(python, system)
    pins = locked(asked)
    wanted = [r for r in ALL if r.marker is None or r.marker.evaluate(asked)]
    for requirement in wanted:
        pin = pins.get(canonicalize_name(requirement.name), "0")
        assert requirement.specifier.contains(pin, prereleases=True), requirement
    names = {canonicalize_name(requirement.name) for requirement in wanted}
    without = {canonicalize_name(requirement.name) for requirement in ALL} - names
    assert not without & set(pins), "what a marker leaves out may have no wheel there"
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert {canonicalize_name(Requirement(text).name) for text in build} | {"editables"} <= set(
        pins
    )


def test_every_locked_package_has_hashes_and_none_names_a_host():
    blocks = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(blocks) > 100
    assert all("--hash=sha256:" in block for block in blocks)
    assert not re.search(r"https?:|//|\.(?:org|com|io|net)\b|--(?:extra-)?index|--find-links", LOCK)


def test_apt_txt_says_what_each_package_is_for():
    for line in (ROOT / "apt.txt").read_text().splitlines():
        assert re.fullmatch(r"|#.*|[a-z0-9.+-]+  # (required|optional): .+", line), line


DOCKERFILE = (ROOT / "Dockerfile").read_text()
# A slim image lacks these, and has venv.
MORE, LESS = {"make", "git"}, {"python3-venv"}


def debian():
    lines = (ROOT / "apt.txt").read_text().splitlines()
    return {line.partition(" ")[0] for line in lines if line and not line.startswith("#")}


def test_the_image_is_pinned_and_has_apt_txt_the_lock_and_this_folder():
    (base,) = re.findall(r"^FROM (\S+)$", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"python:3\.1[123]\.\d+-slim-[a-z]+@sha256:[0-9a-f]{64}", base)
    listed = DOCKERFILE.partition("--no-install-recommends")[2].partition("&&")[0]
    assert set(listed.replace("\\", "").split()) == debian() - LESS | MORE
    lock, folder = re.findall(r"pip install (.*)", DOCKERFILE)
    assert "--require-hashes" in lock and lock.endswith("requirements.lock")
    assert "--no-deps" in folder and "--no-build-isolation" in folder
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {"build", ".venv", ".tools"} <= set(ignored)


def test_binder_gets_the_packages_of_apt_txt_and_the_lock():
    """Binder reads this folder only, where there is one; it has no use for a browser."""
    assert set((ROOT / "binder/apt.txt").read_text().split()) == debian() - LESS - {"chromium"}
    (line,) = (ROOT / "binder/requirements.txt").read_text().splitlines()
    assert (ROOT / "binder" / line.removeprefix("-r ")).resolve() == ROOT / "requirements.lock"
    assert (ROOT / "binder/runtime.txt").read_text().strip() == "python-3.12"
    assert os.access(ROOT / "binder/postBuild", os.X_OK)
    assert "-e ." in (ROOT / "binder/postBuild").read_text()
