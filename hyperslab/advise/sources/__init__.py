"""One kind of source for each family of formats; `hyperslab.advise.source` chooses among them."""
