"""Labels for records of `penard_local`, until that page gives them itself."""

import pandas as pd

from ...access.registry import card

_READS = {"cmems": "ocean", "gfs": "temperature", "series": "series", "frame": "map"}
_STORES = {
    "zarr": ("Zarr, Blosc", "zarr"), "zarr-deflate": ("Zarr, deflate", "zarr"),
    "nczarr": ("NCZarr", "nczarr"), "nczarr-deflate": ("NCZarr, deflate", "nczarr"),
    "h5py-paged": ("HDF5 in pages", "h5py-paged"), "xarray-zarr": ("Zarr, Blosc", "xarray-zarr"),
    "zarr3-shards": ("Zarr 3, shards", "zarr"),
}  # fmt: skip
_LAYOUTS = {"off": "netCDF-4", "on": "netCDF-4, shuffle"}
_READERS = {"xarray": "xarray-h5netcdf", "chunkindex": "chunkindex_layout"}


def labelled(records: pd.DataFrame) -> pd.DataFrame:
    """Return records with the labels read, layout and reader.

    Examples
    --------
    >>> frame = labelled(pd.DataFrame({"case": ["gfs/frame/xarray-on"]}))
    >>> frame[["read", "layout", "reader"]].to_numpy().tolist()
    [['temperature map', 'netCDF-4, shuffle', 'xarray-h5netcdf']]
    """
    if "reader" in records:
        return records
    known = {str(case): _labels(str(case)) for case in records["case"].unique()}
    labels = pd.DataFrame([known[case] for case in records["case"]], index=records.index)
    return records.assign(
        **dict(zip(("read", "layout", "reader"), labels.T.to_numpy(), strict=True))
    )


def _labels(case: str) -> tuple[str, str, str]:
    kind, read, way = case.split("/")
    what = f"{_READS[kind]} {_READS[read.removesuffix('-today')]}"
    if way in _STORES:
        layout, reader = _STORES[way]
    else:
        name, _, store = way.rpartition("-")
        if store not in _LAYOUTS:  # what no other page compares
            return what, "netCDF-4", way
        layout, reader = _LAYOUTS[store], _READERS.get(name, name)
    return what, layout, str(card(reader))
