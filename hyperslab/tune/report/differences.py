"""Whether a copy holds what the source holds: every value, to the last bit, or as rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hyperslab.io.layout import ZARR

_AT_ONCE = 2**20  # values compared at a time, so that comparing takes no memory to speak of


class WrongValuesError(RuntimeError):
    """A copy holds other values than its source."""


def difference(
    values: NDArray[Any],
    truth: NDArray[Any],
    *,
    quantize: tuple[str, int] | None = None,
    fill_value: float | int | None = None,
    format: str = "",
) -> str:
    """Say where two arrays differ first, and in how many values; "" when they do not."""
    # A chunk of NaN that equals the fill value is not stored in Zarr: its bits are the fill's.
    alike = format in ZARR and values.dtype.kind == "f"
    if values.dtype != truth.dtype:
        return f"{truth.dtype} became {values.dtype}"
    if values.shape != truth.shape:
        return f"{truth.shape} values became {values.shape}"
    flat, right = values.reshape(-1), truth.reshape(-1)
    wrong, first = 0, -1
    for start in range(0, flat.size, _AT_ONCE):
        a, b = flat[start : start + _AT_ONCE], right[start : start + _AT_ONCE]
        bad = ~(_same_bits(a, b) if quantize is None else _rounded(a, b, quantize, fill_value))
        if alike:
            bad &= ~(np.isnan(a) & np.isnan(b))
        count = int(bad.sum())
        if count and not wrong:
            first = start + int(bad.argmax())
        wrong += count
    if not wrong:
        return ""
    position = ", ".join(str(int(i)) for i in np.unravel_index(first, values.shape))
    return (
        f"{wrong} of {flat.size} values differ, first at [{position}]: "
        f"{right[first]} became {flat[first]}{_why(right[first], quantize)}"
    )


def _why(value: Any, quantize: tuple[str, int] | None) -> str:
    """Say that it is the library that changes what is no finite number; "" for what is one."""
    mode = quantize[0] if quantize else "bitround"
    if mode == "bitround" or np.isfinite(value):
        return ""
    return f", because netCDF-C's {mode} does not keep {value}: take bitround, which does"


def _same_bits(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.bool_]:
    kind = f"u{a.dtype.itemsize}"
    same: NDArray[np.bool_] = a.view(kind) == b.view(kind)
    return same


def _rounded(
    a: NDArray[Any], b: NDArray[Any], quantize: tuple[str, int], fill_value: float | int | None
) -> NDArray[np.bool_]:
    """Compare rounded values: the error is at most a unit of the last place that was kept."""
    mode, digits = quantize
    exact = _same_bits(a, b)
    if b.dtype.kind != "f":
        return exact  # whole numbers are not rounded
    with np.errstate(all="ignore"):
        size = np.abs(b.astype("f8"))
        if mode == "bitround":
            allowed = np.exp2(np.floor(np.log2(size)) - digits)
        else:
            allowed = 10.0 ** (np.floor(np.log10(size)) + 1 - digits)
        least = float(np.finfo(b.dtype).tiny)
        near = np.abs(a.astype("f8") - b.astype("f8")) <= allowed
        # Zero may become denormal, and NaN get other bits.
        near |= (size < least) & (np.abs(a.astype("f8")) < least)
        near &= np.isfinite(b)  # what may differ by infinity may be anything
        near |= np.isnan(a) & np.isnan(b)
    if fill_value is not None:
        near &= b != fill_value
    result: NDArray[np.bool_] = exact | near
    return result
