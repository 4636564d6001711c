"""The study: notebooks, profiles, records, claims, figures and the book."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..analysis import cost as cost
    from ..analysis.compare import compare as compare
    from ..io import readers as readers
    from ..io.cards import card as card
    from ..io.experiment import Array as Array
    from ..io.experiment import Case as Case
    from ..io.experiment import Create as Create
    from ..io.experiment import Overwrite as Overwrite
    from ..io.experiment import Read as Read
    from ..io.far import ReadOver as ReadOver
    from ..io.layout import Layout as Layout
    from ..network import Link as Link
    from .figures import Beside as Beside
    from .figures import Curves as Curves
    from .figures import Dots as Dots
    from .page import document as document
    from .page import say as say
    from .page import table as table
    from .session import Session as Session
    from .session import begin as begin

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
    "hyperslab.study.session": ("Session", "begin"),
}


def __getattr__(name: str) -> object:
    """Import what a notebook asks for, not before."""
    for module, names in _FACE.items():
        if name in names:
            found = import_module(module)
            return getattr(found, name, None) or import_module(f"{module}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
