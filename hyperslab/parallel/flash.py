"""What the I/O kernel of FLASH writes: a checkpoint and two plot files."""

from .plan import Part, SharedArray, WritePlan

BLOCKS = 80  # of a rank; every third rank has one more, every other third two more
UNKNOWNS = 24
PLOTTED = 4
GUARD = 4  # cells on each side of a block in memory
_TREE = (
    ("lrefine", "i4", ()), ("nodetype", "i4", ()), ("gid", "i4", (15,)),
    ("coordinates", "f8", (3,)), ("blocksize", "f8", (3,)), ("bndbox", "f8", (3, 2)),
)  # fmt: skip


def flash(
    file: str,  # checkpoint, centres or corners
    side: int,
    ranks: int,
    blocks: int = BLOCKS,
    *,
    as_bytes: bool = False,  # declare unknowns as bytes, eight each, which no library converts
    tree: bool = True,  # write the tree of blocks beside them
) -> WritePlan:
    """Return what each rank writes of one file of FLASH I/O (Chilan et al. 2006, section 2)."""
    counts = [blocks + rank % 3 for rank in range(ranks)]
    before = [sum(counts[:rank]) for rank in range(ranks)]

    def dataset(name: str, dtype: str, of_block: tuple[int, ...], guard: int = 0) -> SharedArray:
        parts = tuple(
            Part((start, *(0 for _ in of_block)), (count, *of_block))
            for start, count in zip(before, counts, strict=True)
        )
        return SharedArray(name, dtype, (sum(counts), *of_block), parts, guard=guard)

    if file == "checkpoint":
        dtype, row = ("i1", 8 * side) if as_bytes else ("f8", side)
        block = (side, side, row)
        cells = [dataset(f"unk{k:02d}", dtype, block, GUARD) for k in range(UNKNOWNS)]
        return WritePlan((*(dataset(*description) for description in _TREE if tree), *cells))
    side += file == "corners"
    return WritePlan(tuple(dataset(f"plot{k}", "f4", (side,) * 3) for k in range(PLOTTED)))
