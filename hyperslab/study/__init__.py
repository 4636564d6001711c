"""The study: notebooks, profiles, records, claims, figures and the book."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

# What notebooks import, and where it is.
_FACE = {
    "hyperslab.io.cards": ("card", "readers"),
    "hyperslab.analysis": ("cost",),
    "hyperslab.analysis.compare": ("compare",),
    "hyperslab.io.experiment": ("Array", "Case", "Create", "Overwrite", "Read"),
    "hyperslab.io.far": ("ReadOver",),
    "hyperslab.network": ("Link",),
    "hyperslab.io.layout": ("Layout",),
    "hyperslab.study.figures": ("Beside", "Curves", "Dots"),
    "hyperslab.study.page": ("document", "say", "table"),
    "hyperslab.study.session": ("begin",),
}


def lazily(package: str, face: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a package's `__getattr__`: it imports a name from its module when it is asked for."""

    def get(name: str) -> Any:
        for module, names in face.items():
            if name in names:
                holder = import_module(module)
                return getattr(holder, name, None) or import_module(f"{module}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get


__getattr__ = lazily(__name__, _FACE)
