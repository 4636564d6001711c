"""Give records of schema 1 the labels of the pages that have been rebuilt: `… FOLDER`.

Done once for results/reference; records of other machines of that schema are measured again.
"""

import itertools
import sys
from pathlib import Path

import pandas as pd

from hyperslab.measure.records import about, load, save
from hyperslab.study.penard.link_model import named

LEE_ACCESS = {
    "netcdf3": "netCDF-3",
    "netcdf4-contiguous": "netCDF-4, contiguous",
    "4096x1": "four chunks a column",
    "8192x1": "two chunks a column",
    "16384x1": "one chunk a column",
}
READS = ("ocean series", "ocean map", "temperature series", "temperature map")
NETCDF = (
    "h5py", "h5py, no read-ahead", "h5py, 64 KiB read-ahead", "h5py, blocks of 1 MiB", "kerchunk",
    "subchunk", "subchunk, obstore", "chunkindex",
)  # fmt: skip
WAYS = [
    *itertools.product(("netCDF-4", "netCDF-4, shuffle"), NETCDF),
    ("HDF5 in pages", "h5py, pages"),
    *itertools.product(
        ("Zarr, Blosc", "Zarr, deflate", "Zarr 3, shards", "NCZarr"), ("zarr", "zarr, obstore")
    ),
]
LINK = [
    {"read": read, "layout": layout, "reader": reader}
    for read, (layout, reader) in itertools.product(READS, WAYS)
]
# By notebook: the labels of each name that a case had.
LABELS = {
    "lee_access": {name: {"layout": layout} for name, layout in LEE_ACCESS.items()},
    "penard_link": {
        **dict(zip(named(pd.DataFrame(LINK))["case"], LINK, strict=True)),
        "plain request": {
            "read": "plain request", "layout": "netCDF-4", "reader": "http.client",
        },
    },
}  # fmt: skip


def main(folder):
    for name, labels in LABELS.items():
        path = folder / f"{name}.parquet"
        if path.exists() and not about(path).get("labels"):
            frame = load(path)
            cases = frame["case"].str.replace("-today/", "/")
            if unknown := set(cases) - set(labels):
                sys.exit(f"{path}: cases that have no label: {unknown}")
            columns = pd.DataFrame([labels[case] for case in cases], index=frame.index)
            joined = columns.agg(", ".join, axis=1)
            save(frame.assign(case=joined, **columns), path)
            print(f"{path}: {len(frame)} rows have the labels {', '.join(columns)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
