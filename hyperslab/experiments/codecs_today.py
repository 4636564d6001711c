"""Maps in many layouts: what writing takes, what the file gives back, and what rounding leaves."""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io import reader
from ..io.creation import write_array
from ..io.experiment import File, selected
from ..io.layout import Layout
from ..io.selection import Selection

KEPT = 0.99  # squared coherence down to which a wavelength counts as kept
_BANDS = 12

Values = NDArray[np.float32]
Key = tuple[str, str]


@dataclass(frozen=True)
class Stored(File):
    """Maps in a file that may round them: what it must give back is kept when it is written."""

    fill: float | None = None  # what stands where there is no value

    @property
    def exact(self) -> Path:
        """Where the maps lie as they were before rounding."""
        return self.path.with_name(f"{self.array.name}.npy")

    @property
    def truth(self) -> Path:
        """Where the values lie that it gives back; all that is exact shares them."""
        return self.path.with_suffix(".npy") if self.layout.quantize else self.exact

    def part(self, selection: Selection) -> Callable[[], NDArray[Any]]:
        return partial(selected, partial(np.load, self.truth, mmap_mode="r"), selection)

    def twin(self) -> Path:
        """Return the file itself: it is read from memory only."""
        return self.path


def maps(source: Any, count: int, divisor: int) -> Values:
    """Return thinned maps of a variable, one after another and again from the first."""
    rows, columns = source.shape[-2:]
    drawn = source[(slice(None),) * len(source.shape)].reshape(-1, rows, columns)
    thin = drawn[np.arange(count) % len(drawn), ::divisor, ::divisor]
    return np.ascontiguousarray(thin[:, : rows // divisor, : columns // divisor], "f4")


def write(files: Mapping[Key, Stored]) -> dict[Key, float]:
    """Write every file once, keep what it must give back, and return the CPU seconds of writing."""
    seconds: dict[Key, float] = {}
    values: dict[str, Values] = {}
    for key, file in files.items():
        array, layout = file.array, file.layout
        if array.name not in values:
            values[array.name] = np.asarray(array.part(..., file.path.parent)())
            np.save(file.exact, values[array.name])
        began = time.process_time()
        write_array(file.path, values[array.name], layout, fill_value=file.fill, overwrite=True)
        seconds[key] = time.process_time() - began
        if layout.quantize:
            # By another library than wrote it, where one can.
            library = "h5py" if layout.codec == "deflate" else "netcdf4"
            with reader(library).open(file.path, "data") as opened:
                rounded = opened.read()
            check_bound(values[array.name], rounded, layout, file.fill)
            np.save(file.truth, rounded)
    return seconds


def fidelities(files: Mapping[Key, Stored]) -> Iterator[dict[str, object]]:
    """Yield what rounding left of each field: a row of records for each band of wavelengths."""
    for (field, name), file in files.items():
        if file.layout.quantize:
            pairs = zip(np.load(file.exact), file.part(...)(), strict=True)
            for row in bands(pairs, file.fill):
                yield {"field": field, "layout": name, "phase": "band", **row}


def bound(layout: Layout) -> float:
    """Return the largest relative error that the rounding of a layout may make."""
    if layout.quantize is None:
        return 0.0
    how, digits = layout.quantize
    return 2.0 ** -(digits + 1) if how == "bitround" else 0.5 * 10.0 ** (1 - digits)


def check_bound(values: Values, rounded: Values, layout: Layout, fill: float | None) -> None:
    present = np.ones(values.shape, bool) if fill is None else values != fill
    exact = values[present].astype("f8")
    worst = float((np.abs(exact - rounded[present]) / _sizes(exact)).max(initial=0.0))
    if not worst <= bound(layout) * (1 + 1e-6):  # also where it is no number
        raise ValueError(f"{layout.quantize} changed a value by {worst:.2g} of it")


def bands(
    pairs: Iterable[tuple[Values, Values]], fill: float | None = None
) -> list[dict[str, object]]:
    """Compare maps with what rounding made of them: a row a band, the longest waves first."""
    # Wavelengths are in grid lengths, coherence is squared.
    error = relative = 0.0
    changed = count = 0
    powers = np.zeros((3, _BANDS))  # of the one, of the other, and of both together
    for original, rounded in pairs:
        present = np.ones(original.shape, bool) if fill is None else original != fill
        if fill is not None and not np.array_equal(present, rounded != fill):
            raise ValueError("rounding made a missing value another, or another one missing")
        shape = original.shape
        a, b = (np.where(present, values, 0).astype("f8") for values in (original, rounded))
        difference = np.abs(a - b)
        error = max(error, float(difference.max()))
        relative = max(relative, float((difference / _sizes(a)).max()))
        changed += int((difference > 0).sum())
        count += int(present.sum())
        before, after = (np.fft.rfft2(values - values.mean()) for values in (a, b))
        squares = np.abs(before) ** 2, np.abs(after) ** 2, (before * after.conj()).real
        powers += [_by_band(values, shape) for values in squares]
    power_a, power_b, cross = powers
    has_power = (power_a > 0) & (power_b > 0)
    coherence = cross[has_power] ** 2 / (power_a[has_power] * power_b[has_power])
    edges = _edges(shape)
    wavelengths = (1 / np.sqrt(edges[:-1] * edges[1:]))[has_power]
    logs = np.log(power_a[has_power]), np.log(power_b[has_power])
    whole = {
        "error": error,
        "relative_error": relative,
        "changed": changed / max(count, 1),
        "spectra": float(np.corrcoef(*logs)[0, 1]) if has_power.sum() > 1 else 1.0,
        "kept_from": float(wavelengths[coherence >= KEPT].min(initial=math.inf)),
    }
    return [
        {"wavelength": float(length), "coherence": float(squared), **whole}
        for length, squared in zip(wavelengths, coherence, strict=True)
    ]


def _sizes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sizes of values, at least that of a normal number: some make -0 the smallest one."""
    return np.maximum(np.abs(values), np.finfo("f4").tiny)


def _edges(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the bands' edges in cycles a grid length: alike in their logarithm, up to 1/2."""
    return np.geomspace(1 / max(shape) / 1.0001, 0.5, _BANDS + 1)


def _by_band(values: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    rows, columns = np.fft.fftfreq(shape[0]), np.fft.rfftfreq(shape[1])
    number = np.hypot(rows[:, None], columns[None, :])
    band = np.searchsorted(_edges(shape), number, "right") - 1
    good = (band >= 0) & (band < _BANDS)
    return np.asarray(np.bincount(band[good], values[good], _BANDS), "f8")
