"""Imports go downwards only: what design allows, held against the source."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Each part of the project, and the parts it may import beside itself.
BELOW: dict[str, frozenset[str]] = {
    "text": frozenset(),
    "secret": frozenset(),
    "measure": frozenset({"text"}),
    "network": frozenset({"measure", "secret"}),
    "subchunk": frozenset(),  # usable alone
    "kernels": frozenset(),
    "io": frozenset({"text", "secret", "measure", "network", "subchunk", "kernels"}),
    "analysis": frozenset({"text", "measure", "network"}),
    "parallel": frozenset({"measure", "kernels", "io"}),
    "tune": frozenset({"text", "measure", "network", "subchunk", "io", "analysis", "parallel"}),
}
BELOW["experiments"] = frozenset(BELOW) - {"text"} | {"data_gen"}
BELOW["claims"] = frozenset({"text", "measure", "network", "analysis"})
BELOW["study"] = frozenset(BELOW) - {"tune"} | {"data_gen"}
BELOW["cli"] = frozenset(BELOW) | {"data_gen"}
BELOW["__main__"] = BELOW["cli"] | {"cli"}
BELOW["__init__"] = frozenset()
BELOW["data_gen"] = frozenset({"io"})

HEAVY = {
    "dask", "h5py", "matplotlib", "netCDF4", "pandas", "papermill", "pyarrow", "scipy", "xarray",
    "zarr",
}  # fmt: skip


def part_of(module):
    """The part a dotted name belongs to; None for what is not the project's."""
    top, *below = module.split(".")
    if top == "data_gen":
        return "data_gen"
    if top == "hyperslab":
        return below[0] if below else "__init__"
    return None


def imports(source, module, package):
    """Dotted names a module imports, anywhere in it; `from a import b` gives a.b."""
    home = module if package else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = home.split(".")[: len(home.split(".")) + 1 - node.level] if node.level else []
            base += [node.module] if node.module else []
            yield from (".".join([*base, alias.name]) for alias in node.names)


def trespasses(source, module, package=False):
    """What a module of the project imports and may not."""
    part = part_of(module)
    allowed = BELOW[part] | {part, None}
    for name in imports(source, module, package):
        # `from hyperslab import __version__` names no part
        if part_of(name) not in allowed and (part_of(name) in BELOW or name == "hyperslab"):
            yield f"{module} imports {name}"


def test_imports_go_downwards_and_each_module_has_a_name_of_its_own():
    found = []
    paths = [*(ROOT / "hyperslab").rglob("*.py"), *(ROOT / "data_gen").rglob("*.py")]
    names = Counter(path.stem for path in paths)
    assert {name for name, n in names.items() if n > 1} == {"__init__", "__main__"}
    for path in paths:
        parts = path.relative_to(ROOT).with_suffix("").parts
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        assert part_of(name) in BELOW, f"say in BELOW which parts {name} may import"
        found += trespasses(path.read_text(encoding="utf-8"), name, package)
    assert found == []
    upward = "from ..study import session\ndef f():\n    import hyperslab.tune\nimport numpy"
    assert len(list(trespasses(upward, "hyperslab.measure.harness"))) == 2, "else none is seen"


def loaded_by(code):
    words = [sys.executable, "-c", f"import sys; {code}; print(*sys.modules)"]
    return subprocess.check_output(words, text=True).split()


def test_a_page_loads_only_its_own_pictures():
    loaded = loaded_by("from hyperslab.study.pictures import ColumnInFile")
    pictures = {name.removeprefix("hyperslab.study.pictures.") for name in loaded}
    assert pictures - set(loaded) == {"files", "style"}


def test_what_samples_are_forked_from_loads_no_heavy_package():
    """What it has imported, each sample has too; and with them, the library alone."""
    loaded = loaded_by("import hyperslab.io.work, hyperslab.measure.worker")
    assert "hyperslab.kernels" in loaded and not HEAVY & set(loaded)
