"""Loops of reads and writes in C, on the netCDF-C and HDF5 that Python has loaded."""

from hyperslab.kernels.hdf5_c import Hdf5File
from hyperslab.kernels.kernel_build import KernelError, compiler, kernel
from hyperslab.kernels.library import LibraryError
from hyperslab.kernels.netcdf_c import NetcdfFile
from hyperslab.kernels.plain_c import PlainFile

__all__ = [
    "Hdf5File",
    "KernelError",
    "LibraryError",
    "NetcdfFile",
    "PlainFile",
    "compiler",
    "kernel",
]
