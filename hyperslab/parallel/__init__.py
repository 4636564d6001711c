"""Writes and reads of several ranks: MPI-IO, parallel HDF5 and PnetCDF, whichever are here."""
