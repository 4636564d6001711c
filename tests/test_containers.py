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
