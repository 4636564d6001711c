"""The command explains itself, and its exit codes say what happened."""

import json
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
# Runs commands where what `pip install hyperslab` does not bring is hidden.
ALONE = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import packages_distributions
hidden = set(packages_distributions()) - {core}
class Hidden:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, Hidden)
from hyperslab.cli import main
for words in sys.argv[1:]:
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(words.split())
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What commands say beside a file x.h5, by their words: exit code, outputs, errors."""
    where = tmp_path_factory.mktemp("alone")
    with h5py.File(where / "x.h5", "w") as file:
        file.create_dataset("x", data=range(9000), chunks=(3000,), compression=4)
    words = ("run", "book", "claims", "advise x.h5", "bench x.h5", "results add x", "doctor")
    words += ("index x.h5", "index --check x.h5", "index --info x.h5")
    program = [sys.executable, "-c", ALONE.format(core=CORE), *words]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, cwd=where, check=True)
    return dict(zip(words, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    assert "usage: hyperslab " + command in capsys.readouterr().out


def test_words_that_nothing_has_and_a_folder_that_is_none_are_named(tmp_path, monkeypatch, capsys):
    for words, said in (
        (["run", "--profile", "swift"], "no profile 'swift': choose from smoke"),
        (["run", "nope", "--profile", "smoke"], "no notebook 'nope'"),
        (["bench", "a\nb.nc"], "hyperslab bench: a b.nc does not"),
    ):
        assert main(words) == USAGE
        assert said in capsys.readouterr().err
    with pytest.raises(SystemExit, match=str(USAGE)):
        main(["unknown"])
    monkeypatch.chdir(tmp_path)
    assert main(["run"]) == FAILED
    assert "not a checkout of the study" in capsys.readouterr().err


def test_a_command_names_the_extra_that_it_needs(alone):
    for words in ("run", "book", "claims", "advise x.h5", "bench x.h5", "results add x"):
        code, _, error = alone[words]
        name = words.split()[0]
        said = rf"hyperslab {name}: \w+ is not installed: pip install 'hyperslab\[study\]'\n"
        assert code == FAILED and re.fullmatch(said, error), error


def test_index_and_doctor_need_nothing_else(alone):
    for words in ("index x.h5", "index --check x.h5", "index --info x.h5"):
        assert (alone[words][0], alone[words][2]) == (OK, "")
    code, said, _ = alone["doctor"]
    assert code == FAILED  # the study lacks packages
    assert "packaging is not installed" in said


def test_the_module_is_the_command_and_its_help_imports_no_package():
    words = [sys.executable, "-X", "importtime", "-m", "hyperslab", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert all(f"\n    {command} " in done.stdout for command in COMMANDS)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "argparse" in imported
    assert not {"numpy", "h5py", "pandas", "xarray", "matplotlib", "yaml"} & imported


def test_a_module_of_our_own_that_is_missing_is_no_missing_package(monkeypatch):
    monkeypatch.setitem(cli._ELSEWHERE, "bench", (".tune.no_such_module", ""))
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        main(["bench", "x.nc"])


@pytest.mark.parametrize(
    ("shell", "said"),
    [("PYTHONIOENCODING=ascii {} <&-", "claims: "), ("{} >&- 2>&-", ""), ("{} | head -c 5", "")],
)
def test_odd_terminals_and_closed_outputs_are_no_error(shell, said, tmp_path):
    for name in ("machine.json", "penard_datasets.parquet"):  # few, which are judged soon
        shutil.copy(Path("results/reference", name), tmp_path)
    words = shell.format(f"{sys.executable} -m hyperslab claims --records {tmp_path}")
    found = subprocess.run(["sh", "-c", words], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (OK, "")
    assert said in found.stdout


def test_what_a_command_starts_has_outputs_too():
    child = "import sys; sys.exit(sys.stdout is None)"
    code = "import os, subprocess, sys; os.close(1); from hyperslab.cli import main\n"
    code += f"main(['index', '']); sys.exit(subprocess.call([sys.executable, '-c', {child!r}]))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == OK


@pytest.mark.parametrize("command", ["index", "bench", "advise", "rechunk"])
def test_a_file_whose_name_begins_with_a_dash_is_a_usage_error(
    command, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("-dash.nc").touch()
    assert main([command, "-dash.nc"]) == USAGE
    assert "write ./-dash.nc" in capsys.readouterr().err


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


@pytest.mark.parametrize("kernel", ["starts", "runs", "does not end by itself"])
def test_a_run_that_is_ended_says_so_and_leaves_no_half_of_a_notebook(tmp_path, kernel):
    patience_s = 0 if kernel == "does not end by itself" else 2
    begun = f"from hyperslab.study import forked; forked._PATIENCE_S = {patience_s}; "
    begun += "import sys; from hyperslab.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ["run", "lee_access", "--profile", "smoke", "--again", "--workdir", str(tmp_path)]
    words = [sys.executable, "-c", begun, *words]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    said = process.stdout.readline()
    scratch = tmp_path / "scratch"
    until = time.monotonic() + 60
    while kernel != "starts" and not list(scratch.glob("lee_access-*")):
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.05)
    process.terminate()
    said += process.communicate(timeout=60)[0]
    assert process.returncode == FAILED
    assert "interrupted: what was finished is kept" in said and "lee_access done" not in said
    assert not list(tmp_path.rglob("*.part.ipynb")) and not list(scratch.glob("lee_access-*"))
    assert kernel != "starts" or not list(tmp_path.rglob("*.parquet"))
