"""Pictures that are no comparison, each for a few pages, and the style that all figures have."""

from .. import lazily

# A page is drawn again only when its own pictures change.
__getattr__ = lazily(
    __name__,
    {
        f"{__name__}.choices": ("BreakEven", "Cloud", "Cover", "Predicted", "Tradeoff"),
        f"{__name__}.fields": ("Map", "Maps"),
        f"{__name__}.files": (
            "ColumnInFile", "DecodedBytes", "PointsInChunk", "SentBytes", "Successive",
        ),
        f"{__name__}.forest": ("Forest",),
        f"{__name__}.links": ("MapOfLinks", "Remedies"),
    },
)  # fmt: skip
