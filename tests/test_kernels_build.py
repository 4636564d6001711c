"""The kernel is compiled once, found again, and says what it misses."""

import os
import subprocess
import sys

import pytest

from hyperslab.kernels import build
from hyperslab.kernels.build import KernelError

PROGRAM = "from hyperslab.kernels.build import kernel; print(kernel().hs_version(), kernel()._name)"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of our own, and no kernel kept from before."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    build.kernel.cache_clear()
    yield tmp_path / "hyperslab"
    build.kernel.cache_clear()


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_it_is_compiled_once_and_named_after_its_bytes(cache, monkeypatch):
    assert build.kernel().hs_version() == 1
    (name,) = files(cache)
    assert name.startswith("reads-") and name.endswith(".so")
    assert build._named(name.rpartition("-")[0], cache / name) == name.removesuffix(".so")
    build.kernel.cache_clear()
    monkeypatch.setattr(build, "_compile", lambda *_: pytest.fail("compiled again"))
    assert build.kernel().hs_version() == 1
    assert files(cache) == [name]
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache.parent))
    for number, (flags, compiler) in enumerate((("-DX=1", "cc"), ("-DX=1", "cc -g0")), 2):
        build.kernel.cache_clear()
        monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, flags))
        monkeypatch.setenv("CC", compiler)
        build.kernel()
        assert len(files(cache)) == number


def test_a_broken_entry_is_made_again(cache):
    build.kernel()
    (name,) = files(cache)
    whole = (cache / name).read_bytes()
    for broken in (b"\x7fELF no library", whole[: len(whole) // 2]):
        (cache / name).unlink()  # the loaded one stays as it is
        (cache / name).write_bytes(broken)
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
        assert done.stdout.startswith("1 "), done.stderr
        assert files(cache) == [name]
        assert (cache / name).read_bytes() == whole


def test_first_builds_at_once_are_safe(cache):
    running = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", PROGRAM], stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    said = [process.communicate()[0].decode().split()[0] for process in running]
    assert said == ["1"] * 3
    assert len(files(cache)) == 1


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


PRELOADED = """
import hyperslab.kernels.preloaded
from hyperslab.kernels.build import kernel
print(kernel.cache_info().currsize)
"""


@pytest.mark.parametrize(("compiler", "loaded"), [("cc", "1"), ("no-such-compiler", "0")])
def test_importing_preloaded_loads_the_kernel_and_is_silent_where_there_is_none(compiler, loaded):
    words, env = [sys.executable, "-c", PRELOADED], os.environ | {"CC": compiler}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == (loaded, "")
