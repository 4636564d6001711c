"""The kernel is compiled once, found again, and says what it misses."""

import os
import subprocess
import sys
import zipfile

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


def script(folder, text, name="cc"):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_it_is_compiled_once_and_named_after_its_bytes(cache, monkeypatch):
    assert build.kernel().hs_version() == 1
    (name,) = files(cache)
    assert name.startswith("reads-") and name.endswith(".so")
    assert build._named(name.rpartition("-")[0], cache / name) == name.removesuffix(".so")
    build.kernel.cache_clear()
    monkeypatch.setattr(build, "_compile", lambda *_: pytest.fail("compiled again"))
    assert build.kernel().hs_version() == 1
    assert files(cache) == [name]


@pytest.mark.parametrize("broken", [b"", b"\x7fELF no library", "cut"])
def test_a_broken_entry_is_made_again(cache, broken):
    build.kernel()
    (name,) = files(cache)
    whole = (cache / name).read_bytes()
    (cache / name).unlink()  # the loaded one stays as it is
    (cache / name).write_bytes(whole[: len(whole) // 2] if broken == "cut" else broken)
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout.startswith("1 "), done.stderr
    assert files(cache) == [name]
    assert (cache / name).read_bytes() == whole


def test_first_builds_at_once_are_safe(cache):
    running = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", PROGRAM], stdout=subprocess.PIPE)
        for _ in range(6)
    ]
    said = [process.communicate()[0].decode().split()[0] for process in running]
    assert said == ["1"] * 6
    assert len(files(cache)) == 1


def test_another_compiler_or_other_flags_make_another_file(cache, monkeypatch):
    build.kernel()
    build.kernel.cache_clear()
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-DX=1"))
    build.kernel()
    assert len(files(cache)) == 2
    build.kernel.cache_clear()
    monkeypatch.setenv("CC", "cc -g0")
    build.kernel()
    assert len(files(cache)) == 3


def test_without_a_compiler_it_says_what_to_install(cache, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KernelError, match=r"no C compiler: 'cc'.*apt-get install gcc.*macOS.*CC"):
        build.kernel()
    assert not cache.exists()


def test_a_compiler_that_fails_is_quoted(cache, monkeypatch, tmp_path):
    fails = '[ "$1" = --version ] && exit 0; echo "reads.c:12: error: no stdio.h" >&2; exit 1'
    monkeypatch.setenv("CC", str(script(tmp_path, fails)))
    with pytest.raises(KernelError, match=r"error: no stdio\.h; a whole compiler is needed"):
        build.kernel()
    assert files(cache) == []


def test_a_compiler_for_another_machine_is_told(cache, monkeypatch, tmp_path):
    writes = 'for a in "$@"; do [ "$b" = -o ] && echo text > "$a"; b=$a; done'
    monkeypatch.setenv("CC", str(script(tmp_path, writes)))
    with pytest.raises(KernelError, match="does not load"):
        build.kernel()


def test_a_folder_that_cannot_be_written_is_told(monkeypatch, tmp_path):
    tmp_path.joinpath("file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    build.kernel.cache_clear()
    with pytest.raises(KernelError, match=r"cannot be written .*XDG_CACHE_HOME") as caught:
        build.kernel()
    assert str(tmp_path) not in str(caught.value)
    build.kernel.cache_clear()


def test_the_cache_folder_follows_the_standard(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert build.cache_folder() == tmp_path / ".cache" / "hyperslab"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    assert build.cache_folder() == tmp_path / "c" / "hyperslab"


def test_the_source_compiles_without_a_warning(tmp_path):
    command = [*build.compiler(), *build.FLAGS, "-Werror", "-o", os.devnull, str(build.SOURCE)]
    assert subprocess.run(command, capture_output=True, text=True).stderr == ""


def test_the_source_is_packaged(tmp_path):
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=build.SOURCE.parents[2], capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert "hyperslab/kernels/reads.c" in zipfile.ZipFile(wheel).namelist()
