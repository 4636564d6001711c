"""What is imported before samples that read from a server are forked, for `today.cloud`."""

MODULES = (
    "h5py", "netCDF4", "fsspec", "aiohttp", "hyperslab.io.far",
    "hyperslab.access.h5py", "hyperslab.access.netcdf4", "hyperslab.access.chunkindex_layout",
    "hyperslab.access.subchunk",
)  # fmt: skip
