"""The synthetic datasets as xarray datasets that draw what is read of them."""

from typing import TYPE_CHECKING

import numpy as np

from data_gen.datasets import dataset

if TYPE_CHECKING:
    import xarray as xr


def drawn(name: str, given: tuple[tuple[str, object], ...], part: int) -> dict[str, np.ndarray]:
    """Return the values of one part of a dataset, by variable.

    The dataset is named and not passed, so that a worker elsewhere builds its own.
    """
    return {key: values for key, (_, values) in dataset(name, **dict(given)).draw(part).items()}


def open(name: str, *, decode: bool = True, **parameters: object) -> "xr.Dataset":
    """Return a synthetic dataset, lazily: a frame is drawn when it is computed.

    Parameters
    ----------
    name : str
        One of `data_gen.NAMES`.
    decode : bool
        Whether times, packing and fill values are decoded, as `xarray.open_dataset` does.
    **parameters
        As `data_gen.dataset` takes them.

    Returns
    -------
    xarray.Dataset
        With CF-1.11 metadata; dask arrays of one block a frame.

    Examples
    --------
    >>> import data_gen
    >>> currents = data_gen.open("ocean", steps=3, nlat=38, nlon=128)
    >>> currents.uo.dims, currents.uo.chunks[0], currents.uo.attrs["units"]
    (('time', 'lat', 'lon'), (1, 1, 1), 'm s-1')
    """
    import xarray as xr
    from dask import array, delayed  # type: ignore[attr-defined]

    source = dataset(name, **parameters)
    given = tuple(sorted(parameters.items()))
    parts = [delayed(drawn, pure=True)(name, given, part) for part in range(source.parts)]
    about, variables = source.description, {}
    for variable in about.variables:
        length = source.frame[0]
        blocks = []
        for number, part in enumerate(parts):
            rows = min(length, variable.shape[0] - number * length)
            shape = (rows, *variable.shape[1:])
            block = array.from_delayed(  # type: ignore[no-untyped-call]
                part[variable.name], shape, variable.dtype
            )
            blocks.append(block)
        attrs = dict(variable.attrs)
        if variable.fill_value is not None:
            attrs["_FillValue"] = np.dtype(variable.dtype).type(variable.fill_value)
        values = array.concatenate(blocks)  # type: ignore[no-untyped-call]
        variables[variable.name] = (variable.dims, values, attrs)
    coordinates = {
        key: (variable.dims, values, dict(variable.attrs))
        for key, (variable, values) in about.coordinates.items()
    }
    whole = xr.Dataset(variables, coordinates, dict(about.attrs))
    return xr.decode_cf(whole) if decode else whole
