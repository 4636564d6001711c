"""The set-up scripts, in a folder with an odd name and with commands that only pretend."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
    clone.command("python3", GOOD)
    clone.command("id", f"echo {user}")
    clone.command("dpkg-query", "exit 1")
    clone.command("apt-get", "exit 100")
    done = clone.run("setup.sh")
    assert said in done.stderr and "making .venv" in done.stderr


def test_a_path_that_no_virtual_environment_can_have_is_refused(tmp_path):
    clone = Clone(tmp_path / "a:b")
    clone.command("python3", GOOD)
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
    clone.command("python3", GOOD)
    done = clone.run("python.sh", "--why", VIRTUAL_ENV=str(clone.folder))
    assert done.returncode == 1
    assert "the active environment is not used: it lacks h5py" in done.stderr
    assert "making .venv" in done.stderr
