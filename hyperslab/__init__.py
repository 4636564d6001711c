"""Five papers on netCDF, HDF5 and Zarr I/O, re-run and judged claim by claim."""
