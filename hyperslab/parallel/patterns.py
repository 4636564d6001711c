"""The ways of Chilan et al. to share a rectangular array among ranks."""

from .plan import Part, SharedArray, WritePlan

OVERHANG = 8  # columns of the second chunk beyond the array; the document's ∆ has no number
SHARING = 4  # ranks that write into one chunk, of the pattern "within"


def pattern(name: str, rows: int, columns: int, ranks: int) -> WritePlan:
    """Return what each rank writes of an array of doubles (Chilan et al. 2006, Figures 3 to 6)."""
    count = (rows, columns)
    chunks: tuple[int, ...] = ()
    if name == "interleaved":
        shape = (rows, columns * ranks)
        starts = [(0, columns * rank) for rank in range(ranks)]
    elif name == "rows":
        shape = (rows * ranks, columns)
        starts = [(rows * rank, 0) for rank in range(ranks)]
    elif name == "overhang":
        # The first chunk holds more columns than the second has left; all write in the second.
        chunks = (rows * ranks, columns + OVERHANG)
        shape = (rows * ranks, 2 * columns + OVERHANG)
        starts = [(rows * rank, columns + OVERHANG) for rank in range(ranks)]
    elif name == "spanning":
        chunks = (rows * ranks, columns)
        shape = (rows * ranks, 2 * columns)
        starts = [(rows * rank, columns // 2) for rank in range(ranks)]
    else:  # "within"
        share = min(ranks, SHARING)
        chunks = (rows * share, columns)
        shape = (rows * share, columns * -(-ranks // share))
        starts = [(rows * (rank % share), columns * (rank // share)) for rank in range(ranks)]
    parts = tuple(Part(start, count) for start in starts)
    return WritePlan((SharedArray("data", "f8", shape, parts, chunks),))
