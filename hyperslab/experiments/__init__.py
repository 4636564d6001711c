"""What the experiments of the notebooks time and choose, one module for each notebook."""
