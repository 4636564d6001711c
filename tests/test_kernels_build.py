"""The kernel is compiled once, found again, and says what it misses."""

import os
import subprocess
import sys

import pytest

from hyperslab.kernels import build
from hyperslab.kernels.build import FLAGS, KernelError

PROGRAM = "from hyperslab.kernels.build import kernel; print(bool(kernel().hs_plain))"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of our own, and no kernel kept from before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    build.kernel.cache_clear()
    yield tmp_path / "hyperslab"
    build.kernel.cache_clear()


def test_it_is_compiled_once_for_a_compiler_and_its_flags(cache, monkeypatch):
    build.kernel()
    made = [path.stat().st_mtime_ns for path in cache.iterdir()]
    for number, (flag, compiler) in enumerate((("", "cc"), ("-DX=1", "cc"), ("", "cc -g0")), 1):
        build.kernel.cache_clear()
        monkeypatch.setattr(build, "FLAGS", (*FLAGS, *flag.split()))
        monkeypatch.setenv("CC", compiler)
        assert build.kernel().hs_plain
        assert len(list(cache.iterdir())) == number
    assert made[0] in [path.stat().st_mtime_ns for path in cache.iterdir()]


def test_first_builds_at_once_are_safe_and_a_broken_entry_is_made_again(cache):
    words = [sys.executable, "-W", "error", "-c", PROGRAM]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE) for _ in range(3)]
    assert [process.communicate()[0] for process in running] == [b"True\n"] * 3
    (path,) = cache.iterdir()
    whole = path.read_bytes()
    for broken in (b"\x7fELF no library", whole[: len(whole) // 2]):
        path.write_bytes(broken)
        assert subprocess.run(words, capture_output=True).stdout == b"True\n"
        assert list(cache.iterdir()) == [path] and path.read_bytes() == whole


def test_without_a_compiler_that_works_it_says_what_to_do(cache, monkeypatch, tmp_path):
    script = tmp_path / "cc"
    for text, said in (
        ('[ "$1" = --version ] && exit 0; echo "reads.c:12: error: no stdio.h" >&2; exit 1',
         r"error: no stdio\.h; a whole compiler is needed"),
        ('for a in "$@"; do [ "$b" = -o ] && echo text > "$a"; b=$a; done', "does not load"),
    ):  # fmt: skip
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
        monkeypatch.setenv("CC", str(script))
        with pytest.raises(KernelError, match=said):
            build.kernel()
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(KernelError, match=r"no C compiler: 'cc'.*apt-get install gcc.*macOS.*CC"):
        build.kernel()
    monkeypatch.undo()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert build.cache_folder() == tmp_path / ".cache" / "hyperslab"
    monkeypatch.setenv("XDG_CACHE_HOME", str(script))  # a file
    with pytest.raises(KernelError, match=r"cannot be written .*XDG_CACHE_HOME") as caught:
        build.kernel()
    assert str(tmp_path) not in str(caught.value)


def test_the_source_compiles_without_a_warning(tmp_path):
    command = [*build.compiler(), *build.FLAGS, "-Werror", "-o", os.devnull, str(build.SOURCE)]
    assert subprocess.run(command, capture_output=True, text=True).stderr == ""


PRELOADED = "import hyperslab.kernels.preloaded as p; print(p.kernel.cache_info().currsize)"


@pytest.mark.parametrize(("compiler", "loaded"), [("cc", "1"), ("no-such-compiler", "0")])
def test_importing_preloaded_loads_the_kernel_and_is_silent_where_there_is_none(compiler, loaded):
    words, env = [sys.executable, "-c", PRELOADED], os.environ | {"CC": compiler}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == (loaded, "")
