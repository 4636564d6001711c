"""Plant the faults of faults.yml, one after the other, and ask the tests: which do they not find?

    python tools/plant.py CHECKOUT [FILE…]

A copy of the checkout gets a fault; tests that pass nevertheless have not found it. Only faults of
files whose names begin so are planted where some are given.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", "build", "*_cache", "__pycache__")


def main(checkout: str, *files: str) -> int:
    """Print each fault and what came of it; return how many were missed."""
    faults = yaml.safe_load(Path(__file__).with_name("faults.yml").read_text(encoding="utf-8"))
    missed = total = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        shutil.copytree(checkout, copy, ignore=LEFT_OUT, symlinks=True)
        for file, changes in faults.items():
            if files and not file.startswith(files):
                continue
            whole = (copy / file).read_text(encoding="utf-8")
            for old, new, tests in changes:
                if whole.count(old) != 1:
                    raise SystemExit(f"{file}: {old!r} stands there {whole.count(old)} times")
                (copy / file).write_text(whole.replace(old, new), encoding="utf-8")
                began = time.monotonic()
                paths = [str(path) for name in tests.split() for path in copy.glob(name)]
                detected = not _passes(copy, paths)
                missed, total = missed + (not detected), total + 1
                state = "found" if detected else "MISSED"
                print(f"{state} {time.monotonic() - began:5.1f} s  {file}: {old!r}", flush=True)
            (copy / file).write_text(whole, encoding="utf-8")
    print(f"{total - missed} of {total} found")
    return missed


def _passes(copy: Path, tests: list[str]) -> bool:
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    env = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.run(words, cwd=copy, env=env, capture_output=True, text=True)
    if process.returncode not in (0, 1):
        raise SystemExit(f"tests could not run:\n{process.stdout[-3000:]}{process.stderr[-2000:]}")
    return process.returncode == 0


if __name__ == "__main__":
    raise SystemExit(min(main(*sys.argv[1:]), 100))
