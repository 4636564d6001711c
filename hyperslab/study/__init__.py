"""The study: notebooks, profiles, records, claims, figures and the book."""

from collections.abc import Mapping, Sequence
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


def __getattr__(name: str) -> Any:
    """Import what a notebook asks for, not before."""
    return found(name, _FACE, __name__)


def found(name: str, face: Mapping[str, Sequence[str]], package: str) -> Any:
    """Return what a package shows under a name, imported from where its face says it is."""
    for module, names in face.items():
        if name in names:
            holder = import_module(module)
            return getattr(holder, name, None) or import_module(f"{module}.{name}")
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
