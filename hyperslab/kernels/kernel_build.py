"""Compile the C kernel once for this compiler, and load it."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).with_name("reads.c")
FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra")
INSTALL = "Debian: apt-get install gcc libc6-dev; macOS: xcode-select --install"


class KernelError(RuntimeError):
    """The C kernel cannot be compiled or loaded here."""


def compiler() -> tuple[str, ...]:
    words = tuple(shlex.split(os.environ.get("CC", ""))) or ("cc",)
    if shutil.which(words[0]) is None:
        raise KernelError(
            f"no C compiler: {words[0]!r} is not found; install one ({INSTALL}), "
            "or name one in the environment variable CC"
        )
    return words


@cache
def kernel() -> ctypes.CDLL:
    """Return the C kernel, compiled at the first call and kept in the user's cache folder."""
    words, folder = compiler(), cache_folder()
    inputs = (SOURCE.read_text(), _run((*words, "--version")), *words, *FLAGS)
    stem = f"reads-{_hashed(chr(0).join((*inputs, platform.machine(), sys.platform)).encode())}"
    # Named after its own bytes too: a broken one is found and made again.
    for path in sorted(folder.glob(f"{stem}-*.so")):
        with suppress(OSError):
            if path.name == _named(stem, path):
                return ctypes.CDLL(str(path))
        path.unlink(missing_ok=True)
    library = _compile(words, folder, stem)
    try:
        return ctypes.CDLL(str(library))
    except OSError as error:
        raise KernelError(
            f"the C kernel was compiled by {words[0]} but does not load: "
            "the compiler makes programs for another machine; name another in CC"
        ) from error


def cache_folder() -> Path:
    """Return the folder of compiled kernels, in XDG_CACHE_HOME or ~/.cache; it need not exist."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The standard has relative paths passed over.
    if base.is_absolute():
        return base / "hyperslab"
    try:
        return Path("~/.cache/hyperslab").expanduser()
    except RuntimeError as error:
        raise KernelError(
            "this user has no home folder for the compiled kernel: "
            "name a folder in the environment variable XDG_CACHE_HOME"
        ) from error


def _hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _named(stem: str, path: Path) -> str:
    return f"{stem}-{_hashed(path.read_bytes())}.so"


def _compile(words: tuple[str, ...], folder: Path, stem: str) -> Path:
    """Compile into a file of our own, then give it its name: others see it whole or not at all."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{stem}-", suffix=".so", dir=folder)
    except OSError as error:
        raise KernelError(
            f"the folder for the compiled kernel cannot be written ({error.strerror}): "
            "name another in the environment variable XDG_CACHE_HOME"
        ) from error
    os.close(handle)
    library = Path(name)
    try:
        _run((*words, *FLAGS, "-o", name, str(SOURCE)))
        return library.replace(folder / _named(stem, library))
    finally:
        library.unlink(missing_ok=True)


def _run(words: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    except subprocess.CalledProcessError as error:
        first = next((line for line in error.stderr.splitlines() if "error" in line), "")
        raise KernelError(
            f"{words[0]} cannot compile the kernel: {first or error.stderr.strip()[:300]}; "
            f"a whole compiler is needed ({INSTALL})"
        ) from error
    return done.stdout
