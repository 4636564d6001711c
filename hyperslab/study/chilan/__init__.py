"""Experiments on Chilan et al. 2006: parallel writes with HDF5, PnetCDF and MPI-IO."""
