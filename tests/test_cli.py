"""The command explains itself, and its exit codes say what happened."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from samples import until

from hyperslab import cli
from hyperslab.cli import FAILED, OK, USAGE, main

COMMANDS = ["run", "book", "claims", "advise", "bench", "rechunk", "index", "results", "doctor"]


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


@pytest.mark.parametrize(("kind", "allowed", "word"), [("NOFILE", 64, "-n"), ("AS", 6e8, "-v")])
def test_a_run_says_what_it_needs_of_the_machine(
    tmp_path, monkeypatch, capsys, kind, allowed, word
):
    few = {getattr(resource, f"RLIMIT_{kind}"): (int(allowed), 0)}
    unlimited = (resource.RLIM_INFINITY, 0)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: few.get(kind, unlimited))
    assert main(["run", "lee_access", "--profile", "smoke", "--workdir", str(tmp_path)]) == FAILED
    said = capsys.readouterr().err
    assert f"`ulimit {word} " in said and said.count("\n") == 1


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
    if kernel != "starts":
        until(lambda: list(scratch.glob("lee_access-*")) or process.poll() is not None, seconds=60)
    process.terminate()
    said += process.communicate(timeout=60)[0]
    assert process.returncode == FAILED
    assert "interrupted: what was finished is kept" in said and "lee_access done" not in said
    assert not list(tmp_path.rglob("*.part.ipynb")) and not list(scratch.glob("lee_access-*"))
    assert kernel != "starts" or not list(tmp_path.rglob("*.parquet"))
