"""The command explains itself, and its exit codes say what happened."""

import subprocess
import sys

import pytest

from hyperslab.cli import FAILED, USAGE, main


@pytest.mark.parametrize("command", ["run", "book", "claims", "bench", "doctor"])
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
