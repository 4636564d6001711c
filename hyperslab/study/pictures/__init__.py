"""Pictures that are no comparison, each for a few pages, and the style that all figures have."""

from importlib import import_module
from typing import Any

_FACE = {
    "choices": ("BreakEven", "Cloud", "Cover", "Predicted", "Tradeoff"),
    "fields": ("Map", "Maps"),
    "files": ("ColumnInFile", "DecodedBytes", "PointsInChunk", "SentBytes", "Successive"),
    "forest": ("Forest",),
    "links": ("MapOfLinks", "Remedies"),
}


def __getattr__(name: str) -> Any:
    """Import what a notebook asks for: a page is drawn again only when its own pictures change."""
    for module, names in _FACE.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
