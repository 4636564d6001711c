"""How close points lie."""

from __future__ import annotations

BUDGET = 0.02  # bytes of an index for each byte of compressed data, if nothing is said
SPACINGS = (1024, 2**26)  # bytes of decompressed data between points, from and to


def check_options(spacing: int | None, budget: float | None) -> None:
    low, high = SPACINGS
    if spacing is not None and not low <= spacing <= high:
        raise ValueError(
            f"spacing is {spacing} bytes: give {low} to {high}, or none to let the budget decide"
        )
    if budget is not None and not 0 < budget <= 1:
        raise ValueError(f"budget is {budget}: give a share of the data above 0, such as 0.02")
