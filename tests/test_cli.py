"""The command explains itself, and its exit codes say what happened."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import pytest

from hyperslab import cli
from hyperslab.cli import FAILED, OK, USAGE, main

COMMANDS = ["run", "book", "claims", "advise", "bench", "rechunk", "index", "results", "doctor"]
CORE = {"hyperslab", "numpy", "h5py", "fsspec"}
# Hides what `pip install hyperslab` does not bring.
ALONE = """
import sys
from importlib.metadata import packages_distributions
hidden = set(packages_distributions()) - {core}
class Hidden:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Hidden)
from hyperslab.cli import main
sys.exit(main(sys.argv[1:]))
"""


def alone(*words, where):
    """Run a command where only the package's own dependencies are."""
    program = [sys.executable, "-c", ALONE.format(core=CORE), *words]
    return subprocess.run(program, capture_output=True, text=True, cwd=where, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as ending:
        main([command, "--help"])
    assert ending.value.code == 0
    assert "usage: hyperslab " + command in capsys.readouterr().out


def test_unknown_profile_is_a_usage_error(capsys):
    assert main(["run", "--profile", "swift"]) == USAGE
    assert "no profile 'swift': choose from smoke" in capsys.readouterr().err


def test_unknown_notebook_is_a_usage_error(capsys):
    assert main(["run", "nope", "--profile", "smoke"]) == USAGE
    assert "no notebook 'nope'" in capsys.readouterr().err


def test_outside_a_checkout_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run"]) == FAILED
    assert "not a checkout of the study" in capsys.readouterr().err


def test_command_and_module_are_the_same():
    done = subprocess.run(
        [sys.executable, "-m", "hyperslab", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("hyperslab ")
    with pytest.raises(SystemExit) as ending:
        main(["unknown"])
    assert ending.value.code == USAGE


def test_help_imports_no_package():
    program = (
        "import sys; from hyperslab.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: print(sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    help_text, _, names = done.stdout.rpartition("\n[")
    assert all(f"\n    {command} " in help_text for command in COMMANDS)
    assert not {"numpy", "h5py", "pandas", "xarray", "matplotlib", "yaml"} & set(
        names.strip("]\n").replace("'", "").split(", ")
    )


@pytest.mark.parametrize(
    "words", ["run", "book", "claims", "advise x.h5", "bench x.h5", "results list"]
)
def test_a_command_names_the_extra_that_it_needs(words, tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["x"] = 1.0
    done = alone(*words.split(), where=tmp_path)
    assert done.returncode == FAILED
    assert re.fullmatch(
        rf"hyperslab {words.split()[0]}: \w+ is not installed: pip install 'hyperslab\[study\]'\n",
        done.stderr,
    )


def test_index_and_doctor_need_nothing_else(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=range(9000), chunks=(3000,), compression=4)
    for words in (["index", "x.h5"], ["index", "--check", "x.h5"], ["index", "--info", "x.h5"]):
        done = alone(*words, where=tmp_path)
        assert (done.returncode, done.stderr) == (OK, "")
    done = alone("doctor", where=tmp_path)
    assert done.returncode == FAILED  # the study lacks packages
    assert "netCDF4 cannot be imported" in done.stdout
    assert "problems must be mended" in done.stdout


def test_a_module_of_our_own_that_is_missing_is_no_missing_package(monkeypatch):
    monkeypatch.setitem(cli._ELSEWHERE, "bench", (".tune.no_such_module", ""))
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        main(["bench", "x.nc"])


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """Records of one notebook, which are judged soon."""
    folder = tmp_path_factory.mktemp("few")
    for name in ("machine.json", "penard_datasets.parquet"):
        shutil.copy(Path("results/reference", name), folder)
    return folder


@pytest.mark.parametrize("coding", ["ascii", "latin-1", "cp437"])
def test_a_terminal_that_lacks_letters_gets_the_answer(coding, few):
    found = subprocess.run(
        [sys.executable, "-m", "hyperslab", "claims", "--records", str(few)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": coding},
        check=False,
    )
    assert (found.returncode, found.stderr) == (OK, b"")
    assert b"claims: " in found.stdout


@pytest.mark.parametrize("redirected", [">&-", "2>&-", "<&-", ">&- 2>&-"])
def test_closed_outputs_are_no_error(redirected, few):
    words = f"{sys.executable} -m hyperslab claims --records {few} {redirected}"
    found = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (OK, "")


def test_what_a_command_starts_has_outputs_too():
    child = "import sys; sys.exit(sys.stdout is None)"
    code = "import os, subprocess, sys; os.close(1); from hyperslab.cli import main\n"
    code += f"main(['index', '']); sys.exit(subprocess.call([sys.executable, '-c', {child!r}]))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == OK


def test_who_has_read_enough_is_told_nothing(few):
    words = f"{sys.executable} -m hyperslab claims --records {few} | head -c 5"
    found = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False)
    assert found.stderr == ""


@pytest.mark.parametrize("command", ["index", "bench", "advise", "rechunk"])
def test_a_file_whose_name_begins_with_a_dash_is_a_usage_error(
    command, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("-dash.nc").touch()
    assert main([command, "-dash.nc"]) == USAGE
    assert "write ./-dash.nc" in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["-n 64", "-v 600000"])
def test_a_run_says_what_it_needs_of_the_machine(limit, tmp_path):
    run = f"{sys.executable} -m hyperslab run lee_access --profile smoke --workdir {tmp_path}"
    words = ["sh", "-c", f"ulimit {limit}; exec {run}"]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    assert found.returncode == FAILED
    assert f"`ulimit {limit[:2]} " in found.stderr and found.stderr.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_command_that_is_ended_is_interrupted(number, monkeypatch, capsys):
    monkeypatch.setattr(cli, "_claims", lambda _: os.kill(os.getpid(), number) or time.sleep(9))
    begun = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    before = signal.signal(number, begun)  # under nohup it would be ignored
    try:
        assert main(["claims"]) == FAILED
        assert "interrupted: what was finished is kept" in capsys.readouterr().out
        assert signal.getsignal(number) == begun
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_says_that_what_was_finished_is_kept(tmp_path, number):
    words = [sys.executable, "-m", "hyperslab", "run", "lee_access", "--profile", "smoke"]
    process = subprocess.Popen(
        [*words, "--again", "--workdir", str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # under nohup it would be ignored
    )
    scratch = tmp_path / "scratch"
    until = time.monotonic() + 60
    while not (scratch.exists() and list(scratch.glob("lee_access-*"))):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == FAILED
    assert "interrupted: what was finished is kept" in said
    assert not list(tmp_path.rglob("*.part.ipynb")) and not list(scratch.glob("lee_access-*"))


def test_a_run_that_is_ended_while_kernels_start_runs_no_notebook(tmp_path):
    words = [sys.executable, "-m", "hyperslab", "run", "lee_access", "--profile", "smoke"]
    process = subprocess.Popen(
        [*words, "--again", "--workdir", str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    said = process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    said += process.communicate(timeout=60)[0]
    assert process.returncode == FAILED
    assert "interrupted: what was finished is kept" in said and "lee_access done" not in said
    assert not list(tmp_path.rglob("*.parquet"))
