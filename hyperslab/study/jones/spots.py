"""Where reads begin: one buffer after another, one of four, or at random."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .files import ITEMSIZE

PATTERNS = ("sequential", "strided", "random")
RANDOM_READS = 100
STRIDE = 4
"""Of so many buffers the strided reads take one."""


@dataclass(frozen=True)
class Spots:
    """The places at which a file is read, in order.

    Random reads lie each in a part of the file of its own, of twice the buffer's size and at any
    place within: so no byte is read twice, and none comes from an earlier read's memory.

    Parameters
    ----------
    pattern : str
        One of `PATTERNS`.
    nbytes : int
        Bytes of a read.
    file_bytes : int
        Of the variable.
    seed : int
        Of random reads.

    Raises
    ------
    ValueError
        When a read is longer than the file, or is not of whole values.

    Source
    ------
    Jones et al. 2016, section 2.

    Examples
    --------
    >>> Spots("strided", 512, 8192).between(0, 4).tolist()
    [0, 256, 512, 768]
    >>> len(Spots("sequential", 512, 8192)), len(Spots("random", 512, 2**20))
    (16, 100)
    """

    pattern: str
    nbytes: int
    file_bytes: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.pattern not in PATTERNS:
            raise ValueError(f"pattern={self.pattern!r}: give one of {', '.join(PATTERNS)}")
        if self.nbytes < ITEMSIZE or self.nbytes % ITEMSIZE or self.nbytes > self.file_bytes:
            raise ValueError(
                f"reads of {self.nbytes} bytes from {self.file_bytes}: give a multiple of "
                f"{ITEMSIZE}, not more than the file has"
            )

    def __len__(self) -> int:
        if self.pattern == "random":
            return len(self._random)
        step = STRIDE if self.pattern == "strided" else 1
        return -(-(self.file_bytes // self.nbytes) // step)

    @property
    def count(self) -> int:
        """Values of one read."""
        return self.nbytes // ITEMSIZE

    def between(self, first: int, last: int) -> NDArray[np.int64]:
        """Return where some of the reads begin, in values.

        Parameters
        ----------
        first, last : int
            Numbers of reads: from `first`, up to and without `last`.

        Returns
        -------
        ndarray
            int64, of shape (reads,).
        """
        last = min(last, len(self))
        if self.pattern == "random":
            return self._random[first:last]
        step = STRIDE if self.pattern == "strided" else 1
        return np.arange(first, last, dtype=np.int64) * (step * self.count)

    @cached_property
    def _random(self) -> NDArray[np.int64]:
        draw = np.random.default_rng([self.seed, self.nbytes])
        parts = self.file_bytes // (2 * self.nbytes)
        if not parts:  # one read of more than half of the file
            return draw.integers(0, (self.file_bytes - self.nbytes) // ITEMSIZE + 1, 1)
        chosen = draw.choice(parts, min(RANDOM_READS, parts), replace=False, shuffle=True)
        within = draw.integers(0, self.count + 1, len(chosen))
        starts: NDArray[np.int64] = chosen.astype(np.int64) * (2 * self.count) + within
        return starts
