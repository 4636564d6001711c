"""Numbers, intervals and directions as text: here a number becomes words, and nowhere else."""

from .intervals import ENOUGH, UNTOLD, Interval, comparison, exact, interval, spread
from .names import data, listing, printable
from .numbers import AWAY, CASES, SHARE, TIMES, WORKS, amount, number, percent

__all__ = [
    "AWAY",
    "CASES",
    "ENOUGH",
    "SHARE",
    "TIMES",
    "UNTOLD",
    "WORKS",
    "Interval",
    "amount",
    "comparison",
    "data",
    "exact",
    "interval",
    "listing",
    "number",
    "percent",
    "printable",
    "spread",
]
