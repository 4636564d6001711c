"""Give records of schema 1 the labels of the pages that have been rebuilt: `… FOLDER`.

Done once for results/reference; records of other machines of that schema are measured again.
"""

import sys
from pathlib import Path

from hyperslab.measure.records import about, load, save

# By notebook: the label, and its value for each name that a case had.
LABELS = {
    "lee_access": (
        "layout",
        {
            "netcdf3": "netCDF-3",
            "netcdf4-contiguous": "netCDF-4, contiguous",
            "4096x1": "four chunks a column",
            "8192x1": "two chunks a column",
            "16384x1": "one chunk a column",
        },
    ),
}


def main(folder):
    for name, (label, values) in LABELS.items():
        path = folder / f"{name}.parquet"
        if path.exists() and about(path)["schema"] == 1:
            frame = load(path)
            named = frame["case"].map(values)
            if named.isna().any():
                sys.exit(f"{path}: cases that have no label: {set(frame['case']) - set(values)}")
            save(frame.assign(case=named, **{label: named}), path)
            print(f"{path}: {len(frame)} rows have the label {label}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
