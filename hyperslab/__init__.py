"""Five papers on netCDF, HDF5 and Zarr I/O, re-run on your machine and judged claim by claim."""

__version__ = "0.2.0"
