"""The experiments on the netCDF-C documentation's page on chunking."""
