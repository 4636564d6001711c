"""One kind of source for each family of formats; `hyperslab.io.source` chooses among them."""
