"""Reading with more than one core: threads, processes, and dask's workers."""
