"""Compile the C programs once for a compiler, its MPI and its libraries."""

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from ..kernels.kernel_build import cache_folder, compiler
from .launcher import named, programs
from .mpi_errors import AbsentError

FOLDER = Path(__file__).parent
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-U_FORTIFY_SOURCE")
# What the linker lacks stands before the line with "error", which only says that it failed.
_CAUSE = re.compile(
    r"undefined reference to .+|cannot find -l.+|library not found for .+"
    r"|(?<=error: )(?!ld returned|linker command).+"
)


def compilers() -> list[tuple[str, ...]]:
    """Return the MPI compilers of this machine: MPICC of the environment, or those on the PATH."""
    # A folder may hold those of several MPIs, and the first need not be the one that has HDF5.
    if words := named("MPICC"):
        return [words]
    distinct: dict[Path, str] = {}
    for path in programs(("mpicc", "mpicc.openmpi", "mpicc.mpich"), os.get_exec_path()):
        # Open MPI's compilers of all languages are one program, which goes by its name.
        distinct.setdefault(Path(path).resolve(), path)
    return [(path,) for path in distinct.values()]


@cache
def requests_library() -> Path:
    """Return the library that counts requests and makes them slower, compiled at the first call."""
    return _build("requests", compiler(), ("-fPIC", "-shared"), ("-ldl",))


@cache
def program(library: str, words: tuple[str, ...]) -> Path:
    errors = []
    for flags in _search_flags(library):
        try:
            built = _build(library, words, flags, (f"-l{library}", "-ldl", "-lm"))
            _check_one_mpi(built, library, words[0])
            return built
        except AbsentError as error:
            errors.append(str(error))
    # A place that has the headers tells more than one that has not even these.
    raise AbsentError(next((text for text in errors if ".h: No such file" not in text), errors[-1]))


def _search_flags(library: str) -> Iterator[tuple[str, ...]]:
    yield ()
    if prefix := os.environ.get("CONDA_PREFIX"):
        yield (f"-I{prefix}/include", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib")
    for mpi in ("openmpi", "mpich"):
        for folder in sorted(Path("/usr/lib").glob(f"*/{library}/{mpi}")):
            yield (f"-I/usr/include/{library}/{mpi}", f"-L{folder}")


def _check_one_mpi(built: Path, library: str, by: str) -> None:
    """Refuse a program whose library was built with another MPI: the linker says nothing of it."""
    libraries = sorted(set(re.findall(r"\blibmpi(?:ch)?\.so\.\d+", _run(("ldd", str(built))))))
    if len(libraries) > 1:
        raise AbsentError(
            f"{Path(by).name}: the {library} that it finds belongs to another MPI "
            f"({' and '.join(libraries)})"
        )


def _build(name: str, words: Sequence[str], flags: Sequence[str], libraries: Sequence[str]) -> Path:
    """Compile one source into the user's cache; what names the file is all that it was made of."""
    command = (*words, *FLAGS, *flags)
    source = FOLDER / f"{name}.c"
    whole = _run((*command, "-E", "-P", str(source)))
    about = _run((*words, "-show")) if name != "requests" else _run((*words, "--version"))
    identity = "\0".join((whole, about, *command, *libraries))
    key = hashlib.sha256(identity.encode()).hexdigest()[:20]
    folder = cache_folder()
    target = folder / f"parallel-{name}-{key}{'.so' if '-shared' in flags else ''}"
    if target.exists():
        return target
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.TemporaryDirectory(prefix=".", dir=folder)
    except OSError as error:
        raise AbsentError(
            f"the folder for compiled programs cannot be written ({error.strerror}): "
            "name another in the environment variable XDG_CACHE_HOME"
        ) from error
    with scratch:
        unfinished = Path(scratch.name, target.name)
        _run((*command, "-o", str(unfinished), str(source), *libraries))
        return unfinished.replace(target)


def _run(words: Sequence[str]) -> str:
    name = Path(words[0]).name
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout
    except OSError as error:
        raise AbsentError(f"{name} cannot be run: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        match = _CAUSE.search(error.stderr)  # without the places that the line names
        message = match[0] if match else error.stderr.strip()[-200:] or "it ended without a word"
        raise AbsentError(f"{name}: {message}") from error
