"""Fields that calibration stores: smooth, noisy, with land, sparse; made from numbers alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TEXTURES = ("noisy", "packed", "land", "sparse", "fine")


def field(
    texture: str, shape: tuple[int, ...], dtype: str = "f4", seed: int = 0
) -> NDArray[np.generic]:
    """Return a smooth field of waves with a texture that decides how well it compresses.

    Parameters
    ----------
    texture
        "noisy": floats with noise in most of their bits; "fine": with half as many; "packed":
        whole steps, as of 16-bit packing; "land": packed, with a missing value over half of the
        map; "sparse": nearly all zero, with a few showers.
    shape
        The last two axes are the map.
    dtype
        Of the result; integers hold steps.
    seed
        Of the noise and of the waves.

    Examples
    --------
    >>> values = field("sparse", (2, 64, 64), "i2")
    >>> values.shape, values.dtype.name, bool((values == 0).mean() > 0.5)
    ((2, 64, 64), 'int16', True)
    """
    if texture not in TEXTURES:
        raise ValueError(f"texture={texture!r}: give one of {', '.join(TEXTURES)}")
    random = np.random.default_rng([seed, TEXTURES.index(texture)])
    *outer, ny, nx = shape
    frames = int(np.prod(outer, dtype=np.int64))
    values = np.empty((frames, ny, nx), np.float32)
    y, x = np.linspace(0, 1, ny, dtype="f4")[:, None], np.linspace(0, 1, nx, dtype="f4")
    waves = [(k, *random.uniform(0, 2 * np.pi, 2)) for k in (1, 2, 4, 7, 12, 20)]
    land = _wavy(waves[:4], y, x, 0.0) > 0.2
    for t in range(frames):
        base = _wavy(waves, y, x, 0.15 * t)
        values[t] = _textured(texture, base, land, random)
    whole = values.reshape(shape)
    if np.dtype(dtype).kind == "f":
        return whole.astype(dtype, copy=False)
    limit = float(np.iinfo(dtype).max)
    return np.asarray(np.nan_to_num(whole * 100, nan=-999).clip(-limit, limit), dtype)


def _wavy(waves: list[tuple[Any, ...]], y: Any, x: Any, phase: float) -> Any:
    total = np.zeros((y.size, x.size), np.float32)
    for k, a, b in waves:
        across = np.sin(2 * np.pi * k * y + np.float32(a + phase))
        total += across * np.cos(2 * np.pi * k * x + np.float32(b - phase)) / np.float32(k)
    return total


def _textured(texture: str, base: Any, land: Any, random: np.random.Generator) -> Any:
    noise = random.standard_normal(base.shape, dtype="f4")
    if texture == "noisy":
        return 280 + 10 * base + noise
    if texture == "fine":
        return (280 + 10 * base + 0.01 * noise).astype("f4")
    if texture == "sparse":
        return np.where(base + 0.02 * noise > 0.7, np.round(20 * base + noise), 0)
    values = np.round((10 * base + 0.05 * noise) * 64) / 64
    return np.where(land, np.nan, values) if texture == "land" else values + 280
