"""What a notebook's result depends on, so that only what changed runs again."""

import ast
import functools
import hashlib
import importlib.metadata
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hyperslab.study.templates import source_of

ROOTS = (Path(__file__).parents[1], Path(__file__).parents[2] / "data_gen")
PACKAGES = (
    "aiobotocore",
    "aiohttp",
    "dask",
    "distributed",
    "fsspec",
    "h5netcdf",
    "h5py",
    "hidefix",
    "isal",
    "kerchunk",
    "matplotlib",
    "netCDF4",
    "numcodecs",
    "numpy",
    "obstore",
    "pandas",
    "papermill",
    "pyarrow",
    "s3fs",
    "scipy",
    "virtualizarr",
    "xarray",
    "zarr",
)

# Modules that draw and word a page from records: when only these change, nothing is measured anew.
_DRAWS = ("hyperslab.study.show", "hyperslab.study.style")
_DRAWS_ENDINGS = ("_figures", "_words")


def fingerprint(
    notebook: Path,
    parameters: Mapping[str, object],
    modules: Iterable[Path] = ROOTS,
    packages: Iterable[str] = PACKAGES,
) -> str:
    """Return one hash of everything a notebook's result depends on.

    See `parts`, which takes the same arguments; keep those to say later what changed.
    """
    return digest(parts(notebook, parameters, modules, packages))


def parts(
    notebook: Path,
    parameters: Mapping[str, object],
    modules: Iterable[Path] = ROOTS,
    packages: Iterable[str] = PACKAGES,
) -> dict[str, str]:
    """Return everything a notebook's result depends on, each by its hash or version.

    Parameters
    ----------
    notebook
        An .ipynb file; its outputs and metadata do not count.
    parameters
        What it is run with; values are compared by their JSON form.
    modules
        Folders of packages whose modules count where the notebook imports them, itself or
        through another of them. Comments and layout of their code do not count.
    packages
        Installed distributions whose versions count, and with them their C libraries'.

    Returns
    -------
    dict
        From names such as "code", "parameter seed", "module hyperslab.storage.layout",
        "package numpy" to hashes or versions; JSON can hold it.
    """
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = [source_of(cell) for cell in cells if cell["cell_type"] == "code"]
    prose = [source_of(cell) for cell in cells if cell["cell_type"] == "markdown"]
    found = {"code": _hash(json.dumps(code)), "prose": _hash(json.dumps(prose))}
    for name, value in parameters.items():
        found[f"parameter {name}"] = json.dumps(value, sort_keys=True, default=str)
    for name, path in used_modules(code, modules).items():
        found[f"module {name}"] = _parsed(path.read_bytes()).hash
        if path.name == "__init__.py":
            for source in sorted(path.parent.glob("*.[ch]")):
                found[f"module {name}/{source.name}"] = _hash(source.read_text(encoding="utf-8"))
    for name in packages:
        found[f"package {name}"] = version(name)
    found["python"] = ".".join(platform.python_version_tuple()[:2])
    return found


def digest(found: Mapping[str, str]) -> str:
    """Return one hash of what `parts` returned.

    >>> digest({"code": "1", "prose": "2"}) == digest({"prose": "2", "code": "1"})
    True
    """
    return _hash(json.dumps(found, sort_keys=True))


def changed(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return the names of the parts that differ, sorted.

    >>> changed({"code": "1", "package h5py": "3.15"}, {"code": "1", "package zarr": "3.1"})
    ['package h5py', 'package zarr']
    """
    return sorted(name for name in {*old, *new} if old.get(name) != new.get(name))


def draws(module: str) -> bool:
    """Return whether a module only draws or words a page from records.

    >>> draws("hyperslab.study.lee.access_figures"), draws("hyperslab.study.lee.access")
    (True, False)
    """
    return module.startswith(_DRAWS) or module.endswith(_DRAWS_ENDINGS)


def code_hash() -> str:
    """Return a hash of the source that measures: the library's and the data generators'.

    What only draws or words a page is left out: a figure mended while a run was interrupted
    costs no finished block.

    Examples
    --------
    >>> len(code_hash())
    16
    """
    whole = hashlib.sha256()
    for folder in ROOTS:
        for file in sorted([*folder.rglob("*.py"), *folder.rglob("*.[ch]")]):
            if not draws(".".join(file.relative_to(folder.parent).with_suffix("").parts)):
                whole.update(file.name.encode() + file.read_bytes())
    return whole.hexdigest()[:16]


def explain(old: Mapping[str, str], new: Mapping[str, str], most: int = 4) -> str:
    """Say in words what changed between two results of `parts`; empty if nothing did.

    Parameters
    ----------
    old, new : mapping
        From `parts`.
    most : int
        Changes to name; the others are counted.

    >>> explain({"parameter seed": "0", "python": "3.11"}, {"parameter seed": "7"})
    'seed was 0 and is 7; python was 3.11 and is not used any more'
    """
    names = changed(old, new)
    said = [_explain(name, old.get(name), new.get(name)) for name in names[:most]]
    if len(names) > most:
        said.append(f"and {len(names) - most} more")
    return "; ".join(said)


def _explain(name: str, was: str | None, now: str | None) -> str:
    kind, _, what = name.partition(" ")
    hashed = kind in ("code", "prose", "module", "input")
    subject = {"code": "its code", "prose": "its prose", "module": what}.get(kind, what or name)
    if was is None:
        return f"{subject} is new" if hashed else f"{subject} is new: {now}"
    if now is None:
        return f"{subject} " + ("" if hashed else f"was {was} and ") + "is not used any more"
    return f"{subject} changed" if hashed else f"{subject} was {was} and is {now}"


def used_modules(code: Iterable[str], roots: Iterable[Path]) -> dict[str, Path]:
    """Return the modules of some packages that code imports, itself or through each other.

    Parameters
    ----------
    code
        Source of code cells; lines that start with % or ! are passed over.
    roots
        Folders of packages, each holding an `__init__.py` or not.

    Returns
    -------
    dict
        From dotted names, sorted, to files.
    """
    packages = {root.name: root for root in roots}
    queue = [name for cell in code for name in _imported(_parse_cell(cell), "", packages)]
    seen: set[str] = set()
    found: dict[str, Path] = {}
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _file(name, packages)
        if path is None:
            continue
        found[name] = path
        queue.append(name.rpartition(".")[0])
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        queue.extend(_imported(_parsed(path.read_bytes()), package, packages))
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class _Parsed:
    """What counts of a source.

    Parameters
    ----------
    hash : str
        Of the code, without comments and layout.
    names : tuple of (int, str)
        What may be a module, and how many dots stood before it.
    beside : bool
        Whether it imports what is not known before it runs: any module beside it.
    """

    hash: str
    names: tuple[tuple[int, str], ...]
    beside: bool


@functools.cache
def _parsed(source: bytes) -> _Parsed:
    """Return what counts of a source; kept, for notebooks share most of their modules."""
    tree = ast.parse(source)
    names: dict[tuple[int, str], None] = {}
    beside = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {(0, alias.name): None for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names[node.level, base] = None
            inside = f"{base}." if base else ""
            names |= {(node.level, f"{inside}{alias.name}"): None for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # A registry names its modules in strings: "hyperslab.access.zarr".
            names[0, node.value] = None
        elif isinstance(node, ast.Name | ast.Attribute) and _named(node) == "import_module":
            beside = True
    return _Parsed(_hash(ast.dump(tree)), tuple(names), beside)


def _imported(parsed: _Parsed, package: str, packages: Mapping[str, Path]) -> Iterator[str]:
    """Names that may be modules; those that are none are sorted out by `_file`."""
    folders = package.split(".")
    for dots, name in parsed.names:
        above = folders[: len(folders) - dots + 1] if dots else []
        yield ".".join([*above, name] if name else above)
    if parsed.beside:
        yield from _beside(package, packages)


def _named(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _beside(package: str, packages: Mapping[str, Path]) -> Iterator[str]:
    top, *below = package.split(".")
    if top in packages:
        for path in packages[top].joinpath(*below).glob("*.py"):
            yield f"{package}.{path.stem}"


def _file(name: str, packages: Mapping[str, Path]) -> Path | None:
    top, *below = name.split(".")
    if top not in packages or not all(part.isidentifier() for part in below):
        return None
    place = packages[top].joinpath(*below)
    for path in (place / "__init__.py", place.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def _parse_cell(cell: str) -> _Parsed:
    lines = ("" if line.startswith(("%", "!")) else line for line in cell.splitlines())
    return _parsed("\n".join(lines).encode())


@functools.cache
def version(package: str) -> str:
    """Return an installed package's version, with those of the C libraries it brings.

    >>> version("hyperslab-that-is-not-installed")
    'not installed'
    """
    try:
        found = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
    if package in LIBRARIES:
        found += f" ({LIBRARIES[package]()})"
    return found


def _netcdf4_libraries() -> str:
    import netCDF4

    return f"netCDF-C {netCDF4.__netcdf4libversion__}, HDF5 {netCDF4.__hdf5libversion__}"


def _h5py_libraries() -> str:
    import h5py

    return f"HDF5 {h5py.version.hdf5_version}"


def _numcodecs_libraries() -> str:
    from numcodecs import blosc

    return f"Blosc {blosc.VERSION_STRING}"


LIBRARIES: dict[str, Callable[[], str]] = {
    "h5py": _h5py_libraries,
    "netCDF4": _netcdf4_libraries,
    "numcodecs": _numcodecs_libraries,
}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
