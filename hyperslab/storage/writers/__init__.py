"""One writer for each family of formats; `hyperslab.storage.create` chooses among them."""
