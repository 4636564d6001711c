"""What Chilan et al. 2006 give in numbers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Write:
    """One write of section 3, by 32 processors.

    Parameters
    ----------
    rows, columns : int
        Of one processor.
    independent_s, collective_s : float
        Seconds, the best of three.
    """

    rows: int
    columns: int
    independent_s: float
    collective_s: float

    @property
    def ratio(self) -> float:
        """Independent over collective.

        Examples
        --------
        >>> round(WRITES["interleaved"].ratio)
        383
        """
        return self.independent_s / self.collective_s


PROCESSORS = 32
WRITES = {
    "interleaved": Write(512 * 1024, 8, 1659.48, 4.33),
    "rows": Write(16 * 1024, 256, 3.64, 3.87),
    "overhang": Write(16 * 1024, 256, 43.00, 22.10),
    "within": Write(256 * 1024, 32, 7.66, 8.68),
}
"""Figures 3 to 6, by the names of our patterns."""
CHECKPOINT_MB = {8: 8, 16: 60}
"""About what a processor writes into the checkpoint, in MB, by the side of a block."""
