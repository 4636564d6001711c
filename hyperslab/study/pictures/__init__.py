"""Pictures that are no comparison, each for a few pages, and the style that all figures have."""

from typing import Any

from .. import found

_FACE = {
    f"{__name__}.choices": ("BreakEven", "Cloud", "Cover", "Predicted", "Tradeoff"),
    f"{__name__}.fields": ("Map", "Maps"),
    f"{__name__}.files": (
        "ColumnInFile", "DecodedBytes", "PointsInChunk", "SentBytes", "Successive",
    ),
    f"{__name__}.forest": ("Forest",),
    f"{__name__}.links": ("MapOfLinks", "Remedies"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import what a notebook asks for: a page is drawn again only when its own pictures change."""
    return found(name, _FACE, __name__)
