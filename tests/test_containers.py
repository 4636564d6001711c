"""Dockerfile and binder/ install what apt.txt and the lock list; neither is run here."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
# A slim image lacks these, and has venv.
MORE, LESS = {"make", "git"}, {"python3-venv"}


def debian():
    lines = (ROOT / "apt.txt").read_text().splitlines()
    return {line.partition(" ")[0] for line in lines if line and not line.startswith("#")}


def test_the_image_is_pinned_to_a_version_and_a_digest():
    (base,) = re.findall(r"^FROM (\S+)$", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"python:3\.1[123]\.\d+-slim-[a-z]+@sha256:[0-9a-f]{64}", base)


def test_the_image_has_the_packages_of_apt_txt():
    listed = DOCKERFILE.partition("--no-install-recommends")[2].partition("&&")[0]
    assert set(listed.replace("\\", "").split()) == debian() - LESS | MORE


def test_the_image_installs_the_lock_with_hashes_and_then_this_folder():
    steps = re.findall(r"pip install (.*)", DOCKERFILE)
    assert [step.split()[-1] for step in steps] == ["requirements.lock", "."]
    assert "--require-hashes" in steps[0]
    assert "--no-deps" in steps[1] and "--no-build-isolation" in steps[1]


def test_the_image_gets_nothing_that_is_made():
    ignored = set((ROOT / ".dockerignore").read_text().split())
    made = {name.strip("/") for name in (ROOT / ".gitignore").read_text().split()}
    assert {"build", ".venv", ".tools"} <= ignored
    assert {name.removeprefix("**/") for name in ignored} <= made


def test_binder_gets_the_packages_of_apt_txt_and_the_lock():
    """Binder reads this folder only, where there is one; it has no use for a browser."""
    assert set((ROOT / "binder/apt.txt").read_text().split()) == debian() - LESS - {"chromium"}
    (line,) = (ROOT / "binder/requirements.txt").read_text().splitlines()
    assert (ROOT / "binder" / line.removeprefix("-r ")).resolve() == ROOT / "requirements.lock"
    assert (ROOT / "binder/runtime.txt").read_text().strip() == "python-3.12"
    assert os.access(ROOT / "binder/postBuild", os.X_OK)
    assert "-e ." in (ROOT / "binder/postBuild").read_text()
