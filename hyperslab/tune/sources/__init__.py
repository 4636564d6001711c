"""One kind of source for each family of formats; `hyperslab.tune.source` chooses among them."""
