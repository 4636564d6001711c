"""One list of dependencies, held by environments, images and scripts; these only pretend here."""

import os
import re
import shutil
import subprocess
import sys
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
    assert set(EXTRAS["tune"]) <= set(EXTRAS["study"])
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


def names(requirements):
    return {canonicalize_name(requirement.name) for requirement in requirements}


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
    left_out = names(ALL) - names(wanted)
    assert not left_out & set(pins), "what a marker leaves out may have no wheel there"
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert names(map(Requirement, build)) | {"editables"} <= set(pins)


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


ROOT = Path(__file__).parents[1]
SYSTEM = (
    "cat", "cksum", "date", "dirname", "flock", "grep", "id", "mkdir", "rm", "sh", "tail",
)  # fmt: skip

# A Python of the right version; `-m venv` fails, so that nothing is ever installed.
GOOD = 'case "$*" in *"-m venv"*) exit 1 ;; *platform*) echo 3.12.1 ;; esac'
ON_DEBIAN = pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="Debian's way")


class Clone:
    """A folder that holds what the scripts read, and a PATH of its own."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("tools", "bin"):
            (folder / name).mkdir(parents=True)
        for name in ("setup.sh", "python.sh", "suitable.py"):
            shutil.copy(ROOT / "tools" / name, folder / "tools")
        for name in ("pyproject.toml", "requirements.lock"):
            shutil.copy(ROOT / name, folder)
        (folder / "apt.txt").write_text("python3-venv  # required: makes virtual environments\n")
        for name in SYSTEM:
            if found := shutil.which(name):
                (folder / "bin" / name).symlink_to(found)
        self.command("python3", GOOD)

    def command(self, name, script):
        path = self.folder / "bin" / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def run(self, script, *arguments, **environment):
        words = ["/bin/sh", self.folder / "tools" / script, *arguments]
        env = {"PATH": str(self.folder / "bin")} | environment
        return subprocess.run(words, env=env, capture_output=True, text=True, cwd="/")


@pytest.fixture
def clone(tmp_path):
    return Clone(tmp_path / "a b'c $d é")


OLD = 'case "$2" in *platform*) echo 3.10.1 ;; *) exit 1 ;; esac'
HALF = 'case "$2" in *ensurepip*) exit 1 ;; esac'


@pytest.mark.parametrize(
    ("python", "said"),
    [
        (OLD, "needs Python 3.11, 3.12 or 3.13, and given here is 3.10.1"),
        (HALF, "apt-get install python3-venv"),
    ],
)
def test_a_python_that_cannot_do_is_refused_in_one_line(clone, python, said):
    clone.command("given", python)
    clone.command("id", "echo 1000")
    done = clone.run("setup.sh", PYTHON="given")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and said in done.stderr


def test_shims_that_fail_when_run_are_passed_over(clone):
    for name in ("python3", "python3.13"):
        clone.command(name, "echo 'pyenv: python3: command not found' >&2; exit 127")
    clone.command("python3.12", GOOD)
    done = clone.run("setup.sh")
    assert done.returncode == 1
    assert "python3.12 could not make .venv" in done.stderr


@ON_DEBIAN
def test_without_ensurepip_root_on_debian_installs_it(clone):
    clone.command("half", f'[ -e "$0.mended" ] || {HALF}\n{GOOD}')
    clone.command("id", "echo 0")
    clone.command("apt-get", 'echo "$@" >>"$0.log"\n[ "$1" = update ] || : >"${0%/*}/half.mended"')
    done = clone.run("setup.sh", PYTHON="half")
    update, install = (clone.folder / "bin/apt-get.log").read_text().splitlines()
    assert update.startswith("update")
    assert install.startswith("install -y") and install.endswith(" python3-venv")
    assert "half could not make .venv" in done.stderr


@ON_DEBIAN
@pytest.mark.parametrize(
    ("user", "said"),
    [
        ("0", "toy-tool could not be installed; left out without it: the toy chapter"),
        ("1000", "apt-get install toy-tool gives what apt.txt says; left out until then"),
    ],
)
def test_a_missing_optional_package_never_stops_the_set_up(clone, user, said):
    (clone.folder / "apt.txt").write_text("toy-tool  # optional: the toy chapter\n")
    clone.command("id", f"echo {user}")
    clone.command("dpkg-query", "exit 1")
    clone.command("apt-get", "exit 100")
    done = clone.run("setup.sh")
    assert said in done.stderr and "making .venv" in done.stderr


def test_a_path_that_no_virtual_environment_can_have_is_refused(tmp_path):
    clone = Clone(tmp_path / "a:b")
    (clone.folder / "bin").rename(tmp_path / "bin")
    done = clone.run("setup.sh", PATH=str(tmp_path / "bin"))
    assert done.returncode == 1
    assert "holds a colon" in done.stderr


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_an_active_environment_that_suits_is_used_with_this_folders_code(clone, variable):
    (clone.folder / "hyperslab").mkdir()
    (clone.folder / "hyperslab" / "__init__.py").touch()
    active = {variable: sys.prefix}
    assert "using the active environment" in clone.run("python.sh", "--why", **active).stderr
    active["PYTHONDONTWRITEBYTECODE"] = "1"  # each of hundreds of processes would compile all
    code = "import sys, hyperslab as h\n"
    code += "print(sys.prefix, h.__file__, sys.flags.dont_write_bytecode, sep='\\n')"
    done = clone.run("python.sh", "--extra", "dev", "-c", code, **active)
    prefix, file, without = done.stdout.splitlines()
    assert Path(prefix).samefile(sys.prefix) and without == "0"
    assert Path(file).parent == clone.folder / "hyperslab"
    assert not (clone.folder / ".venv").exists()


def test_an_active_environment_that_lacks_something_is_not_used(clone):
    clone.command("python", "echo it lacks h5py\nexit 1")
    done = clone.run("python.sh", "--why", VIRTUAL_ENV=str(clone.folder))
    assert done.returncode == 1
    assert "the active environment is not used: it lacks h5py" in done.stderr
    assert "making .venv" in done.stderr
